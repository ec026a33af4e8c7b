"""The values that every test of clustered pairs returns."""

from __future__ import annotations

from dataclasses import replace

from gate.stats.cluster_data import Clusters
from gate.stats.distributions import clip_p
from gate.stats.graded import clean_sweep, swept
from gate.stats.results import Interval, Settings, TestResult


def cluster_result(
    method: str,
    data: Clusters,
    ask: Settings,
    greater: float,
    less: float,
    limits: tuple[float, float],
    statistic: float | None = None,
) -> TestResult:
    """p-values and limits of one procedure as a TestResult; n counts items."""
    return TestResult(
        method=method,
        n=data.n,
        estimate=data.mean,
        null_value=ask.null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(*limits, 1 - 2 * ask.level, method),
        statistic=statistic,
        estimand_value=data.mean,
    )


def no_spread(method: str, data: Clusters, ask: Settings) -> TestResult:
    """Clusters of one and the same mean difference: the exact sign-flip test over clusters decides."""
    null_value, level = ask.null_value, ask.level
    slack = data.rounding / data.n
    mean = 0.0 if abs(data.mean) <= slack else data.mean
    side = 0.0 if abs(mean - null_value) <= slack else mean - null_value
    greater, less, limits = swept(side, mean, data.count, level)
    result = cluster_result(method, data, ask, greater, less, limits)
    unknown = "" if mean else "no cluster changed: the spread between clusters is unknown"
    return replace(result, smallest_p=clean_sweep(data.count), insufficient=unknown)

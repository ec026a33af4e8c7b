"""The values that every test of clustered pairs returns."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.stats.cluster_data import Clusters
from gate.stats.distributions import clip_p
from gate.stats.results import Interval, TestResult

Ask = tuple[float, float, int, int | None]  # null value, level, resamples, seed


def cluster_result(
    method: str,
    data: Clusters,
    ask: Ask,
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
        null_value=ask[0],
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(*limits, 1 - 2 * ask[1], method),
        statistic=statistic,
        estimand_value=data.mean,
    )


def unknown_spread(method: str, data: Clusters, ask: Ask) -> TestResult:
    """What can be said where the clusters do not vary: p = 1, no limits."""
    result = cluster_result(method, data, ask, 1.0, 1.0, (-math.inf, math.inf))
    reason = "one cluster has no spread" if data.count < 2 else "all clusters have the same mean difference"
    return replace(result, insufficient=f"{reason}: the spread between clusters is unknown")

"""Tests of the mean of graded differences by Student's t, guarded against skewness. No resampling.

d: n differences (candidate - baseline, larger is better) in the metric's unit, m the null value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gate.stats.distributions import clip_p, t_quantile, t_sf
from gate.stats.moments import Moments, moments
from gate.stats.pairs import Pairs
from gate.stats.results import Interval, TestResult


@dataclass(frozen=True, slots=True)
class Tails:
    """One procedure on one set of differences: both tails at any null value, and its limits at any level."""

    greater: Callable[[float], float]
    less: Callable[[float], float]
    low: Callable[[float], float]
    high: Callable[[float], float]


def paired_t(pairs: Pairs, null_value: float, level: float) -> TestResult:
    """Student's paired t test of H0 "the mean difference is <= m" (Student 1908), n - 1 degrees of freedom.

    Equal differences have no spread: there the exact sign-flip test of the same H0 decides (``no_spread``).
    """
    return _result("paired_t", pairs, null_value, level, lambda x: [student(x)])


def t_guarded(pairs: Pairs, null_value: float, level: float) -> TestResult:
    """The larger of Student's p and the p of Hall's skewness-corrected t, for H0 "mean difference <= m".

    Student's t is too liberal for left-skewed differences, Hall's (1992, JRSS B 54:221) for heavy tails;
    the larger p holds in both. The interval is the hull of the two, so interval and p agree at every level.
    Closed form. Equal differences as in ``paired_t``. Not monotone in a single outlying gain, as no t test
    is: one gain beyond about sqrt(n) / t standard deviations raises p; the registry adds a caution there.
    """
    return _result("t_guarded", pairs, null_value, level, lambda x: [student(x), hall(x)])


def student(x: Moments) -> Tails:
    """Student's t as Tails; needs x.sd > 0."""
    df = x.n - 1

    def t(m: float) -> float:
        return (x.mean - m) / x.se

    return Tails(
        greater=lambda m: t_sf(t(m), df),
        less=lambda m: t_sf(-t(m), df),
        low=lambda level: x.mean + t_quantile(level, df) * x.se,
        high=lambda level: x.mean - t_quantile(level, df) * x.se,
    )


def hall(x: Moments) -> Tails:
    """Hall's monotone cubic of the t statistic, referred to t with n - 1 degrees of freedom; needs x.sd > 0.

    With T = (mean - m) / sd and g the skewness: sqrt(n) (T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n)).
    """
    df, root, g = x.n - 1, math.sqrt(x.n), x.skewness

    def statistic(m: float) -> float:
        t = max(-1e100, min(1e100, (x.mean - m) / x.sd))  # its cube is a number
        return root * (t + g * t * t / 3 + g * g * t**3 / 27 + g / (6 * x.n))

    def limit(quantile: float) -> float:
        target = quantile / root - g / (6 * x.n)
        if abs(g) < 1e-9:  # the cubic is the identity to first order
            return x.mean - x.sd * (target - g * target * target / 3)
        return x.mean - x.sd * (math.cbrt(1 + g * target) - 1) * 3 / g

    return Tails(
        greater=lambda m: t_sf(statistic(m), df),
        less=lambda m: t_sf(-statistic(m), df),
        low=lambda level: limit(-t_quantile(level, df)),
        high=lambda level: limit(t_quantile(level, df)),
    )


def _result(
    method: str, pairs: Pairs, null_value: float, level: float, tests: Callable[[Moments], list[Tails]]
) -> TestResult:
    x = moments(pairs.values, pairs.counts)
    if x.sd == 0.0:
        return no_spread(method, pairs, null_value, level)
    tails = tests(x)
    greater = max(tail.greater(null_value) for tail in tails)
    less = max(tail.less(null_value) for tail in tails)
    return TestResult(
        method=method,
        n=x.n,
        estimate=x.mean,
        null_value=null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(
            min(tail.low(level) for tail in tails),
            max(tail.high(level) for tail in tails),
            1 - 2 * level,
            method,
        ),
        statistic=(x.mean - null_value) / x.se,
        estimand_value=x.mean,
    )


def no_spread(method: str, pairs: Pairs, null_value: float, level: float) -> TestResult:
    """What remains where all differences are equal: the exact sign-flip test of the same hypothesis.

    Every pattern of signs but the observed one moves the mean towards m, so p = 2^-n on the side where the
    differences lie. Items that never changed say nothing about a spread: p = 1, no bounds.
    """
    mean = float(pairs.values[0])
    greater, less, limits = swept(mean - null_value, mean, pairs.n, level)
    insufficient = ""
    if pairs.n == 1:
        insufficient = "one item has no spread: this set cannot weigh the two systems"
    elif mean == 0:
        insufficient = f"all {pairs.n} differences are zero: this set cannot weigh the two systems"
    return TestResult(
        method=method,
        n=pairs.n,
        estimate=mean,
        null_value=null_value,
        p_greater=greater,
        p_less=less,
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(*limits, 1 - 2 * level, method),
        estimand_value=mean,
        smallest_p=clean_sweep(pairs.n),
        insufficient=insufficient,
    )


def clean_sweep(units: int) -> float:
    """The exact sign-flip p where every one of the units lies on one side: 2^-units."""
    return 0.5**units


def swept(side: float, value: float, units: int, level: float) -> tuple[float, float, tuple[float, float]]:
    """p_greater, p_less and limits of the exact sign-flip test on units that all have the same value.

    side: the sign of value - m. A value of 0 is no change that could have gone the other way.
    """
    if value == 0:
        return 1.0, 1.0, (-math.inf, math.inf)
    p = clean_sweep(units)
    limits = (value, value) if p < level else (-math.inf, math.inf)
    return p if side > 0 else 1.0, p if side < 0 else 1.0, limits

"""One sample: is a proportion or a mean of the candidate alone within a limit, proven?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import clopper_pearson, t_quantile
from gate.stats.moments import moments
from gate.stats.results import Interval


@dataclass(frozen=True, slots=True)
class OneSample:
    """Estimate and two-sided interval at confidence 1 - 2 * level. insufficient: why there are no limits."""

    n: int
    estimate: float
    interval: Interval
    insufficient: str = ""


def proportion(values: npt.ArrayLike, level: float) -> OneSample:
    """Share of ones with exact limits (Clopper & Pearson 1934). values: n zeros and ones."""
    x = np.asarray(values, dtype=np.float64)
    return proportion_from_counts(int(np.count_nonzero(x)), x.size, level)


def proportion_from_counts(successes: int, n: int, level: float) -> OneSample:
    """As ``proportion``, from the counts; n = 0 gives [0, 1]."""
    if n == 0:
        return OneSample(0, math.nan, Interval(0.0, 1.0, 1 - 2 * level, "clopper_pearson"), "no items")
    low, high = clopper_pearson(successes, n, level)
    return OneSample(n, successes / n, Interval(low, high, 1 - 2 * level, "clopper_pearson"))


def mean(values: npt.ArrayLike, level: float, scale: tuple[float, float] | None = None) -> OneSample:
    """Mean with Student's t limits, cut to the declared scale. Equal values or n = 1: the scale's limits."""
    x = np.sort(np.asarray(values, dtype=np.float64).ravel())
    least, largest = scale or (-math.inf, math.inf)
    unknown = Interval(least, largest, 1 - 2 * level, "t")
    if x.size == 0:
        return OneSample(0, math.nan, unknown, "no items")
    found = moments(x)
    if found.sd == 0.0:
        if scale is not None and found.n > 1:
            return OneSample(found.n, found.mean, _equal_values(found.n, found.mean, level, scale))
        reason = "one item has no spread" if found.n == 1 else f"all {found.n} values are equal"
        return OneSample(found.n, found.mean, unknown, f"{reason}: the spread is unknown; declare the scale")
    half = -t_quantile(level, found.n - 1) * found.se
    low, high = max(least, found.mean - half), min(largest, found.mean + half)
    return OneSample(found.n, found.mean, Interval(low, high, 1 - 2 * level, "t"))


def _equal_values(n: int, value: float, level: float, scale: tuple[float, float]) -> Interval:
    """Values never seen could hold a share of 1 - level^(1/n) at most, at the ends of the scale."""
    unseen = -math.expm1(math.log(level) / n)
    low, high = value - unseen * (value - scale[0]), value + unseen * (scale[1] - value)
    return Interval(low, high, 1 - 2 * level, "bounded")

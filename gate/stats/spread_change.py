"""Has the noise changed: the spread of this cycle's item differences against that of earlier cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import clip_p, t_sf
from gate.stats.moments import moments
from gate.stats.pairs import Floats, Ints

CHANGED_P = 0.01
CHANGED_RATIO = (0.8, 1.25)


@dataclass(frozen=True, slots=True)
class Deviations:
    """n differences, their sd (n - 1), and mean and variance (n - 1) of |d - median|. Metric's unit."""

    n: int
    sd: float
    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class SpreadChange:
    """p: two-sided, H0 "the spread is the same". ratio: sd now / sd of the past, None where that is 0."""

    p: float
    ratio: float | None
    cycles: int

    @property
    def alarm(self) -> bool:
        """Unlikely by chance and large enough to matter."""
        low, high = CHANGED_RATIO
        return self.p < CHANGED_P and (self.ratio is None or not low <= self.ratio <= high)


def deviations(differences: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Deviations:
    """What the test below needs of one cycle. differences: n finite values, each `counts` times, n >= 2."""
    values: Floats = np.asarray(differences, dtype=np.float64).ravel()
    times: Ints = np.ones(values.size, np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    values, times = values[order], times[order]
    away = moments(np.abs(values - weighted_median(values, times)), times)
    spread = moments(values, times)
    return Deviations(spread.n, spread.sd, away.mean, away.sd**2)


def weighted_median(ascending: Floats, counts: Ints) -> float:
    """Median of values that each occur so many times."""
    reached = np.cumsum(counts)
    n = int(reached[-1])
    low = ascending[int(np.searchsorted(reached, (n - 1) // 2, side="right"))]
    high = ascending[int(np.searchsorted(reached, n // 2, side="right"))]
    return float(0.5 * (low + high))


def brown_forsythe(now: Deviations, past: Sequence[Deviations]) -> SpreadChange | None:
    """Brown & Forsythe (1974, JASA 69:364) on |d - median| of each cycle, by Welch's t; None without a past.

    Earlier cycles keep their own medians and are pooled. Holds where the F test fails, for pass/fail and
    heavy tails; items that were re-used make it conservative.
    """
    if not past:
        return None
    before = _pooled(past)
    ratio = now.sd / before.sd if before.sd > 0 else None
    error = now.variance / now.n + before.variance / before.n
    if error == 0:
        same = math.isclose(now.mean, before.mean, rel_tol=1e-9)
        return SpreadChange(1.0 if same else clip_p(0.0), 1.0 if same else ratio, len(past))
    t = abs(now.mean - before.mean) / math.sqrt(error)
    df = error**2 / sum((x.variance / x.n) ** 2 / (x.n - 1) for x in (now, before))
    return SpreadChange(clip_p(2.0 * t_sf(t, df)), ratio, len(past))


def _pooled(cycles: Sequence[Deviations]) -> Deviations:
    n = sum(x.n for x in cycles)
    mean = sum(x.n * x.mean for x in cycles) / n
    squares = sum((x.n - 1) * x.variance + x.n * (x.mean - mean) ** 2 for x in cycles)
    within = sum((x.n - 1) * x.sd**2 for x in cycles) / sum(x.n - 1 for x in cycles)
    return Deviations(n, math.sqrt(within), mean, squares / (n - 1))

"""An automatic judge beside people on the same outputs: agreement, and the same difference or not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.cluster_data import cluster_pairs
from gate.stats.distributions import beta_quantile, clopper_pearson, t_quantile
from gate.stats.methods import CLUSTER_DEFAULTS
from gate.stats.pairs import pair
from gate.stats.procedures import run

Floats = npt.NDArray[np.float64]
FEW = 10
"""Fewer units on which the judge's change is not the people's say too little of a spread."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with two-sided limits at confidence 1 - 2 * level. An unbounded end is infinite."""

    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """share: of outputs with the same word. kappa: None where chance alone would agree always."""

    share: Estimate
    kappa: Estimate | None


def agreement(human: npt.ArrayLike, judge: npt.ArrayLike, units: npt.ArrayLike, level: float) -> Agreement:
    """Observed agreement and Cohen's kappa (1960) of zeros and ones.

    human, judge: one value an output. units: what is independent of each other, a label an output: an item
    with its two outputs, or a cluster of items.

    The variance of kappa is the sum over units of squared influences: with one output a unit it is that of
    Fleiss, Cohen and Everitt (1969, Psychol. Bull. 72:323). Full agreement has no spread, and a rare word
    little, so the lower limit is never above what the exact limit of the agreement leaves (Clopper and
    Pearson on as many outputs as there are units).
    """
    h, j = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    codes = np.unique(np.asarray(units), return_inverse=True)[1].ravel()
    count, n = int(codes.max()) + 1, h.size
    same = (h == j).astype(np.float64)
    p, q, share = float(h.mean()), float(j.mean()), float(same.mean())
    chance = p * q + (1 - p) * (1 - q)
    bounds = _share_limits(share, count, level)
    found = Estimate(n, share, *bounds)
    if chance == 1.0:
        return Agreement(found, None)
    kappa = (share - chance) / (1 - chance)
    pull = np.where(h == 1, q, 1 - q) + np.where(j == 1, p, 1 - p)
    influence = ((same - share) * (1 - chance) - (1 - share) * (pull - 2 * chance)) / (1 - chance) ** 2
    half = _spread(influence, codes, count, level)
    low = min(kappa - half, (bounds[0] - chance) / (1 - chance))
    return Agreement(found, Estimate(n, kappa, max(-1.0, low), min(1.0, kappa + half)))


def _share_limits(share: float, units: int, level: float) -> tuple[float, float]:
    """Exact limits of a share as if it had been seen on ``units`` outputs."""
    hits = share * units
    return beta_quantile(hits, units - hits + 1, level), beta_quantile(hits + 1, units - hits, 1 - level)


def _spread(influence: Floats, codes: npt.NDArray[np.intp], units: int, level: float) -> float:
    if units < 2:
        return math.inf
    totals = np.bincount(codes, weights=influence)
    variance = units / (units - 1) * float(np.sum(np.sort(totals**2))) / influence.size**2
    return -t_quantile(level, units - 1) * math.sqrt(variance)


def share_of(hits: int, n: int, level: float) -> Estimate | None:
    """A share with exact limits (Clopper & Pearson 1934); None where there was nothing to see."""
    return Estimate(n, hits / n, *clopper_pearson(hits, n, level)) if n else None


def mean_change(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    clusters: npt.ArrayLike | None,
    level: float,
    reach: float | None,
) -> Estimate:
    """Mean of after - before with the limits of the gate's own test: ``t_guarded``, or ``cluster``.

    reach: the largest |after - before| that is possible, None if unknown. Where fewer than ten units change,
    their spread says little: the limits are then at least those of the exact limit of the share that changes,
    each by as much as is possible.
    """
    old, new = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    sample = pair(old, new) if clusters is None else cluster_pairs(old, new, clusters)
    found = run("t_guarded" if clusters is None else CLUSTER_DEFAULTS["strict"], sample, 0.0, level)
    codes = np.arange(old.size) if clusters is None else np.unique(clusters, return_inverse=True)[1].ravel()
    units = int(codes.max()) + 1
    moved = int(np.count_nonzero(np.bincount(codes, weights=(old != new).astype(np.float64))))
    value, low, high = float(found.estimate), found.interval.low, found.interval.high
    unknown = math.isnan(low) or math.isnan(high)
    low, high = (-math.inf, math.inf) if unknown else (low, high)
    if moved >= FEW:
        return Estimate(old.size, value, low, high)
    if reach is None:
        return Estimate(old.size, value, -math.inf, math.inf)
    most = clopper_pearson(moved, units, level)[1] * reach
    if moved == 0 or not math.isfinite(high - low):
        return Estimate(old.size, value, min(value, -most), max(value, most))
    return Estimate(old.size, value, min(low, -most), max(high, most))


def correlation(x: npt.ArrayLike, y: npt.ArrayLike, level: float) -> Estimate | None:
    """Pearson's r with Fisher's limits (1921, Metron 1:3); None below four values or without a spread."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.size < 4 or not float(np.ptp(first)) or not float(np.ptp(second)):
        return None
    a, b = first - first.mean(), second - second.mean()
    r = float(np.clip(np.sum(a * b) / math.sqrt(float(np.sum(a * a)) * float(np.sum(b * b))), -1, 1))
    if abs(r) == 1.0:
        return Estimate(first.size, r, min(r, 0.0) if r < 0 else r, r)
    from gate.stats.distributions import normal_quantile  # noqa: PLC0415

    half = -normal_quantile(level) / math.sqrt(first.size - 3)
    z = math.atanh(r)
    return Estimate(first.size, r, math.tanh(z - half), math.tanh(z + half))

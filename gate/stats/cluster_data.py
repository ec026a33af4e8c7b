"""Clustered pairs as cluster totals, and how strongly the items of a cluster hang together."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import normal_quantile
from gate.stats.pairs import Floats, Ints, pair, tidy

ASSUMED_SIZES = (2, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Clusters:
    """J clusters of n paired items, in an order that depends on the scores only.

    sizes n_j, totals S_j = sum of the differences, gains b_j and losses c_j (int64/float64[J]);
    squares: sum of d^2 over all items; observed: least and largest score; most: items that a cluster can
    have, fixed in advance (None: not known). Build with ``cluster_pairs``.
    """

    sizes: Ints
    totals: Floats
    gains: Ints
    losses: Ints
    squares: float
    binary: bool
    ratio: float
    observed: tuple[float, float]
    most: int | None = None

    @property
    def n(self) -> int:
        """Items."""
        return int(self.sizes.sum())

    @property
    def count(self) -> int:
        """Clusters."""
        return int(self.sizes.size)

    @property
    def mean(self) -> float:
        """Mean difference over items: the estimand does not change."""
        return math.fsum(self.totals.tolist()) / self.n

    @property
    def residuals(self) -> Floats:
        """E_j = S_j - n_j mean."""
        return self.totals - self.sizes * self.mean

    @property
    def varies(self) -> bool:
        """Whether the clusters' mean differences are not all one and the same."""
        return self.count > 1 and bool(np.any(np.abs(self.residuals) > self.rounding))

    @property
    def rounding(self) -> float:
        """What is only a rounding error in a cluster's total: gains and losses may have cancelled in it."""
        return 1e-12 * math.sqrt(self.squares)

    @property
    def changes(self) -> Floats:
        """The totals, exactly 0 where gains and losses cancel."""
        return np.where(np.abs(self.totals) <= self.rounding, 0.0, self.totals)

    def digest(self) -> bytes:
        """SHA-256 of the sorted clusters; the seed of resampling comes from it."""
        sha = hashlib.sha256(b"gate clusters 1")
        for column in (self.totals.astype("<f8"), self.sizes.astype("<i8"), self.gains.astype("<i8")):
            sha.update(np.ascontiguousarray(column).tobytes())
        return sha.digest()


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """What clustering costs. icc: intraclass correlation of the differences (ANOVA; may be negative).

    naive_se: standard error if items were independent; cluster_se: CR2; deff = (cluster_se / naive_se)^2.
    largest_share: share of the items in the largest cluster. None where there is no spread or one cluster.
    """

    n_clusters: int
    largest_share: float
    icc: float | None
    naive_se: float | None
    cluster_se: float | None
    deff: float | None


@dataclass(frozen=True, slots=True)
class TippingPoint:
    """Items in unlabelled clusters of `size` would undo the result from intraclass correlation `icc` on.

    icc: None where no correlation up to 1 undoes it; 0 where the result does not stand even without clusters.
    """

    size: float
    icc: float | None


def cluster_pairs(
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    clusters: npt.ArrayLike,
    differences: npt.ArrayLike | None = None,
) -> Clusters:
    """Totals per cluster. clusters: one label an item, of any type that sorts; the rest as ``pairs.pair``."""
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()
    paired = pair(baseline, candidate, differences)  # checks the values; its order is not the labels'
    if labels.size != paired.n:
        raise ValueError(f"clusters must have one label a pair (found {labels.size} for {paired.n})")
    d = _in_order(baseline, candidate, differences)
    order = np.lexsort((d, labels))  # sums must not depend on the order of rows
    labels, d = labels[order], d[order]
    totals = np.bincount(labels, weights=d)
    sizes, gains = np.bincount(labels), np.bincount(labels, weights=d > 0).astype(np.int64)
    losses = np.bincount(labels, weights=d < 0).astype(np.int64)
    rank = np.lexsort((losses, gains, sizes, totals))
    low = float(min(paired.baseline.min(), paired.candidate.min()))
    high = float(max(paired.baseline.max(), paired.candidate.max()))
    return Clusters(
        sizes[rank].astype(np.int64),
        np.asarray(totals[rank], dtype=np.float64),
        gains[rank],
        losses[rank],
        float(np.sum(paired.values**2 * paired.counts)),
        paired.binary,
        paired.ratio,
        (low, high),
    )


def describe(data: Clusters) -> ClusterSummary:
    """ICC, standard errors with and without clusters, design effect."""
    largest = float(data.sizes.max()) / data.n
    squares = data.squares - data.n * data.mean**2
    if data.count < 2 or data.n < 3 or squares <= 1e-12 * data.squares:
        return ClusterSummary(data.count, largest, None, None, None, None)
    naive = math.sqrt(squares / (data.n - 1) / data.n)
    robust = math.sqrt(cr2_variance(data))
    return ClusterSummary(data.count, largest, _icc(data, squares), naive, robust, (robust / naive) ** 2)


def cr2_variance(data: Clusters) -> float:
    """CR2 variance of the mean, sum E_j^2 / (1 - n_j / N) / N^2 (Bell & McCaffrey 2002)."""
    share = data.sizes / data.n
    return float(np.sum(data.residuals**2 / (1 - share))) / data.n**2


def tipping_points(t: float, level: float, sizes: tuple[float, ...] = ASSUMED_SIZES) -> list[TippingPoint]:
    """For unlabelled clusters: the ICC at which t / sqrt(1 + (size - 1) icc) falls to the critical value."""
    excess = (t / -normal_quantile(level)) ** 2 - 1 if t > 0 else 0.0
    points = []
    for size in sizes:
        icc = max(0.0, excess) / (size - 1)
        points.append(TippingPoint(size, icc if icc <= 1 else None))
    return points


def _icc(data: Clusters, squares: float) -> float | None:
    between = float(np.sum(data.residuals**2 / data.sizes))
    inside = data.n - data.count
    if inside <= 0:
        return None  # one item a cluster
    within = max(0.0, squares - between) / inside
    between /= data.count - 1
    size = (data.n - float(np.sum(data.sizes.astype(np.float64) ** 2)) / data.n) / (data.count - 1)
    return (between - within) / (between + (size - 1) * within)


def _in_order(baseline: npt.ArrayLike, candidate: npt.ArrayLike, given: npt.ArrayLike | None) -> Floats:
    old, new = np.asarray(baseline, dtype=np.float64).ravel(), np.asarray(candidate, dtype=np.float64).ravel()
    d = new - old if given is None else np.asarray(given, dtype=np.float64).ravel()
    return tidy(d, new, old)

"""Clusters of which a few may be bad: Hall's correction over whole clusters, insured against their skewness.

H0 as in ``clusters``: the mean difference over items is <= m. J clusters, totals S_j, sizes n_j, N items.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.stats.bounds import Scale, bounds_of
from gate.stats.cluster_data import Clusters, cr2_variance
from gate.stats.cluster_results import cluster_result, no_spread
from gate.stats.clusters import cluster, cluster_cr2, cluster_sign_flip, satterthwaite_df
from gate.stats.distributions import clip_p, t_quantile, t_sf
from gate.stats.gaffke import bounded_p
from gate.stats.graded import Tails
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.pairs import Floats
from gate.stats.results import Interval, Settings, TestResult
from gate.values import Caution, GateError

FEW_EFFECTIVE = 12
FEW_FOR_INSURANCE = 20
LARGE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class ClusterSkewness:
    """g: skewness of the standardised cluster residuals; weight: what turns it into that of their sum."""

    g: float
    weight: float
    clusters: int

    @property
    def insurance(self) -> float:
        """One standard error of g where there is no skewness, sqrt(6 / J)."""
        return math.sqrt(6 / self.clusters)


def cluster_skewness(data: Clusters) -> ClusterSkewness:
    """Skewness of the clusters, each divided by the spread that its size gives it; needs J > 2 and spread.

    Without that, the largest cluster alone would dictate the skewness of the totals.
    """
    sizes, j = data.sizes.astype(np.float64), data.count
    r = data.residuals / np.sqrt(1 - sizes / data.n)
    v = _size_variances(r, sizes)
    q = np.where(v > 0, r / np.sqrt(np.where(v > 0, v, 1.0)), 0.0)
    g = float(np.mean(q**3)) / float(np.mean(q * q)) ** 1.5 * math.sqrt(j * (j - 1)) / (j - 2)
    weight = float(np.sum(v**1.5)) / float(np.sum(v)) ** 1.5 * math.sqrt(j)
    return ClusterSkewness(g, weight, j)


def hall_tails(data: Clusters, skewness: ClusterSkewness, insurance: float) -> Tails:
    """Hall's monotone cubic (1992) of T = (mean - m) / se_CR2, referred to t with Satterthwaite's df.

    insurance: how much worse than it looks the skewness is taken to be, on either side.
    """
    se, df, j = math.sqrt(cr2_variance(data)), satterthwaite_df(data), data.count
    gain = skewness.weight * (skewness.g - insurance)
    loss = skewness.weight * (-skewness.g - insurance)

    def p(t: float, big_g: float) -> float:
        x = max(-1e100, min(1e100, t / math.sqrt(j)))
        cubic = x + big_g * x * x / 3 + big_g * big_g * x**3 / 27 + big_g / (6 * j)
        return t_sf(math.sqrt(j) * cubic, df)

    def reach(level: float, big_g: float) -> float:
        y = -t_quantile(level, df) / math.sqrt(j) - big_g / (6 * j)
        x = y if abs(big_g) < 1e-9 else 3 * (math.cbrt(1 + big_g * y) - 1) / big_g
        return x * math.sqrt(j) * se

    return Tails(
        greater=lambda m: p((data.mean - m) / se, gain),
        less=lambda m: p((m - data.mean) / se, loss),
        low=lambda level: data.mean - reach(level, gain),
        high=lambda level: data.mean + reach(level, loss),
    )


def cluster_strict(data: Clusters, ask: Settings) -> TestResult:
    """max(CR2-Satterthwaite, cluster sign-flip, insured Hall): the largest p and the widest interval.

    The skewness of the clusters is taken one standard error, sqrt(6 / J), worse than it looks: a few bad
    clusters make every other test too liberal. Costs power below about 20 clusters. p_less comes from CR2 and
    sign-flip alone, because insurance there would hide harm. A guard, not a guarantee.
    """
    return _with_hall("cluster_strict", data, ask, lambda skewness: skewness.insurance)


def cluster_pooled(data: Clusters, ask: Settings) -> TestResult:
    """As ``cluster_strict`` with the skewness as it is seen: milder, sizes up to .05 at .025."""
    return _with_hall("cluster_pooled", data, ask, lambda _: 0.0)


def cluster_gaffke(data: Clusters, ask: Settings) -> TestResult:
    """Gaffke's bounded-mean test over exchangeable clusters: holds for every size, effect and correlation.

    ask.scale: lowest and highest score (pass/fail: 0 and 1); data.most: the most items that a cluster can
    have. p is that of the values S_j - m n_j and one more, the worst possible cluster.
    H0: E[S - m n] <= 0, which is an item-weighted mean <= m. A finite-sample bound of which no violation is
    known, but which is not proved. Raises GateError ``cluster_too_large``, ``needs_scale``.
    """
    bounds, most = _item_bounds(data, ask.scale), _most_items(data)
    sizes, ones = data.sizes.astype(np.float64), np.ones(data.count, dtype=np.int64)

    def greater(m: float) -> float:
        return bounded_p(data.totals - m * sizes, ones, 0.0, (bounds[0] - m) * most)

    def less(m: float) -> float:
        return bounded_p(m * sizes - data.totals, ones, 0.0, (m - bounds[1]) * most)

    m, level = ask.null_value, ask.level
    limits = lower_limit(greater, level, m, bounds), upper_limit(less, level, m, bounds)
    return cluster_result("cluster_gaffke", data, ask, greater(m), less(m), limits)


def _item_bounds(data: Clusters, scale: Scale | None) -> Scale:
    """Least and largest difference that an item can have."""
    known = scale or ((0.0, 1.0) if data.binary else None)
    bounds = known and bounds_of(data.observed, data.ratio, known)
    if bounds is None:
        raise GateError(
            "needs_scale",
            "cluster_gaffke bounds the mean by the metric's scale, and none is declared",
            help="declare scale: [lowest, highest]",
        )
    return bounds


def _most_items(data: Clusters) -> int:
    largest = int(data.sizes.max())
    if data.most is None or largest > data.most:
        known = "none" if data.most is None else f"{data.most}"
        raise GateError(
            "cluster_too_large",
            f"a cluster has {largest} items, and the policy allows {known} (items.max_cluster)",
            help="the cap must hold for every set: raise it in the policy before the next set is drawn",
        )
    return data.most


def cluster_cautions(data: Clusters, level: float) -> tuple[Caution, ...]:
    """What no test of these clusters can see, and where few of them carry the result."""
    unseen = -math.expm1(math.log(level) / data.count)
    notes = [
        Caution(
            "unseen_cluster",
            f"a kind of cluster that these {data.count} never showed could be up to {unseen:.0%} of all: "
            "no test sees a bad cluster that did not occur",
        )
    ]
    sizes = data.sizes.astype(np.float64)
    effective, share = data.n**2 / float(np.sum(sizes * sizes)), float(sizes.max()) / data.n
    if effective < FEW_EFFECTIVE or share > LARGE_SHARE:
        words = (
            f"the clusters weigh as much as {effective:.1f} of equal size, and the largest holds {share:.0%} "
            "of the items: few clusters carry the result"
        )
        notes.append(Caution("uneven_clusters", words))
    return tuple(notes)


def _with_hall(
    method: str, data: Clusters, ask: Settings, insurance: Callable[[ClusterSkewness], float]
) -> TestResult:
    if not data.varies:
        return no_spread(method, data, ask)
    if data.count < 3:
        return replace(cluster(data, ask), method=method)  # two clusters have no skewness
    tests, skewness = (cluster_cr2(data, ask), cluster_sign_flip(data, ask)), cluster_skewness(data)
    hall = hall_tails(data, skewness, insurance(skewness))
    corrected = clip_p(hall.greater(ask.null_value))
    greater = max(corrected, *(test.p_greater for test in tests))
    less = max(test.p_less for test in tests)
    interval = Interval(
        min(hall.low(ask.level), *(test.interval.low for test in tests)),
        max(hall.high(ask.level), *(test.interval.high for test in tests)),
        1 - 2 * ask.level,
        method,
    )
    seen = hall_tails(data, skewness, 0.0).greater(ask.null_value)
    notes = [*tests[0].cautions, *tests[1].cautions, *cluster_cautions(data, ask.level)]
    if max(seen, *(test.p_greater for test in tests)) < ask.level <= corrected:
        notes.append(_insured(corrected, *tests))
    if method == "cluster_strict" and data.count < FEW_FOR_INSURANCE:
        notes.append(Caution("insurance_cost", insurance_cost(data.count)))
    return replace(
        tests[1],
        method=method,
        p_greater=greater,
        p_less=less,
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=interval,
        statistic=tests[0].statistic,
        cautions=tuple(dict.fromkeys(notes)),
    )


def insurance_cost(clusters: int) -> str:
    """What ``cluster_strict`` costs where clusters are few, as a sentence; empty from 20 clusters on.

    Simulated at gains of 3 standard errors, equal sizes: 23 points of power at 12 clusters, 8 at 20, 2 at 60.
    """
    if clusters >= FEW_FOR_INSURANCE:
        return ""
    return (
        f"with {clusters} clusters the insurance against a few bad ones costs power: about 23 points at 12 "
        "of equal size, 8 at 20, more where sizes differ; more clusters, or items.cluster_skew: pooled, cost "
        "less"
    )


def _insured(p: float, cr2: TestResult, flip: TestResult) -> Caution:
    return Caution(
        "skew_insured",
        f"p is {p:.4g} because few clusters hardly show how skewed they are; without it CR2 gives "
        f"{cr2.p_greater:.4g} and the sign-flip test {flip.p_greater:.4g}",
    )


def _size_variances(r: Floats, sizes: Floats) -> Floats:
    """Variance of a cluster's residual as s0 n + s1 n^2, by least squares; one variance for equal sizes."""
    if sizes.min() == sizes.max():
        return np.full(sizes.size, float(np.mean(r * r)))
    per_item, centred = r * r / sizes, sizes - sizes.mean()
    slope = max(float(np.sum(centred * per_item)) / float(np.sum(centred * centred)), 0.0)
    base = max(float(per_item.mean()) - slope * float(sizes.mean()), 0.0)
    return np.asarray(base * sizes + slope * sizes * sizes, dtype=np.float64)

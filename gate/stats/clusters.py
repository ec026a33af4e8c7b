"""Tests for items that come in clusters. The estimand stays the mean over items, except where it is named.

H0 throughout: the mean difference is <= m. J clusters, totals S_j, sizes n_j, N items.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gate.stats.bounds import Scale
from gate.stats.cluster_data import Clusters, cr2_variance
from gate.stats.cluster_results import cluster_result, no_spread
from gate.stats.distributions import t_quantile, t_sf
from gate.stats.methods import FEWEST_CLUSTERS
from gate.stats.pairs import Floats
from gate.stats.resampling import Outcome, flip_counts, percentile_counts
from gate.stats.results import Interval, Settings, TestResult
from gate.stats.seeding import LADDER, borderline, enough_resamples, generator, seed_from
from gate.values import Caution

EXACT_CLUSTERS = 16
MANY_CLUSTERS = 50
BLOCK = 4096
BLOCK_CELLS = 4_000_000
"""Signs or draws held at once: 32 MB."""


def cluster_cr2(data: Clusters, ask: Settings) -> TestResult:
    """t test with the CR2 variance and Satterthwaite degrees of freedom (Bell & McCaffrey 2002)."""
    null_value, level = ask.null_value, ask.level
    if not data.varies:
        return no_spread("cluster_cr2", data, ask)
    se, df = math.sqrt(cr2_variance(data)), satterthwaite_df(data)
    t, half = (data.mean - null_value) / se, -t_quantile(level, df) * se
    limits = (data.mean - half, data.mean + half)
    return cluster_result("cluster_cr2", data, ask, t_sf(t, df), t_sf(-t, df), limits, statistic=t)


def cluster_sign_flip(data: Clusters, ask: Settings) -> TestResult:
    """Flips S_j - m n_j of whole clusters; exact over 2^J up to J = 16, Monte Carlo above.

    The wild cluster bootstrap with the null imposed and Rademacher weights. The interval inverts it.
    """
    if not data.varies:
        return no_spread("cluster_sign_flip", data, ask)
    if data.count <= EXACT_CLUSTERS:
        return _from_outcome(
            "cluster_sign_flip", data, ask, _exact_flips(data, ask.null_value, ask.level), 0, 0
        )
    return _resampled("cluster_sign_flip", _random_flips, data, ask)


def cluster(data: Clusters, ask: Settings) -> TestResult:
    """Both of the above: the larger p and the wider interval, so that p and interval remain one decision."""
    one, two = cluster_cr2(data, ask), cluster_sign_flip(data, ask)
    interval = Interval(
        min(one.interval.low, two.interval.low),
        max(one.interval.high, two.interval.high),
        one.interval.confidence,
        "cluster_cr2+cluster_sign_flip",
    )
    return replace(
        two,
        method="cluster_cr2+cluster_sign_flip",
        p_greater=max(one.p_greater, two.p_greater),
        p_less=max(one.p_less, two.p_less),
        p_two_sided=max(one.p_two_sided, two.p_two_sided),
        interval=interval,
        statistic=one.statistic,
        insufficient=one.insufficient or two.insufficient,
        cautions=tuple(dict.fromkeys((*one.cautions, *two.cautions))),
    )


def cluster_bootstrap(data: Clusters, ask: Settings) -> TestResult:
    """Percentile bootstrap of whole clusters. Too liberal below about 50 clusters: a caution."""
    if not data.varies:
        return no_spread("cluster_bootstrap", data, ask)
    result = _resampled("cluster_bootstrap", _resampled_means, data, ask)
    if data.count >= MANY_CLUSTERS:
        return result
    note = Caution(
        "few_clusters",
        f"the cluster bootstrap is too liberal below {MANY_CLUSTERS} clusters (found {data.count}); "
        "cluster_cr2 and cluster_sign_flip are not",
    )
    return replace(result, cautions=(*result.cautions, note))


def guarded(result: TestResult, data: Clusters, scale: Scale | None) -> TestResult:
    """The result with what these clusters cannot carry, and its interval cut to what is possible."""
    return _within(_limits(result, data), data, scale)


def satterthwaite_df(data: Clusters) -> float:
    """Bell & McCaffrey's degrees of freedom for an intercept, in closed form (as clubSandwich)."""
    sizes = data.sizes.astype(np.float64)
    total = float(sizes.sum())
    scaled = sizes**2 / (1 - sizes / total)
    cross = (float(scaled.sum()) ** 2 - float(np.sum(scaled * scaled))) / total**2
    return total**2 / (float(np.sum(sizes * sizes)) + cross)


def _limits(result: TestResult, data: Clusters) -> TestResult:
    reason = ""
    if data.count < FEWEST_CLUSTERS:
        reason = f"at least {FEWEST_CLUSTERS} clusters are needed (found {data.count})"
    elif not data.gains.any() and not data.losses.any() and result.null_value >= 0:
        reason = f"all {data.n} differences are zero: this set cannot weigh the two systems"
    return replace(result, insufficient=reason or result.insufficient)


def _within(result: TestResult, data: Clusters, scale: Scale | None) -> TestResult:
    known = scale or ((0.0, 1.0) if data.binary else None)
    if known is None or data.ratio != 1.0:
        return result
    width = known[1] - known[0]
    low, high = max(result.interval.low, -width), min(result.interval.high, width)
    return replace(result, interval=Interval(low, high, result.interval.confidence, result.interval.method))


def _exact_flips(data: Clusters, null_value: float, level: float) -> Outcome:
    sums, sizes = np.zeros(1), np.zeros(1)
    for total, size in zip(data.totals, data.sizes, strict=True):
        sums, sizes = np.concatenate([sums, sums + total]), np.concatenate([sizes, sizes + size])
    return flip_counts(np.round(sums[1:] / sizes[1:], 13), 0, null_value, level)


def _blocks(count: int, clusters: int) -> Iterator[int]:
    """Rows at a time: fewer where there are many clusters, in fours so that the draws stay the same."""
    most = max(4, min(BLOCK, BLOCK_CELLS // clusters) // 4 * 4)
    for start in range(0, count, BLOCK):
        rows = min(BLOCK, count - start)
        yield from (min(most, rows - done) for done in range(0, rows, most))


def _random_flips(data: Clusters, null_value: float, level: float, count: int, seed: int) -> Outcome:
    rng = generator(seed)
    means: list[Floats] = []
    empty = 0
    for rows in _blocks(count, data.count):
        raw = rng.integers(0, 256, size=(rows, -(-data.count // 8)), dtype=np.uint8)
        chosen = np.unpackbits(raw, axis=1, count=data.count).astype(np.float64)
        sizes = chosen @ data.sizes
        filled = sizes > 0
        means.append((chosen @ data.totals)[filled] / sizes[filled])
        empty += int(rows - filled.sum())
    return flip_counts(_tidy(means), empty, null_value, level)


def _resampled_means(data: Clusters, null_value: float, level: float, count: int, seed: int) -> Outcome:
    rng = generator(seed)
    shares = np.full(data.count, 1 / data.count)
    means: list[Floats] = []
    for rows in _blocks(count, data.count):
        drawn = rng.multinomial(data.count, shares, size=rows)
        means.append((drawn @ data.totals) / (drawn @ data.sizes))
    return percentile_counts(_tidy(means), null_value, level)


def _tidy(blocks: list[Floats]) -> Floats:
    return np.asarray(np.round(np.concatenate(blocks), 13), dtype=np.float64)


def _resampled(
    method: str, draw: Callable[[Clusters, float, float, int, int], Outcome], data: Clusters, ask: Settings
) -> TestResult:
    null_value, level, resamples, seed = ask.null_value, ask.level, ask.resamples, ask.seed
    count = enough_resamples(resamples, level)
    for more in (count, *(step for step in LADDER if step > count)):
        if more > count and more * data.count > 10**9:
            break
        count = more
        used = seed_from(method, count, data.digest()) if seed is None else seed
        outcome = draw(data, null_value, level, count, used)
        if not borderline(outcome.greater, level, count) and not borderline(outcome.less, level, count):
            break
    return _from_outcome(method, data, ask, outcome, count, used)


def _from_outcome(
    method: str, data: Clusters, ask: Settings, outcome: Outcome, resamples: int, seed: int
) -> TestResult:
    result = cluster_result(method, data, ask, outcome.greater, outcome.less, (outcome.low, outcome.high))
    cautions = result.cautions
    if outcome.floor >= ask.level:
        words = f"{data.count} clusters cannot reach the level: the smallest p is {outcome.floor:.4g}"
        cautions = (*cautions, Caution("smallest_p", words))
    return replace(result, smallest_p=outcome.floor, resamples=resamples, seed=seed, cautions=cautions)

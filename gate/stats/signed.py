"""Rank and sign tests. They test symmetry or a median, not the mean, and say so in their result."""

from __future__ import annotations

import math

import numpy as np

from gate.stats.distributions import Floats, binomial_sf, clip_p, normal_sf
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.methods import METHODS
from gate.stats.pairs import Pairs, tidy
from gate.stats.results import Interval, TestResult
from gate.values import Caution

EXACT_RANKS = 200  # non-zero differences up to which the law of the rank sum is convolved


def wilcoxon(pairs: Pairs, _null_value: float, level: float) -> TestResult:
    """Wilcoxon signed-rank test, zeros dropped (Wilcoxon 1945), conditional on ties, exact to 200 non-zeros.

    H0: the non-zero differences are symmetric about a value <= 0. Estimand: their pseudo-median
    (Hodges-Lehmann), with the interval that inverts the test. Takes no margin: it does not test the mean.
    All differences zero: p = 1, insufficient.
    """
    return _ranked("wilcoxon", pairs, level, pairs.differences[pairs.differences != 0], pratt=False)


def wilcoxon_pratt(pairs: Pairs, _null_value: float, level: float) -> TestResult:
    """Signed-rank test with Pratt's zeros: ranked with the rest, then dropped (Pratt 1959, JASA 54:655)."""
    return _ranked("wilcoxon_pratt", pairs, level, pairs.differences, pratt=True)


def sign(pairs: Pairs, _null_value: float, level: float) -> TestResult:
    """Sign test: P(Bin(s, 1/2) >= gains) over the s non-zero differences (Arbuthnott 1710; exact).

    H0: gains are no more frequent than losses. Estimand: the median of the non-zero differences; the
    interval is the pair of order statistics that inverts the test. Margins as ``wilcoxon``.
    """
    d = pairs.differences[pairs.differences != 0]
    s = d.size
    greater, less = binomial_sf(pairs.b, s, 0.5), binomial_sf(pairs.c, s, 0.5)
    rank = _sign_rank(s, level)
    low = float(d[rank - 1]) if rank else -math.inf
    high = float(d[s - rank]) if rank else math.inf
    value = float(np.median(d)) if s else 0.0
    return _result("sign", pairs, level, greater, less, (low, high), value, statistic=float(pairs.b))


def signed_rank(d: Floats, *, pratt: bool) -> tuple[float, float, float]:
    """(p_greater, p_less, z) of the signed-rank test of d against 0; z without continuity correction."""
    kept = d != 0
    ranks = midranks(np.abs(d))[kept] if pratt else midranks(np.abs(d[kept]))
    if ranks.size == 0:
        return 1.0, 1.0, 0.0
    signs = np.sign(d[kept])
    z = float(np.sum(signs * ranks)) / math.sqrt(float(np.sum(ranks * ranks)))
    if ranks.size > EXACT_RANKS:
        return normal_sf(z), normal_sf(-z), z
    doubled = np.rint(2 * ranks).astype(np.int64)
    law = rank_sum_law(doubled)
    plus = int(doubled[signs > 0].sum())
    return float(law[plus:].sum()), float(law[: plus + 1].sum()), z


def rank_sum_law(doubled: np.typing.NDArray[np.int64]) -> Floats:
    """Law of the sum of a random half of the doubled midranks: each in with probability 1/2."""
    law = np.zeros(int(doubled.sum()) + 1)
    law[0] = 1.0
    filled = 1
    for rank in np.sort(doubled):
        moved = 0.5 * law[:filled]
        law[:filled] = moved
        law[rank : rank + filled] += moved
        filled += int(rank)
    return law


def midranks(values: Floats) -> Floats:
    """Ranks from 1, ties sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - 0.5 * (counts - 1))[inverse], dtype=np.float64)


def hodges_lehmann(ordered: Floats) -> float:
    """Pseudo-median: the median of the means of all pairs of values, each with itself included."""
    n = ordered.size
    if n == 0:
        return 0.0
    if n <= 1500:
        rows, columns = np.triu_indices(n)
        return float(np.median(0.5 * (ordered[rows] + ordered[columns])))
    return 0.5 * (
        _walsh_average(ordered, (_walsh_total(n) + 1) // 2)
        + _walsh_average(ordered, _walsh_total(n) // 2 + 1)
    )


def _walsh_total(n: int) -> int:
    return n * (n + 1) // 2


def _walsh_average(ordered: Floats, rank: int) -> float:
    """The rank-th smallest pair mean, by bisection on its value: no n^2 array."""
    low, high = float(ordered[0]), float(ordered[-1])
    index = np.arange(ordered.size)
    for _ in range(80):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        partners = np.searchsorted(ordered, 2 * middle - ordered, "right")
        at_most = int(np.maximum(partners - index, 0).sum())
        if at_most >= rank:
            high = middle
        else:
            low = middle
    return high


def _sign_rank(s: int, level: float) -> int:
    """Largest k with P(Bin(s, 1/2) <= k - 1) < level; 0 where even k = 1 is too likely."""
    low, high = 0, s // 2 + 1
    while high - low > 1:
        k = (low + high) // 2
        if binomial_sf(s - k + 1, s, 0.5) < level:
            low = k
        else:
            high = k
    return low


def _ranked(method: str, pairs: Pairs, level: float, d: Floats, *, pratt: bool) -> TestResult:
    greater, less, z = signed_rank(d, pratt=pratt)
    limits = (-math.inf, math.inf)
    if (d.size and d[0] != d[-1]) or (d.size and d[0] != 0):
        limits = _ranked_limits(d, level, pratt)
    return _result(method, pairs, level, greater, less, limits, hodges_lehmann(d), statistic=z)


def _ranked_limits(d: Floats, level: float, pratt: bool) -> tuple[float, float]:
    spread = 1e-3 * float(np.abs(d).max())
    bounds = (min(float(d[0]), 0.0) - spread, max(float(d[-1]), 0.0) + spread)

    def test(m: float) -> tuple[float, float, float]:
        return signed_rank(tidy(d - m, d, np.full_like(d, m)) if m else d, pratt=pratt)

    low = lower_limit(lambda m: test(m)[0], level, 0.0, bounds, tolerance=1e-10)
    high = upper_limit(lambda m: test(m)[1], level, 0.0, bounds, tolerance=1e-10)
    return (
        -math.inf if low <= bounds[0] else _snapped(low, 1),
        math.inf if high >= bounds[1] else _snapped(high, -1),
    )


def _snapped(limit: float, side: int) -> float:
    """Without the last digits, which are the search's, unless that moves a limit that excludes 0 onto it."""
    rounded = round(limit, 9) + 0.0
    return limit if rounded == 0 and side * limit > 0 else rounded


def _result(
    method: str,
    pairs: Pairs,
    level: float,
    greater: float,
    less: float,
    limits: tuple[float, float],
    value: float,
    statistic: float,
) -> TestResult:
    mean, estimand = pairs.mean(), METHODS[method].estimand
    insufficient = ""
    cautions: tuple[Caution, ...] = ()
    if pairs.nonzero == 0:
        insufficient = f"all {pairs.n} differences are zero: this set cannot weigh the two systems"
    elif value != 0 and np.sign(value) != np.sign(mean):
        words = estimand.replace("_", "-")
        insufficient = f"the mean difference ({mean:.4g}) and the {words} ({value:.4g}) disagree in sign"
        cautions = (Caution("signs_disagree", f"{insufficient}: {method} does not test the mean"),)
    return TestResult(
        method=method,
        n=pairs.n,
        estimate=mean,
        null_value=0.0,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(*limits, 1 - 2 * level, method),
        statistic=statistic,
        estimand=estimand,
        estimand_value=value,
        smallest_p=clip_p(0.5**pairs.nonzero),
        insufficient=insufficient,
        cautions=cautions,
    )

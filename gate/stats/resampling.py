"""Resampling tests of the mean: percentile, BCa and studentized bootstrap, sign-flip, and BCa with sign-flip.

One draw of B resamples gives both tails and the interval. H0 "the mean difference is <= m". The observed
sample counts as the (B + 1)-th: p = (1 + #{as extreme}) / (B + 1) (Phipson & Smyth 2010); limits are the
k-th resample from each end with k = (B + 1) * level. A p near the level raises B by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.stats.bootstrap_law import mean_law
from gate.stats.distributions import clip_p, normal_quantile, normal_sf
from gate.stats.draws import ITEMS_PER_COUNT, bootstrap_means, bootstrap_moments, subset_means
from gate.stats.graded import no_spread
from gate.stats.moments import moments
from gate.stats.pairs import Floats, Pairs, decimals_for
from gate.stats.results import Interval, TestResult
from gate.stats.seeding import LADDER, borderline, enough_resamples, generator, rank_at, seed_for
from gate.values import Caution

MOST_WORK = 1_500_000_000  # item draws that a raised B may cost


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one draw says: both p-values, both limits, the least p it could have given."""

    greater: float
    less: float
    low: float
    high: float
    floor: float


Draw = Callable[[Pairs, float, float, int, int], Outcome]


def bootstrap(pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None) -> TestResult:
    """Percentile bootstrap of the mean (Efron 1979). p: share of resampled means at or beyond m."""
    return _resampled("bootstrap", percentile_outcome, pairs, null_value, level, resamples, seed)


def bootstrap_bca(
    pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None
) -> TestResult:
    """Bias-corrected and accelerated bootstrap (Efron 1987); p is the level whose BCa limit is m."""
    return _resampled("bootstrap_bca", bca_outcome, pairs, null_value, level, resamples, seed)


def bootstrap_t(
    pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None
) -> TestResult:
    """Studentized bootstrap (Efron & Tibshirani 1993, 12.5). Resamples without spread count against it."""
    return _resampled("bootstrap_t", studentized_outcome, pairs, null_value, level, resamples, seed)


def sign_flip(pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None) -> TestResult:
    """Sign-flip (paired permutation) test: under H0 each d - m is as likely negative as positive.

    Exact over all 2^n sign patterns up to n = 20, Monte Carlo above. The interval inverts the same test:
    a pattern is as extreme as the data exactly where the mean of the flipped items is <= m, so the limits
    are order statistics of subset means (Hartigan 1969, JASA 64:1303). Assumes symmetric noise.
    """
    return _resampled("sign_flip", sign_flip_outcome, pairs, null_value, level, resamples, seed)


def bca_sign_flip(
    pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None
) -> TestResult:
    """Both of ``bootstrap_bca`` and ``sign_flip`` must agree: the larger p, the wider interval."""
    return _resampled("bca_sign_flip", both_outcome, pairs, null_value, level, resamples, seed)


def _resampled(
    method: str, draw: Draw, pairs: Pairs, null_value: float, level: float, resamples: int, seed: int | None
) -> TestResult:
    if pairs.values.size == 1:
        return no_spread(method, pairs, null_value, level)
    count = enough_resamples(resamples, level)
    outcome, used = _draw_once(method, draw, pairs, null_value, level, count, seed)
    for more in LADDER:
        if more > count and _undecided(outcome, level, count) and _affordable(method, pairs, more):
            count = more
            outcome, used = _draw_once(method, draw, pairs, null_value, level, count, seed)
    exact = method == "sign_flip" and pairs.n <= EXACT_ITEMS
    near = not exact and _undecided(outcome, level, count)
    cautions = (_borderline_caution(count),) if near else ()
    return TestResult(
        method=method,
        n=pairs.n,
        estimate=pairs.mean(),
        null_value=null_value,
        p_greater=clip_p(outcome.greater),
        p_less=clip_p(outcome.less),
        p_two_sided=clip_p(2 * min(outcome.greater, outcome.less)),
        interval=Interval(outcome.low, outcome.high, 1 - 2 * level, method),
        estimand_value=pairs.mean(),
        smallest_p=outcome.floor,
        resamples=0 if exact else count,
        seed=0 if exact else used,
        cautions=cautions,
    )


def _draw_once(
    method: str, draw: Draw, pairs: Pairs, null_value: float, level: float, count: int, seed: int | None
) -> tuple[Outcome, int]:
    used = seed_for(method, count, pairs) if seed is None else seed
    return draw(pairs, null_value, level, count, used), used


def _undecided(outcome: Outcome, level: float, count: int) -> bool:
    return borderline(outcome.greater, level, count) or borderline(outcome.less, level, count)


def _affordable(method: str, pairs: Pairs, count: int) -> bool:
    if method == "sign_flip" and pairs.n <= EXACT_ITEMS:
        return False  # exact already
    if min(pairs.n, ITEMS_PER_COUNT * pairs.values.size) * count <= MOST_WORK:
        return True
    return method in {"bootstrap", "bootstrap_bca"} and mean_law(pairs) is not None


def _borderline_caution(count: int) -> Caution:
    return Caution(
        "mc_borderline",
        f"p is within the Monte Carlo error of the level even with {count:,} resamples; a deterministic test "
        "(t_guarded) does not depend on a seed",
    )


def _tidy_means(means: Floats, pairs: Pairs) -> Floats:
    """Means on the grid of the differences' own precision, so that "equal to m" survives rounding errors."""
    return np.asarray(np.round(means, min(300, decimals_for(pairs.values) + 1)) + 0.0, dtype=np.float64)


def percentile_counts(means: Floats, null_value: float, level: float) -> Outcome:
    """p and limits of a sample of estimates that plays the part of a confidence law."""
    total = means.size + 1
    k = rank_at(means.size, level)
    ordered = np.partition(means, [k - 1, means.size - k])
    return Outcome(
        greater=(1 + int(np.count_nonzero(means <= null_value))) / total,
        less=(1 + int(np.count_nonzero(means >= null_value))) / total,
        low=float(ordered[k - 1]),
        high=float(ordered[means.size - k]),
        floor=1 / total,
    )


def percentile_outcome(pairs: Pairs, null_value: float, level: float, count: int, seed: int) -> Outcome:
    """Resampled means as they are."""
    means = _tidy_means(bootstrap_means(pairs, count, generator(seed)), pairs)
    return percentile_counts(means, null_value, level)


def bca_outcome(pairs: Pairs, null_value: float, level: float, count: int, seed: int) -> Outcome:
    """Percentiles moved by bias z0 and acceleration a = sum c^3 / (6 (sum c^2)^1.5)."""
    means = _tidy_means(bootstrap_means(pairs, count, generator(seed)), pairs)
    means.sort()
    estimate = round(pairs.mean(), min(300, decimals_for(pairs.values) + 1))
    upper = _Bca(means, estimate, acceleration(pairs))
    lower = _Bca(-means[::-1], -estimate, -acceleration(pairs))
    return Outcome(
        greater=upper.p_greater(null_value),
        less=lower.p_greater(-null_value),
        low=upper.limit(level),
        high=-lower.limit(level),
        floor=1 / (count + 1),
    )


def acceleration(pairs: Pairs) -> float:
    """BCa's a for the mean, from the empirical influence values."""
    x = moments(pairs.values, pairs.counts)
    if x.sd == 0:
        return 0.0
    # sum c^3 = n g sd^3 and sum c^2 = (n - 1) sd^2
    return float(x.n * x.skewness / (6 * (x.n - 1) ** 1.5))


class _Bca:
    """One side of BCa over sorted resampled means."""

    def __init__(self, ordered: Floats, estimate: float, a: float) -> None:
        self.ordered, self.a = ordered, a
        below = np.searchsorted(ordered, estimate, "left")
        upto = np.searchsorted(ordered, estimate, "right")
        share = 0.5 * float(below + upto) / ordered.size
        edge = 0.5 / ordered.size
        self.z0 = normal_quantile(min(max(share, edge), 1 - edge))

    def limit(self, level: float) -> float:
        """The resampled mean at the adjusted rank, rounded down."""
        w = self.z0 + normal_quantile(level)
        adjusted = normal_sf(-(self.z0 + w / (1 - self.a * w))) if 1 - self.a * w > 0 else 0.0
        rank = math.floor((self.ordered.size + 1) * adjusted + 1e-9)
        return float(self.ordered[min(rank, self.ordered.size) - 1]) if rank >= 1 else -math.inf

    def p_greater(self, m: float) -> float:
        """The level at which the lower limit reaches m."""
        total = self.ordered.size + 1
        share = (1 + int(np.searchsorted(self.ordered, m, "right"))) / total
        w = normal_quantile(share) - self.z0
        if math.isinf(w):
            return 1.0
        if 1 + self.a * w <= 0:
            return 1 / total if w < 0 else 1.0
        return min(1.0, max(1 / total, normal_sf(self.z0 - w / (1 + self.a * w))))


def studentized_outcome(pairs: Pairs, null_value: float, level: float, count: int, seed: int) -> Outcome:
    """t* of each resample; one without spread counts as +inf or -inf, on the side against the claim."""
    x = moments(pairs.values, pairs.counts)
    means, sds = bootstrap_moments(pairs, count, generator(seed))
    gap = np.where(np.abs(means - x.mean) <= 1e-12 * x.sd, 0.0, means - x.mean)
    flat = sds <= 1e-9 * x.sd
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(flat, np.where(gap == 0, 0.0, np.copysign(np.inf, gap)), gap / (sds / math.sqrt(x.n)))
    total, k = count + 1, rank_at(count, level)
    ordered = np.partition(t, [k - 1, count - k])
    observed = (x.mean - null_value) / x.se
    return Outcome(
        greater=(1 + int(np.count_nonzero(t >= observed))) / total,
        less=(1 + int(np.count_nonzero(t <= observed))) / total,
        low=x.mean - x.se * float(ordered[count - k]),
        high=x.mean - x.se * float(ordered[k - 1]),
        floor=1 / total,
    )


EXACT_ITEMS = 20


def sign_flip_outcome(pairs: Pairs, null_value: float, level: float, count: int, seed: int) -> Outcome:
    """Subset means: the mean of the items that a pattern flips. No item flipped is as extreme as can be."""
    if pairs.n <= EXACT_ITEMS:
        return _exact_sign_flip(pairs, null_value, level)
    means, empty = subset_means(pairs, count, generator(seed))
    return flip_counts(_tidy_means(means, pairs), empty, null_value, level)


def _exact_sign_flip(pairs: Pairs, null_value: float, level: float) -> Outcome:
    sums, sizes = np.zeros(1), np.zeros(1)
    for d in pairs.differences:
        sums, sizes = np.concatenate([sums, sums + d]), np.concatenate([sizes, sizes + 1])
    # the pattern that flips nothing is the observed sample, which flip_counts adds itself
    means = _tidy_means(sums[1:] / sizes[1:], pairs)
    return flip_counts(means, 0, null_value, level)


def flip_counts(means: Floats, empty: int, null_value: float, level: float) -> Outcome:
    """p and limits from subset means; `empty` subsets and the observed sample are as extreme as can be."""
    total, k = means.size + empty + 1, rank_at(means.size + empty, level)
    if (means.size + empty + 1) * level < 1 - 1e-9:
        low, high = -math.inf, math.inf  # even the most extreme pattern is more likely than the level
    else:
        edge = k - empty
        ordered = np.sort(means)
        low = float(ordered[edge - 1]) if edge >= 1 else -math.inf
        high = float(ordered[means.size - edge]) if edge >= 1 else math.inf
    return Outcome(
        greater=(1 + empty + int(np.count_nonzero(means <= null_value))) / total,
        less=(1 + empty + int(np.count_nonzero(means >= null_value))) / total,
        low=low,
        high=high,
        floor=1 / total,
    )


def both_outcome(pairs: Pairs, null_value: float, level: float, count: int, seed: int) -> Outcome:
    """The least favourable of the two in every number."""
    one = bca_outcome(pairs, null_value, level, count, seed)
    two = sign_flip_outcome(pairs, null_value, level, count, seed)
    return replace(
        one,
        greater=max(one.greater, two.greater),
        less=max(one.less, two.less),
        low=min(one.low, two.low),
        high=max(one.high, two.high),
        floor=max(one.floor, two.floor),
    )

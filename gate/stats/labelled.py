"""Labelled rows: what metrics of a whole set are made of, and the row bootstrap that serves any of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import clip_p
from gate.stats.pairs import Floats, Ints
from gate.stats.resampling import Outcome, percentile_counts
from gate.stats.results import Interval, TestResult
from gate.stats.seeding import LADDER, borderline, enough_resamples, generator, seed_from
from gate.values import Caution

Flags = npt.NDArray[np.bool_]

FEWEST_ROWS = 50
FEWEST_OF_A_CLASS = 20
MOST_DRAWS = 500_000_000
BLOCK_CELLS = 40_000
"""Row draws that a raised number of resamples may cost; numbers held at once."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """n rows with a gold label and both systems' scores, in the caller's order; nothing depends on it.

    positive: bool[n]. baseline, candidate: float64[n], finite, a larger score is nearer to the positive
    label; equal scores are ties, and a difference in the last bit is a difference. groups: int64[n], the
    row's group (a query, a case), or None. Build with ``labelled``.
    """

    positive: Flags
    baseline: Floats
    candidate: Floats
    groups: Ints | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.positive.size)

    @property
    def positives(self) -> int:
        """Rows with the positive label."""
        return int(np.count_nonzero(self.positive))

    @property
    def negatives(self) -> int:
        """Rows with the negative label."""
        return self.n - self.positives


@dataclass(frozen=True, slots=True)
class SetLevel:
    """A metric of the whole set on both sides, and the test of candidate - baseline.

    standard_error: of the difference, in the metric's unit; NaN where it is not known.
    """

    baseline: float
    candidate: float
    standard_error: float
    test: TestResult


Metric = Callable[[Ints], Floats]
"""From how often each row occurs, int64[.., n] over any number of resamples, to the values, float64[..]."""


@dataclass(frozen=True, slots=True)
class RowStatistic:
    """A metric ready to be resampled: its value on either side as a function of how often each row occurs.

    strata: rows that are resampled apart, as int64 codes from 0; counts: how often each row occurs in the
    data. digest: SHA-256 of the sorted rows, from which the seed derives.
    """

    name: str
    baseline: Metric
    candidate: Metric
    counts: Ints
    strata: Ints
    digest: bytes


def labelled(
    labels: npt.ArrayLike,
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
) -> LabelledRows:
    """Make LabelledRows. labels: 0/1 or booleans; groups: one label a row, of any type that sorts.

    Raises ValueError where lengths differ, there are no rows, a score is not finite or a label is neither 0
    nor 1: faults of the caller, which has already refused them with the ids of the items.
    """
    old, new = np.asarray(baseline, dtype=np.float64).ravel(), np.asarray(candidate, dtype=np.float64).ravel()
    given = np.asarray(labels).ravel()
    if not given.size == old.size == new.size or given.size == 0:
        raise ValueError(f"labels and scores must pair up (found {given.size}, {old.size} and {new.size})")
    positive = given == 1
    if not np.all(positive | (given == 0)):
        raise ValueError("labels must be 0 or 1")
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        raise ValueError("scores must be finite")
    codes = None
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1].ravel().astype(np.int64)
        if codes.size != given.size:
            raise ValueError(f"groups must have one label a row (found {codes.size} for {given.size})")
    return LabelledRows(np.asarray(positive, dtype=np.bool_), old, new, codes)


def distinct_rows(rows: LabelledRows) -> tuple[LabelledRows, Ints, bytes]:
    """Rows that differ, in an order that depends on their content only, how often each occurs, and a digest.

    Groups are left aside.
    """
    old, new = rows.baseline + 0.0, rows.candidate + 0.0  # + 0.0 turns -0.0 into 0.0
    order = np.lexsort((new, old, rows.positive))
    positive, old, new = rows.positive[order], old[order], new[order]
    starts = np.ones(rows.n, dtype=np.bool_)
    starts[1:] = (positive[1:] != positive[:-1]) | (old[1:] != old[:-1]) | (new[1:] != new[:-1])
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, rows.n)).astype(np.int64)
    found = LabelledRows(positive[first], old[first], new[first])
    sha = hashlib.sha256(b"gate labelled rows 1")
    for column in (found.positive.astype("u1"), found.baseline, found.candidate, counts):
        sha.update(np.ascontiguousarray(column).tobytes())
    return found, counts, sha.digest()


def bootstrap_rows(
    statistic: RowStatistic, null_value: float, level: float, resamples: int, seed: int | None = None
) -> SetLevel:
    """Paired row bootstrap of H0 "metric(candidate) - metric(baseline) <= m" (Efron & Tibshirani 1993).

    Rows are drawn with replacement within their stratum, both systems' scores together, and the metric is
    computed anew on each side. p = (1 + #{resampled <= m}) / (B + 1); limits are the k-th resampled
    difference from each end, k = (B + 1) * level. Memory does not grow with n * B. Slightly
    liberal (.05 to .08 at .05). Resamples that all agree have no spread: p = 1, no limits, insufficient.
    """
    before, after = float(statistic.baseline(statistic.counts)), float(statistic.candidate(statistic.counts))
    count = enough_resamples(resamples, level)
    for more in (count, *(step for step in LADDER if step > count)):
        if more > count and more * int(statistic.counts.sum()) > MOST_DRAWS:
            break
        count = more
        used = (
            seed_from(f"bootstrap_rows {statistic.name}", count, statistic.digest) if seed is None else seed
        )
        deltas = _resampled(statistic, count, used)
        if deltas.min() == deltas.max():
            return no_spread(
                "bootstrap_rows", int(statistic.counts.sum()), (before, after), null_value, level
            )
        outcome = percentile_counts(deltas, null_value, level)
        near = borderline(outcome.greater, level, count) or borderline(outcome.less, level, count)
        if not near:
            break
    result = _result(statistic, round_delta(before, after), outcome, null_value, level, count, used)
    if near:
        note = Caution(
            "mc_borderline", f"p is within the Monte Carlo error of the level ({count:,} resamples)"
        )
        result = replace(result, cautions=(note,))
    return SetLevel(before, after, float(np.std(deltas, ddof=1)), result)


def no_spread(
    method: str, n: int, sides: tuple[float, float], null_value: float, level: float, reason: str = ""
) -> SetLevel:
    """Two systems whose difference shows no spread: p = 1, no limits; never a pass."""
    result = TestResult(
        method=method,
        n=n,
        estimate=sides[1] - sides[0],
        null_value=null_value,
        p_greater=1.0,
        p_less=1.0,
        p_two_sided=1.0,
        interval=Interval(-math.inf, math.inf, 1 - 2 * level, method),
        estimand_value=sides[1] - sides[0],
        insufficient=reason or "the difference shows no spread: this set cannot weigh the two systems",
    )
    return SetLevel(*sides, math.nan, result)


def round_delta(before: float, after: float) -> float:
    """Difference of two metric values without the noise beyond 12 decimals, so that "equal to m" survives."""
    return round(after - before, 12) + 0.0


def one_label(n: int) -> str:
    """Why a metric that needs positives and negatives has no value."""
    return f"all {n} rows have one label: the metric needs positives and negatives"


def too_few_rows(found: SetLevel, n: int, positives: int, negatives: int, fewest_of_a_class: int) -> SetLevel:
    """Refuse below 50 rows and below the fewest positives or negatives; the numbers stay."""
    reason = ""
    if n < FEWEST_ROWS:
        reason = f"metrics of a whole set need at least {FEWEST_ROWS} rows (found {n})"
    elif min(positives, negatives) < fewest_of_a_class:
        few, name = min((positives, "positive"), (negatives, "negative"))
        reason = f"at least {fewest_of_a_class} {name} rows are needed (found {few})"
    return insufficient(found, reason)


def too_few_changes(found: SetLevel, changed: int, level: float, what: str) -> SetLevel:
    """Refuse where even a clean sweep of the rows that changed could not reach the level: 2^-changed."""
    floor = 0.5**changed
    if floor < level:
        return found
    return insufficient(
        found,
        f"only {changed} {what}: even if all of them were gains, their exact p would be {floor:.4g} "
        f"(level {level:g})",
    )


def insufficient(found: SetLevel, reason: str) -> SetLevel:
    """With a reason why no claim rests on it; the first reason given stays."""
    if not reason or found.test.insufficient:
        return found
    return replace(found, test=replace(found.test, insufficient=reason))


def _resampled(statistic: RowStatistic, count: int, seed: int) -> Floats:
    """`count` differences of the metric, in blocks."""
    rng = generator(seed)
    parts = [np.flatnonzero(statistic.strata == stratum) for stratum in np.unique(statistic.strata)]
    step = max(1, BLOCK_CELLS // statistic.counts.size)
    found = np.empty(count)
    for start in range(0, count, step):
        rows = min(step, count - start)
        times = np.empty((rows, statistic.counts.size), dtype=np.int64)
        for part in parts:
            times[:, part] = _drawn(statistic.counts[part], rows, rng)
        found[start : start + rows] = statistic.candidate(times) - statistic.baseline(times)
    return np.asarray(np.round(found, 12) + 0.0, dtype=np.float64)


def _drawn(counts: Ints, rows: int, rng: np.random.Generator) -> Ints:
    """How often each row occurs when as many as there are are drawn with replacement; int64[rows, size]."""
    total = int(counts.sum())
    if counts.size * 8 <= total:  # few distinct rows: draw how often, not which
        return rng.multinomial(total, counts / total, size=rows)
    chosen = rng.integers(0, total, size=(rows, total))
    if counts.size < total:
        chosen = np.searchsorted(np.cumsum(counts), chosen, "right")
    chosen += counts.size * np.arange(rows)[:, None]
    return np.bincount(chosen.ravel(), minlength=rows * counts.size).reshape(rows, counts.size)


def _result(
    statistic: RowStatistic,
    delta: float,
    outcome: Outcome,
    null_value: float,
    level: float,
    resamples: int,
    seed: int,
) -> TestResult:
    return TestResult(
        method="bootstrap_rows",
        n=int(statistic.counts.sum()),
        estimate=delta,
        null_value=null_value,
        p_greater=clip_p(outcome.greater),
        p_less=clip_p(outcome.less),
        p_two_sided=clip_p(2 * min(outcome.greater, outcome.less)),
        interval=Interval(outcome.low, outcome.high, 1 - 2 * level, "bootstrap_rows"),
        estimand_value=delta,
        smallest_p=outcome.floor,
        resamples=resamples,
        seed=seed,
    )

"""Metrics of a ranking by score, on rows that occur any number of times.

Each ``..._metric`` sorts once and returns a function of the counts, so that a resample costs no sort. Rows
with equal scores are one threshold: none of them comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gate.stats.labelled import Flags, LabelledRows, Metric, distinct_rows, nothing, row_resampling
from gate.stats.pairs import Floats, Ints
from gate.stats.results import Interval, Settings
from gate.stats.set_level import (
    FEWEST_OF_A_CLASS,
    Resampling,
    SetLevel,
    WholeSet,
    bootstrap_rows,
    few_rows,
    insufficient,
    no_spread,
    one_label,
    too_few_changes,
    too_few_rows,
)

FEWEST_INSIDE = 20
Maker = Callable[[Flags, Floats], Metric]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows by falling score. order, positive: int64[n], in that order; ends: last row of each tie."""

    order: Ints
    positive: Ints
    ends: Ints | None

    def totals(self, times: Ints) -> tuple[Ints, Ints]:
        """Positives and rows at or above each distinct score, rows counted as int64[.., n] says."""
        drawn = times[..., self.order]
        hits, seen = np.cumsum(drawn * self.positive, axis=-1), np.cumsum(drawn, axis=-1)
        return (hits, seen) if self.ends is None else (hits[..., self.ends], seen[..., self.ends])


def ranking(positive: Flags, scores: Floats) -> Ranking:
    """Sort once."""
    order = np.argsort(-scores).astype(np.int64)
    ordered = scores[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    ends = None if last.all() else np.flatnonzero(last).astype(np.int64)
    return Ranking(order, positive[order].astype(np.int64), ends)


def auc_metric(positive: Flags, scores: Floats) -> Metric:
    """Area under the ROC curve: P(positive scores higher) + P(tie) / 2. One class only: 0."""
    ranked = ranking(positive, scores)

    def value(times: Ints) -> Floats:
        hits, seen = ranked.totals(times)
        misses = seen - hits
        fallen = np.diff(misses, axis=-1, prepend=0)
        won = 2 * hits - np.diff(hits, axis=-1, prepend=0)  # a tied positive wins half
        pairs = 2 * hits[..., -1] * misses[..., -1]
        return np.asarray(np.sum(fallen * won, axis=-1) / np.maximum(pairs, 1))

    return value


def average_precision_metric(positive: Flags, scores: Floats) -> Metric:
    """Sum over distinct scores of (recall step) * precision, no interpolation. No positives: 0."""
    ranked = ranking(positive, scores)

    def value(times: Ints) -> Floats:
        hits, seen = ranked.totals(times)
        steps = np.diff(hits, axis=-1, prepend=0)
        area = np.sum(steps * (hits / np.maximum(seen, 1)), axis=-1)
        return np.asarray(area / np.maximum(hits[..., -1], 1))

    return value


def precision_at_metric(positive: Flags, scores: Floats, k: float) -> Metric:
    """Share of positives among the k best rows; rows tied at the cut share the places that are left.

    k: a share of the rows where it is below 1, else a number of rows. Fewer than k rows: the missing ones
    count as negatives.
    """
    return _at_cut(positive, scores, k, lambda cut: cut.hits / cut.depth)


def recall_at_metric(positive: Flags, scores: Floats, k: float) -> Metric:
    """Share of all positives among the k best rows, ties at the cut shared. No positives: 0."""
    return _at_cut(positive, scores, k, lambda cut: cut.hits / np.maximum(cut.positives, 1))


def lift_at_metric(positive: Flags, scores: Floats, k: float) -> Metric:
    """Precision among the k best rows over the share of positives in all rows. No positives: 0."""
    return _at_cut(
        positive,
        scores,
        k,
        lambda cut: cut.hits / cut.depth * cut.n / np.maximum(cut.positives, 1),
    )


class Cut(NamedTuple):
    """The k best rows of one sample: positives among them (ties shared), k, positives and rows in all."""

    hits: Floats
    depth: int
    positives: Ints
    n: int


def depth(k: float, n: int) -> int:
    """How many rows are the k best of n: k < 1 is a share of n, rounded, at least one row."""
    return max(1, math.floor(k * n + 0.5)) if k < 1 else int(k)


def placements(positive: Flags, scores: Floats) -> Ints:
    """Per row, twice the number of rows of the other class with a lower score, ties counted once; int[n].

    The sum over the positive rows is 2 * positives * negatives * AUC.
    """
    n = scores.size
    kind: Any = np.int32 if n < 2**30 else np.int64  # half the memory, and most of the time is memory's
    order = np.argsort(scores)
    ordered, is_positive = scores[order], positive[order]
    negatives = np.zeros(n + 1, dtype=kind)
    np.cumsum(~is_positive, out=negatives[1:], dtype=kind)
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if starts.size == n - 1:  # no ties
        below = negatives[:-1] + negatives[1:]
        twice_rank = np.arange(1, 2 * n, 2, dtype=kind)
    else:
        edges = np.concatenate([[0], starts, [n]])
        sizes = np.diff(edges)
        below = np.repeat(negatives[edges[:-1]] + negatives[edges[1:]], sizes)
        twice_rank = np.repeat((edges[:-1] + edges[1:]).astype(kind), sizes)
    found: Ints = np.empty(n, dtype=kind)
    found[order] = np.where(is_positive, below, twice_rank - below)
    return found


def average_precision(rows: LabelledRows, ask: Settings) -> SetLevel:
    """Row bootstrap of H0 "AP(candidate) - AP(baseline) <= m", positives and negatives drawn apart.

    Average precision as in ``average_precision_metric``; no positives: insufficient.
    """
    found = bootstrapped("average_precision", rows, average_precision_metric, ask, by_label=True)
    moved = placements(rows.positive, rows.baseline) != placements(rows.positive, rows.candidate)
    changed = int(min(np.count_nonzero(moved[rows.positive]), np.count_nonzero(moved[~rows.positive])))
    return too_few_changes(found, changed, ask.level, "rows of one class changed their place among the other")


def precision_at_k(rows: LabelledRows, k: float, ask: Settings) -> SetLevel:
    """Row bootstrap of the difference of precision@k; the k best are chosen anew in every resample."""

    def make(positive: Flags, scores: Floats) -> Metric:
        return precision_at_metric(positive, scores, k)

    return _within_cut(f"precision_at_k {k!r}", rows, k, make, ask, by_label=False)


def recall_at_k(rows: LabelledRows, k: float, ask: Settings) -> SetLevel:
    """Row bootstrap of the difference of recall@k, as ``precision_at_k``."""

    def make(positive: Flags, scores: Floats) -> Metric:
        return recall_at_metric(positive, scores, k)

    return _within_cut(f"recall_at_k {k!r}", rows, k, make, ask, by_label=False)


def lift_at_k(rows: LabelledRows, k: float, ask: Settings) -> SetLevel:
    """Row bootstrap of the difference of lift@k, positives and negatives drawn apart."""

    def make(positive: Flags, scores: Floats) -> Metric:
        return lift_at_metric(positive, scores, k)

    return _within_cut(f"lift_at_k {k!r}", rows, k, make, ask, by_label=True)


@dataclass(frozen=True, slots=True)
class GroupValues:
    """A ranking metric within each group (a query, a case), for any test of the mean over groups.

    groups: int64[g], codes of the groups that have a value; baseline, candidate: float64[g], their values.
    """

    groups: Ints
    baseline: Floats
    candidate: Floats


def group_values(rows: LabelledRows, make: Maker, *, needs_positive: bool = True) -> GroupValues:
    """The metric of each group on both sides. make: e.g. ``average_precision_metric``.

    needs_positive: False for precision@k, which is 0 where a group has no positive row.
    """
    if rows.groups is None:
        raise ValueError("rows have no groups")
    order = np.argsort(rows.groups, kind="stable")
    edges = np.flatnonzero(np.diff(rows.groups[order])) + 1
    groups, old, new = [], [], []
    for members in np.split(order, edges):
        positive = rows.positive[members]
        if needs_positive and not positive.any():
            continue
        once = np.ones(members.size, dtype=np.int64)
        groups.append(int(rows.groups[members[0]]))
        old.append(float(make(positive, rows.baseline[members])(once)))
        new.append(float(make(positive, rows.candidate[members])(once)))
    return GroupValues(np.array(groups, dtype=np.int64), np.array(old), np.array(new))


def bootstrapped(name: str, rows: LabelledRows, make: Maker, ask: Settings, *, by_label: bool) -> SetLevel:
    """Row bootstrap of a ranking metric; by_label: positives and negatives are drawn apart."""
    if rows.positives == 0 or rows.negatives == 0:
        return no_spread("bootstrap_rows", rows.n, (math.nan, math.nan), ask, one_label(rows.n))
    found = bootstrap_rows(rows.plan(name, lambda: _plan(name, rows, make, by_label=by_label)), ask)
    return too_few_rows(found, rows.n, rows.positives, rows.negatives, FEWEST_OF_A_CLASS)


def alone(rows: LabelledRows, make: Maker, level: float, *, by_label: bool) -> tuple[Interval, str]:
    """Percentile interval of the candidate's own value by the row bootstrap, and why there is none."""
    if rows.positives == 0 or rows.negatives == 0:
        found = no_spread(
            "bootstrap_rows", rows.n, (math.nan, math.nan), Settings(0.0, level), one_label(rows.n)
        )
    else:
        plan = _plan("alone", rows, make, by_label=by_label, beside=nothing)
        found = bootstrap_rows(plan, Settings(0.0, level))
    return found.test.interval, found.test.insufficient


def _plan(
    name: str, rows: LabelledRows, make: Maker, *, by_label: bool, beside: Metric | None = None
) -> Resampling:
    """beside: what stands in the baseline's place."""
    distinct, counts, digest = distinct_rows(rows)
    strata = distinct.positive.astype(np.int64) if by_label else np.zeros(counts.size, dtype=np.int64)
    baseline = beside or make(distinct.positive, distinct.baseline)
    sides = (baseline, make(distinct.positive, distinct.candidate))
    return row_resampling(name, sides, counts, strata, digest)


def ranked_set(
    rows: LabelledRows, make: Maker, test: Callable[[Settings], SetLevel], *, by_label: bool
) -> WholeSet:
    """A ranking metric, with its row bootstrap, as a sample. test: one of this module's, on these rows."""
    once = np.ones(rows.n, dtype=np.int64)
    sides = tuple(float(make(rows.positive, s)(once)) for s in (rows.baseline, rows.candidate))
    return WholeSet(
        rows.n,
        (sides[0], sides[1]) if rows.positives and rows.negatives else (math.nan, math.nan),
        {"bootstrap_rows": test},
        lambda level: alone(rows, make, level, by_label=by_label),
        few_rows(rows.n, rows.positives, rows.negatives, FEWEST_OF_A_CLASS),
    )


def _within_cut(
    name: str, rows: LabelledRows, k: float, make: Maker, ask: Settings, *, by_label: bool
) -> SetLevel:
    deep = depth(k, rows.n)
    if deep > rows.n:
        reason = f"k is larger than the set (found k = {deep}, {rows.n} rows)"
        return no_spread("bootstrap_rows", rows.n, (math.nan, math.nan), ask, reason)
    found = bootstrapped(name, rows, make, ask, by_label=by_label)
    if deep < FEWEST_INSIDE:
        found = insufficient(found, f"at least {FEWEST_INSIDE} rows must lie inside k (found {deep})")
    moved = _inside(rows.baseline, deep) != _inside(rows.candidate, deep)
    changed = int(np.count_nonzero(moved[rows.positive]))
    return too_few_changes(found, changed, ask.level, "positive rows entered or left the k best")


def _inside(scores: Floats, deep: int) -> Floats:
    """How much of each row lies among the `deep` best: 1, 0, or the share that rows tied at the cut have."""
    if deep >= scores.size:
        return np.ones(scores.size)
    cut = np.partition(scores, scores.size - deep)[scores.size - deep]
    above, tied = scores > cut, scores == cut
    share = (deep - np.count_nonzero(above)) / np.count_nonzero(tied)
    return np.where(above, 1.0, np.where(tied, share, 0.0))


def _at_cut(positive: Flags, scores: Floats, k: float, value_of: Callable[[Cut], Floats]) -> Metric:
    ranked = ranking(positive, scores)

    def value(times: Ints) -> Floats:
        hits, seen = ranked.totals(times)
        n = int(seen.flat[-1])  # as many in every resample
        deep = depth(k, n)
        reached = seen >= min(deep, n)
        at = np.argmax(reached, axis=-1)[..., None]
        through_hits, through = _take(hits, at), _take(seen, at)
        above_hits, above = (np.where(at > 0, _take(x, np.maximum(at - 1, 0)), 0) for x in (hits, seen))
        share = np.minimum((deep - above) / (through - above), 1.0)
        inside = np.asarray(above_hits + share * (through_hits - above_hits), dtype=np.float64)[..., 0]
        return np.asarray(value_of(Cut(inside, deep, hits[..., -1], n)))

    return value


def _take(totals: Ints, at: Ints) -> Ints:
    return np.take_along_axis(totals, at, axis=-1)

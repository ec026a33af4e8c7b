"""Metrics of the whole set: one value a side from all rows, their gold labels and both systems' scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from gate.artifacts.table import FloatArray
from gate.estimands.model import Estimand, Sides, Spread
from gate.estimands.selection import OneSide, Selection
from gate.pairing.model import IndexArray, PairedMetric, PairedTable
from gate.policy.kinds import KINDS
from gate.stats import ranking
from gate.stats.auc import auc_set
from gate.stats.confusion import confusion_set, joint_cells
from gate.stats.labelled import LabelledRows, labelled
from gate.stats.prediction_powered import judged_set
from gate.stats.quantiles import quantile_set
from gate.stats.ranking import Maker, ranked_set
from gate.stats.ratios import ratio_rows, ratio_set
from gate.stats.results import Interval
from gate.stats.set_level import WholeSet

DEFAULT_THRESHOLD = 0.5


class Cut(NamedTuple):
    """What a kind is told: the k best rows, the scores from a threshold on, a quantile, a second column."""

    k: float = 1.0
    threshold: float = DEFAULT_THRESHOLD
    q: float = 0.5
    denominator: str = ""
    human: str = ""


class Rows(NamedTuple):
    """The items that both sides have a value on. sign: -1 where a lower value is better."""

    table: PairedTable
    positions: IndexArray
    baseline: FloatArray
    candidate: FloatArray
    sign: float = 1.0


def of_the_whole_set(kind: str, cut: Cut) -> Estimand:
    """The metric of this kind: no item has a value of its own, and a share of the baseline is an amount."""
    build = _SETS.get(kind, _confusion)

    def make(rows: Rows) -> WholeSet:
        return build(rows, kind, cut)

    return Estimand(
        default_test=lambda _null_value, _assurance: _DEFAULTS.get(kind, "bootstrap_rows"),
        sample=lambda selection, _shift: _sample(make, selection),
        sides=lambda selection: _sides(_sample(make, selection), selection.sign),
        spread=lambda selection: _spread(_sample(make, selection), selection.n),
        units=lambda _selection, mask: int(mask.sum()),
        unit_gains=lambda selection: selection.gains,
        one_side=lambda side, level, _scale: _alone(make, side, level),
        value=lambda side: _value(make, side),
        too_small=lambda selection: _sample(make, selection).too_small,
        ends=KINDS[kind].ends,
        by_item=False,
        relative_by_item=False,
    )


Make = Callable[[Rows], WholeSet]


def _labelled(rows: Rows) -> LabelledRows:
    assert rows.table.positive is not None, "this kind of metric has gold labels"
    return labelled(rows.table.positive[rows.positions], rows.baseline, rows.candidate)


def _sample(make: Make, selection: Selection) -> WholeSet:
    """Made once of each selection: with it the draws that its tests share."""
    if "set" not in selection.samples:
        rows = Rows(
            selection.table, selection.positions, selection.baseline, selection.candidate, selection.sign
        )
        selection.samples["set"] = make(rows)
    found: WholeSet = selection.samples["set"]
    return found


def _sides(whole: WholeSet, sign: float) -> Sides:
    baseline, candidate = whole.sides
    delta = round(sign * (candidate - baseline), 12) + 0.0
    return Sides(baseline, None, candidate, delta, 0, 0)


def _spread(whole: WholeSet, n: int) -> Spread:
    error = whole.standard_error
    known = math.isfinite(error) and error > 0
    return Spread(None, None, error**2 * n if known else None)


def _beside_itself(make: Make, side: OneSide) -> WholeSet:
    table = side.table
    if side.name == "baseline":  # a sample whose two sides are this one
        table = replace(table, metrics={name: _turned(metric) for name, metric in table.metrics.items()})
    return make(Rows(table, side.positions, side.values, side.values))


def _turned(metric: PairedMetric) -> PairedMetric:
    return replace(metric, candidate=metric.baseline)


def _value(make: Make, side: OneSide) -> float | None:
    found = _beside_itself(make, side).sides[1] if len(side.values) else math.nan
    return found if math.isfinite(found) else None


def _alone(make: Make, side: OneSide, level: float) -> tuple[Interval, str]:
    """Unbounded where the rows are too few: then no limit is proven."""
    whole = _beside_itself(make, side)
    interval, why = whole.alone(level)
    why = whole.too_small or why
    return (replace(interval, low=-math.inf, high=math.inf) if why else interval), why


def _auc(rows: Rows, kind: str, cut: Cut) -> WholeSet:  # noqa: ARG001
    return auc_set(_labelled(rows))


def _average_precision(given: Rows, kind: str, cut: Cut) -> WholeSet:  # noqa: ARG001
    rows = _labelled(given)
    test = partial(ranking.average_precision, rows)
    return ranked_set(rows, ranking.average_precision_metric, test, by_label=True)


def _at_k(given: Rows, kind: str, cut: Cut) -> WholeSet:
    rows, test = _labelled(given), getattr(ranking, kind)
    return ranked_set(
        rows, maker(kind, cut), lambda ask: test(rows, cut.k, ask), by_label=kind == "lift_at_k"
    )


def maker(kind: str, cut: Cut) -> Maker:
    """The ranking metric of a kind, of any rows."""
    if kind == "average_precision":
        return ranking.average_precision_metric
    metric = {
        "precision_at_k": ranking.precision_at_metric,
        "recall_at_k": ranking.recall_at_metric,
        "lift_at_k": ranking.lift_at_metric,
    }[kind]
    return lambda positive, scores: metric(positive, scores, cut.k)


def _confusion(given: Rows, kind: str, cut: Cut) -> WholeSet:
    rows = _labelled(given)
    said = (np.asarray(scores >= cut.threshold) for scores in (rows.baseline, rows.candidate))
    return confusion_set(joint_cells(rows.positive, *said), kind)


def _quantile(rows: Rows, kind: str, cut: Cut) -> WholeSet:  # noqa: ARG001
    return quantile_set(rows.baseline, rows.candidate, cut.q, lower_is_better=rows.sign < 0)


def _ratio(rows: Rows, kind: str, cut: Cut) -> WholeSet:  # noqa: ARG001
    """Of the sums of whole clusters where there are any: they are the units then."""
    below = rows.table.metrics[cut.denominator]
    columns = [
        rows.baseline,
        below.baseline[rows.positions],
        rows.candidate,
        below.candidate[rows.positions],
    ]
    if rows.table.clusters is not None:
        codes = np.unique(rows.table.clusters[rows.positions], return_inverse=True)[1]
        columns = [np.bincount(codes, weights=column).astype(np.float64) for column in columns]
    return ratio_set(ratio_rows(*columns), lower_is_better=rows.sign < 0)


def _judged(rows: Rows, kind: str, cut: Cut) -> WholeSet:  # noqa: ARG001
    people = rows.table.metrics[cut.human]
    human = people.baseline[rows.positions], people.candidate[rows.positions]
    return judged_set(rows.baseline, rows.candidate, *human, lower_is_better=rows.sign < 0)


_DEFAULTS = {"auc": "delong", "ratio": "ratio_delta", "judged": "prediction_powered"}
_SETS: dict[str, Callable[[Rows, str, Cut], WholeSet]] = {
    "quantile": _quantile,
    "ratio": _ratio,
    "judged": _judged,
    "auc": _auc,
    "average_precision": _average_precision,
    "precision_at_k": _at_k,
    "recall_at_k": _at_k,
    "lift_at_k": _at_k,
}

"""F1 and its like, from eight cells: the joint counts of label, baseline's and candidate's prediction."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from gate.stats.pairs import Floats, Ints
from gate.stats.results import Interval, Settings
from gate.stats.set_level import (
    FEWEST_OF_A_CLASS,
    Resampling,
    SetLevel,
    WholeSet,
    bootstrap_rows,
    few_rows,
    no_spread,
    one_label,
    too_few_changes,
    too_few_rows,
)

Measure = Callable[[Floats, Floats, Floats, Floats], Floats]
"""From true positives, false positives, false negatives and true negatives, any shape, to the measure."""


def joint_cells(labels: npt.ArrayLike, baseline: npt.ArrayLike, candidate: npt.ArrayLike) -> Ints:
    """counts[label, baseline says positive, candidate says positive], int64[2, 2, 2], of n rows.

    All three are 0/1 or booleans; a score becomes a prediction by ``score >= threshold``.
    Raises ValueError on lengths that differ, on no rows and on other values.
    """
    columns = [np.asarray(column).ravel() for column in (labels, baseline, candidate)]
    if len({column.size for column in columns}) > 1 or columns[0].size == 0:
        raise ValueError(f"labels and predictions must pair up (found {[c.size for c in columns]})")
    code = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        yes = column == 1
        if not np.all(yes | (column == 0)):
            raise ValueError("labels and predictions must be 0 or 1")
        code = 2 * code + yes
    return np.bincount(code, minlength=8).reshape(2, 2, 2)


def confusion_test(cells: Ints, measure: str, ask: Settings) -> SetLevel:
    """Row bootstrap of H0 "measure(candidate) - measure(baseline) <= m" from joint cells.

    measure: a key of ``MEASURES``. Resampling n rows within each label is drawing multinomial counts of the
    label's four cells, so the cost does not grow with n. 0 / 0 in a resample counts as 0.
    """
    of = MEASURES[measure]
    n, positives = int(cells.sum()), int(cells[1].sum())
    if positives in {0, n}:
        return no_spread("bootstrap_rows", n, (math.nan, math.nan), ask, one_label(n))

    def sides(drawn: Floats) -> tuple[Floats, Floats]:
        """drawn: float64[.., 2, 2, 2]."""

        def one(x: Floats) -> Floats:  # [.., label, says positive]
            return of(x[..., 1, 1], x[..., 0, 1], x[..., 1, 0], x[..., 0, 0])

        old, new = _by_side(drawn)
        return one(old), one(new)

    def draw(count: int, rng: np.random.Generator) -> Floats:
        drawn = np.empty((count, 2, 2, 2))
        for label in (0, 1):
            total = int(cells[label].sum())
            shares = cells[label].ravel() / total
            drawn[:, label] = rng.multinomial(total, shares, size=count).reshape(count, 2, 2)
        old, new = sides(drawn)
        return new - old

    old, new = sides(cells.astype(np.float64))
    digest = hashlib.sha256(b"gate joint cells 1" + cells.astype("<i8").tobytes()).digest()
    plan = Resampling(measure, n, float(old), float(new), digest, 8, draw)
    found = bootstrap_rows(plan, ask)
    found = too_few_rows(found, n, positives, n - positives, FEWEST_OF_A_CLASS)
    changed = int(cells[:, 0, 1].sum() + cells[:, 1, 0].sum())
    return too_few_changes(found, changed, ask.level, "rows are predicted differently")


def confusion_set(cells: Ints, measure: str) -> WholeSet:
    """A measure of the joint cells, with its row bootstrap, as a sample."""

    def alone(level: float) -> tuple[Interval, str]:
        """Beside predictions that are all negative, whose measure is the same in every resample."""
        found = confusion_test(_beside_negatives(cells), measure, Settings(0.0, level))
        low, high = found.test.interval.low + found.baseline, found.test.interval.high + found.baseline
        return Interval(low, high, 1 - 2 * level, found.test.method), found.test.insufficient

    n, positives = int(cells.sum()), int(cells[1].sum())
    of = MEASURES[measure]
    old, new = (of(x[1, 1], x[0, 1], x[1, 0], x[0, 0]) for x in _by_side(cells.astype(np.float64)))
    both = 0 < positives < n
    return WholeSet(
        n,
        (float(old), float(new)) if both else (math.nan, math.nan),
        {"bootstrap_rows": lambda ask: confusion_test(cells, measure, ask)},
        alone,
        few_rows(n, positives, n - positives, FEWEST_OF_A_CLASS),
    )


def _beside_negatives(cells: Ints) -> Ints:
    found = np.zeros_like(cells)
    found[:, 0, :] = cells.sum(axis=1)
    return found


def _by_side(cells: Floats) -> tuple[Floats, Floats]:
    """[.., label, says positive] of the baseline and of the candidate."""
    return cells.sum(axis=-1), cells.sum(axis=-2)


def f1(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:  # noqa: ARG001
    """2 tp / (2 tp + fp + fn): harmonic mean of precision and recall (van Rijsbergen 1979)."""
    return _ratio(2 * tp, 2 * tp + fp + fn)


def precision(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:  # noqa: ARG001
    """tp / (tp + fp)."""
    return _ratio(tp, tp + fp)


def recall(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:  # noqa: ARG001
    """tp / (tp + fn)."""
    return _ratio(tp, tp + fn)


def balanced_accuracy(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Mean of the recalls of both labels."""
    return 0.5 * (_ratio(tp, tp + fn) + _ratio(tn, tn + fp))


def matthews(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    """Matthews' correlation coefficient of label and prediction (Matthews 1975)."""
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return _ratio(tp * tn - fp * fn, np.sqrt(product))


MEASURES: Mapping[str, Measure] = {
    "f1": f1,
    "precision": precision,
    "recall": recall,
    "balanced_accuracy": balanced_accuracy,
    "matthews": matthews,
}


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.asarray(np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0))

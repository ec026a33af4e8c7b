"""Graded metrics: the mean over independent items of a number per item."""

from __future__ import annotations

import math

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.estimands.model import Estimand, Scale, Sides, Spread
from gate.estimands.selection import OneSide, Selection, oriented_pairs
from gate.stats import reference, single
from gate.stats.results import Interval


def default_test(_null_value: float, assurance: str) -> str:
    """The t test guarded against skewness, or the bounded-mean test where a guarantee is asked for."""
    return "gaffke" if assurance == "guaranteed" else "t_guarded"


def sides(selection: Selection) -> Sides:
    """Means of both sides and their difference."""
    pairs = oriented_pairs(selection)
    return Sides(
        baseline=selection.sign * float(np.mean(pairs.baseline)) + 0.0,
        baseline_error=mean_error(np.sort(selection.baseline) - np.mean(np.sort(selection.baseline))),
        candidate=selection.sign * float(np.mean(pairs.candidate)) + 0.0,
        delta=pairs.mean(),
        better=pairs.b,
        worse=pairs.c,
    )


def mean_error(totals: FloatArray, items: int | None = None) -> float | None:
    """Standard error of a mean over items, from the ascending sums of (value - mean) in each unit."""
    units = len(totals)
    if units < 2:
        return None
    error = math.sqrt(units / (units - 1) * float(np.sum(totals**2))) / (items or units)
    return error if math.isfinite(error) else None


def spread(selection: Selection) -> Spread:
    """Of independent items."""
    pairs = oriented_pairs(selection)
    sd = reference.sd_difference(pairs)
    return Spread(sd, reference.correlation(pairs), sd**2 if sd else None)


def _units(_selection: Selection, mask: BoolArray) -> int:
    return int(mask.sum())


def _unit_gains(selection: Selection) -> FloatArray:
    return selection.gains


def _one_side(side: OneSide, level: float, scale: Scale) -> tuple[Interval, str]:
    found = single.mean(np.sort(side.values), level, scale)
    return found.interval, found.insufficient


GRADED = Estimand(default_test, oriented_pairs, sides, spread, _units, _unit_gains, _one_side)

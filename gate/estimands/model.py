"""What is estimated of one kind of metric, and what the rest of the gate may ask about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.estimands.selection import OneSide, Selection
from gate.stats.cluster_data import Clusters
from gate.stats.pairs import Pairs
from gate.stats.results import Interval
from gate.stats.set_level import WholeSet

Scale = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides and their difference. delta: after direction, positive is better.

    baseline, candidate: in the metric's unit. baseline_error: standard error of the first, None where it is
    unknown. better, worse: items on which the candidate is so (pass/fail: b and c).
    """

    baseline: float
    baseline_error: float | None
    candidate: float
    delta: float
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How the items differ. variance: of an item's difference as far as the standard error of the delta knows
    it, sqrt(variance / n); None where that is unknown, so that nobody can say what would be seen."""

    sd_difference: float | None
    correlation: float | None
    variance: float | None


def mean_value(side: OneSide) -> float | None:
    """The mean over items, in an order that their ids do not change."""
    return float(np.sort(side.values).mean()) if len(side.values) else None


@dataclass(frozen=True, slots=True)
class Estimand:
    """One way to read a metric. Every question about kinds of metrics is asked here.

    default_test: (null value, assurance) -> the test that ``auto`` means. sample: (selection, shift) -> what
    tests are given; shift r makes the tested difference gain - r * baseline. sides, spread: what is reported
    beside every test. units: (selection, mask) -> number of independent units (items, clusters) in the mask;
    unit_gains: the gain of each of them. one_side: (one side, level, scale) -> interval of its value, and why
    it is unknown; value: that value, None where it has none. unit_facts: what is reported of the units.
    too_small: why no rule may rest on so few rows.

    ends: the lowest and highest value that every metric of this kind can take, None where a policy says.
    pass_fail: each result is one pass or fail: discordant pairs, intervals on request, flips to a turn.
    exact_test: null value -> the exact test that is asked beside an approximate one. by_item: the delta is
    the mean of the items' own, so that an item can be said to have changed. relative_by_item: a share of the
    baseline is taken item by item.
    """

    default_test: Callable[[float, str], str]
    sample: Callable[[Selection, float], Pairs | Clusters | WholeSet]
    sides: Callable[[Selection], Sides]
    spread: Callable[[Selection], Spread]
    units: Callable[[Selection, BoolArray], int]
    unit_gains: Callable[[Selection], FloatArray]
    one_side: Callable[[OneSide, float, Scale], tuple[Interval, str]]
    value: Callable[[OneSide], float | None] = mean_value
    too_small: Callable[[Selection], str] = lambda _: ""
    unit_facts: Callable[[Selection], Mapping[str, Any]] = field(default=lambda _: {})
    ends: Scale = None
    exact_test: Callable[[float], str] | None = None
    pass_fail: bool = False
    by_item: bool = True
    relative_by_item: bool = True

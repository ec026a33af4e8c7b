"""From a paired table to the oriented, sorted pairs of one metric on one subset of items."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.pairing import PairedMetric, PairedTable
from gate.pairing.model import IndexArray
from gate.stats.pairs import Pairs, pair, tidy

FEW_UNEQUAL = 0.05
"""Share of items that may lack a run on one side before a test of mirrored differences is refused."""


@dataclass(frozen=True, slots=True)
class Selection:
    """One metric on the items where both sides have a value.

    positions: index of each pair in the table. baseline, candidate: values in the metric's own unit, in the
    order of ``positions``. gains: difference per pair after direction, positive is better; exact decimals
    subtract exactly. sign: +1 for higher-is-better, -1 for lower-is-better. samples: what was made of it.
    """

    table: PairedTable
    metric: PairedMetric
    positions: IndexArray
    baseline: FloatArray
    candidate: FloatArray
    gains: FloatArray
    sign: float
    samples: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _pairs: dict[float, Pairs] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.positions)

    @property
    def unequal_runs(self) -> bool:
        """Whether more than a few items have other numbers of runs on the two sides."""
        if self.metric.runs is None:
            return False
        first, second = ((~np.isnan(runs[self.positions])).sum(axis=1) for runs in self.metric.runs)
        return bool((first != second).mean() > FEW_UNEQUAL)


@dataclass(frozen=True, slots=True)
class OneSide:
    """The values of one side, and where their items stand in the table."""

    table: PairedTable
    name: Literal["baseline", "candidate"]
    positions: IndexArray
    values: FloatArray

    @property
    def clusters(self) -> IndexArray | None:
        """The clusters of these items, None where there are none."""
        return None if self.table.clusters is None else self.table.clusters[self.positions]


def one_side(table: PairedTable, metric: PairedMetric, name: Literal["baseline", "candidate"]) -> OneSide:
    """The items that have a value on this side."""
    values = metric.baseline if name == "baseline" else metric.candidate
    positions = np.flatnonzero(np.isfinite(values))
    return OneSide(table, name, positions, values[positions])


def select(
    table: PairedTable, metric: PairedMetric, direction: str, mask: BoolArray | None = None
) -> Selection:
    """The pairs of one metric, optionally on a subset of the table's items."""
    usable = np.isfinite(metric.baseline) & np.isfinite(metric.candidate)
    if mask is not None:
        usable &= mask
    positions = np.flatnonzero(usable)
    baseline, candidate = metric.baseline[positions], metric.candidate[positions]
    sign = -1.0 if direction == "lower" else 1.0  # what is only watched may have no direction
    return Selection(
        table=table,
        metric=metric,
        positions=positions,
        baseline=baseline,
        candidate=candidate,
        gains=tidy(sign * (candidate - baseline), candidate, baseline),
        sign=sign,
    )


def oriented_pairs(selection: Selection, shift: float = 0.0) -> Pairs:
    """Pairs in which larger is better, sorted by value; sorted once for all that is asked of a selection.

    shift r: the tested difference is gain - r * baseline (in the metric's own unit), for relative margins.
    """
    if shift not in selection._pairs:
        selection._pairs[shift] = _sorted_pairs(selection, shift)
    return selection._pairs[shift]


def _sorted_pairs(selection: Selection, shift: float) -> Pairs:
    baseline, candidate = selection.sign * selection.baseline, selection.sign * selection.candidate
    own = selection.gains - shift * selection.baseline if shift else None
    return pair(baseline, candidate, own)

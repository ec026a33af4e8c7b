"""Items on which a system disagrees with itself: the queue for adjudication or rewriting."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import FloatArray
from gate.compare.measure import MOST_CHANGES
from gate.compare.model import Flagged
from gate.compare.selection import Selection
from gate.pairing.model import IndexArray

FEWEST_OF_EACH = 2
"""Passes and failures on one side that make an item flaky."""


def flagged_items(selection: Selection) -> tuple[Flagged, ...]:
    """Flaky items with k of K per side, largest difference first, then by id; bounded."""
    runs = selection.metric.runs
    if runs is None:
        return ()
    counts = [_passes(side[selection.positions]) for side in runs]
    unstable = [np.minimum(k, total - k) >= FEWEST_OF_EACH for k, total in counts]
    where = np.flatnonzero(unstable[0] | unstable[1])
    gains = selection.gains
    order = where[np.argsort(-np.abs(gains[where]), kind="stable")][:MOST_CHANGES]
    (old, old_runs), (new, new_runs) = counts
    return tuple(
        Flagged(
            id=str(selection.table.ids[selection.positions[k]]),
            baseline=(int(old[k]), int(old_runs[k])),
            candidate=(int(new[k]), int(new_runs[k])),
            delta=float(gains[k]),
        )
        for k in order.tolist()
    )


def _passes(runs: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Runs with the value 1, and runs in all, of each item."""
    present = ~np.isnan(runs)
    return (np.nan_to_num(runs) != 0).sum(axis=1), present.sum(axis=1)

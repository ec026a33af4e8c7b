"""What the gating rule says of single items: changed, flaky, how they are spread, and how many to a turn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gate.artifacts.table import FloatArray
from gate.estimands import Selection
from gate.measure.core import Case
from gate.measure.flips import flips_to_turn
from gate.measure.model import Change, Changes, Flagged, ItemFacts, Margin, Tested
from gate.pairing.model import IndexArray
from gate.stats.repeats import flaky, run_noise
from gate.values import Caution

MOST_CHANGES = 5000
"""Changed items kept per direction; the counts in the report are always complete."""
FEWEST_OF_EACH = 2
"""Passes and failures on one side that make an item flaky."""
MOST_VALUES = 21
MOST_BINS = 40


def item_facts(case: Case, found: Tested, margin: Margin) -> ItemFacts:
    """All of it. With two readings of failed runs no count of flips holds for both."""
    selection = case.selection
    block = flaky_block(selection)
    flips = case.estimand.pass_fail and selection.metric.reading == "complete"
    return ItemFacts(
        flaky=block,
        flagged=flagged_items(selection) if block["status"] == "measured" else (),
        distribution=distribution(selection.gains),
        flips=flips_to_turn(found, margin) if flips else None,
        changes=changes_of(selection),
    )


def flaky_block(selection: Selection) -> dict[str, Any]:
    """Strata of stable and flaky items, and what more repeats or more items would buy."""
    runs = selection.metric.runs
    if runs is None:
        return {"status": "not measured"}
    baseline, candidate = (selection.sign * side[selection.positions] for side in runs)
    by_value = np.lexsort(np.hstack((baseline, candidate)).T)  # sums must not depend on the items' ids
    baseline, candidate = baseline[by_value], candidate[by_value]
    strata = flaky(baseline, candidate)
    noise = run_noise(baseline, candidate)
    block: dict[str, Any] = {key: value for key, value in asdict(strata).items() if value is not None}
    return block | ({"noise": asdict(noise)} if noise is not None else {})


def flaky_cautions(block: Mapping[str, Any]) -> tuple[Caution, ...]:
    """A gain that lies mostly on flaky items is a hypothesis."""
    share = block.get("delta_share")
    if share is None or share <= 0.5:
        return ()
    text = (
        f"{share:.0%} of the delta lies on {block['flagged']} flaky items of {block['items']}: "
        "treat the gain as a hypothesis"
    )
    return (Caution("gain_on_flaky_items", text),)


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


def distribution(gains: FloatArray) -> dict[str, Any]:
    """``{values, counts}`` of at most 21 distinct differences, else ``{edges, counts}``; positive is better.

    Bins have a round width and 0 is an edge, so that no bin mixes gains and losses; each holds its lower
    edge, the last one both.
    """
    if not len(gains):
        return {}
    values, counts = np.unique(gains, return_counts=True)
    if len(values) <= MOST_VALUES:
        return {"values": values.tolist(), "counts": counts.tolist()}
    width = _round_width(float(values[-1] - values[0]) / MOST_BINS)
    first, last = math.floor(values[0] / width), math.floor(values[-1] / width) + 1
    edges = [float(f"{k * width:.12g}") for k in range(first, last + 1)]
    return {"edges": edges, "counts": np.histogram(gains, np.asarray(edges))[0].tolist()}


def _round_width(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5, 10 times a power of ten that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= least * (1 - 1e-9))


def changes_of(selection: Selection) -> Changes:
    """Items that got better and worse, largest change first, then by id; bounded."""
    gains = selection.gains
    return Changes(
        gained_count=int((gains > 0).sum()),
        lost_count=int((gains < 0).sum()),
        gained=_largest(selection, gains),
        lost=_largest(selection, -gains),
    )


def _largest(selection: Selection, size: Any) -> tuple[Change, ...]:
    where = np.flatnonzero(size > 0)
    order = where[np.argsort(-size[where], kind="stable")[:MOST_CHANGES]]
    items = selection.positions[order]
    shown = {name: text[items] for name, text in selection.table.shown.items()}
    rows = zip(
        selection.table.ids[items].tolist(),
        selection.baseline[order].tolist(),
        selection.candidate[order].tolist(),
        selection.gains[order].tolist(),
        strict=True,
    )
    return tuple(Change(*row, {name: text[k] for name, text in shown.items()}) for k, row in enumerate(rows))

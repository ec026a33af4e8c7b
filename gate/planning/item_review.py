"""Which items of past results still decide. It proposes; nothing is ever edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.measure.words import count
from gate.planning.exchange import refuse_policy
from gate.planning.past_cycles import Past
from gate.policy.model import Policy
from gate.safe import quoted
from gate.stats.item_health import (
    FEWEST_SYSTEMS,
    FEWEST_TO_RANK,
    Backwards,
    DeadItems,
    WhatIf,
    backwards_items,
    dead_items,
    effective_items,
    flaky_items,
    smallest_gain_after,
)
from gate.stats.repeats import FEWEST_RUNS

SEED = 20_260_103
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Review:
    """systems: distinct results that the table is made of. flaky: None where no system ran often enough.

    backwards: None with too few systems. now, dropped, added: the smallest gain with all items, without the
    dead ones, and with a tenth more items like those that still decide.
    """

    metric: str
    ids: Sequence[str]
    systems: int
    dead: DeadItems
    flaky: BoolArray | None
    backwards: Backwards | None
    effective: float
    now: WhatIf
    dropped: WhatIf | None
    added: WhatIf


def review(policy: Policy, past: Sequence[Past], level: float) -> Review:
    """Every item of the cycles against every distinct result in them: larger is better after direction."""
    refuse_policy(policy)
    columns, runs = _systems(policy, past)
    ids = sorted({name for column in columns for name in column})
    scores = _table(ids, columns)
    repeated = [_runs_table(ids, found) for found in runs]
    dead = dead_items(scores)
    add = max(1, round(len(ids) / 10))
    some_left = bool((~dead.all).any())
    return Review(
        metric=policy.gating.metric,
        ids=ids,
        systems=len(columns),
        dead=dead,
        flaky=np.asarray(flaky_items(repeated), dtype=bool) if repeated else None,
        backwards=backwards_items(scores, SEED),
        effective=effective_items(scores),
        now=smallest_gain_after(scores, level),
        dropped=smallest_gain_after(scores, level, drop=dead.all) if some_left and dead.all.any() else None,
        added=smallest_gain_after(scores, level, add=add),
    )


Column = dict[str, float]


def _systems(policy: Policy, past: Sequence[Past]) -> tuple[list[Column], list[dict[str, FloatArray]]]:
    """Each distinct result as id -> score; and id -> runs of those with enough pass/fail runs."""
    sign = 1.0 if policy.gating.direction == "higher" else -1.0
    columns: dict[str, Column] = {}
    runs: dict[str, dict[str, FloatArray]] = {}
    for cycle in past:
        metric = cycle.found.table.metrics[policy.gating.metric]
        ids = cycle.found.table.ids.tolist()
        for place, values in enumerate((metric.baseline, metric.candidate)):
            identity = (cycle.found.baseline, cycle.found.candidate)[place].identity
            known = columns.setdefault(identity, {})
            known |= {name: sign * value for name, value in zip(ids, values.tolist(), strict=True)}
            if metric.runs is None or policy.gating.kind != "binary":
                continue
            if metric.runs[place].shape[1] >= FEWEST_RUNS:
                runs.setdefault(identity, {}).update(zip(ids, metric.runs[place], strict=True))
    return list(columns.values()), list(runs.values())


def _table(ids: Sequence[str], columns: Sequence[Column]) -> FloatArray:
    return np.array([[column.get(name, np.nan) for column in columns] for name in ids], dtype=float)


def _runs_table(ids: Sequence[str], found: dict[str, FloatArray]) -> FloatArray:
    width = max(len(row) for row in found.values())
    table = np.full((len(ids), width), np.nan)
    for place, name in enumerate(ids):
        row = found.get(name, np.array([]))
        table[place, : len(row)] = row
    return table


def named(found: Review, mask: BoolArray) -> list[str]:
    """The ids of a mask."""
    return [found.ids[k] for k in np.flatnonzero(mask).tolist()]


def review_lines(found: Review) -> Iterator[str]:
    """The same in sentences, with up to 20 ids of each sort."""
    total, dead = len(found.ids), found.dead
    yield f"{count(total, 'item')}, {count(found.systems, 'distinct result')}, {found.metric}:"
    known = int(dead.known.sum())
    if not known:
        yield f"  dead items: cannot say, no item has {FEWEST_SYSTEMS} results"
    else:
        yield (
            f"  dead: {int(dead.all.sum())} of {known} items with {FEWEST_SYSTEMS} results or more "
            f"({int(dead.best.sum())} always best, {int(dead.worst.sum())} always worst, "
            f"{int(dead.between.sum())} always alike in between)"
        )
        yield from _names(found, dead.all)
    if found.flaky is None:
        yield f"  flaky: cannot say, no pass/fail result holds {FEWEST_RUNS} runs an item"
    else:
        yield f"  flaky: {int(found.flaky.sum())} items on which a system disagrees with itself"
        yield from _names(found, found.flaky)
    yield from _backwards(found)
    yield f"  the set decides like {found.effective:.0f} equally telling items"
    yield f"  smallest gain seen 80 % of the time: {found.now.smallest_gain:.4g} in the mean of all"
    yield from _changes(found)
    yield "  proposals only: an item that today's systems all pass may tell the next ones apart"


def _backwards(found: Review) -> Iterator[str]:
    if found.backwards is None:
        yield f"  backwards: cannot say with fewer than {FEWEST_TO_RANK} distinct results"
        return
    flagged = int(found.backwards.flagged.sum())
    yield (
        f"  backwards: {flagged} items that better results fail and worse ones pass; shuffled results give "
        f"{found.backwards.expected:.1f} by chance (p {found.backwards.p:.2g}, "
        f"{found.backwards.permutations} permutations)"
    )
    yield from _names(found, np.asarray(found.backwards.flagged, dtype=bool))
    if flagged and found.backwards.p <= 0.05:
        yield "    look at their labels or scorer first"


def _changes(found: Review) -> Iterator[str]:
    if not found.effective:
        yield "  no two results differ on any item: this set can show nothing"
        return
    live = len(found.ids) - int(found.dead.all.sum())
    more = found.added.items - found.now.items
    yield (
        f"  over the {live} items that are not dead the smallest gain is {found.now.summed / live:.4g}; "
        f"with {more} more like those that still decide {found.added.summed / (live + more):.4g}"
    )
    if found.dropped is not None:
        yield (
            f"  without the dead items there are {count(found.dropped.items, 'item')} to score, which show "
            f"the same gain in items ({found.dropped.summed:.3g})"
        )


def _names(found: Review, mask: BoolArray) -> Iterator[str]:
    names = named(found, mask)
    if names:
        rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"    {', '.join(quoted(name, 40) for name in names[:MOST_NAMED])}{rest}"


def review_document(found: Review) -> dict[str, Any]:
    """``gate.items/1``. Lists are None where nothing can be said."""
    flaky, backwards = found.flaky, found.backwards
    return {
        "schema": "gate.items/1",
        "metric": found.metric,
        "items": len(found.ids),
        "systems": found.systems,
        "dead": {
            "best": named(found, np.asarray(found.dead.best, dtype=bool)),
            "worst": named(found, np.asarray(found.dead.worst, dtype=bool)),
            "between": named(found, np.asarray(found.dead.between, dtype=bool)),
            "known": int(found.dead.known.sum()),
        },
        "flaky": None if flaky is None else named(found, flaky),
        "backwards": None
        if backwards is None
        else {
            "items": named(found, np.asarray(backwards.flagged, dtype=bool)),
            "expected_by_chance": backwards.expected,
            "p": backwards.p,
            "permutations": backwards.permutations,
        },
        "effective_items": found.effective,
        "smallest_gain": {
            "now": found.now.smallest_gain,
            "without_dead": None if found.dropped is None else found.dropped.smallest_gain,
            "with_a_tenth_more": found.added.smallest_gain,
        },
        "seed": SEED,
    }

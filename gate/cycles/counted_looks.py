"""The looks that a history has seen: which count, on which items, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gate.cycles.items import ItemSet, item_set_of
from gate.cycles.record import Record

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class CountedLooks:
    """The looks at one metric that count. first: look id -> its first record, in order.

    unfinished: begun, not voided, without an outcome. printed: their numbers were shown. missed: earlier
    attempts of their run that the history does not hold, where there are any.
    """

    first: Mapping[str, Record]
    unfinished: frozenset[str] = _NONE
    printed: frozenset[str] = _NONE
    missed: Mapping[str, int] = field(default_factory=dict)


def counted_looks(records: Iterable[Record], metric: str) -> CountedLooks:
    """The looks at this metric.

    A look is spent by its intent, whatever became of it, unless a void says that nothing was computed. The
    same look taken twice (a re-run, two branches) is one.
    """
    mine = [record for record in records if record.metric == metric]
    outcomes = [record for record in mine if record.kind == "outcome"]
    begun = [record for record in mine if record.kind in {"intent", "void"}]
    intents = [record for record in begun if record.kind == "intent"]
    first = {record.id: record for record in (*reversed(outcomes), *reversed(intents))}
    finished = {record.id for record in outcomes}
    voids = {record.id for record in begun if record.kind == "void"}
    printed = {record.id for record in outcomes if record.result.get("printed") is True}
    printed |= {record.id for record in mine if record.kind == "worn"}
    missed: dict[str, int] = {}
    for record in mine:
        if record.missed:
            missed[record.id] = max(missed.get(record.id, 0), record.missed)
    open_looks = first.keys() - finished
    taken_back = (open_looks & voids) - _still_open(begun, open_looks & voids)
    for look in taken_back:
        del first[look]
    return CountedLooks(first, frozenset(open_looks - taken_back), frozenset(printed), missed)


def _still_open(begun: Iterable[Record], looks: set[str]) -> set[str]:
    """Those of ``looks`` that were begun more often than voided, for any candidate."""
    balance: dict[tuple[str, str], int] = {}
    for record in begun:
        if record.id in looks:
            key = record.contender
            balance[key] = balance.get(key, 0) + (1 if record.kind == "intent" else -1)
    return {look for (look, _), count in balance.items() if count > 0}


def item_sets(records: Iterable[Record]) -> dict[str, ItemSet]:
    """Every item set that was looked at, by digest, with its marks wherever a record has them."""
    sets: dict[str, ItemSet] = {}
    for record in records:
        digest = record.holdout["digest"]
        if record.kind in {"intent", "outcome"} and (digest not in sets or record.holdout["marks"]):
            sets[digest] = item_set_of(record.holdout)
    return sets


def missed_attempts(records: Iterable[Record], metric: str, ci: Mapping[str, str]) -> int:
    """Earlier attempts of this CI run that left no record. They may have been looks; they count as looks.

    A record of attempt r accounts for everything before it (it counted what was missing then).
    """
    attempt = attempt_number(ci)
    if attempt < 2:
        return 0
    recorded = (
        attempt_number(record.ci)
        for record in records
        if record.metric == metric and record.ci.get("run_id") == ci.get("run_id")
    )
    return max(0, attempt - 1 - max((number for number in recorded if number <= attempt), default=0))


def attempt_number(ci: Mapping[str, str]) -> int:
    """The run's attempt, 0 where there is none."""
    text = ci.get("run_attempt", "")
    return int(text) if ci.get("run_id") and text.isascii() and text.isdigit() and len(text) < 6 else 0

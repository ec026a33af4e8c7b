"""The looks that a history has seen: which count, on which items, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gate.cycles.items import ItemSet, item_set_of
from gate.cycles.record import Record


@dataclass(frozen=True, slots=True)
class Spent:
    """One look that counts. first: its first record. printed: its numbers were shown."""

    first: Record
    missed: int
    finished: bool
    printed: bool

    @property
    def items(self) -> str:
        """Digest of the items looked at."""
        return str(self.first.holdout["digest"])


def spent_looks(records: Iterable[Record], metric: str) -> dict[str, Spent]:
    """The looks at this metric, by id.

    A look is spent by its intent, whatever became of it, unless a void says that nothing was computed. The
    same look taken twice (a re-run, two branches) is one.
    """
    grouped: dict[str, list[Record]] = {}
    for record in records:
        if record.metric == metric and record.kind in {"intent", "outcome", "void", "worn"}:
            grouped.setdefault(record.id, []).append(record)
    spent = {look: _spent(group) for look, group in grouped.items()}
    return {look: entry for look, entry in spent.items() if entry is not None}


def _spent(group: list[Record]) -> Spent | None:
    finished = any(record.kind == "outcome" for record in group)
    if not finished and not open_intents(group):
        return None
    first = next(record for record in group if record.kind in {"intent", "outcome"})
    printed = any(record.kind == "worn" or record.result.get("printed") is True for record in group)
    return Spent(first, max(record.missed for record in group), finished, printed)


def open_intents(group: Iterable[Record]) -> bool:
    """Whether more looks were begun than voided, for any candidate, in the records of one look."""
    balance: dict[str, int] = {}
    for record in group:
        step = {"intent": 1, "void": -1}.get(record.kind, 0)
        balance[record.candidate["digest"]] = balance.get(record.candidate["digest"], 0) + step
    return any(count > 0 for count in balance.values())


def unfinished_looks(records: Iterable[Record]) -> set[str]:
    """Ids of the looks that were begun, not voided, and have no outcome."""
    groups: dict[str, list[Record]] = {}
    finished: set[str] = set()
    for record in records:
        if record.kind == "outcome":
            finished.add(record.id)
        elif record.kind in {"intent", "void"}:
            groups.setdefault(record.id, []).append(record)
    return {look for look, group in groups.items() if look not in finished and open_intents(group)}


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

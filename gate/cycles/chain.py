"""The records of a history in the order of their hash links."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gate.cycles.record import Record
from gate.values import Caution


@dataclass(frozen=True, slots=True)
class History:
    """A verified history. records: in DAG order, ties by digest. heads: digests no record refers to.

    torn: SHA-256 of cut-off lines at the end that no record names yet; the next record will.
    unterminated: the last line lacks its newline. where: for messages.
    """

    records: tuple[Record, ...]
    heads: tuple[str, ...]
    where: str = ""
    torn: tuple[str, ...] = ()
    unterminated: bool = False
    cautions: tuple[Caution, ...] = ()

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.records)

    @property
    def head(self) -> str:
        """The head digest; several heads (an unsealed merge) are joined by ``+``."""
        return "+".join(self.heads)

    @property
    def root(self) -> str:
        """The digest of the first record: the identity of this history."""
        return self.records[0].digest if self.records else ""


@dataclass(frozen=True, slots=True)
class Order:
    """What came before what, by the hash links alone. Records of two branches came neither way.

    before: for each place in DAG order the places before it, as bits; None where the records are one line.
    """

    place: Mapping[str, int]
    before: tuple[int, ...] | None

    @property
    def branched(self) -> bool:
        """Whether any two records have no order."""
        return self.before is not None

    def precedes(self, one: Record, other: Record) -> bool:
        """Whether ``other`` was written with ``one`` in sight."""
        first, second = self.place[one.digest], self.place[other.digest]
        return first < second if self.before is None else bool(self.before[second] >> first & 1)

    def latest(self, records: Sequence[Record]) -> list[Record]:
        """Those of the records (in DAG order) that none of the others follows; several after a merge."""
        if self.before is None or len(records) < 2:
            return list(records[-1:])
        found: list[Record] = []
        followed = 0
        for record in reversed(records):
            at = self.place[record.digest]
            if not followed >> at & 1:
                found.append(record)
            followed |= self.before[at]
        return found


def order_of(records: tuple[Record, ...]) -> Order:
    """The order of a history's records. Ten thousand branched ones take a few megabytes."""
    place = {record.digest: at for at, record in enumerate(records)}
    if not records or _is_line(records):
        return Order(place, None)
    before: list[int] = []
    for record in records:
        bits = 0
        for parent in set(record.prev):
            bits |= before[place[parent]] | 1 << place[parent]
        before.append(bits)
    return Order(place, tuple(before))


def latest(history: History, records: Sequence[Record]) -> list[Record]:
    """The last of some records of a history (in its order), or the last ones of its branches."""
    return list(records) if len(records) < 2 else order_of(history.records).latest(records)


class ChainError(ValueError):
    """The records are no single chain; the text says why. ``digest`` is the record at fault."""

    def __init__(self, code: str, message: str, digest: str) -> None:
        super().__init__(message)
        self.code = code
        self.digest = digest


def ordered(records: Iterable[Record]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The records in DAG order, each once, and the heads; :class:`ChainError` if they are no chain."""
    found = tuple(records)
    if _is_line(found):
        return found, (found[-1].digest,)
    known = {record.digest: record for record in found}
    unique = list(known.values())
    parents = {parent for record in unique for parent in record.prev}
    _check(unique, known, parents)
    return _sorted(unique, known), tuple(sorted(known.keys() - parents))


def _is_line(records: tuple[Record, ...]) -> bool:
    """Whether each record follows the one before it, as in a file that was never merged."""
    if not records or records[0].prev or [record.kind for record in records].count("init") != 1:
        return False
    return records[0].kind == "init" and all(
        later.prev == (earlier.digest,) for earlier, later in pairwise(records)
    )


def _check(unique: list[Record], known: dict[str, Record], parents: set[str]) -> None:
    missing = parents - known.keys()
    if missing:
        orphan = next(record for record in unique if not missing.isdisjoint(record.prev))
        raise ChainError(
            "history_missing_parent",
            f"a record was removed: a later record refers to {sorted(missing)[0][:64]!a}, which is not there",
            orphan.digest,
        )
    roots = [record for record in unique if not record.prev]
    if len(roots) > 1:
        raise ChainError("history_two_roots", f"{len(roots)} records start a history", roots[1].digest)
    for record in unique:
        if (record.kind == "init") != (not record.prev):
            raise ChainError("history_root", "a history starts with one init record", record.digest)


def _sorted(unique: list[Record], known: dict[str, Record]) -> tuple[Record, ...]:
    waiting = {record.digest: len(set(record.prev)) for record in unique}
    children: dict[str, list[str]] = {}
    for record in unique:
        for parent in set(record.prev):
            children.setdefault(parent, []).append(record.digest)
    ready = [record.digest for record in unique if not record.prev]
    order: list[Record] = []
    while ready:
        digest = heapq.heappop(ready)
        order.append(known[digest])
        for child in children.get(digest, ()):
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, child)
    return tuple(order)

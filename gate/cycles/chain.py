"""The records of a history in the order of their hash links."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from gate.cycles.record import Record
from gate.stats.results import Caution


@dataclass(frozen=True, slots=True)
class History:
    """A verified history. records: in DAG order, ties by (cycle, digest). heads: digests no record refers to.

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
    ready = [(record.cycle, record.digest) for record in unique if not record.prev]
    order: list[Record] = []
    while ready:
        _, digest = heapq.heappop(ready)
        order.append(known[digest])
        for child in children.get(digest, ()):
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, (known[child].cycle, child))
    return tuple(order)

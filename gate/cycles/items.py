"""Which items a look was at, small enough for a record and sure enough to find one shared item.

Up to 20,000 items a record holds 48 bits of each id's SHA-256, and of its plain form where that differs, so
that a window whose ids were only written in another way is no new one: two sets that share an id always show
it; two sets of 500 that share none are taken for overlapping once in 10^9 pairs. Telling any two larger sets
apart takes space that grows with them (set disjointness has no small sketch), so larger sets keep only
their first and last id in text order: they count as disjoint if those ranges are (dated or numbered ids),
and as overlapping otherwise. Both errors are on the safe side: never "fresh" when an item was seen before.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_MARKED: Final = 20_000
MARK_BYTES: Final = 6
CELL: Final = 8  # characters of base64 for one mark
AT_ONCE: Final = 128  # sets compared at a time, so that they stay in the processor's cache
LONGEST_SPAN_ID: Final = 64


class ItemSet(NamedTuple):
    """The items of a look. digest: over the sorted ids. marks: base64 of the sorted, cut hashes, or empty.

    first, last: of the ids in text order; both empty where an id is too long to be kept.
    """

    digest: str
    n: int
    marks: str = ""
    first: str = ""
    last: str = ""

    def as_holdout(self, kind: str, *, with_marks: bool) -> dict[str, Any]:
        """As a record keeps it. Marks are written once for each item set: later records name its digest."""
        marks = self.marks if with_marks else ""
        return {
            "digest": self.digest,
            "first": self.first,
            "kind": kind,
            "last": self.last,
            "marks": marks,
            "n": self.n,
        }


def item_set(ids: Sequence[str] | NDArray[np.object_], digest: str) -> ItemSet:
    """The item set of these ids, sorted and distinct as pairing has them; ``digest`` is over them."""
    unique = sorted(set(ids)) if len(ids) <= MOST_MARKED else ids
    first, last = (unique[0], unique[-1]) if len(unique) else ("", "")
    if max(len(first), len(last)) > LONGEST_SPAN_ID or not (_writable(first) and _writable(last)):
        first = last = ""
    marks = b""
    if len(unique) <= MOST_MARKED:
        texts = {*unique, *plain(unique)}
        hashes = (sha256(text.encode("utf-8", "surrogatepass")).digest()[:MARK_BYTES] for text in texts)
        marks = b"".join(sorted(hashes))
    return ItemSet(digest, len(unique), base64.b64encode(marks).decode(), first, last)


def plain(ids: Sequence[str] | NDArray[np.object_]) -> Sequence[str] | NDArray[np.object_]:
    """The ids without what a rewriting changes: Unicode form, case, blanks."""
    joined = "".join(ids)
    if joined.isascii() and joined.lower() == joined and joined.isprintable() and " " not in joined:
        return ids
    return ["".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in ids]


def _writable(text: str) -> bool:
    """A lone surrogate cannot be written as UTF-8, and a stand-in for it would sort elsewhere."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def item_set_of(holdout: Mapping[str, Any]) -> ItemSet:
    """The item set that a record names. Marks of a wrong length are none: then only the span counts."""
    count, odd = divmod(len(holdout["marks"]), CELL)
    marks = holdout["marks"] if not odd and holdout["n"] <= count <= 2 * holdout["n"] else ""
    return ItemSet(holdout["digest"], holdout["n"], marks, holdout["first"], holdout["last"])


def overlapping(mine: ItemSet, others: Mapping[str, ItemSet]) -> set[str]:
    """Digests of the ``others`` that share an item with ``mine``, or cannot be shown not to."""
    if mine.digest in others:
        return {mine.digest} | overlapping(mine, {d: o for d, o in others.items() if d != mine.digest})
    near = [other for other in others.values() if not _spans_apart(mine, other)]
    unmarked = {other.digest for other in near if not (other.marks and mine.marks)}
    marked = [other for other in near if other.digest not in unmarked]
    return unmarked | _sharing_marks(mine, marked) if marked else unmarked


def _spans_apart(one: ItemSet, other: ItemSet) -> bool:
    if not (one.first and one.last and other.first and other.last):
        return False
    if not (one.last < other.first or other.last < one.first):
        return False
    first, last, other_first, other_last = plain([one.first, one.last, other.first, other.last])
    return last < other_first or other_last < first


def _cells(sets: Iterable[ItemSet]) -> NDArray[np.uint64]:
    """The marks as numbers: 6 bytes are 8 base64 characters, so the text is an array of 64-bit cells."""
    return np.frombuffer("".join(items.marks for items in sets).encode("ascii", "replace"), dtype=np.uint64)


def _owners(sets: Sequence[ItemSet]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(sets)), [len(items.marks) // CELL for items in sets])


def _sharing_marks(mine: ItemSet, others: Sequence[ItemSet]) -> set[str]:
    own = np.unique(_cells([mine]))
    # A table of 2^16 mixed bits rules out nearly all cells before the exact comparison.
    table = np.zeros(1 << 16, dtype=np.bool_)
    table[_mixed(own)] = True
    found: set[str] = set()
    for start in range(0, len(others), AT_ONCE):
        part = others[start : start + AT_ONCE]
        cells = _cells(part)
        at = np.flatnonzero(table[_mixed(cells)])
        at = at[np.isin(cells[at], own)]
        if len(at):
            found.update(part[owner].digest for owner in np.unique(_owners(part)[at]))
    return found


def _mixed(cells: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (cells * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)


def connected(mine: ItemSet, others: Mapping[str, ItemSet]) -> set[str]:
    """Digests of the ``others`` that ``mine`` hangs together with, directly or through sets in between.

    A window that slides a little with every look shares its luck with all the windows before it.
    """
    near = overlapping(mine, others)
    if not near or len(near) == len(others):
        return near
    sets = [mine, *others.values()]
    groups = _Groups(len(sets))
    for one, other in _edges(sets):
        groups.join(one, other)
    return {sets[at].digest for at in range(1, len(sets)) if groups.find(at) == groups.find(0)} | near


def _edges(sets: Sequence[ItemSet]) -> Iterator[tuple[int, int]]:
    """Pairs of sets that overlap; enough of them to connect what hangs together."""
    cells, owners = _cells(sets), _owners(sets)
    order = np.argsort(cells, kind="stable")
    cells, owners = cells[order], owners[order]
    same = cells[1:] == cells[:-1]
    pairs = np.unique(np.stack([owners[:-1][same], owners[1:][same]], axis=1), axis=0)
    yield from ((int(one), int(other)) for one, other in pairs)
    for at, items in enumerate(sets):
        if not items.marks:
            near = (n for n, other in enumerate(sets) if n != at and not _spans_apart(items, other))
            yield from ((at, n) for n in near)
        if items.digest == sets[0].digest:
            yield 0, at


class _Groups:
    """Disjoint sets of numbers."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))

    def find(self, one: int) -> int:
        while self.parent[one] != one:
            self.parent[one] = self.parent[self.parent[one]]
            one = self.parent[one]
        return one

    def join(self, one: int, other: int) -> None:
        self.parent[self.find(one)] = self.find(other)

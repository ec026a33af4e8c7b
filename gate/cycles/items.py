"""Which items a look was at, small enough for a record and sure enough to find one shared item.

Up to 20,000 items a record holds 48 bits of each id's SHA-256: two sets that share an id always show it;
two sets of 500 that share none are taken for overlapping once in 10^9 pairs. Telling any two larger sets
apart takes space that grows with them (set disjointness has no small sketch), so larger sets keep only
their first and last id in text order: they count as disjoint if those ranges are (dated or numbered ids),
and as overlapping otherwise. Both errors are on the safe side: never "fresh" when an item was seen before.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

MOST_MARKED: Final = 20_000
MARK_BYTES: Final = 6
LONGEST_SPAN_ID: Final = 64


@dataclass(frozen=True, slots=True)
class ItemSet:
    """The items of a look. digest: over the sorted ids. marks: base64 of the sorted, cut id hashes, or empty.

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


def item_set(ids: Iterable[str], digest: str) -> ItemSet:
    """The item set of these ids; ``digest`` is the pairing's items digest."""
    unique = sorted(set(ids))
    first, last = (unique[0], unique[-1]) if unique else ("", "")
    if max(len(first), len(last)) > LONGEST_SPAN_ID:
        first = last = ""
    marks = b""
    if len(unique) <= MOST_MARKED:
        hashes = (sha256(text.encode("utf-8", "surrogatepass")).digest()[:MARK_BYTES] for text in unique)
        marks = b"".join(sorted(hashes))
    return ItemSet(digest, len(unique), base64.b64encode(marks).decode(), _plain(first), _plain(last))


def _plain(text: str) -> str:
    """A lone surrogate cannot be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def item_set_of(holdout: Mapping[str, Any]) -> ItemSet:
    """The item set that a record names."""
    return ItemSet(holdout["digest"], holdout["n"], holdout["marks"], holdout["first"], holdout["last"])


def overlapping(mine: ItemSet, others: Mapping[str, ItemSet]) -> set[str]:
    """Digests of the ``others`` that share an item with ``mine``, or cannot be shown not to."""
    found = {digest for digest in others if digest == mine.digest}
    marked = {d: other for d, other in others.items() if d not in found and other.marks and mine.marks}
    found.update(
        digest
        for digest, other in others.items()
        if digest not in found and digest not in marked and not _spans_apart(mine, other)
    )
    return found | _sharing_marks(mine, marked)


def _spans_apart(one: ItemSet, other: ItemSet) -> bool:
    if not (one.first and one.last and other.first and other.last):
        return False
    return one.last < other.first or other.last < one.first


def _sharing_marks(mine: ItemSet, others: Mapping[str, ItemSet]) -> set[str]:
    if not others:
        return set()
    own = _marks(mine)
    return {digest for digest, other in others.items() if not own.isdisjoint(_marks(other))}


def _marks(items: ItemSet) -> set[bytes]:
    data = base64.b64decode(items.marks)
    return {data[at : at + MARK_BYTES] for at in range(0, len(data), MARK_BYTES)}


def connected(mine: ItemSet, others: Mapping[str, ItemSet]) -> set[str]:
    """Digests of the ``others`` that ``mine`` hangs together with, directly or through sets in between.

    A window that slides a little with every look shares its luck with all the windows before it.
    """
    found: set[str] = set()
    left = dict(others)
    frontier = [mine]
    while frontier and left:
        near = overlapping(frontier.pop(), left)
        frontier.extend(left[digest] for digest in near)
        found |= near
        for digest in near:
            del left[digest]
    return found

"""The identity of a table: the same for every row order, column order and file format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.table import BoolArray, FloatArray, ObjectArray, ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The columns of a table that make it what it is; where they came from does not count."""

    ids: ObjectArray
    repeats: ObjectArray | None
    clusters: ObjectArray | None
    failed: BoolArray
    values: Mapping[str, FloatArray]
    columns: Mapping[str, ObjectArray]

    def without(self, metrics: frozenset[str], columns: frozenset[str] = frozenset()) -> Parts:
        """The same without metrics and columns that do not decide."""
        return replace(
            self,
            values={n: found for n, found in self.values.items() if n not in metrics},
            columns={n: found for n, found in self.columns.items() if n not in columns},
        )


class Digests(TypedDict):
    """Of the columns that decide, and of all that were read."""

    identity: str
    read_digest: str


def digests(
    parts: Parts, request: ReadRequest, order: NDArray[np.int64] | None, joined: bytes | None = None
) -> Digests:
    """Both digests of a table; they are one where nothing is watched or shown."""
    read = parts.without(request.beside)
    known = identity(read, order, joined)
    deciding = read.without(request.watched, request.shown)
    same = (len(deciding.values), len(deciding.columns)) == (len(read.values), len(read.columns))
    return {"identity": known if same else identity(deciding, order, joined), "read_digest": known}


def identity(parts: Parts, order: NDArray[np.int64] | None, joined: bytes | None = None) -> str:
    """SHA-256 over the columns in ``order`` (rows by id, then repeat; None: they are sorted already).

    joined: the ids in that order, a line each, where the caller has them.
    """

    def ordered(column: ObjectArray) -> list[Any]:
        return list(column if order is None else column[order])

    digest = hashlib.sha256()
    header = {"columns": sorted(parts.columns), "metrics": sorted(parts.values), "rows": len(parts.ids)}
    header |= {"repeats": parts.repeats is not None, "clusters": parts.clusters is not None}
    digest.update(json.dumps(header, sort_keys=True).encode("utf-8"))
    digest.update(_lines(ordered(parts.ids)) if joined is None else joined)
    if parts.repeats is not None:
        digest.update(_lines(ordered(parts.repeats)))
    for column in (parts.clusters, *(parts.columns[name] for name in sorted(parts.columns))):
        if column is not None:
            _update_text(digest, ordered(column))
    digest.update((parts.failed if order is None else parts.failed[order]).astype(np.uint8).tobytes())
    for name in sorted(parts.values):
        values = parts.values[name] if order is None else parts.values[name][order]
        canonical = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, no negative zero
        digest.update(canonical.astype("<f8", copy=False).data)
    return digest.hexdigest()


def _lines(texts: list[Any]) -> bytes:
    """Ids and repeats hold no line ends."""
    return ("\n".join(texts) + "\n").encode("utf-8")


def _update_text(digest: hashlib._Hash, cells: list[Any]) -> None:
    """Lengths first, so that no two cells run into each other; None is length -1."""
    lengths = [-1 if cell is None else len(cell) for cell in cells]
    digest.update(np.array(lengths, dtype="<i8").tobytes())
    digest.update("".join([cell for cell in cells if cell is not None]).encode("utf-8"))


def sort_order(ids: Sequence[str], repeats: Sequence[str] | None) -> NDArray[np.int64]:
    """Rows by id, then by repeat, by code point."""
    if repeats is None:
        return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    keys = list(zip(ids, repeats, strict=True))
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)

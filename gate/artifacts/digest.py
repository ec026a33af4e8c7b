"""The identity of a table: the same for every row order, column order and file format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from gate.artifacts.sort import Sort
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


def digests(parts: Parts, request: ReadRequest, sort: Sort) -> Digests:
    """Both digests of a table; they are one where nothing is watched or shown."""
    read = parts.without(request.beside)
    known = identity(read, sort)
    deciding = read.without(request.watched, request.shown)
    same = (len(deciding.values), len(deciding.columns)) == (len(read.values), len(read.columns))
    return {"identity": known if same else identity(deciding, sort), "read_digest": known}


def identity(parts: Parts, sort: Sort) -> str:
    """SHA-256 over the columns, row by row in the order of ids and repeats."""

    def ordered(column: ObjectArray) -> list[Any]:
        return list(column[sort.rows])

    digest = hashlib.sha256()
    repeated, clustered = parts.repeats is not None, parts.clusters is not None
    digest.update(header(parts.columns, parts.values, len(parts.ids), repeated=repeated, clustered=clustered))
    digest.update(sort.lines)
    if parts.repeats is not None:
        digest.update(_lines(ordered(parts.repeats)))
    for column in (parts.clusters, *(parts.columns[name] for name in sorted(parts.columns))):
        if column is not None:
            _update_text(digest, ordered(column))
    digest.update(parts.failed[sort.rows].astype(np.uint8).tobytes())
    for name in sorted(parts.values):
        digest.update(value_bytes(parts.values[name][sort.rows]))
    return digest.hexdigest()


def header(
    columns: Iterable[str], metrics: Iterable[str], rows: int, *, repeated: bool, clustered: bool
) -> bytes:
    """What an identity begins with: the shape of what follows."""
    shape = {"columns": sorted(columns), "metrics": sorted(metrics), "rows": rows}
    return json.dumps(shape | {"repeats": repeated, "clusters": clustered}, sort_keys=True).encode("utf-8")


def value_bytes(values: FloatArray) -> bytes:
    """Numbers as an identity has them: one NaN, no negative zero."""
    canonical = np.where(np.isnan(values), np.nan, values + 0.0)
    return canonical.astype("<f8", copy=False).tobytes()


def length_bytes(cells: Sequence[str | None]) -> bytes:
    """Before the texts of a column, so that no two cells run into each other; None is length -1."""
    return np.array([-1 if cell is None else len(cell) for cell in cells], dtype="<i8").tobytes()


def text_bytes(cells: Sequence[str | None]) -> bytes:
    """The texts themselves."""
    return "".join([cell for cell in cells if cell is not None]).encode("utf-8")


def _lines(texts: list[Any]) -> bytes:
    """Repeats hold no line ends."""
    return ("\n".join(texts) + "\n").encode("utf-8")


def _update_text(digest: hashlib._Hash, cells: list[Any]) -> None:
    digest.update(length_bytes(cells))
    digest.update(text_bytes(cells))

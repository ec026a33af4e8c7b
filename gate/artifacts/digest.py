"""The identity of a table: the same for every row order, column order and file format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.table import BoolArray, FloatArray, ObjectArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The columns of a table that make it what it is; where they came from does not count."""

    ids: ObjectArray
    repeats: ObjectArray | None
    clusters: ObjectArray | None
    failed: BoolArray
    values: Mapping[str, FloatArray]
    columns: Mapping[str, ObjectArray]


def identity(parts: Parts, order: NDArray[np.int64] | None) -> str:
    """SHA-256 over the columns in ``order`` (rows by id, then repeat; None: they are sorted already)."""
    digest = hashlib.sha256()
    header = {"columns": sorted(parts.columns), "metrics": sorted(parts.values), "rows": len(parts.ids)}
    header |= {"repeats": parts.repeats is not None, "clusters": parts.clusters is not None}
    digest.update(json.dumps(header, sort_keys=True).encode("utf-8"))
    texts = [parts.ids, *(part for part in (parts.repeats, parts.clusters) if part is not None)]
    texts += [parts.columns[name] for name in sorted(parts.columns)]
    for text in texts:
        _update_text(digest, text if order is None else text[order])
    digest.update((parts.failed if order is None else parts.failed[order]).astype(np.uint8).tobytes())
    for name in sorted(parts.values):
        column = parts.values[name] if order is None else parts.values[name][order]
        canonical = np.where(np.isnan(column), np.nan, column + 0.0)  # one NaN, no negative zero
        digest.update(canonical.astype("<f8").tobytes())
    return digest.hexdigest()


def _update_text(digest: hashlib._Hash, column: ObjectArray) -> None:
    """Lengths first, so that no two columns of text run into each other; None is length -1."""
    cells: Sequence[str | None] = column.tolist()
    lengths = np.fromiter(
        (-1 if cell is None else len(cell) for cell in cells), dtype="<i8", count=len(cells)
    )
    digest.update(lengths.tobytes())
    digest.update("".join(cell for cell in cells if cell is not None).encode("utf-8"))


def sort_order(ids: Sequence[str], repeats: Sequence[str] | None) -> NDArray[np.int64]:
    """Rows by id, then by repeat, by code point."""
    if repeats is None:
        return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    keys = list(zip(ids, repeats, strict=True))
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)

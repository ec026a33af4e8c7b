"""NPZ: named one-dimensional arrays. Arrays of objects, which are pickles, are never read."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from gate.artifacts.archive import Archive
from gate.artifacts.content import Content
from gate.artifacts.records import Records, paths_of
from gate.artifacts.table import ReadRequest
from gate.errors import GateError, examples, quoted


def load(content: Content, request: ReadRequest | None) -> Records:
    """The named arrays as columns."""
    archive = Archive(content)
    names = [name.removesuffix(".npy") for name in archive.names]
    wanted = names if request is None else [path for path in paths_of(request).values() if path in names]
    cells = {name: _column(archive, name, content.path) for name in dict.fromkeys(wanted)}
    lengths = {len(column) for column in cells.values()}
    if len(lengths) > 1:
        listed = examples([f"{name}: {len(column)}" for name, column in cells.items()])
        raise GateError(
            "ragged_row",
            f"the arrays have different lengths ({listed})",
            where=content.path,
            help="save arrays with one value an item",
        )
    count = lengths.pop() if lengths else 0
    if count == 0 and names:
        count = len(_column(archive, names[0], content.path))
    return Records(
        format="npz", count=count, cells=cells, available=tuple(names), place=lambda row: f"element {row + 1}"
    )


def _column(archive: Archive, name: str, path: str) -> list[Any]:
    where = f"{path}!{quoted(name)[1:-1]}"
    data = io.BytesIO(archive.read(f"{name}.npy"))
    try:
        array = np.load(data, allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, TypeError, OverflowError, MemoryError) as error:
        reason = "it holds Python objects (a pickle)" if "pickle" in str(error) else "it is broken"
        raise GateError(
            "unsafe_array" if "pickle" in str(error) else "broken_file",
            f"array {quoted(name)} is not read: {reason}",
            where=where,
            help="save text and numbers: np.savez(file, id=np.array(ids, dtype=str), score=scores)",
        ) from None
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "biufUS":
        raise GateError("invalid_array", f"array {quoted(name)} is no column of text or numbers", where=where)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8") if _is_utf8(array) else array.astype(str)
    return list(array.tolist())


def _is_utf8(array: Any) -> bool:
    try:
        np.char.decode(array, "utf-8")
    except UnicodeDecodeError:
        return False
    return True

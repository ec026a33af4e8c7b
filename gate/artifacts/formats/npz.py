"""NPZ: named one-dimensional arrays. Arrays of objects, which are pickles, are never read."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from gate.artifacts.archive import Archive
from gate.artifacts.content import Content
from gate.artifacts.records import Records, paths_of
from gate.artifacts.run_words import is_evidence
from gate.artifacts.table import ReadRequest
from gate.artifacts.unpack import budget, refuse_hollow
from gate.safe import escaped, examples, quoted
from gate.values import GateError


def load(content: Content, request: ReadRequest | None) -> Records:
    """The named arrays as columns."""
    archive = Archive(content)
    names = [name.removesuffix(".npy") for name in archive.names]
    wanted = names if request is None else [path for path in paths_of(request).values() if path in names]
    telling = [name for name in names if is_evidence(name)]
    cells = {name: _column(archive, name, content) for name in dict.fromkeys([*wanted, *telling])}
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
        count = len(_column(archive, names[0], content))
    return Records(
        format="npz",
        count=count,
        cells={name: cells[name] for name in wanted},
        evidence={name: cells[name] for name in telling},
        available=tuple(names),
        place=lambda row: f"element {row + 1}",
    )


def _column(archive: Archive, name: str, content: Content) -> list[Any]:
    where = f"{content.path}!{escaped(name)}"
    data = archive.read(f"{name}.npy")
    try:
        # A zip inside the zip is no array, and numpy would open it without any bound.
        array = None if data.startswith(b"PK") else np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(array, np.ndarray) and array.itemsize:
            refuse_hollow(array.size, content.bytes_on_disk, where)
            budget(array.nbytes * (4 if array.dtype.kind == "S" else 1), content.bytes_on_disk, where)
        cells = _cells(array)
    except GateError:
        raise
    except Exception as error:  # numpy lets a dozen types out of a broken header
        pickled = "pickle" in str(error) and "max_header_size" not in str(error)
        raise GateError(
            "unsafe_array" if pickled else "broken_file",
            f"array {quoted(name)} is not read: {_PICKLED if pickled else 'it is broken'}",
            where=where,
            help=_HELP,
        ) from None
    if cells is None:
        raise GateError(
            "invalid_array", f"array {quoted(name)} is no column of text or numbers", where=where, help=_HELP
        )
    return cells


_PICKLED = "it holds Python objects (a pickle)"
_HELP = "save text and numbers: np.savez(file, id=np.array(ids, dtype=str), score=scores)"


def _cells(array: Any) -> list[Any] | None:
    """Values of one column; None for anything else. Cells of no bytes could be endlessly many."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "biufUS":
        return None
    if array.dtype.itemsize == 0 and array.size:
        return None
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8") if _is_utf8(array) else array.astype(str)
    return list(array.tolist())


def _is_utf8(array: Any) -> bool:
    try:
        np.char.decode(array, "utf-8")
    except UnicodeDecodeError:
        return False
    return True

"""Text columns: clusters, slices, labels, what is compared or shown. None where the file has no value."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gate.artifacts.records import ABSENT
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import ObjectArray
from gate.safe import quoted
from gate.values import GateError


def objects(cells: Sequence[Any]) -> ObjectArray:
    """A one-dimensional object array, whatever the cells are."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def text_column(cells: Sequence[Any], name: str, where: Callable[[int], str]) -> ObjectArray:
    """Cells as text; a column that is float and integral as a whole reads as integers, like ids."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        return _checked([cell or None for cell in cells], name, where)
    floats = [cell for cell in cells if type(cell) is float]
    others = not kinds.isdisjoint({int, str, bool})
    integral = bool(floats) and not others and all(cell.is_integer() and abs(cell) < 2**53 for cell in floats)
    return _checked([_text(cell, integral=integral) for cell in cells], name, where)


def _checked(texts: list[str | None], name: str, where: Callable[[int], str]) -> ObjectArray:
    halves = {text for text in set(texts) if text is not None and not text.isascii() and _HALF.search(text)}
    for row, text in enumerate(texts) if halves else ():
        if text in halves:
            raise GateError(
                "invalid_text",
                f"column {quoted(name)} holds a lone surrogate (found {quoted(text)})",
                where=where(row),
                help="write valid Unicode",
            )
    return objects(texts)


_HALF = re.compile("[\ud800-\udfff]")


def _text(cell: Any, *, integral: bool) -> str | None:
    if type(cell) is str:
        return cell or None
    if cell is None or cell is ABSENT:
        return None
    if type(cell) is bool:
        return "true" if cell else "false"
    if type(cell) is float:
        if math.isnan(cell):
            return None
        return str(int(cell)) if integral else repr(cell)
    if type(cell) is int:
        return str(cell)
    return cell.token if isinstance(cell, NoNumber) else canonical(cell)


def canonical(value: Any) -> str:
    """One spelling of a JSON value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_token)


def text_digest(value: Any) -> str | None:
    """SHA-256 of a JSON value in its one spelling: to tell whether it is the same, without keeping it."""
    text = canonical(value).encode("utf-8", "surrogatepass")
    return None if value is None else hashlib.sha256(text).hexdigest()


def _token(value: Any) -> str:
    return value.token if isinstance(value, NoNumber) else str(value)

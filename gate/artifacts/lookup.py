"""Names and dotted paths in nested JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gate.artifacts.records import ABSENT
from gate.artifacts.strict_json import refuse_doubled


def lookup(value: Any, path: str, file: str = "", line: int | None = None) -> Any:
    """The value at ``path``: the literal key first, then the part before each dot; else ABSENT."""
    if isinstance(value, Mapping):
        refuse_doubled(value, file, line)
        if path in value:
            return value[path]
        for cut in _dots(path):
            if path[:cut] in value:
                found = lookup(value[path[:cut]], path[cut + 1 :], file, line)
                if found is not ABSENT:
                    return found
    elif isinstance(value, Sequence) and not isinstance(value, str):
        head, _, rest = path.partition(".")
        if head.isascii() and head.isdigit() and len(head) < 6 and int(head) < len(value):
            return lookup(value[int(head)], rest, file, line) if rest else value[int(head)]
    return ABSENT


def _dots(path: str) -> list[int]:
    return [position for position, letter in enumerate(path) if letter == "."]


def column(
    rows: Sequence[Any], path: str, file: str = "", lines: Sequence[int] | None = None
) -> list[Any] | None:
    """The cells at ``path`` of all rows, or None if no row has it."""
    cells = [lookup(row, path, file, lines[index] if lines else None) for index, row in enumerate(rows)]
    return None if all(cell is ABSENT for cell in cells) else cells


def columns(
    rows: Sequence[Any], paths: Iterable[str], file: str = "", lines: Sequence[int] | None = None
) -> dict[str, list[Any]]:
    """Those of ``paths`` that occur."""
    found = {path: column(rows, path, file, lines) for path in dict.fromkeys(paths)}
    return {path: cells for path, cells in found.items() if cells is not None}


def leaves(row: Any, depth: int = 3, prefix: str = "") -> Iterable[str]:
    """Dotted names of the scalar leaves of one row, for messages and the first look."""
    if not isinstance(row, Mapping):
        return
    for key, value in row.items():
        if isinstance(value, Mapping) and depth > 1:
            yield from leaves(value, depth - 1, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def names_in(rows: Sequence[Any], sample: int = 200) -> tuple[str, ...]:
    """Leaf names in the first rows, in order of appearance."""
    found: dict[str, None] = {}
    for row in rows[:sample]:
        found.update(dict.fromkeys(leaves(row)))
        if len(found) > 2000:
            break
    return tuple(found)

"""Names and dotted paths in nested JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gate.artifacts.records import ABSENT
from gate.artifacts.strict_json import refuse_doubled
from gate.safe import examples, quoted
from gate.values import GateError

_SELECTOR = re.compile(r"([^\[\]]+)\[([^\[\]=]+)=([^\[\]]*)\](?:\.(.+))?", re.DOTALL)
"""``list[field=word].rest``: of the objects in a list, the one whose field is that word."""
_NAMES = ("name", "metric", "metric_name", "key", "scorer", "evaluator", "name.name")


def lookup(value: Any, path: str, file: str = "", line: int | None = None) -> Any:
    """The value at ``path``: the literal key first, then the part before each dot; else ABSENT."""
    if type(value) is dict and path in value:
        return value[path]
    if isinstance(value, Mapping):
        refuse_doubled(value, file, line)
        if path in value:
            return value[path]
        for cut in _dots(path):
            if path[:cut] in value:
                found = lookup(value[path[:cut]], path[cut + 1 :], file, line)
                if found is not ABSENT:
                    return found
        selector = _SELECTOR.fullmatch(path)
        if selector is not None and isinstance(value.get(selector[1]), list):
            return _selected(value[selector[1]], selector, file, line)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        head, _, rest = path.partition(".")
        if head.isascii() and head.isdigit() and len(head) < 6 and int(head) < len(value):
            _refuse_position(value, int(head), file, line)
            return lookup(value[int(head)], rest, file, line) if rest else value[int(head)]
    return ABSENT


def _selected(entries: list[Any], selector: re.Match[str], file: str, line: int | None) -> Any:
    field, word, rest = selector[2], selector[3], selector[4]
    found = [entry for entry in entries if _word(lookup(entry, field, file, line)) == word]
    if len(found) > 1:
        raise GateError(
            "selector_ambiguous",
            f"{len(found)} entries of {quoted(selector[1])} have {quoted(field)} {quoted(word)}",
            where=f"{file}:{line}" if line else file,
            help="select by a field that tells the entries apart",
        )
    if not found:
        return ABSENT
    return lookup(found[0], rest, file, line) if rest else found[0]


def _word(cell: Any) -> str | None:
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(cell) if isinstance(cell, str | int | float) else None


def _refuse_position(entries: Sequence[Any], index: int, file: str, line: int | None) -> None:
    """Objects with names of their own may come in any order, also in another one in the other file."""
    for field in _NAMES if len(entries) > 1 else ():
        names = [_word(lookup(entry, field)) if isinstance(entry, Mapping) else None for entry in entries]
        if None not in names and len(set(names)) == len(names):
            raise GateError(
                "position_of_named",
                f"the mapping takes entry {index} of a list whose entries have names "
                f"({examples([str(name) for name in names])}); their order may differ",
                where=f"{file}:{line}" if line else file,
                help=f"select by name: LIST[{field}={names[index]}] in place of LIST.{index}",
            )


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


SAMPLE_ROWS = 200
"""Rows whose names are told as those of the file."""


def names_in(rows: Sequence[Any]) -> tuple[str, ...]:
    """Leaf names in the first rows, in order of appearance."""
    found: dict[str, None] = {}
    for row in rows[:SAMPLE_ROWS]:
        found.update(dict.fromkeys(leaves(row)))
        if len(found) > 2000:
            break
    return tuple(found)

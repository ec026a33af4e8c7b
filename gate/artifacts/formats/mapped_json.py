"""JSON (array of rows, columns and data, or one list of rows inside) and JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gate.artifacts.absent import averages_only
from gate.artifacts.content import Content
from gate.artifacts.lookup import columns, leaves, lookup, names_in
from gate.artifacts.records import ABSENT, Records, paths_of
from gate.artifacts.run_words import told
from gate.artifacts.strict_json import parse_line, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.safe import examples, quoted
from gate.values import GateError

SHAPE_HELP = "write a list of objects, one an item, or name the list in the mapping: id: results[].id"


def load(content: Content, request: ReadRequest | None) -> Records:
    """One JSON document."""
    paths = [] if request is None else list(paths_of(request).values())
    rows = find_rows(content.document(), paths, content.path)
    names = names_in(rows)
    wanted = names if request is None else paths
    bare = {path: path.rpartition("[].")[2] for path in wanted}
    found = columns(rows, bare.values(), content.path)
    cells = {path: found[name] for path, name in bare.items() if name in found}
    inside = entries_of(bare.values())
    evidence = _evidence(enumerate([*told(row), *told_beside(row, inside)] for row in rows), len(rows))
    return Records(format="json", count=len(rows), cells=cells, evidence=evidence, available=names)


def entries_of(paths: Iterable[str]) -> tuple[str, ...]:
    """Of paths that lead into a list, by a selector or a position, the entry that holds the value."""
    parents = (path.rpartition(".")[0] for path in paths)
    return tuple(dict.fromkeys(parent for parent in parents if _IN_A_LIST.search(parent)))


_IN_A_LIST = re.compile(r"\[[^\]]*\]|\.\d+(?:\.|$)")


def told_beside(row: Any, entries: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """What stands beside a value in its entry of a list, by the names that lead there."""
    for entry in entries:
        found = lookup(row, entry)
        if isinstance(found, Mapping):
            yield from told(found, prefix=f"{entry}.")


def _evidence(told_of: Iterable[tuple[int, list[tuple[str, Any]]]], count: int) -> dict[str, list[Any]]:
    """Columns that tell of runs; most rows have none of them."""
    found: dict[str, list[Any]] = {}
    for index, cells in told_of:
        for path, cell in cells:
            found.setdefault(path, [ABSENT] * count)[index] = cell
    return found


def load_lines(content: Content, request: ReadRequest | None) -> Records:
    """JSON Lines: one object a line."""
    paths = None if request is None else list(dict.fromkeys(paths_of(request).values()))
    kept: list[Any] = []
    cells: dict[str, list[Any]] = {path: [] for path in paths or ()}
    lines: list[int] = []
    telling: list[tuple[int, list[tuple[str, Any]]]] = []
    inside = entries_of(paths or ())
    for number, row in json_lines(content):
        lines.append(number)
        if said := [*told(row), *told_beside(row, inside)]:
            telling.append((len(lines) - 1, said))
        if len(kept) < 1000 or paths is None:
            kept.append(row)
        for path, column in cells.items():
            column.append(row.get(path, ABSENT) if path in row else lookup(row, path, content.path, number))
    names = names_in(kept)
    present = {path: column for path, column in cells.items() if any(cell is not ABSENT for cell in column)}
    return Records(
        format="jsonl",
        count=len(lines),
        cells=columns(kept, names) if paths is None else present,
        evidence=_evidence(telling, len(lines)),
        available=names,
        lines=lines,
    )


def json_lines(content: Content) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of every line that is not blank."""
    for number, line in content.lines():
        if not line.strip():
            continue
        row = parse_line(line, content.path, number)
        if not isinstance(row, dict):
            raise GateError(
                "invalid_json",
                f"each line must be one object (found {_kind(row)})",
                where=content.where(number),
                help="write one JSON object a line",
            )
        refuse_doubled(row, content.path, number)
        yield number, row


def find_rows(document: Any, paths: Sequence[str], path: str) -> list[dict[str, Any]]:
    """The list of rows in a document: the document itself, a pandas split, or the one list inside."""
    places = {part.rpartition("[].")[0] for part in paths if "[]." in part}
    if len(places) > 1:
        raise GateError(
            "invalid_mapping", f"the mapping names several lists ({examples(sorted(places))})", where=path
        )
    if places:
        place = places.pop()
        found = lookup(document, place, path)
        if not _is_rows(found):
            raise GateError("invalid_mapping", f"there is no list of objects at {quoted(place)}", where=path)
        return list(found)
    if isinstance(document, list):
        return _rows(document, path)
    refuse_doubled(document, path, None)
    if not isinstance(document, dict):
        raise GateError(
            "invalid_json", f"no rows in it (found {_kind(document)})", where=path, help=SHAPE_HELP
        )
    split = _split_rows(document, path)
    return split if split is not None else _rows_inside(document, paths, path)


def _rows(document: list[Any], path: str) -> list[dict[str, Any]]:
    for index, row in enumerate(document):
        if not isinstance(row, dict):
            raise GateError(
                "invalid_json",
                f"entry {index + 1} of the list is no object (found {_kind(row)})",
                where=path,
                help=SHAPE_HELP,
            )
        refuse_doubled(row, f"{path} (item {index + 1})", None)
    return document


def _split_rows(document: Mapping[str, Any], path: str) -> list[dict[str, Any]] | None:
    """``{columns: [...], data: [[...], ...]}``, as pandas and MLflow write it."""
    names, data = document.get("columns"), document.get("data")
    if not isinstance(names, list) or not isinstance(data, list):
        return None
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise GateError("duplicate_column", "the names in columns must be distinct texts", where=path)
    for index, row in enumerate(data):
        if not isinstance(row, list) or len(row) != len(names):
            raise GateError(
                "ragged_row",
                f"row {index + 1} of data does not have {len(names)} values",
                where=path,
                help=SHAPE_HELP,
            )
    return [dict(zip(names, row, strict=True)) for row in data]


def _rows_inside(document: dict[str, Any], paths: Sequence[str], path: str) -> list[dict[str, Any]]:
    lists = dict(_lists(document, "", 3))
    if len(lists) > 1 and paths:
        fitting = {
            place: rows
            for place, rows in lists.items()
            if any(lookup(rows[0], part) is not ABSENT for part in paths[:1])
        }
        lists = fitting or lists
    if len(lists) == 1:
        return _rows(next(iter(lists.values())), path)
    if lists:
        listed = examples([f"{place}[]" for place in lists])
        raise GateError(
            "ambiguous_rows", f"several lists of objects in it ({listed})", where=path, help=SHAPE_HELP
        )
    _refuse_rows_by_key(document, path, depth=1)
    if paths and lookup(document, paths[0], path) is not ABSENT:
        return [document]  # a file of JSON Lines with one line
    _refuse_rows_by_key(document, path, depth=3)
    scores = [value for value in document.values() if isinstance(value, int | float)]
    if len(scores) == len(document) > 20:
        raise _rows_by_key(f"{len(document)} numbers, each under a key of its own", document, path)
    numbers = [name for name in leaves(document) if isinstance(lookup(document, name), int | float)]
    if numbers:
        raise averages_only(f"no list of items; numbers at {examples(numbers)}", path)
    raise GateError("no_items", "there is no list of items in it", where=path, help=SHAPE_HELP)


def _refuse_rows_by_key(value: Mapping[str, Any], path: str, *, depth: int) -> None:
    """Refuse rows that lie under their ids: objects, more than three, with a key in common."""
    inner = [one for one in value.values() if isinstance(one, dict)]
    shared = set.intersection(*map(set, inner)) if len(inner) == len(value) > 3 else set()
    if any("stderr" in key for key in shared):
        raise averages_only(f"{len(value)} objects with standard errors: {examples(list(value))}", path)
    if shared:
        raise _rows_by_key(f"{len(value)} objects alike", value, path)
    for one in inner if depth > 1 else ():
        _refuse_rows_by_key(one, path, depth=depth - 1)


def _rows_by_key(found: str, rows: Mapping[str, Any], path: str) -> GateError:
    return GateError(
        "rows_by_key",
        f"no list of items, but {found} ({examples(list(rows))})",
        where=path,
        help="write a list of objects with ids (pandas: orient='records'); averages are no items",
    )


def _lists(value: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, list[Any]]]:
    for key, inner in value.items():
        if _is_rows(inner):
            yield prefix + key, inner
        elif isinstance(inner, Mapping) and depth > 1:
            yield from _lists(inner, f"{prefix}{key}.", depth - 1)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _kind(value: Any) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return kinds.get(type(value), "null" if value is None else "no number")

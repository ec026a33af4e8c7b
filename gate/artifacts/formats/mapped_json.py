"""JSON (array of rows, columns and data, or one list of rows inside) and JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.json_lines import Block, FlatBlock, Row, blocks, kind_of, row_blocks
from gate.artifacts.lookup import SAMPLE_ROWS, columns, leaves, lookup, names_in
from gate.artifacts.missing_columns import averages_only
from gate.artifacts.records import ABSENT, Records, paths_of
from gate.artifacts.run_words import holds_objects, is_evidence, told, told_columns
from gate.artifacts.strict_json import refuse_doubled
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
    telling = Telling()
    telling.add(rows, set().union(*rows), entries_of(bare.values()))
    return Records(format="json", count=len(rows), cells=cells, evidence=telling.columns(), available=names)


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


def load_lines(content: Content, request: ReadRequest | None) -> Records:
    """JSON Lines, block by block: only the cells that are wanted are kept."""
    paths = None if request is None else list(dict.fromkeys(paths_of(request).values()))
    inside = entries_of(paths or ())
    first: list[Any] = []
    cells: dict[str, list[Any]] = {path: [] for path in paths or ()}
    lines: list[Sequence[int]] = []
    telling = Telling()
    for block in blocks(content) if paths is not None else row_blocks(content):
        lines.append(block.lines)
        if isinstance(block, FlatBlock):
            telling.add_flat(block)
            for path, column in cells.items():
                column.extend(block.columns.get(path) or repeat(ABSENT, len(block.lines)))
            continue
        keys = set().union(*block.rows)
        telling.add(block.rows, keys, inside)
        if len(first) < SAMPLE_ROWS or paths is None:
            first += block.rows
        for path, column in cells.items():
            column.extend(_cells(block, keys, path, content.path))
    names = names_in(first)
    present = {path: column for path, column in cells.items() if column.count(ABSENT) < len(column)}
    return Records(
        format="jsonl",
        count=telling.count,
        cells=columns(first, names) if paths is None else present,
        evidence=telling.columns(),
        available=names,
        lines=list(chain.from_iterable(lines)),
    )


def _cells(block: Block, keys: Collection[str], path: str, file: str) -> list[Any]:
    """The cells at ``path``, which is looked for inside of a row that has no such key."""
    try:
        return list(map(itemgetter(path), block.rows))
    except KeyError:
        found = [row.get(path, ABSENT) for row in block.rows] if path in keys else [ABSENT] * len(block.rows)
    if {".", "["}.isdisjoint(path):
        return found
    rows = zip(found, block.rows, block.lines, strict=True)
    return [lookup(row, path, file, line) if cell is ABSENT else cell for cell, row, line in rows]


class Telling:
    """Columns that tell of runs, gathered from rows of which most have none of them."""

    def __init__(self) -> None:
        self.count = 0
        self._found: dict[str, dict[int, Any]] = {}

    def add(self, rows: Sequence[Row], names: Iterable[str], inside: Sequence[str] = ()) -> None:
        """Look through rows with these keys. inside: entries of lists beside which something may stand."""
        if inside or any(map(is_evidence, names)) or holds_objects(rows):
            self._add(list(enumerate(rows, self.count)), inside)
        self.count += len(rows)

    def add_flat(self, block: FlatBlock) -> None:
        """The same of rows that are like rows before them."""
        rows = range(self.count, self.count + len(block.lines))
        for path, column in block.columns.items():
            if is_evidence(path):
                self._found[path].update(zip(rows, column, strict=True))
        self.count += len(rows)

    def _add(self, numbered: Sequence[tuple[int, Row]], inside: Sequence[str]) -> None:
        found = [*told_columns([row for _, row in numbered], [number for number, _ in numbered])]
        found += [
            (path, {n: cell}) for n, row in numbered if inside for path, cell in told_beside(row, inside)
        ]
        first = sorted({min(cells) for path, cells in found if path not in self._found})
        for number in first:  # as they stand in the row that has them first
            row = numbered[number - self.count][1]
            for path, _ in (*told(row), *told_beside(row, inside)):
                self._found.setdefault(path, {})
        for path, cells in found:
            self._found[path].update(cells)

    def columns(self) -> dict[str, list[Any]]:
        """By their dotted names, in the order in which they occur."""
        rows = range(self.count)
        return {path: list(map(cells.get, rows, repeat(ABSENT))) for path, cells in self._found.items()}


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
            "invalid_json", f"no rows in it (found {kind_of(document)})", where=path, help=SHAPE_HELP
        )
    split = _split_rows(document, path)
    return split if split is not None else _rows_inside(document, paths, path)


def _rows(document: list[Any], path: str) -> list[dict[str, Any]]:
    for index, row in enumerate(document):
        if not isinstance(row, dict):
            raise GateError(
                "invalid_json",
                f"entry {index + 1} of the list is no object (found {kind_of(row)})",
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

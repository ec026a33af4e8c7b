"""The one reader of all formats in the table of layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.detect import is_json_lines
from gate.artifacts.formats.mapped_json import Telling
from gate.artifacts.ids import content_id
from gate.artifacts.json_lines import json_lines
from gate.artifacts.layouts import KEY, Layout, rows_at
from gate.artifacts.lookup import lookup
from gate.artifacts.oddities import EMPTY
from gate.artifacts.records import ABSENT, Records
from gate.artifacts.rows import row_word
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.texts import canonical
from gate.artifacts.tool_runs import Context, Run, accepted_columns, contradiction, records
from gate.safe import examples, quoted
from gate.values import GateError

Row = Mapping[str, Any]
Placed = tuple[int | None, str, Row]
_NAMED = re.compile(r"(.+)\[([^\[\]=]+)\](\..+)?")


def read_layout(layout: Layout, content: Content, request: ReadRequest | None) -> Records:
    """All rows of the file that are results."""
    every = list(_rows(layout, content))
    heads = [row for _, _, row in every if not layout.skip.isdisjoint(row)]
    placed = [one for one in every if layout.skip.isdisjoint(one[2]) and _is_result(layout, one[2])]
    placed, system, systems = _of_system(layout, placed, request, content.path)
    accepted = accepted_columns(request)
    runs = [_run(layout, one, accepted, content.where(one[0])) for one in placed]
    if not runs and not layout.absent:
        raise GateError("no_items", f"there are no results of {layout.name} in it", where=content.path)
    document = None if is_json_lines(content) else content.document()
    context = Context(
        format=layout.name,
        path=content.path,
        place=lambda row: f"row {row + 1}",
        facts={"systems": systems} if len(systems) > 1 else {},
        stated=tuple(_stated(layout, document, [row for _, _, row in placed])),
        directions={
            name: "lower" if name in layout.lower else "higher" for name in layout.metrics if name != "*"
        },
        extra=_gold(layout, placed),
        noted={EMPTY: [lookup(row, layout.empty) == "" for _, _, row in placed]} if layout.empty else {},
        evidence=_evidence(layout, placed),
        system=system,
        repeats_by_order=layout.by_order,
    )
    found = records(runs, request, context)
    return _with_absent(layout, found, heads, content.path) if layout.absent else found


def _rows(layout: Layout, content: Content) -> Iterator[Placed]:
    if is_json_lines(content):
        yield from ((line, "", row) for line, row in json_lines(content))
        return
    document = content.document()
    refuse_doubled(document, content.path, None)
    if layout.part is not None and lookup(document, layout.part) is True:
        raise GateError(
            "partial_results",
            f"{layout.part} is true: it is one page of the results",
            where=content.path,
            help="fetch all pages and write the rows as JSON Lines",
        )
    rows = next((rows for place in layout.rows if (rows := rows_at(document, place))), [])
    for index, (key, row) in enumerate(rows):
        where = f"{content.path} (row {index + 1})"
        if not isinstance(row, Mapping):
            raise GateError("invalid_report", "the row is no object", where=where)
        refuse_doubled(row, where, None)
        yield None, key, row


def _is_result(layout: Layout, row: Row) -> bool:
    return all(row_word(lookup(row, path)) in words for path, words in layout.only.items())


def _of_system(
    layout: Layout, placed: list[Placed], request: ReadRequest | None, path: str
) -> tuple[list[Placed], str | None, list[str]]:
    """The rows of the system that is asked for, its name, and all names; at a first look of the first."""
    if layout.system is None:
        return placed, None, []
    names = [row_word(lookup(row, layout.system)) for _, _, row in placed]
    systems = list(dict.fromkeys(names))
    wanted = None if request is None else request.system
    if request is not None and wanted is None and len(systems) > 1:
        raise _which("ambiguous_system", f"the file holds {len(systems)} systems", systems, path)
    if wanted is not None and wanted not in systems:
        raise _which("unknown_system", f"there is no system {quoted(wanted)}", systems, path)
    chosen = wanted if wanted is not None else next(iter(systems), None)
    return [one for one, name in zip(placed, names, strict=True) if name == chosen], chosen, systems


def _which(code: str, found: str, systems: list[str], path: str) -> GateError:
    return GateError(
        code,
        f"{found} (there are: {examples(systems)})",
        where=path,
        help="set artifacts.system; {baseline: X, candidate: Y} reads both sides from one file",
    )


def _run(layout: Layout, placed: Placed, accepted: frozenset[str], where: str) -> Run:
    line, key, row = placed
    _refuse_contradiction(layout, row, where)
    failed = any(
        _says(lookup(row, path), words) for path, words in layout.failed.items() if path not in accepted
    )
    metrics = dict(_metrics(layout, row, where))
    repeat = None if layout.repeat is None else _repeat(lookup(row, layout.repeat))
    return Run(_id(layout, key, row), metrics, row, failed=failed, repeat=repeat, line=line)


def _refuse_contradiction(layout: Layout, row: Row, where: str) -> None:
    """A verdict and its word say the same; words that are not declared say nothing."""
    if layout.agree is None:
        return
    verdict, path = lookup(row, layout.agree[0]), layout.agree[1]
    said = str(lookup(row, path))
    if said.startswith(tuple(layout.values)) and verdict is (layout.values.get(said) != 1):
        raise contradiction(f"{layout.agree[0]} is {verdict}, but {path} is {quoted(said)}", where)


def _repeat(found: Any) -> str | None:
    return None if found is None or found is ABSENT else row_word(found)


def _says(cell: Any, words: Sequence[str]) -> bool:
    nothing = cell is None or cell is ABSENT
    if "null" in words and nothing:
        return True
    something = not nothing and cell is not False and cell not in ("", [], {})
    return something and ("*" in words or row_word(cell) in words)


def _id(layout: Layout, key: str, row: Row) -> Any:
    """One part as it is, several joined; whatever has none is refused later."""
    parts = [key if path == KEY else _first(row, path) for path in layout.id]
    if parts[0] is None or parts[0] is ABSENT:
        return None
    present = [part for part in parts if part is not None and part is not ABSENT]
    if len(present) == 1 and not isinstance(present[0], (dict, list)):
        return _short(present[0]) if isinstance(present[0], str) and present[0] else present[0]
    return content_id("/".join(_text(part, layout.leave) for part in present))


def _short(text: str) -> str:
    """The same as content_id, without a look at each letter where there is nothing to escape."""
    plain = len(text) <= 200 and text.isprintable() and text == text.strip()
    return text if plain else content_id(text)


def _first(row: Row, path: str) -> Any:
    if path in row:
        return ABSENT if row[path] is None else row[path]
    found = (lookup(row, one) for one in path.split("|"))
    return next((cell for cell in found if cell is not ABSENT and cell is not None), ABSENT)


def _text(part: Any, leave: frozenset[str]) -> str:
    if isinstance(part, Mapping):
        part = {name: value for name, value in part.items() if name not in leave}
    return part if isinstance(part, str) else canonical(part)


def _metrics(layout: Layout, row: Row, where: str) -> Iterator[tuple[str, Any]]:
    for name, path in layout.metrics.items():
        if name != "*":
            yield name, _value(layout, lookup(row, path))
        elif (named := _NAMED.fullmatch(path)) is not None:
            yield from _listed(row, named, where)
        else:
            inner = row if path == "*" else lookup(row, path.removesuffix(".*"))
            yield from _spread(layout, row, inner, path.removesuffix("*"))


def _value(layout: Layout, cell: Any) -> Any:
    """A number for a declared word; other words are none."""
    if isinstance(cell, str):
        return layout.values.get(cell, NoNumber(cell[:40]))
    return cell


def _listed(row: Row, named: re.Match[str], where: str) -> Iterator[tuple[str, Any]]:
    """Each entry of a list by its name; a name that is there twice is refused."""
    place, field, rest = named[1], named[2], named[3] or ""
    entries = lookup(row, place)
    for name in [lookup(entry, field) for entry in entries] if isinstance(entries, list) else []:
        if isinstance(name, str):
            yield name, lookup(row, f"{place}[{field}={name}]{rest}", where)


def _spread(layout: Layout, row: Row, inner: Any, start: str) -> Iterator[tuple[str, Any]]:
    """Each number under a place by its name: keys of an object, or keys of the row that start so."""
    if not isinstance(inner, dict):
        inner = {key.removeprefix(start): row[key] for key in row if key.startswith(start)}
    for name, cell in inner.items():
        if isinstance(cell, dict):
            yield from ((f"{name}.{key}", value) for key, value in cell.items() if _measured(value))
        elif _measured(cell) and name not in layout.texts:
            yield name, cell


def _measured(cell: Any) -> bool:
    return cell is None or not isinstance(cell, (str, list, dict))


def _stated(layout: Layout, document: Any, rows: list[Row]) -> Iterator[Stated]:
    for path, what in layout.equal.items():
        if path.startswith("/"):
            found = lookup(document, path[1:])
            if isinstance(found, str | int | float):
                yield Stated(what, str(found))
        else:
            cells = [_first(row, path) for row in rows]
            yield Stated(what, tuple(None if cell is ABSENT else _text(cell, frozenset()) for cell in cells))


def _gold(layout: Layout, placed: list[Placed]) -> dict[str, list[Any]]:
    if layout.gold is None:
        return {}
    cells = [_first(row, layout.gold) for _, _, row in placed]
    return {
        "target_hash": [None if cell is ABSENT else content_id(_text(cell, frozenset())) for cell in cells]
    }


def _evidence(layout: Layout, placed: list[Placed]) -> dict[str, list[Any]]:
    """What else in the rows may say that a run broke."""
    telling = Telling()
    rows: list[Any] = [row for _, _, row in placed]
    if rows:
        telling.add(rows, set().union(*rows))
    read = {path for path in layout.failed if "*" in layout.failed[path]}
    metrics = {*layout.metrics.values(), *layout.texts}
    return {
        path: cells
        for path, cells in telling.columns().items()
        if path not in metrics and not any(path == one or path.startswith(f"{one}.") for one in read)
    }


def _with_absent(layout: Layout, found: Records, heads: list[Row], path: str) -> Records:
    """The file lists only some of its items: what the others are worth, and how many there must be."""
    totals = [lookup(head, layout.total) for head in heads] if layout.total else []
    if len(totals) != 1 or not isinstance(totals[0], int):
        raise contradiction(f"it has {len(totals)} summaries with {layout.total}", path)
    passed = heads[0].get("correct_count")
    if isinstance(passed, int) and passed + found.count != totals[0]:
        raise contradiction(f"{totals[0]} items, {passed} correct, {found.count} listed as wrong", path)
    return replace(found, absent=layout.absent, total=totals[0])

"""Which rows of a file are read: ``artifacts.where``, for scores that lie one a row under a name each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gate.artifacts.absent import missing_column
from gate.artifacts.records import ABSENT, Records, place
from gate.artifacts.table import ItemTable, ReadRequest, Stated
from gate.errors import GateError, examples, quoted


def row_word(cell: Any) -> str:
    """A cell, or a word of the policy, as it is compared: ``true``, ``3`` (also for 3.0), text as it is."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def chosen_rows(records: Records, request: ReadRequest, path: str) -> Records:
    """The rows that the policy asks for; an error where a column is not there or no row is left."""
    kept = list(range(records.count))
    for name, words in request.where.items():
        cells = records.cells.get(request.mapping.get(name, name))
        if cells is None:
            raise missing_column("column", name, records, path)
        left = [row for row in kept if cells[row] is not ABSENT and row_word(cells[row]) in words]
        if not left:
            raise _no_rows(name, words, [cells[row] for row in kept], path)
        kept = left
    return records if len(kept) == records.count else _only(records, kept)


def _no_rows(name: str, words: Sequence[str], cells: Sequence[Any], path: str) -> GateError:
    found = Counter(row_word(cell) for cell in cells if isinstance(cell, str | int | float))
    return GateError(
        "no_rows",
        f"artifacts.where leaves no row: none has {quoted(name)} {examples(list(words))} "
        f"(found {examples([word for word, _ in found.most_common(5)]) or 'no words'})",
        where=path,
        help="correct artifacts.where, or the file",
    )


def by_name(error: GateError, records: Records, request: ReadRequest) -> GateError:
    """The refusal of doubled ids, with better advice where the rows of an item go by names."""
    column = _long_form(records, request)
    if column is None:
        return error
    words = sorted({row_word(cell) for cell in records.cells[column]})
    return GateError(
        error.code,
        error.message,
        where=error.where,
        help=f"the rows of an item differ in {quoted(column)} ({examples(words)}): "
        f"read one of them: artifacts: {{where: {{{column}: {words[0]}}}}}",
    )


def _long_form(records: Records, request: ReadRequest) -> str | None:
    """A column of few words, none a run number, that tells the rows of each id apart."""
    ids = (
        records.ids
        if records.ids is not None
        else records.cells.get(request.mapping.get(request.id, request.id))
    )
    if ids is None or request.repeat is not None:
        return None
    keys = list(map(row_word, ids))
    for name, cells in records.cells.items():
        words = list(map(row_word, cells)) if all(type(cell) is str for cell in cells) else []
        few = 1 < len(set(words)) <= max(2, len(words) // 3)
        if (
            few
            and not any(map(is_run_number, set(words)))
            and len(set(zip(keys, words, strict=True))) == len(keys)
        ):
            return name
    return None


def is_run_number(word: str) -> bool:
    """``3``, ``run-2``, ``seed7``, ``b``: what numbers runs, and does not name what was measured."""
    return len(word) < 2 or any(letter.isdigit() for letter in word)


def _only(records: Records, rows: Sequence[int]) -> Records:
    def some(cells: Sequence[Any]) -> list[Any]:
        return [cells[row] for row in rows]

    def each(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        return {name: some(cells) for name, cells in columns.items()}

    def where(row: int) -> str:
        return place(records, rows[row])

    def stated(one: Stated) -> Stated:
        return one if isinstance(one.value, str) else replace(one, value=tuple(some(one.value)))

    return replace(
        records,
        count=len(rows),
        stated=tuple(map(stated, records.stated)),
        cells=each(records.cells),
        evidence=each(records.evidence),
        extra=each(records.extra),
        noted=each(records.noted),
        lines=None if records.lines is None else some(records.lines),
        place=where,
        ids=None if records.ids is None else some(records.ids),
        repeats=None if records.repeats is None else some(records.repeats),
        failed=None if records.failed is None else some(records.failed),
    )


def repeats_by_name(table: ItemTable, column: str | None) -> list[tuple[str, str]]:
    """Names in the repeat column may be those of metrics, and their mean says nothing."""
    words = [] if table.repeats is None or column is None else sorted(set(table.repeats.tolist()))
    if not words or any(map(is_run_number, words)):
        return []
    text = (
        f"the repeat column {quoted(column or '')} holds words that number no runs ({examples(words)}): "
        f"their values are averaged; if they are metrics, read one: "
        f"artifacts: {{where: {{{column}: {words[0]}}}}}"
    )
    return [("repeats_by_name", text)]

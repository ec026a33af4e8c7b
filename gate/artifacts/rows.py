"""Which rows of a file are read: ``artifacts.where``, for scores that lie one a row under a name each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gate.artifacts.id_columns import words_of
from gate.artifacts.ids import content_id, is_content
from gate.artifacts.missing_columns import missing_column
from gate.artifacts.outcome import LONGEST_WORD, outcome_of, shown
from gate.artifacts.records import ABSENT, Records, place
from gate.artifacts.run_words import tells_of_runs, without_result
from gate.artifacts.table import ItemTable, LeftOut, ReadRequest, Stated
from gate.safe import examples, quoted
from gate.values import GateError


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
        _refuse_telling(name, request, path)
        cells = records.cells.get(request.mapping.get(name, name))
        if cells is None:
            raise missing_column("column", name, records, path)
        left = [row for row in kept if cells[row] is not ABSENT and row_word(cells[row]) in words]
        if not left:
            raise _no_rows(name, words, [cells[row] for row in kept], path)
        kept = left
    if not request.where:
        return records
    return replace(_only(records, kept), left_out=_left_out(records, request, kept))


_TELLING = frozenset(
    {"status", "error", "errors", "exception", "failed", "failure", "failures", "outcome", "result", "score"}
    | {"best", "selected", "accepted", "kept"}
    | {"completed", "finished", "ok", "success", "passed", "pass", "fail", "correct", "resolved", "valid"}
    | {"crashed", "timeout", "aborted", "skipped", "invalid", "verdict"}
)


def _refuse_telling(name: str, request: ReadRequest, path: str) -> None:
    """A filter by how runs ended, or by what they scored, takes the failures out of the comparison."""
    column = request.mapping.get(name, name)
    metrics = {request.mapping.get(metric, metric) for metric in request.metrics}
    runs = {request.mapping.get(one, one) for one in (*request.failed, *request.completed)}
    ends = not _TELLING.isdisjoint(words_of(column.rpartition(".")[2])) or tells_of_runs(column)
    if ends or column in metrics | runs:
        raise GateError(
            "where_hides_runs",
            f"artifacts.where chooses rows by {quoted(name)}, which tells how runs ended or what they scored",
            where=path,
            help="choose rows by what they are about (the metric's name, the data set); which words mean a "
            f"failed run is said by artifacts: {{failed: {{{name}: [...]}}}}",
        )


def refuse_telling_selectors(request: ReadRequest, path: str) -> None:
    """The same for what the mapping selects from a list: ``runs[state=final].score`` hides the others."""
    for name, column in request.mapping.items():
        for field in re.findall(r"\[([^\[\]=]+)=", column):
            words = words_of(field.rpartition(".")[2])
            names = words[-1:] and words[-1] in {"name", "metric", "key", "id"}
            ends = not _TELLING.isdisjoint(words) or tells_of_runs(field) or words == ["state"]
            if ends and not names:
                raise GateError(
                    "where_hides_runs",
                    f"the mapping of {quoted(name)} selects by {quoted(field)}, which tells how runs ended "
                    "or what they scored",
                    where=path,
                    help="select by what an entry is about (the metric's name); for several runs of an item "
                    "write one row a run and name the column that numbers them in items.repeat",
                )


def _left_out(records: Records, request: ReadRequest, kept: Sequence[int]) -> LeftOut:
    """What is not read, and whose runs failed there: a file may call the column whatever it likes."""
    chosen = set(kept)
    rows = [row for row in range(records.count) if row not in chosen]
    left = _only(records, rows)
    outcome = outcome_of(left, request)
    failed = outcome.failed.tolist()
    for column in outcome.unread:
        cells = left.evidence.get(column.column, left.cells.get(column.column, ()))
        failed = [f or shown(c)[:LONGEST_WORD] in column.words for f, c in zip(failed, cells, strict=True)]
    for name in request.where:
        cells = left.cells[request.mapping.get(name, name)]
        failed = [f or without_result(row_word(c)) for f, c in zip(failed, cells, strict=True)]
    ids = _row_ids(records, request)
    known = {ids[row] for row in kept}
    hidden = {ids[row] for row, bad in zip(rows, failed, strict=True) if bad} - known
    return LeftOut(len(kept), len(rows), frozenset(hidden))


def _row_ids(records: Records, request: ReadRequest) -> list[str]:
    own = records.ids is not None and not request.id_declared
    cells = records.ids if own else records.cells.get(request.mapping.get(request.id, request.id))
    texts = [] if cells is None else [row_word(cell) for cell in cells]
    return [content_id(text) if is_content(text) else text for text in texts] or [""] * records.count


def left_out(baseline: ItemTable, candidate: ItemTable) -> Iterator[tuple[str, str]]:
    """What the filter left out, as a caution; an error where it is an item that failed on one side only."""
    sides = (("baseline", baseline, candidate), ("candidate", candidate, baseline))
    for name, table, other in sides:
        hidden = sorted(table.left_out.failed & set(other.ids.tolist())) if table.left_out else []
        if hidden:
            raise GateError(
                "where_hides_runs",
                f"artifacts.where leaves out {len(hidden)} items of the {name} whose runs failed "
                f"({examples(hidden)}) and which it reads in the other file",
                where=table.source.path,
                help="choose rows by what they are about, not by how they ended; failed runs are accepted up "
                "to items.max_error_rate",
            )
    if baseline.left_out is None or candidate.left_out is None:
        return
    found = [f"{t.left_out.read} of {t.left_out.read + t.left_out.rows}" for _, t, _ in sides if t.left_out]
    uneven = baseline.left_out.rows != candidate.left_out.rows
    text = f"artifacts.where reads {found[0]} baseline rows and {found[1]} candidate rows"
    more = ": unequal numbers of rows are left out" if uneven else "; all others are left out"
    yield "rows_left_out_unequal" if uneven else "rows_left_out", text + more


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
        f"read one of them: artifacts: {{where: {{{column}: {words[0]}}}}} "
        f"(compare and init: --where {column}={words[0]})",
    )


def _long_form(records: Records, request: ReadRequest) -> str | None:
    """A column of few words, none a run number, that tells the rows of each id apart."""
    ids = (
        records.ids
        if records.ids is not None
        else records.cells.get(request.mapping.get(request.id, request.id))
    )
    if ids is None or request.repeat is not None or request.votes:
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


_NAMING = frozenset(
    {"name", "names", "metric", "metrics", "key", "measure", "criterion", "criteria", "dimension", "aspect"}
    | {"scorer", "evaluator", "assertion", "check", "feedback", "assessment", "rubric", "rule", "score"}
)
"""Words of a column that says what was measured, and not which run it was."""


def repeats_by_name(table: ItemTable, column: str | None) -> list[tuple[str, str]]:
    """Names in the repeat column may be those of metrics, and their mean says nothing.

    Refused where the column's own name says that it names what was measured; else a caution.
    """
    words = [] if table.repeats is None or column is None else sorted(set(table.repeats.tolist()))
    name = column or ""
    naming = not _NAMING.isdisjoint(words_of(name)) and not _number_runs(words)
    if not words or (not naming and any(map(is_run_number, words))):
        return []
    found = f"the repeat column {quoted(name)} holds words that number no runs ({examples(words)})"
    advice = f"artifacts: {{where: {{{name}: {words[0]}}}}} (compare and init: --where {name}={words[0]})"
    if naming:
        raise GateError(
            "repeats_by_name",
            f"{found}: the mean over different metrics says nothing",
            where=table.source.path,
            help=f"read one of them: {advice}",
        )
    return [
        ("repeats_by_name", f"{found}: their values are averaged; if they are metrics, read one: {advice}")
    ]


_HEX = re.compile(r"[0-9a-f-]{6,}")


def _number_runs(words: Sequence[str]) -> bool:
    """``1``, ``run-2`` and ``run-3``, digests: all alike but for numbers. ``f1`` and ``rouge1`` are not."""
    stems = {re.sub(r"[0-9]+", "", word) for word in words}
    digests = all(_HEX.fullmatch(word) and any(map(str.isdigit, word)) for word in words)
    return all(len(word) < 2 for word in words) or (len(stems) == 1 and len(words) > 1) or digests

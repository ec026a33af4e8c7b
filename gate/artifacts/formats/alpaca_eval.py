"""AlpacaEval annotations: one entry an instruction, judged against a reference. ``win`` is preference - 1.

Version 1 writes 0 for a tie, version 2 writes 1.5; null is a judge that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.detect import is_json_lines
from gate.artifacts.ids import content_id
from gate.artifacts.json_lines import json_lines
from gate.artifacts.records import Records
from gate.artifacts.strict_json import refuse_doubled
from gate.artifacts.table import ReadRequest, Stated, graded_itself
from gate.artifacts.tool_runs import Context, Run, records
from gate.safe import quoted
from gate.values import GateError

Row = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """All annotations."""
    rows = list(_rows(content))
    runs = [_run(row, line, content.path) for line, row in rows]
    ties = sum(row.get("preference") == 0 for _, row in rows)
    text = f"{ties} preferences are 0, which is a tie here: they are read as 1.5 (win 0.5)"
    models = _names(rows, "generator_2")
    context = Context(
        format="alpaca_eval",
        path=content.path,
        place=lambda row: f"entry {row + 1}",
        facts={"model": models} if models else {},
        stated=(
            *graded_itself(models or None, filter(None, [_names(rows, "annotator")])),
            _stated(rows, "annotator", "the annotator"),
            _stated(rows, "generator_1", "the reference model"),
        ),
        cautions=(("ties_as_zero", text),) if ties else (),
        directions={"win": "higher"},
        system=models or None,
    )
    return records(runs, request, context)


def _rows(content: Content) -> Iterator[tuple[int | None, Row]]:
    if is_json_lines(content):
        yield from json_lines(content)
        return
    for index, row in enumerate(content.document()):
        where = f"{content.path} (entry {index + 1})"
        if not isinstance(row, dict):
            raise GateError("invalid_json", "the entry is no object", where=where)
        refuse_doubled(row, where, None)
        yield None, row


def _run(row: Row, line: int | None, path: str) -> Run:
    found, instruction = row.get("preference"), row.get("instruction")
    if found is not None and not _is_preference(found):
        raise GateError(
            "invalid_report",
            f"a preference is 0 or from 1 to 2, or null (found {quoted(str(found))})",
            where=path if line is None else f"{path}:{line}",
            help="give the annotations as AlpacaEval writes them, or map the rows: artifacts: {format: json}",
        )
    preference = 1.5 if found == 0 else found
    win = None if preference is None else preference - 1
    key = content_id(instruction) if isinstance(instruction, str) else instruction
    raw = {**row, "preference": preference}
    return Run(key, {"win": win}, raw, failed=preference is None, line=line)


def _is_preference(found: Any) -> bool:
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return number and (found == 0 or 1 <= found <= 2)


def _stated(rows: list[tuple[int | None, Row]], field: str, what: str) -> Stated:
    names = tuple(None if row.get(field) is None else str(row[field]) for _, row in rows)
    return Stated(f"{what} ({field})", names, frozenset({"win", "preference"}))


def _names(rows: list[tuple[int | None, Row]], field: str) -> str:
    return ", ".join(sorted({str(name) for _, row in rows if (name := row.get(field)) is not None}))

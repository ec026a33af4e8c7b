"""promptfoo results: JSON of versions 2 and 3, and JSON Lines. One file may hold several systems.

An item is a test case: its vars, and its description where vars alone do not tell cases apart. Rows come in
order of completion; with ``--repeat`` a case occurs again. A run error is not an assertion that failed, and a
grader that broke is none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.formats import promptfoo_systems
from gate.artifacts.ids import content_id
from gate.artifacts.json_lines import json_lines
from gate.artifacts.oddities import EMPTY, blank
from gate.artifacts.records import Records
from gate.artifacts.strict_json import refuse_doubled
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.texts import canonical
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, accepted_columns, contradiction, records
from gate.safe import quoted
from gate.values import GateError

Row = dict[str, Any]
_OF_THE_RUN = frozenset({"sessionId", "_conversation"})
"""Vars that differ from run to run."""
_DATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
GRADER = "grader_error"
"""How the policy accepts results of a broken grader as they are: ``completed: {grader_error: ['*']}``."""
_THROWN = (
    "Custom function threw error",
    "Python code execution failed",
    "Execution of Python code failed",
    "Could not extract JSON from",
    "Invalid assertion",
    "No output",
    "Error evaluating",
    "API error",
    "Grading provider",
)
"""How the reason of an assertion begins that broke instead of judging."""


def load(content: Content, request: ReadRequest | None) -> Records:
    """The rows of one system."""
    rows = list(_rows(content))
    wanted = None if request is None else request.system
    if request is None and len(promptfoo_systems.labels(rows)) > 1:
        rows, label = promptfoo_systems.first(rows)
    else:
        rows, label = promptfoo_systems.chosen(rows, wanted, content.path)
    for index, (_, row) in enumerate(rows):
        _refuse_contradiction(row, f"result {index + 1}", content.path)
    fine = GRADER in accepted_columns(request)
    runs = [
        _run(key, line, row, fine=fine)
        for key, (line, row) in zip(_keys([row for _, row in rows]), rows, strict=True)
    ]
    context = Context(
        format="promptfoo",
        path=content.path,
        place=lambda row: f"result {row + 1}",
        stated=tuple(_stated([row for _, row in rows], content)),
        facts={"model": label, "systems": promptfoo_systems.labels(_rows(content))}
        | time_fact(_times(content, rows)),
        cautions=_cautions([row for _, row in rows], fine=fine),
        directions={name: "higher" for run in runs for name in run.metrics}  # named scores pass at 1
        | {"success": "higher", "score": "higher", "latencyMs": "lower", "cost": "lower"},
        aliases={"description": "testCase.description", "metadata": "testCase.metadata"},
        evidence={"response.cached": [_is_cached(row) for _, row in rows]},
        noted={EMPTY: [_is_empty(row) for _, row in rows]},
        system=label,
        repeats_by_order=True,
    )
    return records(runs, request, context)


def _rows(content: Content) -> Iterator[tuple[int | None, Row]]:
    if _is_lines(content):
        yield from json_lines(content)
        return
    document = content.document()
    refuse_doubled(document, content.path, None)
    if "results" not in document:
        yield None, document
        return
    results = document["results"]
    refuse_doubled(results, content.path, None)
    listed = results if isinstance(results, list) else results["results"]
    for index, row in enumerate(listed):
        refuse_doubled(row, f"{content.path} (result {index + 1})", None)
        if not isinstance(row, dict):
            raise GateError("invalid_json", f"result {index + 1} is no object", where=content.path)
        yield None, row


def _times(content: Content, rows: list[tuple[int | None, Row]]) -> Iterator[Any]:
    """Of the evaluation, or of the rows; the id of an evaluation ends in its time."""
    document = {} if _is_lines(content) else content.document()
    results, told = _part(document, "results"), _part(document, "metadata")
    yield from (results.get("timestamp"), told.get("evaluationCreatedAt"))
    for found in (document, results, *(row for _, row in rows)):
        yield found.get("createdAt")
        name = found.get("evalId")
        yield from _DATED.findall(name) if isinstance(name, str) else ()


def _is_lines(content: Content) -> bool:
    from gate.artifacts.detect import is_json_lines  # noqa: PLC0415

    return is_json_lines(content)


def _refuse_contradiction(row: Row, place: str, path: str) -> None:
    grading = row.get("gradingResult")
    graded = grading.get("pass") if isinstance(grading, Mapping) else None
    if isinstance(graded, bool) and graded is not row.get("success") and isinstance(row.get("success"), bool):
        text = f"{place}: success is {row['success']}, but gradingResult.pass is {graded}"
        raise contradiction(text, path)


def _keys(rows: list[Row]) -> list[str]:
    """Ids of the test cases."""
    by_vars = [canonical(_vars(row)) for row in rows]
    described = [_described(row) for row in rows]
    several: dict[str, set[str]] = {}
    for key, text in zip(by_vars, described, strict=True):
        several.setdefault(key, set()).add(text)
    keys = []
    for row, key, text in zip(rows, by_vars, described, strict=True):
        if key == "{}":
            keys.append(content_id(text or f"test {row.get('testIdx')}"))
        else:
            keys.append(content_id(f"{text} {key}" if len(several[key]) > 1 else key))
    return keys


def _vars(row: Row) -> dict[str, Any]:
    found = row.get("vars")
    if not isinstance(found, Mapping):
        case = row.get("testCase")
        found = case.get("vars") if isinstance(case, Mapping) else None
    return (
        {name: value for name, value in (found or {}).items() if name not in _OF_THE_RUN}
        if isinstance(found, Mapping)
        else {}
    )


def _described(row: Row) -> str:
    case = row.get("testCase")
    text = case.get("description") if isinstance(case, Mapping) else row.get("description")
    return text if isinstance(text, str) else ""


def _run(key: str, line: int | None, row: Row, *, fine: bool) -> Run:
    metrics: dict[str, Any] = {
        name: row.get(name) for name in ("success", "score", "cost", "latencyMs") if name in row
    }
    named = row.get("namedScores")
    for name, value in named.items() if isinstance(named, Mapping) else ():
        metrics.setdefault(name, value)
        metrics |= {f"namedScores.{name}": value, f"named:{name}": value}
    failed = _is_run_error(row) or (not fine and _grader_broke(row))
    return Run(key, metrics, row, failed=failed, line=line)


def _is_cached(row: Row) -> bool:
    response = row.get("response")
    return isinstance(response, Mapping) and response.get("cached") is True


def _is_empty(row: Row) -> bool:
    response = row.get("response")
    return isinstance(response, Mapping) and "output" in response and blank(response["output"])


def _is_run_error(row: Row) -> bool:
    """Version 3 says so; in version 2 an error without a grading result is one of the run."""
    reason = row.get("failureReason")
    if reason is not None:
        return bool(reason == 2)
    return bool(row.get("error")) and row.get("gradingResult") is None


def _stated(rows: list[Row], content: Content) -> Iterator[Stated]:
    """The assertions of each case, those of a named metric by themselves, and the tool's version."""
    yield from _bars("", [_assertions(row) for row in rows], rows, frozenset({"success", "score"}))
    for name in sorted({str(one["metric"]) for row in rows for one in _assertions(row) if one.get("metric")}):
        own = [[one for one in _assertions(row) if one.get("metric") == name] for row in rows]
        decided = frozenset({name, f"namedScores.{name}", f"named:{name}"})
        yield from _bars(f" of {quoted(name)}", own, rows, decided)
    document = {} if _is_lines(content) else content.document()
    told = document.get("metadata")
    version = told.get("promptfooVersion") if isinstance(told, Mapping) else None
    if isinstance(version, str):
        yield Stated("the version of promptfoo", version, caution="tool_version_differs")


def _bars(whose: str, listed: list[list[Row]], rows: list[Row], decided: frozenset[str]) -> Iterator[Stated]:
    """Rubrics and expected values, thresholds, and who grades, each by itself."""
    parts: dict[str, tuple[str, ...]] = {"grader": ("provider", "rubricPrompt"), "threshold": ("threshold",)}
    apart = {key for keys in parts.values() for key in keys}
    texts = [[{k: v for k, v in one.items() if k not in apart} for one in found] for found in listed]
    cells = tuple(canonical(found) if found else None for found in texts)
    yield Stated(f"what the assertions{whose} ask for", cells, decided)
    for name, keys in parts.items():
        told = [
            [one.get(key) for one in (*found, _options(row)) for key in keys]
            for found, row in zip(listed, rows, strict=True)
        ]
        cells = tuple(canonical(one) if found else None for one, found in zip(told, listed, strict=True))
        yield Stated(f"the {name} of the assertions{whose}", cells, decided)


def _assertions(row: Row) -> list[Row]:
    """What the case asks for; of older files what was asserted."""
    asked = _part(row, "testCase").get("assert")
    if not isinstance(asked, list) or not asked:
        parts = _part(row, "gradingResult").get("componentResults")
        parts = parts if isinstance(parts, list) else []
        asked = [part.get("assertion") for part in parts if isinstance(part, Mapping)]
    return [dict(one) for one in asked if isinstance(one, Mapping)]


def _options(row: Row) -> Row:
    """The grader and the threshold of the whole case."""
    case = _part(row, "testCase")
    return {**_part(case, "options"), "threshold": case.get("threshold")}


def _part(row: Mapping[str, Any], name: str) -> Row:
    found = row.get(name)
    return dict(found) if isinstance(found, Mapping) else {}


def _cautions(rows: list[Row], *, fine: bool) -> tuple[tuple[str, str], ...]:
    ran = [row for row in rows if not _is_run_error(row)]
    thrown = sum(1 for row in ran if _grader_broke(row))
    found = []
    if thrown:
        found.append(
            (
                "grader_errors",
                f"in {thrown} of {len(ran)} results an assertion broke instead of judging; "
                + ("it counts as 0" if fine else "they count as failed runs"),
            )
        )
    if ran and not any(row.get("success") is True for row in ran):
        found.append(("nothing_passed", f"none of {len(ran)} results passed; check the assertions"))
    return tuple(found)


def _grader_broke(row: Row) -> bool:
    if row.get("success") is True:
        return False
    grading = row.get("gradingResult")
    parts = grading.get("componentResults") if isinstance(grading, Mapping) else None
    parts = parts if isinstance(parts, list) else []
    parts = [part for part in parts if isinstance(part, Mapping)]
    if any(isinstance(told := part.get("metadata"), Mapping) and told.get("graderError") for part in parts):
        return True
    texts = [row.get("error")] + [part.get("reason") for part in parts]
    return any(isinstance(text, str) and text.startswith(_THROWN) for text in texts)

"""Which tool wrote a JSON document or a line of JSON Lines, by its keys alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gate.artifacts.layouts import LAYOUTS, fits


def document_formats(document: Any) -> list[str]:
    """The formats that a whole document may be; ``json`` if no tool is known by it."""
    rows = document[0] if isinstance(document, list) and document else document
    found = (
        [] if isinstance(document, list) else [name for name, matches in _DOCUMENTS if _is(document, matches)]
    )
    lined = _row_formats(rows) if isinstance(rows, Mapping) else []
    if rows is document:
        lined = [name for name in lined if name in {"promptfoo", "lm_eval", "alpaca_eval"}]
    found = found[:1] or lined[:1]
    return [*found, *(one.name for one in LAYOUTS if fits(one, document))] or ["json"]


def row_formats(row: Mapping[str, Any]) -> list[str]:
    """The formats that JSON Lines may be, by the first; ``jsonl`` if no tool is known by it."""
    return [*_row_formats(row)[:1], *(one.name for one in LAYOUTS if "" in one.rows and fits(one, row))] or [
        "jsonl"
    ]


def _is(document: Any, matches: Callable[[Mapping[str, Any]], bool]) -> bool:
    return isinstance(document, Mapping) and matches(document)


def _row_formats(row: Mapping[str, Any]) -> list[str]:
    keys = set(row)
    alpaca = {"instruction", "output_1", "output_2", "preference"} <= keys
    found = (
        ("replay", row.get("schema") == "gate.replay/1"),
        ("lm_eval", "doc_id" in keys and bool(keys & {"resps", "filtered_resps"})),
        ("promptfoo", _is_promptfoo_row(row)),
        ("alpaca_eval", alpaca and bool(keys & {"generator_1", "generator_2"})),
    )
    return [name for name, fitting in found if fitting]


def _is_promptfoo_row(row: Mapping[str, Any]) -> bool:
    provider = row.get("provider")
    named = isinstance(provider, Mapping | str)
    return named and {"success", "score", "namedScores", "vars", "prompt"} <= set(row)


def _promptfoo(document: Mapping[str, Any]) -> bool:
    results = document.get("results")
    if isinstance(results, Mapping):
        rows = results.get("results")
        if not isinstance(rows, list) or not rows:
            return isinstance(rows, list) and "version" in results
        return isinstance(rows[0], Mapping) and {"success", "score"} <= set(rows[0])
    return isinstance(results, list) and bool(results) and _is_row(results[0])


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and _is_promptfoo_row(row)


def _inspect(document: Mapping[str, Any]) -> bool:
    run = document.get("eval")
    return {"version", "status", "eval"} <= set(document) and isinstance(run, Mapping) and "task" in run


def _deepeval(document: Mapping[str, Any]) -> bool:
    inner = document.get("testRunData")
    found = inner if isinstance(inner, Mapping) else document
    if "test_cases_lookup_map" in document:
        return True
    listed = [found.get("testCases"), found.get("conversationalTestCases")]
    cases = [case for cases in listed if isinstance(cases, list) for case in cases]
    if not cases:
        return found is inner or all(isinstance(cases, list) for cases in listed)
    return any(isinstance(case, Mapping) and _is_deepeval_case(case) for case in cases)


def _is_deepeval_case(case: Mapping[str, Any]) -> bool:
    asked = {"input", "scenario", "turns"} & set(case)
    return "metricsData" in case or (bool(asked) and bool({"actualOutput", "success"} & set(case)))


def _terminal_bench(document: Mapping[str, Any]) -> bool:
    """Every entry has a task and a verdict, which may be null."""
    rows = document.get("results")
    if not isinstance(rows, list) or not rows:
        return rows == [] and {"resolved_ids", "unresolved_ids"} <= set(document)
    first = rows[0]
    return isinstance(first, Mapping) and {"task_id", "is_resolved"} <= set(first)


def _swebench(document: Mapping[str, Any]) -> bool:
    listed = {key for key in ("resolved_ids", "resolved") if isinstance(document.get(key), list)}
    return bool(listed) and bool(
        set(document)
        & {"total_instances", "submitted_ids", "no_generation", "completed_ids", "unresolved_ids"}
    )


def _code_eval(document: Mapping[str, Any]) -> bool:
    tasks = document.get("eval")
    if not isinstance(tasks, Mapping) or not tasks:
        return False
    first = next(iter(tasks.values()))
    if isinstance(first, Mapping):
        return "base" in first
    runs = first[0] if isinstance(first, list) and first else None
    return isinstance(runs, Mapping) and bool(set(runs) & {"base_status", "plus_status", "status"})


def _pytest_json(document: Mapping[str, Any]) -> bool:
    tests = document.get("tests")
    if not isinstance(tests, list):
        return False
    if not tests:
        return {"summary", "exitcode"} <= set(document)
    return isinstance(tests[0], Mapping) and {"nodeid", "outcome"} <= set(tests[0])


_DOCUMENTS = (
    ("promptfoo", _promptfoo),
    ("inspect", _inspect),
    ("deepeval", _deepeval),
    ("terminal_bench", _terminal_bench),
    ("swebench", _swebench),
    ("evalplus", _code_eval),
    ("pytest_json", _pytest_json),
)

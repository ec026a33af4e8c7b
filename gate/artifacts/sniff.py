"""Which tool wrote a JSON document or a line of JSON Lines, by its keys alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def document_format(document: Any) -> str:
    """The format of a whole document; ``json`` if no tool is known by it."""
    if isinstance(document, list):
        first = document[0] if document else None
        return row_format(first, "json") if isinstance(first, Mapping) else "json"
    if not isinstance(document, Mapping):
        return "json"
    for name, matches in _DOCUMENTS:
        if matches(document):
            return name
    found = row_format(document, "json")
    return found if found in {"promptfoo", "human_eval", "lm_eval", "alpaca_eval"} else "json"


def row_format(row: Mapping[str, Any], plain: str) -> str:
    """The format of a file by its first row; ``plain`` if no tool is known by it."""
    keys = set(row)
    if row.get("schema") == "gate.replay/1":
        return "replay"
    if "doc_id" in keys and keys & {"resps", "filtered_resps"}:
        return "lm_eval"
    if {"task_id", "completion", "passed", "result"} <= keys:
        return "human_eval"
    if _is_promptfoo_row(row):
        return "promptfoo"
    if {"instruction", "output_1", "output_2", "preference"} <= keys and keys & {
        "generator_1",
        "generator_2",
    }:
        return "alpaca_eval"
    return plain


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

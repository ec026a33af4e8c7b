"""pytest-json-report: ``tests[]`` with ``nodeid`` and ``outcome``; recorded properties are metrics too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.formats.pytest_outcome import METRIC_PREFIX, measured, rerun_caution
from gate.artifacts.records import Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, contradiction, records

_VALUES: dict[str, Any] = {
    "passed": 1,
    "xpassed": 1,
    "failed": 0,
    "skipped": NoNumber("skipped"),
    "xfailed": NoNumber("xfail"),
}


def load(content: Content, request: ReadRequest | None) -> Records:
    """All tests of the report."""
    tests = content.document()["tests"]
    runs = [_run(test, f"{content.path} (test {index + 1})") for index, test in enumerate(tests)]
    directions = {"passed": "higher", "duration": "lower"}
    return records(
        runs,
        request,
        Context(
            format="pytest_json",
            path=content.path,
            place=lambda row: f"test {row + 1}",
            directions=directions,
            facts=time_fact([content.document().get("created")]),
            cautions=rerun_caution(
                sum(isinstance(test, Mapping) and test.get("outcome") == "rerun" for test in tests)
            ),
        ),
    )


def _run(test: Any, where: str) -> Run:
    refuse_doubled(test, where, None)
    if not isinstance(test, Mapping):
        return Run(None, {"passed": None})
    outcome = test.get("outcome")
    call = test.get("call")
    if outcome == "rerun" and isinstance(call, Mapping):
        outcome = call.get("outcome")
    metrics: dict[str, Any] = {"passed": None}
    if isinstance(outcome, str):
        metrics["passed"] = _VALUES.get(outcome, NoNumber(outcome[:40]))
    if isinstance(call, Mapping) and "duration" in call:
        metrics["duration"] = call["duration"]
    properties = _properties(test.get("user_properties"))
    metrics |= {name: measured(value) for name, value in properties.items() if name not in metrics}
    metrics |= {METRIC_PREFIX + name: measured(value) for name, value in properties.items()}
    if outcome == "passed" and isinstance(call, Mapping) and call.get("outcome") in {"failed", "error"}:
        raise contradiction("the outcome is passed, but that of the call is not", where)
    failed_call = isinstance(call, Mapping) and call.get("outcome") == "failed"
    if outcome == "error" and failed_call:
        metrics["passed"] = 0  # the test failed, and then its tear-down broke
    return Run(
        test.get("nodeid"), metrics, {**properties, **test}, failed=outcome == "error" and not failed_call
    )


def _properties(found: Any) -> dict[str, Any]:
    """``[{name: value}, ...]`` or ``[[name, value], ...]``; a name that is given twice counts as nothing."""
    pairs: list[tuple[str, Any]] = []
    for entry in found if isinstance(found, list) else []:
        if isinstance(entry, Mapping):
            pairs += [(str(name), value) for name, value in entry.items()]
        elif isinstance(entry, list) and len(entry) == 2:
            pairs.append((str(entry[0]), entry[1]))
    names = [name for name, _ in pairs]
    return {name: value if names.count(name) == 1 else NoNumber("given twice") for name, value in pairs}

"""When a run took place, by format: each states it in its own way, and some do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.artifacts import ReadRequest, read
from gate.artifacts.times import time_fact

from . import tools
from .helpers import write

NOON = "2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("stated", "time"),
    [
        (["2026-03-01T12:00:00Z"], NOON),
        (["2026-03-01T13:00:00+01:00"], NOON),
        (["2026-03-01 12:00"], NOON),  # no zone: UTC
        ([1772366400], NOON),
        ([1772366400.0], NOON),
        ([1772366400000], NOON),  # milliseconds
        (["2026-03-01T12:00:01Z", "2026-03-01T14:00:00+02:00", None], NOON),  # the earliest, as a moment
        (["2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00Z"], NOON),
        (
            ["yesterday", True, [], {}, "", float("nan"), float("inf"), 10**400, "0001-01-01T00:00+14:00"],
            None,
        ),
        ([], None),
    ],
)
def test_a_stated_time(stated: list[Any], time: str | None) -> None:
    assert time_fact(stated) == ({} if time is None else {"time": time})


def changed(text: str, **changes: Any) -> str:
    return json.dumps(json.loads(text) | changes)


ROWS = [tools.promptfoo_row(k, True) for k in range(4)]
PROMPTFOO = json.loads(tools.promptfoo(ROWS))
JUNIT = (
    '<testsuites>{}<testsuite timestamp="2026-03-01T12:00:00"><testcase name="a"/></testsuite></testsuites>'
)
RUN = tools.inspect_header()["eval"]
SAMPLES = tools.inspect_samples(4, 1, tools.even)


@pytest.mark.parametrize(
    ("name", "text", "time"),
    [
        ("a.json", tools.inspect_json(SAMPLES), None),
        ("a.json", tools.inspect_json(SAMPLES, eval=RUN | {"created": NOON}), NOON),
        ("a.json", tools.inspect_json(SAMPLES, stats={"started_at": "2026-03-01T13:00:00+01:00"}), NOON),
        ("a.eval", tools.inspect_eval(SAMPLES, eval=RUN | {"created": "2026-03-01T12:00:00Z"}), NOON),
        ("a.json", json.dumps(PROMPTFOO), None),
        ("a.json", json.dumps(PROMPTFOO | {"evalId": "eval-abc-2026-03-01T12:00:00"}), NOON),
        ("a.json", json.dumps(PROMPTFOO | {"createdAt": 1772366400000}), NOON),
        (
            "a.json",
            json.dumps(
                PROMPTFOO
                | {"results": PROMPTFOO["results"] | {"timestamp": "2026-03-01T12:00:00.000Z"}}
                | {"metadata": {"evaluationCreatedAt": "2026-03-01T12:00:05Z", "exportedAt": "2020-01-01"}}
            ),
            NOON,
        ),
        ("a.jsonl", "".join(json.dumps(row | {"createdAt": NOON}) + "\n" for row in ROWS), NOON),
        ("a.xml", JUNIT.format(""), NOON),
        ("a.xml", JUNIT.format('<testsuite timestamp="2026-03-01T14:00:00+00:00"/>'), NOON),
        ("a.xml", JUNIT.replace(" timestamp", " started").format(""), None),
        ("a.json", changed(tools.pytest_json([("a", "passed")]), created=1772366400.0), NOON),
        ("a.json", tools.deepeval(4, tools.even), None),
        ("a.json", changed(tools.deepeval(4, tools.even), createdAt=NOON), NOON),
        ("samples_task_2026-03-01T12-00-00.000000.jsonl", tools.lm_eval(4, tools.even), NOON),
        ("samples_task.jsonl", tools.lm_eval(4, tools.even), None),
        ("a.json", tools.swebench(["a", "b"], ["a"]), None),
        ("a.csv", "id,correct,date\na,1,2026-03-01\n", None),
        ("a.jsonl", '{"id": "a", "correct": 1, "timestamp": "2026-03-01T12:00:00Z"}\n', None),
    ],
)
def test_a_format_states_it_or_does_not(
    tmp_path: Path, name: str, text: str | bytes, time: str | None
) -> None:
    found = read(write(tmp_path, name, text), ReadRequest(metrics={}))
    assert found.source.facts.get("time") == time


def test_trials_say_when_they_started(tmp_path: Path) -> None:
    report = json.loads(tools.terminal_bench({"a": [True, False], "b": [True]}))
    for trial, hour in zip(report["results"], (14, 12, 13), strict=True):
        trial["trial_started_at"] = f"2026-03-01T{hour}:00:00+00:00"
    assert (
        read(write(tmp_path, "a.json", json.dumps(report)), ReadRequest(metrics={})).source.facts["time"]
        == NOON
    )

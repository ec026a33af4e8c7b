"""Whether a run completed: whatever a file says about it is read, or makes the comparison inconclusive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.artifacts import read
from gate.artifacts.run_words import said

from .helpers import ask, jsonl, table, write

BROKE = (
    *(
        "error",
        "tool_error",
        "api_error",
        "exception",
        "aborted",
        "killed",
        "oom",
        "rate_limited",
        "HTTP 503",
    ),
    *("HTTP 503", "503", "500.0", "429", "http_502", "503 Service Unavailable"),
    *("Timed out", "TimedOut", "TIMEOUT"),
    *("OOM-killed", "infrastructure_error", "unknown_agent_error", "agent_timeout", "Crashed", "cancelled"),
    *("connection error", "rate limit exceeded", "internal server error", "exit_error", "preempted"),
)
NOT_RUN = (
    "skipped",
    "disabled",
    "inactive",
    "notrun",
    "not_run",
    "NotRun",
    "suppressed",
    "pending",
    "queued",
)
COMPLETED = ("ok", "passed", "FAILED", "fail", "200", "201", "1", "0", "true", "no error", "completed", "")
UNKNOWN = ("runtime_error", "compile error", "solved", "wrong_answer", "404", "max_steps", "5000", "x429y")


@pytest.mark.parametrize("word", [*BROKE, *NOT_RUN])
def test_words_for_a_run_without_a_result(tmp_path: Path, word: str) -> None:
    found = table(tmp_path, jsonl([{"id": "a", "score": 0, "status": word}, {"id": "b", "score": 1}]))
    assert found.failed.tolist() == [True, False]


@pytest.mark.parametrize("word", [*COMPLETED, *UNKNOWN])
def test_words_for_a_run_that_completed_and_unknown_ones(tmp_path: Path, word: str) -> None:
    """Errors of generated code are its answer; a word that nobody knows is said to be unknown."""
    found = table(tmp_path, jsonl([{"id": "a", "score": 0, "status": word}]))
    assert found.failed.tolist() == [False]
    assert [unread.words for unread in found.unread] == ([{word: 1}] if word in UNKNOWN else [])
    assert (said(word) is None) == (word in UNKNOWN)


ROWS = [
    {"id": "a", "score": 0, "lang": "x", "error": "HTTP 503", "status": "ok"},
    {"id": "b", "score": 1, "lang": "y", "error": None, "status": "timeout"},
    {"id": "c", "score": 1, "lang": "y", "error": None, "status": "ok"},
]


@pytest.mark.parametrize("name", ["error", "status"])
@pytest.mark.parametrize(
    "roles",
    [
        lambda name: {"columns": (name,)},
        lambda name: {"columns": (name,), "optional": frozenset({name})},
        lambda name: {"cluster": name},
        lambda name: {
            "metrics": {"score": "binary", name: "graded"},
            "optional": frozenset({name}),
        },
    ],
    ids=["label", "shown", "cluster", "watched"],
)
def test_no_other_use_of_a_reserved_name_takes_its_meaning(tmp_path: Path, name: str, roles: Any) -> None:
    assert table(tmp_path, jsonl(ROWS), **roles(name)).failed.tolist() == [True, True, False]


def test_a_mapping_moves_the_meaning(tmp_path: Path) -> None:
    moved = ask(mapping={"error": "note", "status": "state"})
    rows = [row | {"note": "", "state": "ok"} for row in ROWS]
    rows[2]["note"] = "boom"
    assert read(write(tmp_path, "a", jsonl(rows)), moved).failed.tolist() == [False, False, True]


def test_a_number_that_decides_stays_a_metric(tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 1, "error": 0.4}, {"id": "b", "score": 1, "error": 0.0}]
    metrics = {"score": "binary", "error": "graded"}
    found = table(tmp_path, jsonl(rows), metrics=metrics)
    assert found.failed.tolist() == [False, False]
    assert found.values["error"].tolist() == [0.4, 0.0]
    under_another_name = table(tmp_path, jsonl(rows), metrics={"far": "graded"}, mapping={"far": "error"})
    assert under_another_name.failed.tolist() == [False, False]
    watched = table(tmp_path, jsonl(rows), metrics=metrics, optional=frozenset({"error"}))
    assert watched.failed.tolist() == [True, False]


@pytest.mark.parametrize("cells", [("Error", "boom", ""), ("STATUS", "Timeout", "PASS")])
def test_the_reserved_names_in_another_case(tmp_path: Path, cells: tuple[str, str, str]) -> None:
    name, bad, fine = cells
    assert table(tmp_path, f"id,score,{name}\na,0,{bad}\nb,1,{fine}\n").failed.tolist() == [True, False]
    numbers = table(tmp_path, "id,score,Error\na,0,0.7\nb,1,0.1\n")
    assert (numbers.failed.tolist(), numbers.unread) == ([False, False], ())


UNREAD = [
    ("exception", "boom", None),
    ("exception", {"type": "X"}, {}),
    ("traceback", "Traceback ...", ""),
    ("failure_mode", "agent_died", "unset"),
    ("error_message", "rate limit", None),
    ("errors", ["x"], []),
    ("termination_reason", "infrastructure_error", "user_stop"),
    ("http_status", 503, 200),
    ("exitStatus", "exit_api", "submitted"),
    ("timed_out", True, False),
]


@pytest.mark.parametrize(("name", "bad", "fine"), UNREAD)
@pytest.mark.parametrize("inside", [None, "info"])
def test_what_may_say_that_a_run_failed_is_kept(
    tmp_path: Path, name: str, bad: Any, fine: Any, inside: str | None
) -> None:
    """Far down in the file, where no first look goes."""
    cells = [fine] * 300 + [bad]
    rows = [
        {"id": f"q{i}", "score": 1} | ({name: cell} if inside is None else {inside: {name: cell}})
        for i, cell in enumerate(cells)
    ]
    path = name if inside is None else f"{inside}.{name}"
    for content in (jsonl(rows), json.dumps(rows), json.dumps({"results": rows})):
        found = table(tmp_path, content)
        assert [(unread.column, sum(unread.words.values())) for unread in found.unread] == [(path, 1)]
        assert not found.failed.any()
        words = (str(bad),) if found.unread[0].by_word else ("*",)
        declared = table(tmp_path, content, failed={path: words})
        assert (declared.failed.tolist(), declared.unread) == ([False] * 300 + [True], ())
        assert not table(tmp_path, content, completed={path: ("*",)}).unread


def test_the_policys_words(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{i}", "score": cell, "note": note, "status": status}
        for i, (cell, note, status) in enumerate(
            [(1, "Agent died", "ok"), (-1, "", "ok"), (1, "-", "skipped"), (1, True, "shelved")]
        )
    ]
    said_failed = {"note": ("agent died", "true"), "score": ("-1",), "status": ("shelved",)}
    found = table(
        tmp_path,
        jsonl(rows),
        metrics={"score": "graded"},
        failed=said_failed,
        completed={"status": ("Skipped",)},
    )
    assert found.failed.tolist() == [True, True, False, True]
    assert found.unread == ()
    absent = table(tmp_path, jsonl(rows[:1]), metrics={"score": "graded"}, failed={"nowhere": ("*",)})
    assert not absent.failed.any()


def test_failed_runs_are_not_said_to_count_as_completed(tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 0, "status": "odd", "error": "boom"}, {"id": "b", "score": 1}]
    found = table(tmp_path, jsonl(rows))
    assert (found.failed.tolist(), found.unread, found.cautions) == ([True, False], (), ())

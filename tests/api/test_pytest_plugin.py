"""``pytest --gate-out``: real runs of pytest, and the gate on what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SUITE = """
import unittest
import pytest

@pytest.mark.parametrize("question", ["gate-run-7", "b"])
def test_answer(question, gate_record):
    gate_record(score=0.5, language=question)
    assert question == "b"

def test_plain(): pass
def test_outage(): raise OSError("no network")
@pytest.fixture
def broken(): raise RuntimeError
@pytest.fixture
def leaking():
    yield
    raise RuntimeError
def test_setup(broken): pass
def test_teardown(leaking): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_known(): assert 0
def test_endless(gate_record): gate_record(score=float("inf"))
def test_taken(gate_record): gate_record(passed=1)
def test_said(): pytest.fail("no")
class TestCase(unittest.TestCase):
    def test_unit(self): self.assertEqual(1, 2)
"""


NAMED = ("-p", "gate.ci.pytest_plugin", "-p", "xdist")


def run(
    folder: Path, *options: str, suite: str = SUITE, found: bool = False
) -> subprocess.CompletedProcess[str]:
    """found: the plugin comes by its entry point, as users have it; else it is named, which starts faster."""
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    own = {} if found else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [*command, *(() if found else NAMED)],
        cwd=folder,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    named = {(row["id"].removeprefix("test_suite.py::"), row["repeat"]): row for row in found}
    assert len(named) == len(found)
    return named


def test_failures_are_results_and_faults_are_none(tmp_path: Path) -> None:
    assert run(tmp_path, "--gate-out", "out.jsonl").returncode == 1
    found = rows(tmp_path / "out.jsonl")
    told = {name: (row["passed"], row["status"], row["error"]) for (name, _), row in found.items()}
    assert told == {
        "test_answer[gate-run-7]": (False, "completed", None),
        "test_answer[b]": (True, "completed", None),
        "test_plain": (True, "completed", None),
        "test_outage": (None, "error", "OSError"),
        "test_setup": (None, "error", "RuntimeError"),
        "test_teardown": (None, "error", "RuntimeError"),
        "test_skipped": (None, "skipped", None),
        "test_known": (False, "completed", None),
        "test_endless": (None, "error", "TypeError"),
        "test_taken": (None, "error", "ValueError"),
        "test_said": (False, "completed", None),
        "TestCase::test_unit": (False, "completed", None),
    }
    answer = found["test_answer[b]", 1]
    assert (answer["score"], answer["language"]) == (0.5, "b")
    assert answer["duration_s"] > 0


def test_repeats_on_two_workers_are_the_same_items(tmp_path: Path) -> None:
    run(tmp_path, "--gate-out", "out.jsonl", "--gate-repeats", "3", "-n", "2")
    found = rows(tmp_path / "out.jsonl")
    assert {repeat for name, repeat in found if name == "test_answer[b]"} == {1, 2, 3}
    assert {repeat for name, repeat in found if name == "test_plain"} == {1, 2, 3}
    assert {repeat for name, repeat in found if name == "TestCase::test_unit"} == {1}
    assert found["test_answer[b]", 3]["score"] == 0.5


@pytest.mark.parametrize("options", [("-x",), ("--maxfail", "2")])
def test_what_was_broken_off_leaves_nothing_to_compare(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "out.jsonl").write_text('{"id": "old", "passed": true}\n')
    run(tmp_path, "--gate-out", "out.jsonl", *options)
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_a_killed_run_leaves_nothing_to_compare(tmp_path: Path) -> None:
    suite = "import os\ndef test_a(): pass\ndef test_b(): os._exit(9)\n"
    (tmp_path / "out.jsonl").write_text('{"id": "old", "passed": true}\n')
    run(tmp_path, "--gate-out", "out.jsonl", suite=suite)
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_a_worker_that_dies_is_an_error_and_no_failure(tmp_path: Path) -> None:
    suite = "import os\ndef test_a(): pass\ndef test_b(): os._exit(9)\n"
    run(tmp_path, "--gate-out", "out.jsonl", "-n", "1", suite=suite)
    text = (tmp_path / "out.jsonl").read_text()
    assert not text or rows(tmp_path / "out.jsonl")["test_b", 1]["status"] == "error"


RETRIES = """
import pytest
TRIES = []
def test_flaky():
    TRIES.append(1)
    assert len(TRIES) > 1
"""
CONFTEST = """
import pytest
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(2):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""


def test_the_first_of_several_tries_counts(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    run(tmp_path, "--gate-out", "out.jsonl", suite=RETRIES)
    assert rows(tmp_path / "out.jsonl")["test_flaky", 1]["passed"] is False


def test_nothing_changes_unless_it_is_asked_for(tmp_path: Path) -> None:
    told = run(tmp_path, suite="def test_a(): pass\n")
    assert told.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != "") == ["test_suite.py"]


@pytest.mark.parametrize("options", [("--gate-out", "no/such/folder.jsonl"), ("--gate-repeats", "0")])
def test_options_that_cannot_be_are_said(tmp_path: Path, options: tuple[str, ...]) -> None:
    told = run(tmp_path, *options)
    assert told.returncode == 4
    assert "Traceback" not in told.stderr
    assert "ERROR: --gate" in told.stderr


DECIDED = """
import os
import pytest

@pytest.mark.parametrize("item", range(60))
def test_item(item, gate_record):
    gate_record(size=item)
    assert item % 3 or (os.environ["SIDE"] == "new" and item < 40)
"""
POLICY = """
version: 1
name: tests
gating: {metric: passed, kind: binary, direction: higher, margin: 0.05}
"""


def test_two_runs_and_the_gate_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gate.yaml").write_text(POLICY)
    for side in ("old", "new"):
        monkeypatch.setenv("SIDE", side)
        run(tmp_path, "--gate-out", f"{side}.jsonl", suite=DECIDED, found=True)
    command = [sys.executable, "-m", "gate", "run", "--policy", "gate.yaml", "--baseline", "old.jsonl"]
    told = subprocess.run(
        [*command, "--candidate", "new.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr

"""Stopped anywhere and started again: nothing is lost, repeated, or taken from somebody else."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.bench_replay import measured
from tests.replay.world import CASES, lay_out, lines, replay, rows, script, without_time

COUNTING = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    log = os.open("asked.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, (request["id"] + "\\n").encode())
    os.close(log)
    time.sleep(0.01)
    print(json.dumps({"id": request["id"], "output": request["context"]["input"] % 3}), flush=True)
"""


def started(folder: Path, **limits: int) -> subprocess.Popen[str]:
    """``gate replay`` in a process of its own."""
    argv = [sys.executable, "-m", "gate", "replay", str(folder / "suite.yaml"), "--out", str(folder / "out")]

    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for name, value in limits.items():
        resource.prlimit(process.pid, getattr(resource, name), (value, value))
    return process


def test_a_killed_replay_goes_on_without_repeating_what_is_finished(tmp_path: Path) -> None:
    cases = [{"id": f"c{i}", "input": i, "expected": i % 3} for i in range(100)]
    lay_out(tmp_path, cases, candidate={"server": script(tmp_path, COUNTING)}, scorer=None)
    journal = tmp_path / "out" / "journal.jsonl"
    for wanted in (5, 60):
        process = started(tmp_path)
        while not journal.exists() or journal.read_bytes().count(b"\n") < wanted:
            time.sleep(0.005)
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished = {line["row"]["id"] for line in lines(journal)[1:] if line["question"] % 2}
    assert not (tmp_path / "out" / "candidate.jsonl").exists(), "half a replay is no artifact"
    before = (tmp_path / "asked.log").read_text().split()
    answer = replay(tmp_path)
    assert answer.code == 0, answer.err
    assert "runs are finished, going on with the others" in answer.err
    after = (tmp_path / "asked.log").read_text().split()[len(before) :]
    assert not {key.partition("@")[0] for key in after} & finished
    assert len(rows(tmp_path, "candidate")) == 100
    undisturbed = replay(tmp_path, out="other")
    assert undisturbed.code == 0
    for side in ("baseline", "candidate"):
        assert without_time(rows(tmp_path, side)) == without_time(rows(tmp_path, side, "other"))


@pytest.mark.parametrize("torn", [b'{"question": 3, "aga', b"\xff", b"{}"])
def test_a_torn_line_is_cut_off_and_its_question_put_again(tmp_path: Path, torn: bytes) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path).code == 0
    journal = tmp_path / "out" / "journal.jsonl"
    first = without_time(rows(tmp_path, "candidate"))
    whole = journal.read_bytes()
    journal.write_bytes(b"".join(whole.splitlines(keepends=True)[:10]) + torn)
    assert replay(tmp_path).code == 0
    assert journal.read_bytes().count(b"\n") == whole.count(b"\n")
    assert without_time(rows(tmp_path, "candidate")) == first


def test_a_finished_replay_asks_nothing(tmp_path: Path) -> None:
    lay_out(tmp_path, candidate={"server": script(tmp_path, COUNTING)})
    assert replay(tmp_path).code == 0
    artifact = tmp_path / "out" / "candidate.jsonl"
    before = artifact.read_bytes()
    asked = (tmp_path / "asked.log").read_bytes()
    assert replay(tmp_path).code == 0
    assert artifact.read_bytes() == before
    assert (tmp_path / "asked.log").read_bytes() == asked


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"question": 99, "again": false, "row": {}}'])
def test_a_damaged_journal_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path).code == 0
    journal = tmp_path / "out" / "journal.jsonl"
    found = journal.read_text().splitlines()
    found[4] = line
    journal.write_text("\n".join(found) + "\n")
    assert "journal.jsonl:5: a line of the journal is no record" in replay(tmp_path).error


def test_a_full_disk_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    """The limit stands for the end of the disk: a write beyond it is refused, the last one in the middle."""
    cases = [{**case, "input": 3 * i, "id": f"c{i}"} for i, case in enumerate(CASES * 5)]
    lay_out(tmp_path, cases, candidate={"server": script(tmp_path, COUNTING)}, scorer=None)
    process = started(tmp_path, RLIMIT_FSIZE=9000)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "the journal cannot be written (File too large)" in err
    assert "run the same command again" in err
    journal = tmp_path / "out" / "journal.jsonl"
    assert journal.read_bytes().endswith(b"\n")
    kept = len(lines(journal)) - 1
    assert kept > 5
    answer = replay(tmp_path)
    assert f"{kept} of 120 runs are finished" in answer.err
    assert len(rows(tmp_path, "candidate")) == 60


def test_an_artifact_that_does_not_fit_is_not_there_by_half(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path).code == 0
    size = (tmp_path / "out" / "candidate.jsonl").stat().st_size
    for side in ("baseline", "candidate"):
        (tmp_path / "out" / f"{side}.jsonl").unlink()
    process = started(tmp_path, RLIMIT_FSIZE=size - 200)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "the artifact cannot be written (File too large)" in err
    assert not list((tmp_path / "out").glob("*.new"))
    assert not (tmp_path / "out" / ".candidate.jsonl.new").exists()
    assert replay(tmp_path).code == 0


def test_one_replay_at_a_time_writes_into_a_folder(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "out").mkdir()
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        assert "another replay is writing into this folder" in replay(tmp_path).error
    finally:
        os.close(handle)
    assert replay(tmp_path).code == 0


@pytest.mark.parametrize("name", ["baseline.jsonl", "candidate.jsonl", "journal.jsonl"])
@pytest.mark.parametrize("text", ['{"id": "mine"}\n', "", "\n"])
def test_no_file_of_somebody_else_is_replaced(tmp_path: Path, name: str, text: str) -> None:
    lay_out(tmp_path)
    (tmp_path / "out").mkdir()
    mine = tmp_path / "out" / name
    mine.write_text(text)
    answer = replay(tmp_path)
    assert "a file is there that is no" in answer.error
    assert mine.read_text() == text


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "journal.jsonl").symlink_to(tmp_path / "elsewhere")
    assert replay(tmp_path).code == 2
    assert not (tmp_path / "elsewhere").exists()


def test_the_cases_are_no_output(tmp_path: Path) -> None:
    suite = lay_out(tmp_path)
    (tmp_path / "cases.jsonl").rename(tmp_path / "baseline.jsonl")
    suite.write_text(suite.read_text().replace("cases.jsonl", "baseline.jsonl"))
    assert "the replay would replace its own input" in replay(tmp_path, out=".").error


@pytest.mark.parametrize(
    ("change", "same"),
    [({"seed": 1}, False), ({"repeats": 2}, False), ({"timeout": 9.0}, False), ({"scorer": None}, False),
     ({"concurrency": 1}, True), ({"retries": 0}, True)],
)  # fmt: skip
def test_a_folder_belongs_to_one_replay(tmp_path: Path, change: dict[str, object], same: bool) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path).code == 0
    lay_out(tmp_path, **change)
    answer = replay(tmp_path)
    assert answer.code == (0 if same else 2)
    assert same or "the folder holds another replay" in answer.err


def test_cases_that_change_on_the_way_are_noticed(tmp_path: Path) -> None:
    """A system that writes into the recorded cases would give the other side another context."""
    spoil = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    open('cases.jsonl', 'r+').write('{\"id\": \"c7\"')\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'output': 1}), flush=True)\n"
    )
    lay_out(tmp_path, candidate={"server": script(tmp_path, spoil)}, concurrency=1)
    assert "cases.jsonl:1: the case changed while it was replayed" in replay(tmp_path).error


def test_progress_is_told_on_stderr(tmp_path: Path) -> None:
    lay_out(tmp_path)
    answer = replay(tmp_path)
    assert answer.err == ""
    assert answer.out.startswith("replayed arithmetic\n")
    assert lines(tmp_path / "out" / "baseline.jsonl")[0]["system"] == "baseline-1"


@pytest.mark.slow
def test_the_memory_of_ten_thousand_cases_is_bounded(tmp_path: Path) -> None:
    """Places and digests of the cases are kept, never their texts or answers."""
    _, few = measured(tmp_path, 100, scorer=True)
    _, many = measured(tmp_path, 10_000, scorer=True)
    assert many - few < 30

"""What real processes do to a history: dying at every point, writing all at once, a disk that is full."""

from __future__ import annotations

import signal

import pytest
from history_world import attempt, program, run

from gate.cycles import Rules, plan_look
from gate.history import Record, init, load, locked
from gate.values import GateError

LEDGER = Rules(looks=9)
RUN = """
import os, signal
from gate.cycles import Outcome, Rules
from history_world import attempt, session
die = lambda: os.kill(os.getpid(), signal.SIGKILL)
path, point = sys.argv[1:]
opened = session(path)
if point == "before": die()
looks = opened.begin([attempt("killed")], Rules(looks=9))
if point == "between": die()
opened.finish(looks, [Outcome("pass", 0.02)])
if point == "after": die()
"""


@pytest.mark.parametrize(
    ("point", "records", "next_look"), [("before", 1, 1), ("between", 2, 2), ("after", 4, 2)]
)
def test_kill_9(tmp_path, point, records, next_look):
    path = tmp_path / "h"
    init(path)
    process = program(RUN, str(path), point)
    assert process.wait(60) == -signal.SIGKILL
    process.communicate()
    history = load(path)
    assert (history.count, history.cautions) == (records, ())
    assert plan_look(history, attempt("next"), LEDGER).number == next_look
    state = run(path, attempt("killed"), LEDGER)  # the same artifacts again: the same look, one outcome
    assert (state.look, state.verdict, state.replayed) == (1, "promote", point == "after")
    assert sum(record.kind == "outcome" for record in load(path).records) == 1
    assert plan_look(load(path), attempt("next"), LEDGER).number == 2


def test_kill_9_while_the_history_is_created(tmp_path):
    source = "from history_world import session\nprint('ready', flush=True)\nsession(sys.argv[1])\n"
    for number in range(6):
        path = tmp_path / str(number)
        process = program(source, str(path))
        process.stdout.readline()
        process.kill()
        process.communicate()
        assert not path.exists() or load(path).count == 1


WRITE = """
from gate.history import Record, locked
path, name = sys.argv[1:]
for number in range(100):
    with locked(path) as held:
        held.append(Record(kind="void", note=f"{name}-{number}", ci={"text": "x" * 300}))
"""


def test_eight_writers_of_a_hundred_records_lose_nothing(tmp_path):
    path = tmp_path / "h"
    init(path)
    writers = [program(WRITE, str(path), str(name)) for name in range(8)]
    said = [writer.communicate(timeout=400) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 8, said
    history = load(path)
    wanted = {f"{name}-{number}" for name in range(8) for number in range(100)}
    assert {record.note for record in history.records[1:]} == wanted
    assert (history.count, len(history.heads), history.cautions) == (801, 1, ())


LOOKS = """
from gate.cycles import Rules
from history_world import attempt, run
path, name = sys.argv[1:]
for number in range(4):
    print(run(path, attempt(f"{name}-{number}"), Rules(looks=9), "fail").look)
"""


def test_runs_at_once_share_the_looks_out(tmp_path):
    """No look number is spent twice, and a missing history is started once."""
    path = tmp_path / "h"
    runs = [program(LOOKS, str(path), str(name)) for name in range(6)]
    said = [process.communicate(timeout=400) for process in runs]
    assert [process.returncode for process in runs] == [0] * 6, said
    looks = [int(line) for out, _ in said for line in out.split()]
    assert sorted(looks) == list(range(1, 25))
    assert sum(record.kind == "init" for record in load(path).records) == 1


FULL = """
import resource
from gate.values import GateError
from gate.history import Record, locked
path, room = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    with locked(path) as held:
        held.append(Record(kind="void", note="lost" * 50))
except GateError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize("room", [0, 1, 200, 700])
def test_a_full_disk_loses_the_new_record_only(tmp_path, room):
    path = tmp_path / "h"
    init(path)
    with locked(path) as held:
        held.append(Record(kind="void", note="one"))
    size = path.stat().st_size
    for _ in range(2):  # a second run on the full disk meets the torn tail of the first
        out, err = program(FULL, str(path), str(size + room)).communicate(timeout=60)
        assert out.startswith("history_not_written"), out + err
    assert path.stat().st_size == size + room
    assert [record.note for record in load(path).records[1:]] == ["one"]
    with locked(path) as held:
        held.append(Record(kind="void", note="two"))
    history = load(path)
    assert [record.note for record in history.records[1:]] == ["one", "two"]
    assert history.cautions == ()


def test_a_full_disk_starts_no_history(tmp_path):
    source = """
import resource
from gate.values import GateError
from gate.history import init
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    init(sys.argv[1])
except GateError as error:
    print(error.code)
"""
    out, err = program(source, str(tmp_path / "h")).communicate(timeout=60)
    assert out.strip() == "history_not_written", err
    assert list(tmp_path.iterdir()) == []


HOLD = """
from gate.history import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_goes_with_its_process(tmp_path, monkeypatch):
    path = tmp_path / "h"
    init(path)
    import subprocess

    holder = program(HOLD, str(path), stdin=subprocess.PIPE)
    assert holder.stdout.readline() == "held\n"
    monkeypatch.setattr("gate.history.files.LOCK_SECONDS", 0.0)
    for act in (load, lambda where: locked(where).__enter__()):
        with pytest.raises(GateError) as caught:
            act(path)
        assert caught.value.code == "history_locked"
    holder.kill()
    holder.communicate()
    with locked(path) as held:
        held.append(Record(kind="void"))
    assert load(path).count == 2

"""Programs that hang, crash, are killed, talk nonsense or print too much: each has a status, none a score."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.replay.world import CASES, decide, lay_out, replay, rows, script

SERVER = """
import json, os, signal, sys, time
for line in sys.stdin:
    request = json.loads(line)
    n = request["context"]["input"]
    key = request["id"]
    {body}
    print(json.dumps({{"id": key, "output": n % 3}}), flush=True)
"""


def server(folder: Path, body: str) -> dict[str, list[str]]:
    return {"server": script(folder, SERVER.format(body=body))}


def ends(folder: Path, side: str = "candidate") -> dict[str, tuple[str, str]]:
    """Id -> status and error of the rows that are not ok."""
    return {row["id"]: (row["status"], row["error"]) for row in rows(folder, side) if row["status"] != "ok"}


@pytest.mark.parametrize("way", ["command", "server"])
def test_a_program_answers_as_a_callable_does(tmp_path: Path, way: str) -> None:
    once = (
        "import json, sys\nr = json.load(sys.stdin)\n"
        "print(json.dumps({'output': r['context']['input'] % 3, 'cost': 0.5}))\n"
    )
    program = server(tmp_path, "pass") if way == "server" else {"command": script(tmp_path, once)}
    lay_out(tmp_path, CASES[:4], candidate=program)
    assert replay(tmp_path).code == 0
    found = rows(tmp_path, "candidate")
    assert [(row["status"], row["correct"]) for row in found] == [("ok", True)] * 4
    assert all(row["latency_ms"] > 0 for row in found)
    assert [row.get("cost") for row in found] == [0.5 if way == "command" else None] * 4


def test_a_system_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    body = (
        "if n == 3:\n"
        "        import subprocess\n"
        "        child = subprocess.Popen(['sleep', '600'])\n"
        "        open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "        time.sleep(600)"
    )
    lay_out(tmp_path, candidate=server(tmp_path, body), timeout=1.5)
    began = time.monotonic()
    assert replay(tmp_path).code == 0
    assert time.monotonic() - began < 60
    assert ends(tmp_path) == {"c3": ("timeout", "no answer within 1.5 s")}
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("if n == 3: print('log: starting', flush=True)", "error", "the answer is no JSON (found 'log"),
        ("if n == 3: print('[1]', flush=True); continue", "error", "the answer is no JSON object"),
        ("if n == 3: print('{\"id\": \"c3@1\", \"output\": NaN}', flush=True); continue", "error",
         "NaN is no number"),
        ("if n == 3: key = 'c2@1'", "error", "the answer does not repeat the id 'c3@1' of the question"),
        ("if n == 3: print(json.dumps({'id': key}), flush=True); continue", "error",
         "the answer has no output"),
        ("if n == 3: print('x' * 5_000_000, flush=True)", "error", "the answer is longer than 4 MiB"),
        ("if n == 3: sys.exit(4)", "error", "the process ended without an answer (exit code 4)"),
        ("if n == 3: sys.stderr.write('out of memory\\n'); sys.exit(4)", "error", "out of memory"),
        ("if n == 3: os.kill(os.getpid(), signal.SIGSEGV)", "error", "(signal 11)"),
        ("if n == 3: sys.stdout.close(); os.close(1); time.sleep(60)", "error", "it closed its output"),
        ("if n == 3: print(json.dumps({'id': key, 'output': 1, 'score': 1}), flush=True); continue", "error",
         "the answer has an unknown key 'score'"),
        ("if n == 3: print(json.dumps({'id': key, 'output': 1, 'cost': -1}), flush=True); continue", "error",
         "cost is no amount (found '-1')"),
        ("if n == 3: print(json.dumps({'id': key, 'error': 'refused'}), flush=True); continue", "error",
         "the system said: refused"),
    ],
)  # fmt: skip
def test_what_is_no_answer_fails_its_run_and_no_other(
    tmp_path: Path, body: str, status: str, error: str
) -> None:
    lay_out(tmp_path, CASES[:6], candidate=server(tmp_path, body), concurrency=1, retries=3)
    answer = replay(tmp_path)
    assert answer.code == 0, answer.err
    ((key, found),) = ends(tmp_path).items()
    assert key == "c3"
    assert found[0] == status
    assert error in found[1]
    row = next(row for row in rows(tmp_path, "candidate") if row["id"] == "c3")
    assert row["faults"] == 0, "what the system itself did is not tried again"
    assert "correct" not in row
    assert "output" not in row


def test_lines_too_many_are_never_taken_for_later_answers(tmp_path: Path) -> None:
    """A server that answers one question twice is ended: its next line would be no answer to the next one."""
    twice = "if n == 3: print(json.dumps({'id': key, 'output': 0}), flush=True)"
    lay_out(tmp_path, candidate=server(tmp_path, twice), concurrency=1)
    assert replay(tmp_path).code == 0
    found = {row["id"]: row for row in rows(tmp_path, "candidate")}
    assert sum(row["status"] == "error" for row in found.values()) == 1
    assert all(row["correct"] for row in found.values() if row["status"] == "ok")


def test_a_process_killed_from_outside_is_tried_again_and_counted(tmp_path: Path) -> None:
    body = (
        "if n == 3 and not os.path.exists('killed'):\n"
        "        open('killed', 'w').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)"
    )
    lay_out(tmp_path, candidate=server(tmp_path, body))
    answer = replay(tmp_path)
    assert answer.code == 0
    found = {row["id"]: row for row in rows(tmp_path, "candidate")}
    assert found["c3"]["status"] == "ok"
    assert {key: row["faults"] for key, row in found.items() if row["faults"]} == {"c3": 1}
    assert "1 attempts spoiled by the infrastructure" in answer.out


def test_what_stays_spoiled_is_put_again_by_the_next_replay(tmp_path: Path) -> None:
    body = "if n == 3 and not os.path.exists('mended'): os.kill(os.getpid(), signal.SIGKILL)"
    lay_out(tmp_path, candidate=server(tmp_path, body), retries=0)
    assert replay(tmp_path).code == 0
    assert ends(tmp_path)["c3"][0] == "killed"
    (tmp_path / "mended").touch()
    answer = replay(tmp_path)
    assert "23 of 24 runs are finished" in answer.err
    assert ends(tmp_path) == {}


def test_a_failed_run_is_a_failed_run_to_the_gate(tmp_path: Path) -> None:
    lay_out(tmp_path, candidate=server(tmp_path, "if n == 3: sys.exit(1)"))
    assert replay(tmp_path).code == 0
    refused = decide(tmp_path)
    assert "failed" in refused.error
    lenient = {"min": 5, "max_error_rate": 0.1, "missing": "worst", "max_missing": 0.1}
    accepted = decide(tmp_path, items=lenient)
    assert accepted.report is not None
    assert accepted.report["pairing"]["errors_candidate"] == 1


def test_a_callable_may_print_and_may_fail(tmp_path: Path) -> None:
    prints, fails = {"callable": "systems:prints"}, {"callable": "systems:fails"}
    lay_out(tmp_path, baseline=prints, candidate=fails, scorer=None)
    answer = replay(tmp_path)
    assert {row["status"] for row in rows(tmp_path, "baseline")} == {"ok"}
    assert ends(tmp_path)["c0"] == ("error", "the system said: ValueError: no such tool")
    assert "the candidate answered not once (the system said: ValueError: no such tool)" in answer.error


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ({"callable": "systems:nothing"}, "does not start (AttributeError"),
        ({"callable": "nowhere:score"}, "does not start (ModuleNotFoundError"),
        ({"server": ["./no-such-program"]}, "'./no-such-program' (No such file or directory)"),
        ({"command": ["./no-such-program"]}, "cannot be started"),
    ],
)
def test_what_cannot_start_is_an_error_and_no_row(tmp_path: Path, way: dict[str, Any], message: str) -> None:
    lay_out(tmp_path, candidate=way)
    answer = replay(tmp_path)
    assert message in answer.error
    assert "candidate system" in answer.err
    assert not (tmp_path / "out" / "candidate.jsonl").exists()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return {'correct': float('nan')}", "the scorer said: ValueError"),
        ("return {'correct': 'yes'}", "the score correct is no number (found 'yes')"),
        ("return {}", "the scorer's answer is {scores"),
        ("return {'latency_ms': 1}", "no score can be called 'latency_ms'"),
        ("raise KeyError('gone')", "the scorer said: KeyError"),
    ],
)
def test_a_scorer_that_fails_scores_nothing(tmp_path: Path, body: str, error: str) -> None:
    (tmp_path / "own.py").write_text(
        f"def score(r):\n    if r['id'] == 'c3@1' and r['output'] != 9:\n        {body}\n"
        "    return {'correct': 1}\n"
    )
    lay_out(tmp_path, CASES[:5], candidate=server(tmp_path, "pass"), scorer={"callable": "own:score"})
    assert replay(tmp_path).code == 0
    status, found = ends(tmp_path)["c3"]
    assert status == "scorer_error"
    assert error in found


def test_a_score_is_no_field_of_the_case(tmp_path: Path) -> None:
    lay_out(tmp_path, [{**CASES[0], "fields": {"correct": "no"}}])
    assert "'correct' is a score and a field of the case 'c0'" in replay(tmp_path).error


def test_a_down_system_ends_the_replay_instead_of_spoiling_all_of_it(tmp_path: Path) -> None:
    cases = [{"id": f"c{i}", "input": i, "expected": 0} for i in range(60)]
    lay_out(tmp_path, cases, candidate=server(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)"), retries=0)
    answer = replay(tmp_path)
    assert "of the last 20 runs of the candidate none was answered and scored" in answer.error
    assert "killed by signal 9" in answer.err
    assert not (tmp_path / "out" / "baseline.jsonl").exists()


def test_nothing_that_was_started_is_left(tmp_path: Path) -> None:
    """Also where the replay itself ends by an error; a process that ignores the end of its input is ended."""
    stubborn = (
        "import json, os, sys, time\nopen(f'pid{os.getpid()}', 'w')\n"
        "while True:\n"
        "    line = sys.stdin.readline()\n"
        "    if not line: time.sleep(600)\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'output': 1}), flush=True)\n"
    )
    lay_out(tmp_path, baseline={"server": script(tmp_path, stubborn)}, candidate={"callable": "nowhere:f"})
    assert replay(tmp_path).code == 2
    started = [int(path.name[3:]) for path in tmp_path.glob("pid*")]
    assert not any(map(_runs, started))


def test_a_hosted_callable_ends_with_its_harness(tmp_path: Path) -> None:
    """Nobody puts further questions to it: the end of its input is its end."""
    lay_out(tmp_path, [{"id": "c0", "input": 0, "expected": 0}])
    (tmp_path / "slow.py").write_text(
        "import os, time\ndef run(r):\n    open('pid', 'w').write(str(os.getpid()))\n    time.sleep(1)\n"
    )
    lay_out(tmp_path, [{"id": "c0", "input": 0}], candidate={"callable": "slow:run"})
    argv = [sys.executable, "-m", "gate", "replay", str(tmp_path / "suite.yaml")]
    argv += ["--out", str(tmp_path / "out")]
    done = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
        assert done.poll() is None
    done.kill()
    done.wait()
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 30
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)

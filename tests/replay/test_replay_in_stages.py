"""A replay that stops as soon as the policy's stages say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.black_box import Answer, command
from tests.replay.world import lay_out, replay, rows

CASES = [{"id": f"c{i:03d}", "input": i, "expected": i % 3} for i in range(200)]
POLICY: dict[str, Any] = {
    "version": 1,
    "name": "p",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.0},
    "items": {
        "stages": [0.25, 0.5, 0.75, 1.0],
        "max_error_rate": 0.1,
        "missing": "worst",
        "max_missing": 0.1,
    },
}


def staged(folder: Path, out: str = "out", history: str = "h.jsonl", **policy: Any) -> Answer:
    (folder / "gate.yaml").write_text(json.dumps({**POLICY, **policy}), encoding="utf-8")
    if not (folder / history).exists():
        assert command("history", "init", folder / history).code == 0
    return replay(folder, "--policy", folder / "gate.yaml", "--history", folder / history, out=out)


def asked(folder: Path, out: str = "out") -> int:
    return len(rows(folder, "candidate", out))


def test_a_clear_gain_saves_the_rest(tmp_path: Path) -> None:
    """.9 against .6: a quarter of the cases is not quite enough, and half of them are."""
    lay_out(tmp_path, CASES)
    answer = staged(tmp_path)
    assert answer.code == 0, answer.err
    assert 50 <= asked(tmp_path) < 200
    assert len(rows(tmp_path, "baseline")) == asked(tmp_path)
    assert "stopped, promote" in answer.out
    records = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    stages = [r["state"]["stage"] for r in records if r.get("kind") == "outcome"]
    assert stages == list(range(1, len(stages) + 1))


def test_no_difference_goes_to_the_end_as_one_look(tmp_path: Path) -> None:
    lay_out(tmp_path, CASES, candidate={"callable": "systems:old"})
    answer = staged(tmp_path)
    assert answer.code == 3
    assert asked(tmp_path) == 200
    records = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert {r["look_no"] for r in records if r.get("kind") == "outcome"} == {1}


def test_it_asks_for_what_a_whole_replay_would(tmp_path: Path) -> None:
    """The rows of a stage are those of the whole replay, byte for byte, and in its order."""
    lay_out(tmp_path, CASES)
    staged(tmp_path)
    whole = replay(tmp_path, out="whole")
    assert whole.code == 0
    for side in ("baseline", "candidate"):
        part = {row["id"]: row for row in rows(tmp_path, side)}
        full = [row for row in rows(tmp_path, side, "whole") if row["id"] in part]
        same = [{k: v for k, v in row.items() if k != "latency_ms"} for row in full]
        assert same == [{k: v for k, v in row.items() if k != "latency_ms"} for row in part.values()]


def test_run_again_it_ends_where_it_ended(tmp_path: Path) -> None:
    lay_out(tmp_path, CASES)
    first = staged(tmp_path)
    before = (tmp_path / "h.jsonl").read_bytes(), asked(tmp_path)
    again = staged(tmp_path)
    assert (again.code, asked(tmp_path)) == (first.code, before[1])
    assert (tmp_path / "h.jsonl").read_bytes() == before[0]


def test_earlier_answers_that_changed_are_refused(tmp_path: Path) -> None:
    """Somebody edits the journal between two stages: the history knows the digest of the first."""
    lay_out(tmp_path, CASES, candidate={"callable": "systems:old"})
    staged(tmp_path)
    journal = tmp_path / "out" / "journal.jsonl"
    lines = journal.read_text().splitlines()
    place = next(
        k for k, line in enumerate(lines) if '"correct":true' in line and json.loads(line)["question"] % 2
    )
    lines[place] = lines[place].replace('"correct":true', '"correct":false')
    journal.write_text("\n".join(lines) + "\n")
    answer = staged(tmp_path)
    assert answer.code in {2, 3}
    assert "promote" not in answer.out


@pytest.mark.parametrize(
    ("more", "said"),
    [(("--policy", "gate.yaml"), "go together"), (("--history", "h.jsonl"), "go together")],
)
def test_policy_and_history_go_together(tmp_path: Path, more: tuple[str, str], said: str) -> None:
    lay_out(tmp_path)
    assert said in replay(tmp_path, *more).error


def test_what_has_no_stages_is_refused(tmp_path: Path) -> None:
    lay_out(tmp_path, [{**case, "window": "a" if k % 2 else "b"} for k, case in enumerate(CASES)])
    assert "window" in staged(tmp_path).error
    lay_out(tmp_path, CASES)
    assert "no items.stages" in staged(tmp_path, out="other", items={}).error


def test_nothing_advises_to_look_at_the_part_again_and_the_report_is_kept(tmp_path: Path) -> None:
    """``gate run`` on the files of a few stages would be another look at them, at the whole level."""
    lay_out(tmp_path, CASES)
    (tmp_path / "gate.yaml").write_text(json.dumps(POLICY), encoding="utf-8")
    command("history", "init", tmp_path / "h.jsonl")
    words = ["--policy", tmp_path / "gate.yaml", "--history", tmp_path / "h.jsonl"]
    answer = replay(tmp_path, *words, "--report-dir", tmp_path / "report")
    assert answer.code == 0, answer.err
    assert "gate run" not in answer.out
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert (report["verdict"], report["stages"]["sizes"][-1]) == ("promote", 200)
    again = command("verify", tmp_path / "report" / "report.json", "--history", tmp_path / "h.jsonl")
    assert "gate replay again" in again.error
    assert "gate run" in replay(tmp_path, out="whole").out


def test_a_report_needs_a_policy(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert "--report-dir" in replay(tmp_path, "--report-dir", tmp_path / "report").error


def test_the_report_replaces_no_input(tmp_path: Path) -> None:
    lay_out(tmp_path, CASES)
    place = tmp_path / "report"
    place.mkdir()
    (place / "report.json").write_text(json.dumps(POLICY), encoding="utf-8")
    command("history", "init", tmp_path / "h.jsonl")
    words = ["--policy", place / "report.json", "--history", tmp_path / "h.jsonl", "--report-dir", place]
    assert "report.json" in replay(tmp_path, *words).error
    assert json.loads((place / "report.json").read_text(encoding="utf-8")) == POLICY

"""Histories written by an earlier gate: they verify, replay at no cost, and answer for their promotions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from black_box import Answer, command, tables, with_reports, write_policy, write_rows

FROZEN = Path(__file__).resolve().parent / "history" / "frozen"
FOLDERS = sorted(path.parent for path in FROZEN.glob("*/history.jsonl"))
RUNS = [
    (folder, number)
    for folder in FOLDERS
    for number in range(len(json.loads((folder / "runs.json").read_text(encoding="utf-8"))))
]


def asked(folder: Path, number: int) -> dict[str, Any]:
    return dict(json.loads((folder / "runs.json").read_text(encoding="utf-8"))[number])


def run_again(asked: dict[str, Any], space: Path, history: Path) -> Answer:
    sides = tables(asked["blocks"], asked.get("first_id", 0))
    files = {side: write_rows(space / f"{side}.jsonl", rows) for side, rows in sides.items()}
    candidates = [word for side in files if side != "baseline" for word in ("--candidate", files[side])]
    done = command(
        *("run", "--policy", write_policy(space / "gate.yaml", asked["policy"])),
        *("--baseline", files["baseline"], *candidates, "--history", history),
        *("--report-dir", space / "report", *asked["args"]),
    )
    return with_reports(done, space / "report")


def test_every_kind_of_history_is_there() -> None:
    assert {folder.name for folder in FOLDERS} >= {"challengers", "fresh-streak", "looks", "merged", "waiver"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_verifies_and_is_drawn(folder: Path) -> None:
    history = folder / "history.jsonl"
    count = len(history.read_text(encoding="utf-8").splitlines())
    verified = command("history", "verify", history)
    assert (verified.code, f"{count} records" in verified.out) == (0, True)
    shown = command("history", "show", history)
    assert shown.code == 0
    for number in range(len(json.loads((folder / "runs.json").read_text(encoding="utf-8")))):
        assert asked(folder, number)["args"][1] in shown.out


@pytest.mark.parametrize(("folder", "number"), RUNS, ids=lambda value: getattr(value, "name", str(value)))
def test_a_replay_returns_what_was_recorded_and_costs_nothing(
    folder: Path, number: int, tmp_path: Path
) -> None:
    history = tmp_path / "history.jsonl"
    shutil.copy(folder / "history.jsonl", history)
    before = history.read_bytes()
    wanted = asked(folder, number)
    again = run_again(wanted, tmp_path, history)
    assert again.report is not None, again.err
    found = again.report.get("reports", [again.report])
    assert again.code == wanted["exit"]
    assert [one["verdict"] for one in found] == wanted["verdicts"]
    assert [one["cycles"]["passed"] for one in found] == wanted["passed"]
    assert all(one["cycles"]["replayed"] for one in found)
    assert history.read_bytes() == before


@pytest.mark.parametrize(("folder", "number"), RUNS, ids=lambda value: getattr(value, "name", str(value)))
def test_promoted_answers_as_it_did(folder: Path, number: int) -> None:
    wanted = asked(folder, number)
    for digest, verdict in zip(wanted["digests"], wanted["verdicts"], strict=True):
        answer = command("verify", "--promoted", digest, "--history", folder / "history.jsonl")
        assert answer.code == (0 if verdict == "promote" else 1)

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


def with_watch(asked: dict[str, Any], *metrics: str) -> dict[str, Any]:
    """The same results and rules; other metrics are watched, which decides nothing."""
    blocks = [
        {
            key: value if key == "n" else {**value, "speed": 3.0 + at, "latency": 5.0 + at}
            for key, value in block.items()
        }
        for at, block in enumerate(asked["blocks"])
    ]
    return {**asked, "policy": {**asked["policy"], "watch": list(metrics)}, "blocks": blocks}


def lines(history: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("number", range(5))
def test_a_watch_that_is_added_later_leaves_an_old_replay_a_replay(number: int, tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    shutil.copy(FROZEN / "fresh-streak" / "history.jsonl", history)
    before = history.read_bytes()
    wanted = asked(FROZEN / "fresh-streak", number)
    again = run_again(with_watch(wanted, "speed"), tmp_path, history)
    assert again.report is not None, again.err
    assert (again.report["cycles"]["replayed"], again.code) == (True, wanted["exit"])
    assert [again.report["provenance"]["candidate"]["digest"]] == wanted["digests"]
    assert history.read_bytes() == before


def test_what_is_watched_or_shown_is_no_part_of_the_identity(tmp_path: Path) -> None:
    """The same scores with another latency are one cycle, and a new watch continues the streak."""
    history = tmp_path / "history.jsonl"
    first = asked(FROZEN / "watched", 0)
    started = {**first, "policy": {**first["policy"], "cycles": {"required": 2}}}
    assert run_again(started, tmp_path, history).code == 4
    before = history.read_bytes()
    for metrics in (("latency",), ("latency", "speed"), ()):
        again = run_again(with_watch(started, *metrics), tmp_path, history)
        assert again.report is not None, again.err
        assert (again.report["cycles"]["replayed"], again.report["cycles"]["passed"]) == (True, 1)
        assert history.read_bytes() == before
    other = {**asked(FROZEN / "watched", 2), "policy": {**started["policy"], "watch": []}}
    other["blocks"] = [{**block, "n": n} for block, n in zip(other["blocks"], (18, 22), strict=True)]
    other["blocks"][1]["n"] = 21  # and results of the candidate's own: one item it does not pass
    lost = {"baseline": {**first["blocks"][1]["baseline"]}, "candidate": {**first["blocks"][1]["candidate"]}}
    other["blocks"].append({"n": 1, **lost, "candidate": {**lost["candidate"], "correct": 0}})
    done = run_again(other, tmp_path, history)
    assert done.report is not None, done.err
    assert (done.verdict, done.report["cycles"]["passed"]) == ("promote", 2)
    digest = done.report["provenance"]["candidate"]["digest"]
    assert command("verify", "--promoted", digest, "--history", history).code == 0
    assert {line["state"]["candidate"] for line in lines(history) if line["cycle"] == "w3"} == {digest}


def test_a_guardrail_is_part_of_the_identity(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    first = asked(FROZEN / "waiver", 0)
    assert run_again(first, tmp_path, history).verdict == "promote"
    slower = json.loads(json.dumps(first))
    slower["blocks"][0]["candidate"]["latency"] = 16
    again = run_again(slower, tmp_path, history)
    assert again.report is not None
    assert not again.report["cycles"]["replayed"]


def test_a_waiver_that_ran_out_withdraws_an_old_promotion(tmp_path: Path) -> None:
    """The amended verdict is written by the rules of today, and still answers for the record of then."""
    history = tmp_path / "history.jsonl"
    shutil.copy(FROZEN / "waiver" / "history.jsonl", history)
    old = asked(FROZEN / "waiver", 0)
    plain = {**old, "policy": {key: value for key, value in old["policy"].items() if key != "waivers"}}
    again = run_again(plain, tmp_path, history)
    assert again.verdict == "block"
    assert lines(history)[-1]["schema"] == "gate.history/2"
    answer = command("verify", "--promoted", old["digests"][0], "--history", history)
    assert (answer.code, "withdrawn" in answer.out) == (1, True)

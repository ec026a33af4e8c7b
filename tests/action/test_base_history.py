"""Which history judges a change: never one that it brings itself."""

from __future__ import annotations

import contextlib
import json
from io import StringIO
from pathlib import Path

import pytest

from gate.cli.main import main

from .jobs import BETTER, CYCLES, POLICY, Checkout, decide, write_results
from .scenarios import change, told


def passing_cycles(folder: Path, policy: str, cycles: int) -> str:
    """A history that was made at home: this many cycles that passed."""
    (folder / "home.yaml").write_text(policy, encoding="utf-8")
    write_results(folder, BETTER)
    lines = (folder / "candidate.jsonl").read_text("utf-8").splitlines()
    for cycle in range(cycles):
        rows = [json.loads(line) for line in lines]
        rows[100 + cycle]["correct"] = 0
        (folder / "home.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        words = ["run", "--policy", "home.yaml", "--baseline", "baseline.jsonl", "--candidate", "home.jsonl"]
        with contextlib.chdir(folder):
            main([*words, "--history", "h.jsonl", "--cycle", f"c{cycle}"], StringIO(), StringIO())
    return (folder / "h.jsonl").read_text("utf-8")


@pytest.mark.parametrize("path", ["h.jsonl", "./h.jsonl", "x/../h.jsonl", "to/h.jsonl", "link.jsonl"])
def test_a_change_does_not_bring_its_own_history(checkout: Checkout, tmp_path: Path, path: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    checkout.commit({"gate.yaml": CYCLES}, "cycles")
    forged = passing_cycles(home, CYCLES, 1)
    (checkout.server / "x").mkdir()
    started = change({"h.jsonl": forged, "x/y": "y"}, BETTER)(checkout)
    (checkout.workspace / "to").symlink_to(".")
    (checkout.workspace / "link.jsonl").symlink_to("h.jsonl")
    done = decide(checkout, checkout.environment(*started), history=path)
    told(done, "hold", 4)
    assert done.outputs["cycles-passed"] == "1"
    assert (checkout.workspace / "h.jsonl").read_text("utf-8") == forged


def test_a_change_is_judged_with_the_base_sides_history(checkout: Checkout, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kept = passing_cycles(home, CYCLES, 1)
    checkout.commit({"gate.yaml": CYCLES, "h.jsonl": kept}, "cycles")
    started = change({"h.jsonl": passing_cycles(home, CYCLES, 3)}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started), history="h.jsonl")
    told(done, "hold", 4)
    assert done.outputs["cycles-passed"] == "2"
    assert "base side" in done.summary
    assert (checkout.server / "h.jsonl").read_text("utf-8") == kept


def test_a_promotion_that_a_change_recorded_for_itself_is_not_replayed(
    checkout: Checkout, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    started = change({"h.jsonl": passing_cycles(home, POLICY, 1)}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started), history="h.jsonl")
    told(done, "promote", 0)
    assert not json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))["cycles"]["replayed"]


@pytest.mark.parametrize(("key", "code"), [("looks: 3", 2), ("history_required: true", 2)])
def test_a_history_that_the_policy_asks_for_must_be_the_base_sides(
    checkout: Checkout, tmp_path: Path, key: str, code: int
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    checkout.commit({"gate.yaml": POLICY + f"cycles: {{{key}}}\n"}, "cycles")
    started = change({"h.jsonl": passing_cycles(home, POLICY, 1)}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started), history="h.jsonl")
    told(done, "error", code)
    assert "the base side has no such history" in done.outputs["reason"]


def test_a_history_that_the_job_fetched_is_read_and_not_written(checkout: Checkout, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kept = passing_cycles(home, CYCLES, 1)
    checkout.commit({"gate.yaml": CYCLES}, "cycles")
    started = change({}, BETTER)(checkout)
    for folder in (checkout.workspace, checkout.home / "temp"):
        (folder / "fetched.jsonl").write_text(kept, encoding="utf-8")
        done = decide(checkout, checkout.environment(*started), history=str(folder / "fetched.jsonl"))
        told(done, "hold", 4)
        assert done.outputs["cycles-passed"] == "2"
        assert (folder / "fetched.jsonl").read_text("utf-8") == kept

"""What production said later, how often the gate was right, and what a promotion is worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.cycles.record import Record
from gate.planning.retrains import retrain_sd
from tests.black_box import BINARY, Answer, command, decide, policy


def night(folder: Path, number: int, wins: int, losses: int, wanted: dict[str, Any] | None = None) -> Answer:
    place = folder / str(number)
    place.mkdir()
    cells = [(0, 1)] * wins + [(1, 0)] * losses + [(1, 1)] * (200 - wins - losses)
    sides = [[{"id": f"{number}-{k}", "correct": cell[s]} for k, cell in enumerate(cells)] for s in (0, 1)]
    history = ["--history", folder / "h.jsonl", "--cycle", f"night{number}"]
    return decide(place, wanted or policy(BINARY), *sides, *history)


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    command("history", "init", tmp_path / "h.jsonl")
    for number, (wins, losses) in enumerate([(30, 2), (28, 3), (25, 1), (5, 30), (6, 5)], 1):
        night(tmp_path, number, wins, losses)
    return tmp_path


def test_how_often_the_gate_was_right(nights: Path) -> None:
    """Two of three promotions are known, one of them bad; of the two others one was good."""
    history = nights / "h.jsonl"
    for number, word in ((1, "good"), (2, "bad"), (4, "bad"), (5, "good")):
        done = command("history", "outcome", history, f"night{number}", word, "--note", "from the field")
        assert done.code == 0, done.err
    low, high = stats.binomtest(1, 2).proportion_ci(0.95, method="wilson")
    said = f"of 2 promoted 1 were bad ({low:.0%} to {high:.0%}); of 2 not promoted 1 were good"
    assert said in done.out
    assert "nothing is known of 1 promoted" in done.out
    assert said in command("history", "show", history).out
    assert command("history", "verify", history).code == 0
    records = [json.loads(line) for line in history.read_text().splitlines()]
    assert records[-1]["note"] == "from the field"


def test_the_last_word_counts(nights: Path) -> None:
    history = nights / "h.jsonl"
    command("history", "outcome", history, "night1", "bad")
    assert "of 1 promoted 0 were bad" in command("history", "outcome", history, "night1", "good").out


def test_a_word_on_a_cycle_changes_no_verdict_and_no_streak(nights: Path) -> None:
    history = nights / "h.jsonl"
    (nights / "more").mkdir()
    (nights / "less").mkdir()
    (nights / "less" / "h.jsonl").write_bytes(history.read_bytes())
    command("history", "outcome", history, "night3", "bad")
    (nights / "more" / "h.jsonl").write_bytes(history.read_bytes())
    found = [night(nights / place, 9, 30, 2).report for place in ("more", "less")]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0]["cycles"] == found[1]["cycles"]
    assert found[0]["verdict"] == found[1]["verdict"] == "promote"


def test_a_cycle_that_is_not_there(nights: Path) -> None:
    assert "night5" in command("history", "outcome", nights / "h.jsonl", "night77", "bad").error


def test_a_promotion_says_what_it_is_worth_by_declaration(tmp_path: Path) -> None:
    """The spike and half-normal model of statistics2, worked out by quadrature."""
    command("history", "init", tmp_path / "h.jsonl")
    share, gain = 0.2, 0.03
    wanted = policy(BINARY) | {"report": {"good_share": share, "good_gain": gain}}
    answer = night(tmp_path, 1, 16, 4, wanted)
    assert answer.verdict == "promote"
    (worth,) = answer.report["worth"]  # type: ignore[index]
    delta, psi = 12 / 200, 20 / 200
    error = np.sqrt(answer.gating["sd_difference"] ** 2 / 200)
    assert error == pytest.approx(np.sqrt((psi - delta**2) / 199), rel=1e-9)
    tau = gain * np.sqrt(np.pi / 2)
    grid = np.linspace(0, 20 * tau, 400_001)
    weight = 2 * stats.norm.pdf(grid, 0, tau) * stats.norm.pdf(delta, grid, error)
    better = share * np.trapezoid(weight, grid)
    none = (1 - share) * stats.norm.pdf(delta, 0, error)
    assert worth["not_better"] == pytest.approx(none / (none + better), rel=1e-4)
    expected = share * np.trapezoid(grid * weight, grid) / (none + better)
    assert worth["gain"] == pytest.approx(expected, rel=1e-4)
    assert "of 100 promotions like this are not better" in answer.markdown


def test_ten_earlier_cycles_tell_it_too(tmp_path: Path) -> None:
    command("history", "init", tmp_path / "h.jsonl")
    rng = np.random.default_rng(7)
    for number in range(1, 11):
        night(tmp_path, number, int(rng.integers(4, 30)), int(rng.integers(4, 20)))
    answer = night(tmp_path, 11, 30, 4)
    (worth,) = answer.report["worth"]  # type: ignore[index]
    assert worth["by"] == "history"
    assert 0 < worth["gain"] < answer.gating["delta"]


def test_nothing_else_is_said_to_be_worth_anything(tmp_path: Path) -> None:
    command("history", "init", tmp_path / "h.jsonl")
    wanted = policy(BINARY) | {"report": {"good_share": 0.2, "good_gain": 0.03}}
    assert night(tmp_path, 1, 6, 5, wanted).report.get("worth") is None  # type: ignore[union-attr]


def test_a_stage_that_went_on_is_no_earlier_cycle() -> None:
    """A part of a cycle's items says neither what its gain was nor how retrains differ."""
    whole = Record(kind="outcome", metric="m", cycle="a", result={"delta": 0.1, "sd": 0.5, "n": 100})
    part = whole._replace(result={"delta": 0.9, "sd": 0.5, "n": 20}, state={"continues": True})
    others = [whole._replace(cycle=name) for name in "bc"]
    assert retrain_sd([part, whole, *others], "m") == retrain_sd([whole, part, *others], "m") == 0.0

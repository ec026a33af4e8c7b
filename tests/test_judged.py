"""Judged scores with people's on part of the items: the published estimate, and ways to pass on nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import Answer, decide

N, SEEN = 400, 100


def policy(**more: Any) -> dict[str, Any]:
    sections = {key: more.pop(key) for key in ("items", "guardrails", "slices") if key in more}
    gating = {
        "metric": "judge",
        "kind": "judged",
        "human": "people",
        "direction": "higher",
        "margin": 0.0,
    } | more
    return {"version": 1, "name": "p", "gating": gating, **sections}


def scores(gain: float = 0.5, bias: float = 0.3, seen: int = SEEN) -> list[list[dict[str, Any]]]:
    """The judge sees the true gain and a bias that only the candidate profits from."""
    rng = np.random.default_rng(11)
    truth = rng.normal(5, 1, N)
    sides = []
    for shift, extra in ((0.0, 0.0), (gain, bias)):
        human = (truth + shift + rng.normal(0, 0.3, N)).round(3)
        judge = (human + extra + rng.normal(0, 0.3, N)).round(3)
        sides.append(
            [
                {"id": f"i{k}", "judge": float(judge[k]), "people": float(human[k]) if k < seen else None}
                for k in range(N)
            ]
        )
    return sides


def column(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([math.nan if row[name] is None else row[name] for row in rows])


def run(place: Path, wanted: dict[str, Any], sides: list[list[dict[str, Any]]]) -> Answer:
    return decide(place, wanted, *sides)


def test_the_estimate_is_the_judges_mean_corrected_by_people(tmp_path: Path) -> None:
    sides = scores()
    block = run(tmp_path, policy(), sides).gating
    judge = column(sides[1], "judge") - column(sides[0], "judge")
    human = column(sides[1], "people") - column(sides[0], "people")
    correction = (human - judge)[:SEEN]
    delta = judge[SEEN:].mean() + correction.mean()
    error = math.sqrt(judge[SEEN:].var(ddof=1) / (N - SEEN) + correction.var(ddof=1) / SEEN)
    assert block["delta"] == pytest.approx(delta, abs=1e-9)
    assert block["candidate"] - block["baseline"] == pytest.approx(delta, abs=1e-9)
    low, high = block["interval"]["low"], block["interval"]["high"]
    assert (low + high) / 2 == pytest.approx(delta, abs=1e-9)
    assert 1.96 * error < high - delta < 2.0 * error  # Student's t with some 200 degrees of freedom
    assert block["method"] == "prediction_powered"


def test_a_judge_that_favours_the_candidate_is_seen_through(tmp_path: Path) -> None:
    """By the judge alone it is better by 0.3; people see no difference."""
    sides = scores(gain=0.0, bias=0.3)
    by_judge = float((column(sides[1], "judge") - column(sides[0], "judge")).mean())
    found = run(tmp_path, policy(), sides)
    assert found.verdict == "inconclusive"
    assert abs(found.gating["delta"]) < 0.1
    assert f"by the judge alone the difference is {by_judge:+.4f}" in str(found.report)
    (tmp_path / "alone").mkdir()
    trusted = {
        "version": 1,
        "name": "p",
        "gating": {"metric": "judge", "kind": "graded", "direction": "higher", "margin": 0.0},
    }
    assert run(tmp_path / "alone", trusted, scores(gain=0.0, bias=0.3)).verdict == "promote"


@pytest.mark.parametrize("seen", [0, 1, 49, N])
def test_too_few_human_scores_or_none_left_for_the_judge_claim_nothing(seen: int, tmp_path: Path) -> None:
    sides = scores(gain=2.0, seen=seen)
    assert run(tmp_path, policy(), sides).verdict == "inconclusive"
    rail = {"metric": "judge", "kind": "judged", "human": "people", "direction": "higher"}
    for mode in (
        {"mode": "no_regression"},
        {"tolerance": 0.5},
        {"mode": "limit", "min": 1.0, "proven": True},
    ):
        found = run(tmp_path, policy(guardrails=[rail | mode]), sides)
        assert found.status("guardrail:judge") == "inconclusive", (mode, found.out)


def test_people_who_only_copy_the_judge_correct_nothing(tmp_path: Path) -> None:
    sides = [
        [row | {"people": row["judge"] if k < SEEN else None} for k, row in enumerate(side)]
        for side in scores()
    ]
    found = run(tmp_path, policy(), sides)
    assert found.verdict == "inconclusive"
    assert "corrected the judge on 0" in found.out


def test_lower_may_be_better(tmp_path: Path) -> None:
    up = run(tmp_path, policy(), scores()).gating
    down = run(tmp_path, policy(direction="lower"), scores()[::-1]).gating
    assert down["delta"] == pytest.approx(up["delta"], abs=1e-9)
    assert down["p_value"] == pytest.approx(up["p_value"], rel=1e-6)


def test_guardrails_with_a_limit_a_tolerance_and_a_veto(tmp_path: Path) -> None:
    rail = {"metric": "judge", "kind": "judged", "human": "people", "direction": "higher"}
    for number, mode in enumerate(({"mode": "no_regression"}, {"tolerance": {"relative": 0.02}},
                                   {"mode": "limit", "min": 5.0, "proven": True})):  # fmt: skip
        place = tmp_path / str(number)
        place.mkdir()
        assert run(place, policy(guardrails=[rail | mode]), scores()).status("guardrail:judge") == "pass"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (policy(human=None), "needs human"),
        (policy(human="judge"), "another column"),
        (policy(items={"cluster": "doc"}), "independent"),
        (policy(kind="graded"), "takes no human"),
        (policy(human="nobody"), "nobody"),
    ],
)
def test_what_is_missing_or_cannot_be_is_said(wanted: dict[str, Any], words: str, tmp_path: Path) -> None:
    wanted["gating"] = {key: value for key, value in wanted["gating"].items() if value is not None}
    assert words in run(tmp_path, wanted, scores()).error

"""A limit is met by the candidate alone; beside it stands the mean of a baseline that has the column."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from black_box import Answer, decide, policy

RAIL = {"metric": "cost", "kind": "graded", "direction": "lower", "mode": "limit", "max": 3}
CANDIDATE = [{"id": f"q{k}", "correct": int(k % 4 > 0), "cost": 1 + k % 3} for k in range(60)]


def baseline(costs: Any) -> list[dict[str, Any]]:
    rows = [{"id": f"q{k}", "correct": int(k % 4 > 1)} for k in range(60)]
    return [row | ({} if costs is None else {"cost": costs(k)}) for k, row in enumerate(rows)]


def run(folder: Path, costs: Any, suffix: str = ".jsonl", **rail: Any) -> Answer:
    wanted = policy(guardrails=[{**RAIL, **rail}])
    return decide(folder, wanted, baseline(costs), CANDIDATE, suffix=suffix)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_the_mean_is_shown_and_changes_nothing_else(tmp_path: Path, suffix: str) -> None:
    without, beside = (run(tmp_path, costs, suffix) for costs in (None, lambda k: 2 + k % 5))
    assert (without.verdict, beside.verdict) == ("promote", "promote")
    rule = beside.rule("guardrail:cost")
    assert (without.rule("guardrail:cost")["baseline"], rule["baseline"], rule["candidate"]) == (None, 4, 2)
    assert rule == {**without.rule("guardrail:cost"), "baseline": 4}
    assert "4.0000" in beside.markdown
    sides = [
        answer.report["provenance"]["baseline"]["digest"] for answer in (without, beside) if answer.report
    ]
    assert sides[0] == sides[1]
    assert beside.cautions() == without.cautions()


@pytest.mark.parametrize(
    ("costs", "mean"),
    [
        (lambda k: "n/a", None),  # a column that cannot be read is not what a run fails by
        (lambda k: "n/a" if k else 4, 4),
        (lambda k: None if k < 30 else 4, 4),
        (lambda k: 1e200, None),
        (lambda k: [k], None),
    ],
)
def test_what_the_baseline_holds_instead_is_no_fault(tmp_path: Path, costs: Any, mean: float | None) -> None:
    found = run(tmp_path, costs)
    assert (found.verdict, found.rule("guardrail:cost")["baseline"]) == ("promote", mean)
    assert found.cautions() - {"ranges_apart"} == run(tmp_path, None).cautions()


def test_a_scale_is_held_by_the_candidate(tmp_path: Path) -> None:
    found = run(tmp_path, lambda k: 9, scale=[0, 5])
    assert (found.verdict, found.rule("guardrail:cost")["baseline"]) == ("promote", 9)


def test_a_limit_on_errors_leaves_the_reading_of_failed_runs(tmp_path: Path) -> None:
    """In the baseline the column error goes on saying which runs failed."""
    rows = [{**row, "error": 0} for row in CANDIDATE]
    wanted = policy(guardrails=[{**RAIL, "metric": "error"}])
    failed = [row | {"error": "timeout" if k == 7 else None} for k, row in enumerate(baseline(None))]
    assert "1 of 60 baseline runs failed" in decide(tmp_path, wanted, failed, rows).error


def test_a_large_file_too(tmp_path: Path) -> None:
    """Above 8 MB the fast way reads."""
    rng = random.Random(1)
    rows = [
        {"id": f"q{k:06}", "correct": k % 2, "cost": rng.randint(1, 4), "pad": "x" * 1000}
        for k in range(9000)
    ]
    better = [{**row, "correct": 1 if k % 5 == 0 else row["correct"]} for k, row in enumerate(rows)]
    found = decide(tmp_path, policy(guardrails=[RAIL]), rows, better)
    mean = sum(row["cost"] for row in rows) / 9000
    assert found.rule("guardrail:cost")["baseline"] == pytest.approx(mean, rel=1e-12)
    bare = [{key: row[key] for key in ("id", "correct", "pad")} for row in rows]
    again = decide(tmp_path, policy(guardrails=[RAIL]), bare, better)
    assert again.rule("guardrail:cost")["baseline"] is None
    sides = [answer.report["provenance"]["baseline"]["digest"] for answer in (found, again) if answer.report]
    assert sides[0] == sides[1]

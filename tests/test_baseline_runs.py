"""Several runs of one baseline: the mean over them is compared, and no copy of a run counts as another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import BINARY, GRADED, Answer, command, decide, policy, write_policy, write_rows
from scipy import stats

from gate.stats.control import prediction_p

N = 120


def runs(
    count: int, gain: float = 0.0, seed: int = 5
) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Pass/fail of ``count`` runs of a baseline and one run of a candidate on the same items."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(4, 2, N)

    def once(shift: float) -> list[dict[str, Any]]:
        passed = rng.random(N) < np.minimum(chance + shift, 1)
        return [{"id": f"q{k:03d}", "correct": int(passed[k])} for k in range(N)]

    return [once(0.0) for _ in range(count)], once(gain)


def run(place: Path, wanted: dict[str, Any], baselines: list[list[dict[str, Any]]], candidate: Any) -> Answer:
    more: list[object] = []
    for number, rows in enumerate(baselines[1:], 2):
        more += ["--baseline", write_rows(place / f"baseline-{number}.jsonl", rows)]
    return decide(place, wanted, baselines[0], candidate, *more)


def means(baselines: list[list[dict[str, Any]]]) -> np.ndarray:
    return np.array([[row["correct"] for row in rows] for rows in baselines]).mean(axis=0)


def test_the_mean_of_the_runs_is_what_the_candidate_is_compared_with(tmp_path: Path) -> None:
    """The plain t interval of one difference an item; the guarded test is never narrower."""
    baselines, candidate = runs(5, gain=0.3)
    answer = run(tmp_path, policy(BINARY), baselines, candidate)
    difference = np.array([row["correct"] for row in candidate]) - means(baselines)
    block = answer.gating
    assert answer.verdict == "promote"
    assert block["delta"] == pytest.approx(difference.mean(), abs=1e-12)
    plain = stats.ttest_1samp(difference, 0.0).confidence_interval(0.95)
    assert block["interval"]["low"] <= plain.low + 1e-9
    assert block["interval"]["high"] >= plain.high - 1e-9
    assert answer.report is not None
    assert answer.report["pairing"]["repeats_baseline"] == 5
    sources = answer.report["provenance"]["baseline_runs"]
    assert [Path(source["path"]).name for source in sources] == [f"baseline-{k}.jsonl" for k in (2, 3, 4, 5)]
    assert "baseline_spread" not in answer.cautions()


def test_a_gain_that_the_baseline_makes_by_itself_is_called_so(tmp_path: Path) -> None:
    baselines, candidate = runs(4)
    assert "baseline_spread" in run(tmp_path, policy(BINARY), baselines, candidate).cautions()


@pytest.mark.parametrize(
    ("past", "found", "expected"),
    [([0.8, 0.82, 0.79, 0.81], 0.84, 0.04687957009371043), ([0.69, 0.72, 0.66], 0.7, 0.4)],
)
def test_the_chance_of_one_more_run(past: list[float], found: float, expected: float) -> None:
    """The prediction t: published reference values, and scipy's Student t."""
    p = prediction_p(past, found)
    error = np.std(past, ddof=1) * math.sqrt(1 + 1 / len(past))
    assert p == pytest.approx(expected, abs=1e-9)
    assert p == pytest.approx(stats.t.sf((found - np.mean(past)) / error, len(past) - 1), abs=1e-12)


def test_equal_runs_have_no_spread() -> None:
    assert prediction_p([0.5, 0.5], 0.6) is None


def test_the_order_of_the_runs_changes_nothing_that_decides(tmp_path: Path) -> None:
    baselines, candidate = runs(3, gain=0.3)
    found = []
    for k, order in enumerate((baselines, baselines[::-1])):
        (tmp_path / str(k)).mkdir()
        report = run(tmp_path / str(k), policy(BINARY), order, candidate).report
        assert report is not None
        found.append((report["gating"], report["signature"]))
    assert found[0] == found[1]


def test_verify_reads_every_run_again(tmp_path: Path) -> None:
    baselines, candidate = runs(3, gain=0.3)
    run(tmp_path, policy(BINARY), baselines, candidate)
    assert command("verify", tmp_path / "report" / "report.json").code == 0
    with (tmp_path / "baseline-3.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert "run of the baseline" in command("verify", tmp_path / "report" / "report.json").error


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "wilcoxon_pratt", "sign_flip"])
def test_tests_of_mirrored_differences_are_refused(tmp_path: Path, test: str) -> None:
    """The same system twice: the sign test alone promotes it 66 times of 100 at 60 items."""
    baselines, candidate = runs(5)
    wanted = policy(GRADED, gating={"metric": "correct", "test": test, "margin": 0.0, "scale": [0, 1]})
    assert "as many runs" in run(tmp_path, wanted, baselines, candidate).error


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "sign_flip"])
def test_they_are_refused_for_numbered_repeats_too(tmp_path: Path, test: str) -> None:
    baselines, candidate = runs(5)
    rows = [row | {"run": k} for k, once in enumerate(baselines) for row in once]
    wanted = policy(
        GRADED, gating={"metric": "correct", "test": test, "margin": 0.0}, items={"repeat": "run"}
    )
    assert "as many runs" in decide(tmp_path, wanted, rows, [row | {"run": 0} for row in candidate]).error
    (tmp_path / "even").mkdir()
    again = [row | {"run": k} for k in range(5) for row in candidate]
    assert decide(tmp_path / "even", wanted, rows, again).code in {0, 1, 3}


def test_one_run_given_twice_is_no_second_run(tmp_path: Path) -> None:
    baselines, candidate = runs(2)
    assert "given twice" in run(tmp_path, policy(BINARY), [*baselines, baselines[0][::-1]], candidate).error


def test_the_best_run_of_the_baseline_is_no_candidate(tmp_path: Path) -> None:
    baselines, _ = runs(3)
    assert "one of the baseline's runs" in run(tmp_path, policy(BINARY), baselines, baselines[1]).error


def test_runs_of_two_systems_are_not_pooled(tmp_path: Path) -> None:
    baselines, candidate = runs(2)
    named = [[row | {"system": f"m{k}"} for row in rows] for k, rows in enumerate(baselines)]
    wanted = policy(BINARY) | {"artifacts": {"system": {"baseline": "m0", "candidate": None}}}
    found = run(tmp_path, wanted, named, candidate)
    assert found.code == 2


def test_a_ranking_of_mean_scores_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    label = rng.random(N) < 0.5
    sides = [
        [{"id": str(k), "label": int(label[k]), "score": float(rng.random())} for k in range(N)]
        for _ in range(3)
    ]
    gating = {"metric": "score", "kind": "auc", "direction": "higher", "margin": 0.0}
    wanted = {"version": 1, "name": "p", "gating": gating, "items": {"label": "label"}}
    assert "averaged item by item" in run(tmp_path, wanted, sides[:2], sides[2]).error


def test_a_run_that_lacks_an_item_is_uneven(tmp_path: Path) -> None:
    baselines, candidate = runs(3)
    assert (
        "fewer than 3 runs"
        in run(tmp_path, policy(BINARY), [*baselines[:2], baselines[2][1:]], candidate).error
    )


def test_a_store_keeps_one_run(tmp_path: Path) -> None:
    baselines, candidate = runs(2)
    one = write_rows(tmp_path / "one.jsonl", baselines[0])
    other = write_rows(tmp_path / "candidate.jsonl", candidate)
    rules = write_policy(tmp_path / "gate.yaml", policy(BINARY))
    done = command(
        "run", "--policy", rules, "--baseline", one, "--baseline", "store:main", "--candidate", other
    )
    assert "are files" in done.error


def test_a_veto_does_not_count_signs_of_means_over_other_numbers_of_runs(tmp_path: Path) -> None:
    """Items that mostly fail: one run of the same system is a little worse on most, much better on few."""
    rng = np.random.default_rng(12)

    def once() -> list[dict[str, Any]]:
        return [{"id": f"q{k:03d}", "correct": int(rng.random() < 0.15), "gate": 1} for k in range(N)]

    baselines, candidate = [once() for _ in range(5)], once()
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "no_regression"}
    gains = np.array([row["correct"] for row in candidate]) - means(baselines)
    assert (
        stats.binomtest(int((gains < 0).sum()), int((gains != 0).sum()), alternative="greater").pvalue < 0.025
    )
    wanted = policy(BINARY, gating={"metric": "correct"}, guardrails=[rail])
    block = run(tmp_path, wanted, baselines, candidate).rule("guardrail:correct")
    assert block.get("sign_test") is None
    assert block["status"] != "fail"


def test_how_often_the_sign_test_would_promote_the_same_system() -> None:
    """The figure of docs/baselines.md: 60 items, five runs against one, of one system."""
    rng, promoted, tries = np.random.default_rng(14), 0, 2000
    for _ in range(tries):
        chance = rng.beta(8, 1.5, 60)
        old, new = (rng.random((5, 60)) < chance).mean(axis=0), rng.random(60) < chance
        better, changed = int((new > old).sum()), int((new != old).sum())
        promoted += float(stats.binom.sf(better - 1, changed, 0.5)) < 0.025
    assert abs(promoted / tries - 0.66) < 0.04

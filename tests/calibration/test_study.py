"""The study itself: reproducible, and the document shows what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.calibration.scenarios import SCENARIOS
from tests.calibration.study import LEVEL, RESULTS, study, table

SAVED: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "calibration.md"


def test_the_document_shows_the_saved_results() -> None:
    assert "\n".join(table(SAVED)) in DOCUMENT.read_text(encoding="utf-8")


def test_every_scenario_was_studied_often_enough() -> None:
    assert [row["name"] for row in SAVED["scenarios"]] == [scenario.name for scenario in SCENARIOS]
    assert min(row["tries"]["none"] for row in SAVED["scenarios"]) >= 250


def test_what_exceeds_the_level_says_why() -> None:
    for row in SAVED["scenarios"]:
        found, tries = row["promoted"]["none"]["gate"], row["tries"]["none"]
        if stats.binomtest(found, tries, LEVEL, alternative="greater").pvalue < 0.01:
            assert row["words"], row["name"]


MEANS = [one for one in SCENARIOS if one.policy["gating"]["kind"] in {"binary", "graded"}]
"""A judge's own score may differ, and ranks have no mean."""


@pytest.mark.parametrize("scenario", MEANS, ids=lambda s: s.name)
def test_without_a_gain_the_true_difference_is_zero(scenario: Any) -> None:
    """Means of many draws."""
    draws = [scenario.draw(np.random.default_rng([1, k]), 0.0).differences.mean() for k in range(200)]
    error = np.std(draws, ddof=1) / np.sqrt(len(draws))
    assert abs(np.mean(draws)) < 5 * error


def test_the_same_seed_gives_the_same_counts_on_any_number_of_processes() -> None:
    one, two = (study(8, processes, scenarios=[0, 12]) for processes in (1, 2))
    assert one == two
    assert one["scenarios"][0]["tries"] == {"none": 8, "gain": 2}


@pytest.mark.slow
def test_the_saved_results_are_those_of_this_code() -> None:
    """Counts of a smaller study with the same seed are credible beside the saved ones."""
    for new, old in zip(study(100)["scenarios"], SAVED["scenarios"], strict=True):
        for side in ("none", "gain"):
            counts = [[row["promoted"][side]["gate"], row["tries"][side]] for row in (new, old)]
            misses = [[hits, tries - hits] for hits, tries in counts]
            assert stats.fisher_exact(misses).pvalue > 1e-4, (new["name"], side)

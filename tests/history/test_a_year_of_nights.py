"""Nights of candidates with no gain, through the public API: false promotions against what is claimed.

The truth is known because the results are drawn: both sides pass an item with the same chance, independently.
A real gain at the end of each season shows that the gate was not merely deaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate import evaluate, load_policy
from gate.api import Report
from gate.cycles.attempt import rules_of
from gate.cycles.policy_claims import policy_claims
from gate.policy.load import LoadedPolicy
from tests.black_box import command

ITEMS = 160
PLAIN, BETTER = 0.6, 0.95
LAST = 6
"""Nights with a real gain, after all those without."""
SURE = 0.999
"""A count above this quantile of its law is no luck."""


def year_policy(alpha: float = 0.05, **cycles: Any) -> LoadedPolicy:
    gating = {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.0}
    return load_policy({"version": 1, "name": "year", "alpha": alpha, "gating": gating, "cycles": cycles})


def nights(folder: Path, wanted: LoadedPolicy, seed: int, chances: list[float]) -> Iterator[Report]:
    """One report a night; chances: that the candidate passes an item. Re-used items keep the baseline."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    history = folder / "h.jsonl"
    assert command("history", "init", history).code == 0
    fresh = rules_of(wanted.policy).windows == "fresh"
    baseline: list[dict[str, Any]] = []
    for night, chance in enumerate(chances):
        if fresh or not baseline:
            baseline = results([f"{night}-{k}" for k in range(ITEMS)], PLAIN, rng)
        candidate = results([str(row["id"]) for row in baseline], chance, rng)
        yield evaluate(wanted, baseline, candidate, history=history, cycle=f"night{night}")


def results(ids: list[str], chance: float, rng: np.random.Generator) -> list[dict[str, Any]]:
    return [{"id": i, "correct": int(hit)} for i, hit in zip(ids, rng.random(len(ids)) < chance, strict=True)]


def claimed(wanted: LoadedPolicy, looks: int) -> float:
    """The chance of any false promotion, as ``gate check`` prints it."""
    claims = policy_claims(rules_of(wanted.policy))
    assert claims["false_promotion_looks"] == looks
    return float(claims["false_promotion"])


def promotions(reports: list[Report]) -> int:
    return sum(report.verdict == "promote" for report in reports)


def judge_season(folder: Path, wanted: LoadedPolicy, idle: int) -> None:
    """No promotion while nothing is better, passes of single nights as rare as their levels say, then one."""
    found = list(nights(folder, wanted, 20, [PLAIN] * idle + [BETTER] * LAST))
    assert promotions(found[:idle]) == 0
    passes = sum(report.gating.status == "pass" for report in found[:idle])
    levels = [report.gating.level for report in found[:idle]]
    assert all(level is not None and 0 < level <= 0.025 for level in levels)
    assert passes <= stats.binom.ppf(SURE, idle, max(level for level in levels if level is not None))
    assert promotions(found[idle:]) > 0


@pytest.mark.parametrize(
    "cycles", [{"required": 2, "windows": "fresh", "looks": 40}, {"looks": 9, "allow_worn": True}]
)
def test_a_season_of_idle_nights_promotes_nothing_and_a_gain_after_it_is_promoted(
    tmp_path: Path, cycles: dict[str, Any]
) -> None:
    judge_season(tmp_path / "h", year_policy(**cycles), 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cycles",
    [
        {"windows": "fresh", "looks": 250},
        {"required": 2, "windows": "fresh", "looks": 250},
        {"required": 3, "windows": "fresh", "looks": 250},
        {"looks": 9, "allow_worn": True},  # far beyond what was planned: the last tenth is for these
        {"looks": 250},
    ],
)
def test_a_year_of_250_idle_nights_promotes_nothing_and_a_gain_after_it_is_promoted(
    tmp_path: Path, cycles: dict[str, Any]
) -> None:
    wanted = year_policy(**cycles)
    assert policy_claims(rules_of(wanted.policy))["false_promotion"] <= 0.025
    judge_season(tmp_path / "h", wanted, 250)


@pytest.mark.slow
def test_false_promotions_over_many_short_years_stay_within_the_claim(tmp_path: Path) -> None:
    """At a level so loose that luck is seen: two passes in a row within ten nights, each at 0.2."""
    wanted = year_policy(0.4, required=2, windows="fresh")
    years, looks = 60, 10
    claim = claimed(wanted, looks)
    seasons = [list(nights(tmp_path / str(y), wanted, y, [PLAIN] * looks)) for y in range(years)]
    false = sum(promotions(found) > 0 for found in seasons)
    assert 0 < false <= stats.binom.ppf(SURE, years, claim)
    # one pass is much more common: what the claim is about is the streak
    assert sum(any(r.gating.status == "pass" for r in found) for found in seasons) > 3 * false

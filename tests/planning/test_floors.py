"""A plan never advises what cannot pass: the floor of every test, and the policy's own minimum."""

from __future__ import annotations

import numpy as np
import pytest

from gate.cycles.attempt import rules_of
from gate.planning.floors import least_items_for, least_items_of
from gate.planning.plan import Question, gating_planned, plan
from gate.planning.variances import declared
from gate.policy.model import Policy
from gate.stats.methods import METHODS, named_tests
from gate.stats.pairs import from_differences
from gate.stats.power import fewest_units
from gate.stats.procedures import run


@pytest.mark.parametrize(("level", "least"), [(0.05, 5), (0.03125, 6), (0.025, 6), (0.0125, 7), (0.4, 2)])
def test_units(level: float, least: int) -> None:
    """2^-5 = .03125 is below .05 and not below itself."""
    assert fewest_units(level) == least


@pytest.mark.parametrize(
    "method", [m.id for m in named_tests("pairs") if m.id not in {"mcnemar_midp", "mcnemar_chi2", "tango"}]
)
def test_one_item_less_cannot_pass(method: str) -> None:
    """All the way from 0 to 1, which pass/fail tests take as well; mid-p and scores reach a little lower."""
    least = least_items_for(method, 0.0, 0.025)
    for n in (least - 1, least):
        gains = from_differences(
            np.ones(n) if "graded" not in METHODS[method].kinds else np.linspace(0.9, 1, n)
        )
        found = run(method, gains, 0.0, 0.025, scale=(0, 1))
        assert (found.p_greater < 0.025 and not found.insufficient) is (n == least), n


def test_clusters() -> None:
    clustered = [method.id for method in named_tests("clusters")]
    assert {least_items_for(method, 0.0, 0.025) for method in ["cluster_strict", *clustered]} == {6}
    assert least_items_for("cluster_strict", 0.0, 0.4) == 6
    assert least_items_for("cluster_strict", 0.0, 0.001) == 10


def policy_with(**items: object) -> Policy:
    gating = {"metric": "score", "kind": "graded", "direction": "higher", "margin": 0.1}
    return Policy.model_validate({"version": 1, "name": "p", "gating": gating, "items": items})


@pytest.mark.parametrize(("items", "least"), [({"unit": "seed", "min": 5}, 5), ({"min": 12}, 12), ({}, 30)])
def test_of_a_policy(items: dict[str, object], least: int) -> None:
    """Seeds are held to alpha = .05, which five unanimous ones reach; else items.min and the test decide."""
    found = policy_with(**items)
    level = rules_of(found).level
    assert level == (0.05 if "unit" in items else 0.025)
    assert least_items_of(found, found.gating, 0.0, level) == least


def test_a_plan_of_a_clear_gain_asks_for_no_less() -> None:
    spread = declared(binary=False, discordance=None, sd=0.001)
    assert spread is not None
    rule = gating_planned("gating", 0.1, "observed", 0.025, spread, Question(), 10)
    found = plan((rule,), Question())
    assert found.items == 10
    assert found.seen.normal == 10
    assert rule.chance(9, 1, 0.2) == 0.0


def test_a_tolerance_is_proven_by_its_own_formula() -> None:
    assert least_items_for("exact_unconditional", -0.05, 0.025) == 1
    assert least_items_for("t_guarded", -0.05, 0.025) == 1
    assert least_items_for("bootstrap", -0.05, 0.025) == 50

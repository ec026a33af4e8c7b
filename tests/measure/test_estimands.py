"""Kinds of metrics: each has a test for its sample, and a new one needs no more than its own estimand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from paired_tables import LEVEL, SETTING, gating_rule, guardrail_rule, table

from gate.estimands import Cut, Selection, Sides, Spread, estimand_of, select
from gate.estimands.graded import GRADED
from gate.measure import rules
from gate.measure.core import Case, choice_of
from gate.measure.model import Tested, Veto
from gate.policy.kinds import KINDS
from gate.stats.cluster_data import Clusters
from gate.stats.methods import METHODS
from gate.stats.pairs import Pairs, from_differences
from gate.stats.set_level import WholeSet
from gate.values import Kind, Mode, Role

OLD, NEW = [1.0, 2.0, 3.0, 9.0] * 10, [2.0, 2.0, 4.0, 8.0] * 10


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(("averaged", "clustered", "seeds"), list(itertools.product((False, True), repeat=3)))
def test_every_kind_has_a_test_for_its_sample(
    kind: Kind, averaged: bool, clustered: bool, seeds: bool
) -> None:
    found = estimand_of(
        kind, averaged=averaged, clustered=clustered, seeds=seeds, cut=Cut(denominator="m", human="m")
    )
    made = table([0.0, 1.0] * 20, [1.0, 1.0] * 20, clusters=[k % 10 for k in range(40)])
    made = replace(made, positive=np.arange(40) % 3 == 0)
    sample = found.sample(select(made, made.metrics["m"], "higher"), 0.0)
    if not KINDS[kind].by_item:
        assert isinstance(sample, WholeSet)
        method = METHODS[found.default_test(0.1, "standard")]
        assert (method.sample, method.margin) == ("set", True)
        assert kind in method.kinds
        assert method.id in sample.tests
        return
    assert isinstance(sample, Clusters if clustered else Pairs)
    for null_value, assurance in itertools.product((0.0, 0.1), ("standard", "guaranteed")):
        method = METHODS[found.default_test(null_value, assurance)]
        assert method.sample == ("clusters" if clustered else "pairs")
        assert method.margin or null_value == 0.0
        assert clustered or ("graded" if averaged else KINDS[kind].tested_as) in method.kinds


def largest(selection: Selection) -> Sides:
    old, new = float(selection.baseline.max()), float(selection.candidate.max())
    return Sides(old, None, new, new - old, 0, 0)


SET_LEVEL = replace(
    GRADED,
    default_test=lambda _null_value, _assurance: "paired_t",
    sample=lambda selection, _shift: from_differences(np.linspace(-1.2, -0.8, selection.n)),
    sides=largest,
    spread=lambda _selection: Spread(None, None, 4.0),
    by_item=False,
)
"""A metric of the whole set, the largest score: no item can be said to have changed it."""


def case(rule: object, role: Role, mode: Mode) -> Case:
    made = table(OLD, NEW)
    asked = rules.asked_of(rule, "m", role, mode, LEVEL)  # type: ignore[arg-type]
    selection = select(made, made.metrics["m"], "higher")
    return Case(asked, choice_of(rule), SET_LEVEL, selection, SETTING)  # type: ignore[arg-type]


def test_a_metric_of_the_whole_set_is_its_estimand_alone() -> None:
    rule = gating_rule("graded", margin=0.5)
    found = rules._gating(rule, case(rule, Role.GATING, Mode.GATING))
    assert isinstance(found, Tested)
    assert (found.sides.baseline, found.sides.candidate, found.delta) == (9.0, 8.0, -1.0)
    assert (found.method, found.evidence.worse) == ("paired_t", True)
    assert found.visible.mde == pytest.approx((2.3263 + 0.8416) * 2 / 40**0.5, abs=1e-3)
    assert found.gain is not None
    assert (found.gain.items.changes, found.gain.items.flips, dict(found.gain.items.flaky)) == (
        None,
        None,
        {},
    )
    assert (dict(found.gain.reference), dict(found.clusters)) == ({}, {})


def test_a_veto_on_a_metric_of_the_whole_set_counts_no_items() -> None:
    rule = guardrail_rule("no_regression", "graded")
    found = rules._veto(case(rule, Role.GUARDRAIL, Mode.NO_REGRESSION), Veto())
    assert isinstance(found, Tested)
    assert found.evidence.p_value < LEVEL
    assert (found.sign_test, found.visible.clean_sweep) == (None, None)


@pytest.mark.parametrize(("clusters", "units", "error"), [(None, 3, 3**-0.5 / 2), ([0, 0, 1, 1], 2, 0.5)])
def test_whole_clusters_are_the_units(clusters: list[int] | None, units: int, error: float) -> None:
    """Both items of a cluster are 0.5 off the mean on the same side: 2 x .5 each, sqrt(2 / 1 x 2) / 4."""
    made = table([1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0], clusters=clusters)
    found = estimand_of(Kind.GRADED, clustered=clusters is not None)
    selection = select(made, made.metrics["m"], "higher")
    assert found.units(selection, np.array([True, False, True, True])) == units
    assert found.sides(selection).baseline_error == pytest.approx(error)
    assert len(found.unit_gains(selection)) == (4 if clusters is None else 2)

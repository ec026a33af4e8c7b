"""Families: who is in one, what its correction makes of each p, and what is said of what a veto would miss.

Adjusted values are worked out by hand: of two tests with raw p .01 and .04 Holm makes .02 and .04,
Bonferroni .02 and .08, Benjamini-Hochberg .02 and .04.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from gate.decide.multiplicity import challengers, families
from gate.measure.model import Comparison, SignTest
from gate.stats.results import Interval
from tests.records import Flat, changed, record

LEVEL = 0.025
N, VARIANCE = 400, 0.09


def veto(name: str, p: float | None, **more: Any) -> Comparison:
    base: dict[str, Any] = {
        "rule": f"guardrail:{name}",
        "role": "guardrail",
        "mode": "no_regression",
        "metric": name,
        "kind": "binary",
        "direction": "higher",
        "method": "mcnemar_exact",
        "n": N,
        "delta": -0.01,
        "p_value": p,
        "p_two_sided": None if p is None else min(1.0, 2 * p),
        "variance": VARIANCE,
        "level": LEVEL,
    }
    return record(**(base | more))


def watch(name: str, p_two_sided: float | None, **more: Any) -> Comparison:
    given = {"role": "watch", "mode": "watch", "p_two_sided": p_two_sided, "rule": f"watch:{name}"}
    return veto(name, 0.5, **(given | more))


def adjusted(found: tuple[Comparison, ...]) -> list[Any]:
    return [p if p is None else pytest.approx(p) for p in (Flat(c).p_adjusted for c in found)]


def codes(c: Comparison) -> list[str]:
    return [caution.code for caution in c.cautions]


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", [0.04, 0.01]),
        ("holm", [0.04, 0.02]),
        ("bonferroni", [0.08, 0.02]),
        ("hochberg", [0.04, 0.02]),
        ("bh", [0.04, 0.02]),
        ("by", [0.06, 0.03]),
    ],
)
def test_a_family_of_two_vetoes(correction: str, expected: float) -> None:
    found, described = families([veto("a", 0.04), veto("b", 0.01)], correction)
    assert adjusted(found) == expected
    assert described == ({"name": "vetoes", "correction": correction, "size": 2},)


def test_one_veto_needs_no_correction() -> None:
    found, described = families([veto("a", 0.04)], "holm")
    assert Flat(found[0]).p_adjusted is None
    assert described == ({"name": "vetoes", "correction": "holm", "size": 1},)
    assert families([], "holm") == ((), ())


def test_each_role_is_a_family_of_its_own() -> None:
    outside = [
        veto("gating", 0.01, role="gating", mode="gating"),
        veto("proof", 0.01, mode="non_inferior"),
        veto("limit", None, mode="limit"),
        veto("untested", None),
        veto("small", 0.01, role="slice", mode="slice_no_regression", gated=False),
        watch("unknown", None),
    ]
    inside = [
        veto("v1", 0.01),
        veto("v2", 0.04),
        veto("s1", 0.01, role="slice", mode="slice_no_regression"),
        veto("s2", 0.01, role="slice", mode="slice_no_regression"),
        veto("s3", 0.01, role="slice", mode="slice_no_regression"),
        watch("w1", 0.2),
        watch("w2", 0.3),
    ]
    found, described = families([*outside, *inside], "bonferroni")
    assert found[: len(outside)] == tuple(outside)
    assert adjusted(found[len(outside) :]) == [0.02, 0.08, 0.03, 0.03, 0.03, 0.3, 0.3]
    assert described == (
        {"name": "vetoes", "correction": "bonferroni", "size": 2},
        {"name": "slices", "correction": "bonferroni", "size": 3},
        {"name": "watch", "correction": "bh", "size": 2},
    )


def test_the_other_reading_is_held_to_the_same_correction() -> None:
    """Member by member: the readings of one are .01 and .03, the other has one reading, .02."""
    two = veto("a", 0.01, other=veto("a", 0.03, reading="drop"), reading="worst")
    found, _ = families([two, veto("b", 0.02)], "bonferroni")
    assert adjusted(found) == [0.02, 0.04]
    assert Flat(found[0]).other is not None
    assert Flat(found[0]).other.p_adjusted == pytest.approx(0.06)
    assert Flat(found[0]).other.reading == "drop"
    assert Flat(found[1]).other is None
    found, _ = families([two, changed(two, rule="guardrail:b")], "bonferroni")
    assert [Flat(c).other.p_adjusted for c in found] == [pytest.approx(0.06)] * 2
    found, _ = families([veto("b", 0.02), two], "holm")
    assert Flat(found[1]).other is not None
    assert Flat(found[1]).other.p_adjusted == pytest.approx(0.04), "Holm: .02 x 2, and .03 is no less"


def test_sign_tests_are_corrected_among_themselves() -> None:
    made = [
        veto("a", 0.4, sign_test=SignTest(8, 9, 0.01)),
        veto("b", 0.3),
        veto("c", 0.2, sign_test=SignTest(9, 12, 0.03)),
    ]
    found, _ = families(made, "bonferroni")
    assert [Flat(c).sign_test and pytest.approx(c.sign_test.p) for c in found] == [0.03, None, 0.09]
    assert Flat(found[0]).sign_test is not None
    assert (Flat(found[0]).sign_test.worse, Flat(found[0]).sign_test.p_value) == (8, 0.01)
    alone, _ = families(made[:1], "bonferroni")
    assert Flat(alone[0]).sign_test == Flat(made[0]).sign_test


@pytest.mark.parametrize(
    ("correction", "size", "spread"),
    [("holm", 1, 1), ("holm", 3, 3), ("none", 3, 1), ("bh", 2, 2), ("by", 2, 3)],
)
def test_what_each_veto_would_miss(correction: str, size: int, spread: float) -> None:
    """(z at the corrected level + z of 80 %) sd / sqrt(n)."""
    found, _ = families([veto(str(k), 0.5, mde=9.9, clean_sweep=0.004) for k in range(size)], correction)
    z = stats.norm.ppf(1 - LEVEL / spread) + stats.norm.ppf(0.8)
    for c in found:
        assert Flat(c).mde == pytest.approx(z * math.sqrt(VARIANCE / N))
        assert Flat(c).clean_sweep == pytest.approx(0.004 * spread)
        assert codes(c) == ["veto_misses"]
        assert f"a true loss of {Flat(c).mde:.4g} would be missed 20 % of the time" in c.cautions[0].message


def test_a_veto_without_spread_says_nothing_of_what_it_would_miss() -> None:
    found, _ = families([veto("a", 0.5, variance=None, mde=0.7)], "holm")
    assert (Flat(found[0]).mde, Flat(found[0]).clean_sweep, found[0].cautions) == (0.7, None, ())


@pytest.mark.parametrize(
    ("sweep", "corrected", "fires"), [(0.012, 0.024, True), (0.0125, 0.025, False), (0.8, 1.0, False)]
)
def test_a_veto_that_cannot_fire_at_its_corrected_level(sweep: float, corrected: float, fires: bool) -> None:
    found, _ = families([veto("a", 0.5, clean_sweep=sweep), veto("b", 0.5)], "holm")
    assert Flat(found[0]).clean_sweep == pytest.approx(corrected)
    assert ("veto_cannot_fire" in codes(found[0])) is not fires
    assert "veto_cannot_fire" not in codes(found[1])


@pytest.mark.parametrize(
    ("p", "delta", "said"),
    [
        (0.01, 0.5, True),
        (0.01, 0.0, True),
        (0.01, 1e-9, True),
        (0.01, -1e-9, False),
        (LEVEL, 0.5, False),
        (LEVEL - 1e-9, 0.5, True),
        (0.5, 0.5, False),
    ],
)
def test_losses_in_number_without_a_loss_in_the_mean(p: float, delta: float, said: bool) -> None:
    found, _ = families([veto("a", 0.5, delta=delta, sign_test=SignTest(8, 9, p))], "holm")
    assert ("most_changes_are_losses" in codes(found[0])) is said


def test_a_loss_above_the_tolerance_that_would_be_missed() -> None:
    missed = Flat(families([veto("a", 0.5)], "holm")[0][0]).mde
    assert missed is not None
    for bound, said in ((None, False), (missed, False), (missed * 1.01, False), (missed * 0.99, True)):
        found, _ = families([veto("a", 0.5, bound=bound)], "holm")
        assert ("mde_above_tolerance" in codes(found[0])) is said, bound


@pytest.mark.parametrize(
    ("p", "delta", "direction", "code"),
    [
        (0.049, -0.1, "higher", "watch_worse"),
        (0.049, -0.1, "lower", "watch_worse"),
        (0.05, -0.1, "higher", None),
        (0.06, -0.1, "higher", None),
        (0.049, 0.1, "higher", None),
        (0.049, 0.0, "higher", "watch_worse"),
        (0.049, -0.1, "neutral", "watch_changed"),
        (0.049, 0.1, "neutral", "watch_changed"),
        (0.05, 0.1, "neutral", None),
    ],
)
def test_a_watched_metric_that_changed(p: float, delta: float, direction: str, code: str | None) -> None:
    """Two-sided, so p is compared with alpha = .05."""
    found, _ = families([watch("w", p, delta=delta, direction=direction)], "holm")
    assert codes(found[0]) == ([code] if code else [])
    if code:
        assert f"{delta:+.4f} (two-sided p {p:.4f})" in found[0].cautions[0].message or delta == 0
    weak, _ = families([watch("w", p, delta=delta, direction=direction, insufficient="6 items")], "holm")
    assert codes(weak[0]) == []


def test_watched_metrics_are_corrected_before_anything_is_said() -> None:
    found, _ = families([watch("a", 0.02), watch("b", 0.9), watch("c", 0.8)], "none")
    assert adjusted(found) == [0.06, 0.9, 0.9]
    assert [codes(c) for c in found] == [[], [], []]
    found, _ = families([watch("a", 0.02), watch("b", 0.03)], "none")
    assert [codes(c) for c in found] == [["watch_worse"]] * 2
    assert "(two-sided adjusted p 0.0300)" in found[0].cautions[0].message


def gating(p: float | None, **more: Any) -> Comparison:
    given = {
        "role": "gating",
        "mode": "gating",
        "observed_rule": True,
        "tested_rule": True,
        "margin_rule": "observed",
        "interval": Interval(0.01, 0.05, 0.95, "x"),
    }
    return veto("correct", p, **(given | more))


def test_one_candidate_is_no_family() -> None:
    assert challengers([gating(0.02)], "holm") == (gating(0.02),)
    assert challengers([], "holm") == ()


@pytest.mark.parametrize(("correction", "expected"), [("bonferroni", 0.02), ("holm", 0.02), ("none", 0.01)])
def test_two_challengers_share_their_chances(correction: str, expected: float) -> None:
    found = challengers([gating(0.01), gating(None)], correction)
    assert adjusted(found) == [expected, None], "one without any pair counts, as p = 1"


@pytest.mark.parametrize(
    ("p", "rule", "observed", "tested"),
    [
        (0.012, "observed", True, True),
        (0.0125, "observed", False, False),
        (0.02, "observed", False, False),
        (0.012, "tested", True, True),
        (0.02, "tested", True, False),
    ],
)
def test_a_margin_rule_is_cleared_by_the_adjusted_p(
    p: float, rule: str, observed: bool, tested: bool
) -> None:
    """Of two, Bonferroni: .0125 becomes the level itself, which is not below it."""
    found = challengers([gating(p, margin_rule=rule), gating(0.5)], "bonferroni")
    assert (Flat(found[0]).observed_rule, Flat(found[0]).tested_rule) == (observed, tested)


def test_a_challenger_gains_nothing_by_the_correction() -> None:
    lost = gating(0.02, margin_rule="tested", observed_rule=False, tested_rule=False)
    found = challengers([lost, gating(0.5)], "bonferroni")
    assert (Flat(found[0]).observed_rule, Flat(found[0]).tested_rule) == (False, False)
    empty = gating(None, observed_rule=None, tested_rule=None, interval=None)
    found = challengers([empty, gating(0.5)], "bonferroni")
    assert (Flat(found[0]).observed_rule, Flat(found[0]).tested_rule) == (None, None)


def test_the_other_reading_of_a_challenger() -> None:
    two = gating(0.01, other=gating(0.03, reading="drop"))
    found = challengers([two, gating(0.02)], "bonferroni")
    assert adjusted(found) == [0.02, 0.04]
    assert Flat(found[0]).other is not None
    assert Flat(found[0]).other.p_adjusted == pytest.approx(0.06)
    assert Flat(found[0]).other.observed_rule is False
    assert changed(found[1], p_adjusted=None) == changed(gating(0.02), tested_rule=False, observed_rule=False)


@pytest.mark.parametrize(("others", "said"), [(0, False), (3, True)])
def test_a_veto_that_fired_is_not_said_to_be_unable(others: int, said: bool) -> None:
    """p .01 is below .025 by itself; times four it is not, and neither is a clean sweep's .03."""
    found = families(
        [veto("m", 0.01, clean_sweep=0.03), *(veto(f"o{k}", 1.0) for k in range(others))], "holm"
    )
    assert ("veto_cannot_fire" in codes(found[0][0])) is said

"""Rules that rest on a test, measured on their own: levels, bounds, and every number that is reported.

Expected numbers come from scipy, from arithmetic, or from one registered procedure called directly.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paired_tables import (
    LEVEL,
    SETTING,
    VETO_LEVEL,
    blocks,
    gating_rule,
    guardrail_rule,
    metric,
    repeated,
    table,
)
from scipy import stats

from gate.estimands import estimand_of, select
from gate.measure import rules
from gate.measure.core import Bound, Case, choice_of, p_above, run_test
from gate.measure.model import Asked, Evidence, Margin, SignTest, Untested, at_least
from gate.measure.rules import asked_of, seed_reading, veto_mde
from gate.measure.setting import Setting, TestChoice
from gate.pairing import PairedTable
from gate.policy.model import Relative, Watch
from gate.stats.pairs import from_counts
from gate.stats.procedures import p_of_counts, run
from gate.stats.results import Interval
from gate.stats.unconditional import berger_boos_g
from gate.values import Direction, GateError, Kind, Mode, Role
from tests.records import Flat, changed, record

GAIN = blocks((40, 0, 1), (5, 1, 0), (155, 1, 1))
"""Exact one-sided p of 40 against 5: far below every level used here."""

RNG = np.random.default_rng(11)
OLD = RNG.normal(2.0, 0.3, 60).round(3)
NEW = (OLD + RNG.normal(0.4, 0.3, 60)).round(3)


def z(level: float, power: float = 0.8) -> float:
    return float(stats.norm.ppf(1 - level) + stats.norm.ppf(power))


def gating(*given: Any) -> Flat:
    return Flat(rules.gating(*given))


def guardrail(*given: Any) -> Flat:
    return Flat(rules.guardrail(*given))


def subset(*given: Any, proof: bool) -> Flat:
    return Flat(rules.subset(*given, proof=proof))


def watched(*given: Any) -> Flat:
    return Flat(rules.watched(*given))


def case_of(made: PairedTable, kind: str = "binary") -> Case:
    """The gating rule on this table, at ``LEVEL``."""
    rule = gating_rule(kind)
    asked = asked_of(rule, "gating:m", Role.GATING, Mode.GATING, LEVEL)
    selection = select(made, made.metrics["m"], "higher")
    return Case(asked, choice_of(rule), estimand_of(kind), selection, SETTING)


def measured(made: PairedTable, setting: Setting = SETTING, **rule: Any) -> Flat:
    return gating(gating_rule(**rule), "gating:m", made, setting)


def railed(made: PairedTable, mode: str, setting: Setting = SETTING, **rule: Any) -> Flat:
    return guardrail(guardrail_rule(mode, **rule), "guardrail:m", made, setting)


# --- which test, at which level ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"kind": "binary"}, "mcnemar_exact"),
        ({"kind": "binary", "null": 0.02}, "exact_unconditional"),
        ({"kind": "binary", "null": -0.02}, "exact_unconditional"),
        ({"kind": "binary", "averaged": True}, "t_guarded"),
        ({"kind": "graded"}, "t_guarded"),
        ({"kind": "graded", "null": 0.02}, "t_guarded"),
        ({"kind": "binary", "clustered": True}, "cluster_strict"),
        ({"kind": "graded", "clustered": True}, "cluster_strict"),
        ({"kind": "graded", "seeds": True}, "bca_sign_flip"),
        ({"kind": "binary", "seeds": True}, "mcnemar_exact"),
        ({"kind": "binary", "seeds": True, "averaged": True}, "bca_sign_flip"),
        ({"kind": "graded", "seeds": True, "assurance": "guaranteed"}, "gaffke"),
        ({"kind": "graded", "assurance": "guaranteed"}, "gaffke"),
        ({"kind": "graded", "test": "sign", "clustered": True}, "sign"),
        ({"kind": "binary", "test": "tango", "null": 0.02}, "tango"),
    ],
)
def test_the_test_follows_from_kind_and_policy(given: dict[str, Any], expected: str) -> None:
    flags = {key: given.pop(key) for key in list(given) if key in {"averaged", "clustered", "seeds"}}
    null, kind = given.pop("null", 0.0), given.pop("kind")
    found = estimand_of(kind, **flags)
    assert TestChoice(**given).method(found, null) == expected
    made = table([0.0], [1.0], clusters=[0] if flags.get("clustered") else None)
    setting = replace(SETTING, seeds=flags.get("seeds", False))
    rule = Watch(metric="m", kind=kind)
    read = setting.estimand(rule, made, metric([0.0], [1.0], averaged=flags.get("averaged", False)))
    assert TestChoice(**given).method(read, null) == expected
    assert read.pass_fail is found.pass_fail is (kind == "binary" and not flags.get("averaged"))


def test_pass_fail_lies_between_0_and_1_and_scores_where_the_policy_says() -> None:
    graded = case_of(table([1.0], [2.0]), "graded")
    assert case_of(table([1.0], [0.0])).scale == (0.0, 1.0)
    assert replace(graded, choice=TestChoice(scale=(1.0, 5.0))).scale == (1.0, 5.0)
    assert graded.scale is None


def test_claims_use_the_level_of_claims_and_vetoes_their_own() -> None:
    made = table(*GAIN)
    for found in (measured(made), railed(made, "non_inferior", tolerance=0.05)):
        assert found.level == LEVEL
        assert found.interval is not None
        assert found.interval.confidence == pytest.approx(1 - 2 * LEVEL)
        assert found.mde == pytest.approx(z(LEVEL) * np.std(np.subtract(*GAIN), ddof=1) / math.sqrt(200))
    veto = railed(made, "no_regression")
    assert veto.level == VETO_LEVEL
    assert veto.interval is not None
    assert veto.interval.confidence == pytest.approx(1 - 2 * VETO_LEVEL)
    piece = subset(gating_rule(), "slice:x", None, made, np.ones(200, dtype=bool), SETTING, proof=False)
    assert piece.level == VETO_LEVEL


# --- what is reported beside a test -----------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
def test_means_in_their_unit_and_gains_after_direction(direction: str, sign: int) -> None:
    found = measured(table(OLD, NEW), kind="graded", direction=direction, test="paired_t")
    gains = sign * (NEW - OLD)
    assert found.baseline == pytest.approx(OLD.mean())
    assert found.candidate == pytest.approx(NEW.mean())
    assert found.delta == pytest.approx(gains.mean())
    assert found.sd_difference == pytest.approx(gains.std(ddof=1))
    assert found.variance == pytest.approx(gains.var(ddof=1))
    assert found.correlation == pytest.approx(np.corrcoef(OLD, NEW)[0, 1])
    assert (found.only_candidate, found.only_baseline) == ((gains > 0).sum(), (gains < 0).sum())
    assert found.p_value == pytest.approx(stats.ttest_1samp(gains, 0, alternative="greater").pvalue)
    ends = stats.ttest_1samp(gains, 0).confidence_interval(1 - 2 * LEVEL)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((ends.low, ends.high))
    assert found.worse is (direction == "lower")
    assert found.clears_bound is (direction == "higher")
    assert found.reference["bootstrap_low"] == pytest.approx(ends.low, abs=0.06)
    assert found.distribution["counts"]
    assert (found.rule, found.role, found.mode, found.n) == ("gating:m", "gating", "gating", 60)


def test_a_mean_of_nothing_lost_is_0_and_not_minus_0() -> None:
    found = measured(table(*blocks((30, 0, 0), (1, 1, 0))), direction="lower", margin=0)
    assert str(found.candidate) == "0.0"
    both = measured(table(*blocks((1, 0, 1), (30, 0, 0))), direction="lower", margin=0)
    assert str(both.baseline) == "0.0"


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_items_needed_for_the_margin_or_for_what_was_seen(margin: float) -> None:
    found = measured(table(*GAIN), margin=margin)
    variance = np.var(np.subtract(*GAIN), ddof=1)
    effect = margin or 35 / 200
    assert found.items_needed == math.ceil(z(LEVEL) ** 2 * variance / effect**2)


def test_no_smallest_effect_without_spread() -> None:
    equal = measured(table(*blocks((40, 1.0, 1.5))), kind="graded")
    assert equal.mde is None
    assert equal.variance is None
    one = measured(table([1.0], [2.0]), kind="graded")
    assert (one.n, one.mde, one.sd_difference) == (1, None, None)
    assert one.clusters == {}
    assert veto_mde(equal.record, 1.0) is None


@pytest.mark.parametrize(("size", "fault"), [(30, ""), (29, "29 items, fewer than items.min 30")])
def test_fewer_items_than_the_policy_asks_for(size: int, fault: str) -> None:
    found = measured(table(*blocks((size - 9, 0, 1), (2, 1, 0), (7, 1, 1))))
    assert found.insufficient == (f"{fault} ({size - 9} better, 2 worse)" if fault else "")


def test_one_run_on_both_sides_is_nothing_to_compare() -> None:
    assert "the same file" in measured(table(*GAIN, identical=True)).insufficient


def test_without_any_pair_it_says_so() -> None:
    nan = [math.nan] * 3
    for found in (
        measured(table(nan, nan)),
        measured(table(nan, nan), margin={"relative": 0.1}),
        railed(table(nan, nan), "no_regression"),
        railed(table(nan, nan, clusters=[0, 1, 2]), "non_inferior", tolerance={"relative": 0.1}),
    ):
        assert (found.n, found.delta, found.interval, found.method) == (0, None, None, "none")
        assert found.insufficient == "no item has a result on both sides"
        assert found.clusters is None
    assert measured(table(nan, nan), margin={"relative": 0.1}).bound == 0.0


def test_only_items_with_both_results_count() -> None:
    old, new = [1.0, math.nan, 0.0, 1.0, 0.0], [1.0, 1.0, math.nan, 0.0, 1.0]
    found = railed(table(old, new), "no_regression")
    assert (found.n, found.only_candidate, found.only_baseline) == (3, 1, 1)


def test_an_interval_asked_for_is_shown_beside() -> None:
    found = measured(table(*GAIN), interval="wald")
    half = stats.norm.ppf(1 - LEVEL) * math.sqrt((45 - 35**2 / 200) / 200**2)
    assert found.interval_requested is not None
    assert found.interval_requested.low == pytest.approx(0.175 - half)
    assert found.interval_requested.high == pytest.approx(0.175 + half)
    assert found.interval is not None
    assert found.interval.low != pytest.approx(0.175 - half)
    assert measured(table(*GAIN)).interval_requested is None
    shares = repeated([[0, 1]] * 40, [[1, 1]] * 30 + [[0, 0]] * 10)
    assert measured(shares, interval="wald").interval_requested is None


@pytest.mark.parametrize(
    ("low", "high", "mde", "delta", "expected"),
    [
        (-0.1, 0.2, 0.01, 0.1, "cannot_answer"),
        (0.0, 0.2, 0.01, 0.1, "cannot_answer"),
        (-0.2, 0.0, 0.01, -0.1, "cannot_answer"),
        (0.01, 0.2, 0.1, 0.1, "publish"),
        (0.01, 0.2, 0.11, 0.1, "sign_only"),
        (0.01, 0.2, None, 0.1, "sign_only"),
        (-0.2, -0.01, 0.1, -0.1, "publish"),
        (-0.2, -0.01, 0.11, -0.1, "sign_only"),
    ],
)
def test_the_published_reading(
    low: float, high: float, mde: float | None, delta: float, expected: str
) -> None:
    tested = measured(table(*GAIN)).record
    found = changed(tested, interval=Interval(low, high, 0.95, "x"), mde=mde, delta=delta)
    assert seed_reading(found) == expected


# --- margins ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["observed", "tested"])
@pytest.mark.parametrize("margin", [0.0, 0.05, 0.1, 0.11, 0.12, 0.13, 0.175, 0.18])
def test_both_margin_rules_are_worked_out_whichever_decides(rule: str, margin: float) -> None:
    found = measured(table(*GAIN), margin=margin, margin_rule=rule)
    method = "exact_unconditional" if margin else "mcnemar_exact"
    proven = run(method, from_counts(40, 5, 200, 155), margin, LEVEL)
    assert found.tested_rule is (proven.p_greater < LEVEL)
    assert found.observed_rule is (margin <= 0.175)
    assert found.bound == margin
    assert found.margin_rule == rule
    assert found.null_value == (margin if rule == "tested" else 0.0)
    if rule == "tested":
        assert found.method == method
        assert found.p_value == pytest.approx(proven.p_greater)
    else:
        assert found.p_value == pytest.approx(stats.binom.sf(39, 45, 0.5))
        assert found.p_two_sided == pytest.approx(2 * stats.binom.sf(39, 45, 0.5))


@pytest.mark.parametrize("rule", ["observed", "tested"])
@pytest.mark.parametrize(("gains", "shown"), [(5, False), (6, False), (7, True)])
def test_no_rule_is_cleared_without_a_gain_above_0(rule: str, gains: int, shown: bool) -> None:
    """2^-5, 2^-6 and 2^-7 against .01: six would do for a veto's .025, not here."""
    made = table(*blocks((gains, 0, 1), (500 - gains, 1, 1)))
    found = measured(made, margin=0.001, margin_rule=rule)
    assert 0.5**5 > 0.5**6 > LEVEL > 0.5**7
    assert (found.observed_rule, found.tested_rule, found.clears_bound) == (shown, shown, shown)


def test_a_p_equal_to_the_level_shows_no_gain() -> None:
    made = table(*blocks((6, 0, 1), (494, 1, 1)))
    for level, shown in ((0.5**6, False), (0.5**6 * 1.001, True)):
        setting = replace(SETTING, level=level)
        found = measured(made, setting, margin=0.001, margin_rule="tested")
        assert (found.clears_bound, found.observed_rule) == (shown, shown)


def test_a_margin_of_0_is_the_gain_itself() -> None:
    """Nine against two: the score test has p = .0174, the exact one .0327. The test that is named decides."""
    made = table(*blocks((9, 0, 1), (2, 1, 0), (49, 1, 1)))
    setting = replace(SETTING, level=0.025)
    found = measured(made, setting, test="tango", margin=0, margin_rule="tested")
    assert found.p_value == pytest.approx(stats.norm.sf(7 / math.sqrt(11)), rel=1e-6)
    assert (found.clears_bound, found.tested_rule, found.observed_rule) == (True, True, True)


def test_the_test_that_holds_a_claim_back_is_the_one_reported() -> None:
    made, pairs = table(*blocks((5, 0, 1), (495, 1, 1))), from_counts(5, 0, 500, 495)
    against_zero = run("mcnemar_exact", pairs, 0.0, LEVEL)
    for margin in (0.001, 0.02):
        tested = run("exact_unconditional", pairs, margin, LEVEL)
        found = measured(made, margin=margin, margin_rule="tested")
        assert found.p_value == pytest.approx(max(0.5**5, tested.p_greater))
        assert found.p_two_sided == pytest.approx(max(2 * 0.5**5, tested.p_two_sided))
        assert found.interval is not None
        low = min(against_zero.interval.low, tested.interval.low)
        assert (found.interval.low, found.interval.high) == pytest.approx((low, tested.interval.high))
        assert found.clears_bound is False


def test_an_observed_margin_needs_its_gain_and_its_p() -> None:
    """A test that knows no margin (mid-p) is joined by the default for the rule that it cannot test."""
    made, pairs = table(*blocks((9, 0, 1), (2, 1, 0), (49, 1, 1))), from_counts(9, 2, 60, 49)
    midp, exact = run("mcnemar_midp", pairs, 0, 0.025), stats.binom.sf(8, 11, 0.5)
    assert midp.p_greater < 0.025 < exact
    setting = replace(SETTING, level=0.025)
    found = measured(made, setting, test="mcnemar_midp", margin=0)
    assert (found.observed_rule, found.tested_rule) == (True, True)
    found = measured(made, setting, test="mcnemar_midp", margin=0.01)
    assert (found.observed_rule, found.tested_rule) == (True, False)
    found = measured(made, setting, test="mcnemar_midp", margin=0.15)
    assert (found.observed_rule, found.tested_rule) == (False, False)


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
@pytest.mark.parametrize("relative", [0.05, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("clustered", [False, True])
def test_a_relative_margin_is_tested_as_a_ratio(
    direction: str, sign: int, relative: float, clustered: bool
) -> None:
    """H0 gain <= r * baseline, by Student's t of gain - r * baseline (on means of ten equal clusters)."""
    old, new = (OLD, NEW) if sign > 0 else (NEW, OLD)
    labels = [k % 10 for k in range(60)]
    made = table(old, new, clusters=labels if clustered else None)
    shifted = sign * (new - old) - relative * old
    if clustered:
        shifted = np.array([shifted[k::10].mean() for k in range(10)])
    expected = stats.ttest_1samp(shifted, 0, alternative="greater").pvalue
    ends = stats.ttest_1samp(shifted, 0).confidence_interval(1 - 2 * LEVEL)
    amount = relative * old.mean()
    rule: dict[str, Any] = {"kind": "graded", "direction": direction, "margin": {"relative": relative}}
    rule["test"] = "cluster_cr2" if clustered else "paired_t"
    found = measured(made, **rule, margin_rule="tested")
    assert (found.bound, found.null_value) == pytest.approx((amount, amount))
    assert found.relative == relative
    assert found.p_value == pytest.approx(expected)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((ends.low + amount, ends.high + amount))
    assert found.clears_bound is bool(expected < LEVEL)
    assert found.worse is bool(ends.high + amount < 0)
    assert found.delta == pytest.approx((sign * (new - old)).mean())
    assert found.baseline == pytest.approx(old.mean())
    assert found.tested_rule is bool(expected < LEVEL)
    plain = measured(made, **rule)
    assert (plain.null_value, plain.relative) == (0.0, relative)
    assert plain.tested_rule is bool(expected < LEVEL)


def test_a_relative_margin_of_pass_fail_is_taken_as_known() -> None:
    found = measured(table(*GAIN), margin={"relative": 0.1}, margin_rule="tested")
    assert (found.bound, found.null_value) == pytest.approx((0.08, 0.08))
    assert found.relative == 0.1
    assert [c.code for c in found.cautions if c.code == "relative_plugged_in"]
    assert "0.08" in next(c.message for c in found.cautions if c.code == "relative_plugged_in")
    exact = run("exact_unconditional", from_counts(40, 5, 200, 155), found.bound or 0, LEVEL)
    assert found.p_value == pytest.approx(exact.p_greater)


@pytest.mark.parametrize("shift", [0.0, -0.1])
def test_a_share_of_a_baseline_that_is_not_above_0_means_nothing(shift: float) -> None:
    old = np.array([-1.0, 1.0] * 20) + shift
    with pytest.raises(GateError, match="relative"):
        measured(table(old, old + 1), kind="graded", margin={"relative": 0.1})
    fine = measured(table(old - shift + 0.1, old + 1), kind="graded", margin={"relative": 0.1})
    assert fine.bound == pytest.approx(0.01)


@pytest.mark.parametrize("method", ["exact_unconditional", "tango", "bootstrap"])
@pytest.mark.parametrize(("b", "c"), [(40, 5), (5, 40), (12, 12)])
@pytest.mark.parametrize("null", [0.05, -0.05])
def test_p_alone_is_the_p_of_the_whole_test(method: str, b: int, c: int, null: float) -> None:
    made = table(*blocks((b, 0, 1), (c, 1, 0), (155, 1, 1)))
    bound = Bound(abs(null), null)
    whole = run_test(case_of(made), method, bound).p_greater
    assert p_above(case_of(made), method, bound) == pytest.approx(whole)


def test_p_alone_of_very_many_changes() -> None:
    """Above 5,000 discordant pairs the score test stands in, whichever way the pairs point."""
    for b, c in ((5200, 1), (1, 5200), (2600, 2500)):
        made = table(*blocks((b, 0, 1), (c, 1, 0), (5000, 1, 1)))
        found = p_above(case_of(made), "exact_unconditional", Bound(0.01, 0.01))
        score = run("tango", from_counts(b, c, 5000 + b + c, 5000), 0.01, LEVEL).p_greater
        assert found == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(("gains", "exact"), [(5000, True), (5001, False)])
def test_the_exact_test_serves_up_to_5000_changes(gains: int, exact: bool) -> None:
    """Its p is never below the share that Berger and Boos leave for the nuisance parameter."""
    made = table(*blocks((gains, 0, 1)))
    p = p_above(case_of(made), "exact_unconditional", Bound(0.9, 0.9))
    assert (p >= berger_boos_g(LEVEL)) is exact
    short = p_of_counts("exact_unconditional", gains, 0, gains, 0.9, LEVEL)
    assert short == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("mde", "margin", "said"),
    [(0.02, 0.01, True), (0.02, 0.02, False), (0.02, 0.021, False), (0.02, 0.0, False), (None, 0.01, False)],
)
def test_a_set_that_cannot_see_the_margin_says_so(mde: float | None, margin: float, said: bool) -> None:
    from gate.measure.rules import _margin_cautions

    base = changed(measured(table(*GAIN)).record, mde=mde)
    assert [caution.code for caution in _margin_cautions(base, margin)] == ["mde_above_margin"] * said


def test_the_caution_of_the_smallest_effect_is_in_the_report() -> None:
    small = measured(table(*GAIN), margin=0.001)
    assert "mde_above_margin" in {caution.code for caution in small.cautions}
    assert "mde_above_margin" not in {
        caution.code for caution in measured(table(*GAIN), margin=0.15).cautions
    }


@pytest.mark.parametrize(
    ("value", "bound", "reached"),
    [
        (0.06 - 0.05, 0.01, True),
        (0.01, 0.01, True),
        (0.01 - 1e-10, 0.01, False),
        (3e-13, 4e-13, False),
        (4e-13, 4e-13, True),
        (0.0, 1e-13, False),
        (1e6 - 1e-9, 1e6, False),
        (2.0 - 1.5e-12, 2.0, False),
        (2.0 - 0.5e-12, 2.0, True),
        (-0.01, 0.01, False),
    ],
)
def test_only_binary_noise_is_forgiven(value: float, bound: float, reached: bool) -> None:
    assert at_least(value, bound) is reached


# --- clusters ---------------------------------------------------------------------------------------------


def test_what_unseen_clusters_would_undo() -> None:
    """t / sqrt(1 + (size - 1) icc) falls to the critical value."""
    setting = replace(SETTING, level=0.025)
    for rule, null in (("observed", 0.0), ("tested", 0.05)):
        found = measured(table(OLD, NEW), setting, kind="graded", margin=0.05, margin_rule=rule)
        gains = NEW - OLD
        t = (gains.mean() - null) / stats.sem(gains)
        assert found.clusters["labelled"] is False
        for point in found.clusters["tipping"]:
            icc = ((t / stats.norm.ppf(0.975)) ** 2 - 1) / (point["size"] - 1)
            assert point["icc"] == (None if icc > 1 else pytest.approx(icc))
    two = measured(table([1.0, 2.0], [2.0, 4.0]), kind="graded")
    assert two.clusters["tipping"]


def test_labelled_clusters_are_described() -> None:
    made = table(OLD, NEW, clusters=[k % 10 for k in range(60)])
    found = measured(made, kind="graded")
    assert found.clusters["labelled"] is True
    assert found.clusters["n_clusters"] == 10
    assert "tipping" not in found.clusters
    means = [(NEW - OLD)[k::10].mean() for k in range(10)]
    assert found.clusters["cluster_se"] == pytest.approx(stats.sem(means))
    assert found.mde == pytest.approx(z(LEVEL) * stats.sem(means))
    assert found.variance == pytest.approx(stats.sem(means) ** 2 * 60)


@pytest.mark.parametrize(("clusters", "known"), [(5, False), (6, True)])
def test_the_smallest_effect_needs_six_clusters(clusters: int, known: bool) -> None:
    made = table(OLD, NEW, clusters=[k % clusters for k in range(60)])
    assert (measured(made, kind="graded").mde is not None) is known


def test_clusters_without_spread_between_them_see_nothing() -> None:
    made = table(*blocks(*[(1, 0, 1), (1, 1, 1)] * 20), clusters=[k // 2 for k in range(40)])
    found = measured(made)
    assert found.mde is None
    assert found.sd_difference == pytest.approx(np.std([0, 1] * 20, ddof=1))


# --- tolerances and vetoes --------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.03, 0.05])
def test_a_tolerance_is_tested_on_its_side_of_0(tolerance: float) -> None:
    made = table(*blocks((3, 0, 1), (5, 1, 0), (192, 1, 1)))
    found = railed(made, "non_inferior", tolerance=tolerance, first=True)
    expected = run("exact_unconditional", from_counts(3, 5, 200, 192), -tolerance, LEVEL)
    assert (found.bound, found.null_value) == (tolerance, -tolerance)
    assert found.p_value == pytest.approx(expected.p_greater)
    assert found.clears_bound is (expected.interval.low > -tolerance)
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high
    assert found.worse is False, "worse is shown where the whole interval is below 0"
    assert found.first
    variance = np.var([1] * 3 + [-1] * 5 + [0] * 192, ddof=1)
    assert found.items_needed == math.ceil(z(LEVEL) ** 2 * variance / tolerance**2)


def test_a_relative_tolerance() -> None:
    found = railed(table(OLD, NEW), "non_inferior", kind="graded", tolerance={"relative": 0.1})
    assert (found.bound, found.null_value) == pytest.approx((0.1 * OLD.mean(), -0.1 * OLD.mean()))
    assert found.relative == 0.1


@pytest.mark.parametrize("lost", [0, 3, 9])
def test_a_veto_tests_for_harm(lost: int) -> None:
    found = railed(table(*blocks((4, 0, 1), (lost, 1, 0), (100, 1, 1))), "no_regression", detect=0.05)
    assert found.p_value == pytest.approx(stats.binom.sf(lost - 1, lost + 4, 0.5))
    assert found.detect == 0.05
    assert found.null_value == 0.0
    assert found.insufficient == ""
    assert "weak_data" not in {caution.code for caution in found.cautions}
    assert found.sign_test is None, "McNemar's is the sign test"
    able = 100 + lost if lost > 4 else 104 + lost  # with a loss on the whole only what passed before can fail
    assert found.clean_sweep == 0.5**able
    assert not found.first


def test_what_the_data_row_says_is_a_caution_of_a_veto() -> None:
    found = railed(table(*blocks((3, 0, 1), (10, 1, 1))), "no_regression")
    assert found.insufficient
    assert ("weak_data", found.insufficient) in {(c.code, c.message) for c in found.cautions}


def test_the_sign_test_beside_a_veto_on_a_mean() -> None:
    old, new = blocks((3, 1.0, 2.0), (7, 1.0, 0.5), (30, 1.0, 1.0))
    found = railed(table(old, new), "no_regression", kind="graded")
    assert found.sign_test == SignTest(7, 10, pytest.approx(stats.binom.sf(6, 10, 0.5)))
    lower = railed(table(old, new), "no_regression", kind="graded", direction="lower")
    assert lower.sign_test is not None
    assert (lower.sign_test.worse, lower.sign_test.changed) == (3, 10)
    ranks = railed(table(old, new), "no_regression", kind="graded", test="wilcoxon")
    assert ranks.sign_test is None, "ranks are no mean"
    shares = railed(repeated([[1, 1]] * 40, [[1, 0]] * 9 + [[1, 1]] * 31), "no_regression")
    assert shares.sign_test is not None
    assert (shares.sign_test.worse, shares.sign_test.changed) == (9, 9)


def test_the_sign_test_counts_whole_clusters() -> None:
    """Ten clusters of four: six lose one item, one gains one, three change on balance by nothing."""
    old = [1.0, 1.0, 0.0, 0.0] * 10
    new = [1.0, 0.0, 0.0, 0.0] * 6 + [1.0, 1.0, 1.0, 0.0] + [1.0, 0.0, 1.0, 0.0] * 2 + [1.0, 1.0, 0.0, 0.0]
    made = table(old, new, clusters=[k // 4 for k in range(40)])
    found = railed(made, "no_regression", kind="graded", test="cluster_cr2")
    assert found.sign_test is not None
    assert (found.sign_test.worse, found.sign_test.changed) == (6, 7)
    assert found.clean_sweep == 0.5**10


@pytest.mark.parametrize(
    ("test", "n", "expected"),
    [
        ("bootstrap", 40, 1 / 10_000),
        ("bootstrap", 5, 0.5**5),
        ("paired_t", 40, 0.5**40),
        ("paired_t", 5, 0.5**5),
    ],
)
def test_the_p_of_a_clean_sweep(test: str, n: int, expected: float) -> None:
    """With 9,999 resamples no p is below 1 in 10,000."""
    found = railed(table(OLD[:n], NEW[:n]), "no_regression", kind="graded", test=test)
    assert found.clean_sweep == pytest.approx(expected, rel=1e-9)


def test_what_a_veto_would_miss_is_at_its_corrected_level() -> None:
    found = railed(table(*GAIN), "no_regression")
    sd = np.std(np.subtract(*GAIN), ddof=1)
    for size in (1.0, 3.0):
        assert veto_mde(found.record, size) == pytest.approx(z(VETO_LEVEL / size) * sd / math.sqrt(200))


# --- slices and watched metrics ---------------------------------------------------------------------------


MASK = np.arange(60) % 3 == 0


@pytest.mark.parametrize(
    ("tolerance", "bound"),
    [(None, None), (0.25, 0.25), (Relative(relative=0.1), 0.1 * OLD[MASK].mean()), (0.0, 0.0)],
)
def test_a_slice_in_veto_mode(tolerance: Any, bound: float | None) -> None:
    rule = gating_rule("graded", test="paired_t")
    found = subset(rule, "slice:x", tolerance, table(OLD, NEW), MASK, SETTING, proof=False)
    gains = (NEW - OLD)[MASK]
    assert (found.n, found.role, found.mode) == (20, "slice", "slice_no_regression")
    assert found.p_value == pytest.approx(stats.ttest_1samp(gains, 0, alternative="less").pvalue)
    assert found.bound == (None if bound is None else pytest.approx(bound))
    assert found.relative == (0.1 if isinstance(tolerance, Relative) else None)
    assert found.null_value == 0.0


def test_a_share_of_nothing_is_no_loss_that_could_be_seen() -> None:
    wanted = Relative(relative=0.1)
    for old in (OLD - 9, np.full(60, math.nan)):
        made = table(old, old + 0.1)
        found = subset(gating_rule("graded"), "slice:x", wanted, made, MASK, SETTING, proof=False)
        assert found.bound == 0.0


def test_a_slice_that_must_be_proven() -> None:
    rule = gating_rule("graded", test="paired_t")
    found = subset(rule, "slice:x", 0.1, table(OLD, NEW), MASK, SETTING, proof=True)
    gains = (NEW - OLD)[MASK]
    assert (found.mode, found.level, found.null_value, found.bound) == (
        "slice_non_inferior",
        LEVEL,
        -0.1,
        0.1,
    )
    assert found.p_value == pytest.approx(stats.ttest_1samp(gains, -0.1, alternative="greater").pvalue)


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1), ("neutral", 1)])
def test_a_watched_metric(direction: str, sign: int) -> None:
    watch = Watch.model_validate({"metric": "m", "direction": direction})
    found = watched(watch, "watch:m", table(OLD[:20], NEW[:20]), SETTING)
    assert found.delta == pytest.approx(sign * (NEW - OLD)[:20].mean())
    assert (found.insufficient, found.level, found.null_value) == ("", LEVEL, 0.0)
    one = watched(watch, "watch:m", table(OLD[:1], NEW[:1]), SETTING)
    assert "items.min" not in one.insufficient


# --- failed runs, and a comparison's own words ------------------------------------------------------------


def two_readings(*, failed: bool, reading: str = "worst") -> PairedTable:
    """One baseline item without a result: read as passed, or left out."""
    old, new = GAIN
    dropped = metric([math.nan, *old[1:]], new, reading="drop", incomplete=1, failed=failed)
    worst = metric([1.0, *old[1:]], new, reading="worst", incomplete=1, failed=failed)
    first, second = (worst, dropped) if reading == "worst" else (dropped, worst)
    return replace(table(old, new), metrics={"m": replace(first, other=second)})


@pytest.mark.parametrize("reading", ["worst", "drop"])
@pytest.mark.parametrize("failed", [True, False])
def test_both_readings_of_missing_results(reading: str, failed: bool) -> None:
    found = measured(two_readings(failed=failed, reading=reading))
    n = {"worst": 200, "drop": 199}
    other = "drop" if reading == "worst" else "worst"
    assert (found.n, found.reading, found.incomplete) == (n[reading], reading, 1)
    text = next(c.message for c in found.cautions if c.code == "two_readings")
    assert text.startswith(f"1 item lacks a result; read as {reading}: delta")
    assert f"read as {other}: delta" in text
    if failed:
        assert found.other is not None
        assert (found.other.n, found.other.reading) == (n[other], other)
    else:
        assert found.other is None, "ids that may be missing are reported, and decide nothing"


def test_readings_that_do_not_differ_are_one() -> None:
    made = two_readings(failed=True)
    mask = np.arange(200) > 0
    found = subset(gating_rule(), "slice:x", None, made, mask, SETTING, proof=False)
    assert found.other is None
    assert "two_readings" not in {caution.code for caution in found.cautions}


def test_the_number_that_a_mode_decides_on() -> None:
    base = {"rule": "r", "role": "guardrail", "metric": "m", "kind": "binary", "direction": "higher"}
    known = {"delta": 0.175, "candidate": 0.9, "only_baseline": 4, "n": 80, "upper_bound": 0.1}
    words = {
        mode: record(**base | known | {"mode": mode}).named
        for mode in ("gating", "limit", "churn", "must_pass")
    }
    assert words == {
        "gating": "delta +0.1750",
        "limit": "value 0.9000",
        "churn": "share lost 0.0500",
        "must_pass": "4 newly failing",
    }


def test_what_was_not_measured_is_not_claimed() -> None:
    asked = Asked("r", Role.GATING, Mode.GATING, "m", Kind.GRADED, Direction.HIGHER, LEVEL)
    found = Untested(asked=asked, method="none", n=0, wanted=Margin(0.1))
    assert (found.gated, asked.first, found.same_run, asked.set) == (True, False, False, None)
    assert (found.null_value, found.incomplete, found.delta, found.named) == (0.0, 0, None, "delta none")
    evidence = Evidence(Interval(-1, 1, 0.95, "x"), 0.5, 1.0, clears_bound=False)
    assert (evidence.resamples, evidence.seed, evidence.p_adjusted, evidence.p) == (0, 0, None, 0.5)


def test_scores_are_no_seeds_unless_the_policy_says_so() -> None:
    assert measured(table(OLD, NEW), kind="graded").method == "t_guarded"
    seeds = measured(table(OLD, NEW), replace(SETTING, seeds=True), kind="graded")
    assert seeds.method == "bca_sign_flip"
    assert seeds.seed
    assert seeds.resamples == 9_999


def test_the_adjusted_p_of_a_sign_test_counts_where_there_is_one() -> None:
    assert SignTest(3, 4, 0.3).p == 0.3
    assert SignTest(3, 4, 0.3, 0.0).p == 0.0


def test_a_pass_is_measured_the_same_whatever_the_order() -> None:
    """A selection sorts once for each shift, and never mixes them up."""
    made = table(OLD, NEW)
    case = case_of(made, "graded")
    for shift, _ in itertools.product((0.0, 0.1, 0.0, -0.1, 0.1), range(2)):
        found = run_test(case, "paired_t", Bound(shift=shift))
        assert found.estimate == pytest.approx((NEW - OLD - shift * OLD).mean())


# --- an approximate test beside the exact one ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("b", "c", "test", "level", "said"),
    [
        (9, 2, "mcnemar_midp", 0.025, True),  # mid-p .0193, exact .0327
        (10, 2, "mcnemar_midp", 0.025, False),  # exact .0193
        (8, 2, "mcnemar_midp", 0.025, False),  # mid-p .0327
        (9, 2, "mcnemar_exact", 0.025, False),
        (6, 0, "mcnemar_midp", 0.5**6, True),  # 2^-7 is below 2^-6, and 2^-6 is not
    ],
)
def test_what_only_an_approximate_test_lets_through(
    b: int, c: int, test: str, level: float, said: bool
) -> None:
    made = table(*blocks((b, 0, 1), (c, 1, 0), (49, 1, 1)))
    setting = replace(SETTING, level=level, veto_level=0.4)
    found = measured(made, setting, test=test, margin=0)
    texts = [caution.message for caution in found.cautions if caution.code == "exact_test_disagrees"]
    exact = stats.binom.sf(b - 1, b + c, 0.5)
    passed = (
        f"{test} passes (p {found.p_value:.4f}), mcnemar_exact does not (p {exact:.4f}) at level {level:g}"
    )
    assert texts == [passed] * said


@pytest.mark.parametrize(("level", "said"), [(0.021, True), (0.0229, False), (0.019, False)])
def test_a_loss_that_only_an_approximate_test_lets_through(level: float, said: bool) -> None:
    """Eight losses and one gain: Edwards' p is .0228, the exact one .0195; a veto passes above its level."""
    made = table(*blocks((1, 0, 1), (8, 1, 0), (49, 1, 1)))
    setting = replace(SETTING, level=0.4, veto_level=level)
    found = railed(made, "no_regression", setting, test="mcnemar_edwards")
    assert found.p_value == pytest.approx(stats.norm.sf(2.0))
    assert ("exact_test_disagrees" in {caution.code for caution in found.cautions}) is said


def test_scores_of_0_and_1_have_no_exact_test_beside_them() -> None:
    old, new = blocks((9, 0, 1), (2, 1, 0), (49, 1, 1))
    setting = replace(SETTING, level=0.03)
    graded = measured(table(old, new), setting, kind="graded", test="paired_t", margin=0)
    assert graded.p_value is not None
    assert graded.p_value < 0.03 < stats.binom.sf(8, 11, 0.5)
    assert "exact_test_disagrees" not in {caution.code for caution in graded.cautions}
    shares = table(old, new, averaged=True)
    found = measured(shares, setting, test="paired_t", margin=0)
    assert "exact_test_disagrees" in {caution.code for caution in found.cautions}
    watch = Watch.model_validate({"metric": "m", "kind": "binary", "direction": "higher"})
    assert "exact_test_disagrees" not in {c.code for c in watched(watch, "watch:m", shares, setting).cautions}

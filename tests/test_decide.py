"""The truth table of decisions, complete: DESIGN's table row by row, over every combination of its inputs.

The expected column is written from the table's words, not from the code: each oracle below states one row.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gate.decide.verdict import Reason, decided, judge, outcome
from gate.measure.model import Comparison, SignTest
from gate.stats.results import Interval
from gate.values import Verdict
from tests.records import changed, record

MARGIN, TOLERANCE, LEVEL = 0.02, 0.03, 0.025
INTERVALS = {
    "below 0": (-0.06, -0.01),
    "straddles 0, ends below the margin": (-0.01, 0.015),
    "straddles 0 and the margin": (-0.01, 0.05),
    "above 0, ends below the margin": (0.005, 0.015),
    "above 0, straddles the margin": (0.005, 0.05),
    "above the margin": (0.025, 0.06),
    "straddles -tolerance and 0": (-0.05, 0.01),
    "below -tolerance": (-0.09, -0.04),
    "between -tolerance and 0": (-0.02, -0.005),
}


def comparison(mode: str, low: float, high: float, **more: Any) -> Comparison:
    null = more.pop("null_value", 0.0)
    role = "gating" if mode == "gating" else "slice" if mode.startswith("slice") else "guardrail"
    base: dict[str, Any] = {
        "rule": f"{mode}:m",
        "role": role,
        "mode": mode,
        "metric": "m",
        "kind": "binary",
        "direction": "higher",
        "method": "mcnemar_exact",
        "n": 500,
        "baseline": 0.6,
        "candidate": 0.62,
        "delta": (low + high) / 2,
        "interval": Interval(low, high, 1 - 2 * LEVEL, "x"),
        "p_value": 0.001 if low > null else 0.4,
        "p_two_sided": 0.002 if low > null else 0.8,
        "level": LEVEL,
        "clears_bound": low > null,
    }
    return record(**(base | more))


def gating(low: float, high: float, rule: str, **more: Any) -> Comparison:
    null = MARGIN if rule == "tested" else 0.0
    return comparison("gating", low, high, bound=MARGIN, margin_rule=rule, null_value=null, **more)


ENDS_AND_DELTA = [
    (low, high, delta)
    for low, high in INTERVALS.values()
    for delta in ((low + high) / 2, MARGIN, MARGIN - 1e-6)
    if low <= delta <= high
]


@pytest.mark.parametrize(("low", "high", "delta"), ENDS_AND_DELTA)
@pytest.mark.parametrize("rule", ["observed", "tested"])
@pytest.mark.parametrize("data_fault", [False, True])
def test_gating(low: float, high: float, delta: float, rule: str, data_fault: bool) -> None:
    found = judge(gating(low, high, rule, delta=delta, insufficient="too few" if data_fault else ""))
    if data_fault:
        expected = "inconclusive"
    elif rule == "observed" and delta >= MARGIN and low > 0:
        expected = "pass"
    elif rule == "tested" and low > MARGIN:
        expected = "pass"
    elif high < MARGIN or high < 0:
        expected = "fail"
    else:
        expected = "inconclusive"
    assert found.status == expected


def test_an_exact_decimal_gain_reaches_its_margin() -> None:
    delta = 0.06 - 0.05  # 0.009999999999999995
    found = judge(changed(gating(0.001, 0.03, "observed"), delta=delta, bound=0.01))
    assert found.status == "pass"


@pytest.mark.parametrize("rule", ["observed", "tested"])
@pytest.mark.parametrize(("delta", "status"), [(MARGIN, "pass"), (MARGIN - 1e-9, "inconclusive")])
def test_tested_never_asks_less_than_observed(rule: str, delta: float, status: str) -> None:
    """Whatever an interval about another estimand says, the gain itself must have been seen."""
    assert judge(gating(0.025, 0.06, rule, delta=delta)).status == status


def test_the_adjusted_p_decides_in_a_family() -> None:
    candidate = gating(0.005, 0.05, "observed")
    assert judge(changed(candidate, p_value=0.01, p_adjusted=0.02)).status == "pass"
    assert judge(changed(candidate, p_value=0.01, p_adjusted=0.03)).status == "inconclusive"


def test_p_and_interval_must_both_clear() -> None:
    assert judge(changed(gating(0.005, 0.05, "observed"), p_value=0.03)).status == "inconclusive"
    assert judge(changed(gating(0.005, 0.05, "observed"), clears_bound=False)).status == "inconclusive"


def test_a_suspect_gain_is_inconclusive() -> None:
    found = gating(0.10, 0.30, "observed", delta=0.2)
    assert judge(found).status == "pass"
    assert judge(changed(found, suspect_gain=0.15)).status == "inconclusive"
    assert judge(changed(found, suspect_gain=0.25)).status == "pass"


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("mode", ["non_inferior", "slice_non_inferior"])
@pytest.mark.parametrize("data_fault", [False, True])
def test_non_inferior(name: str, mode: str, data_fault: bool) -> None:
    low, high = INTERVALS[name]
    fault = "too few" if data_fault else ""
    found = judge(comparison(mode, low, high, null_value=-TOLERANCE, bound=TOLERANCE, insufficient=fault))
    if data_fault:
        expected = "inconclusive"
    elif low > -TOLERANCE:
        expected = "pass"
    elif high < 0:
        expected = "fail"
    else:
        expected = "inconclusive"
    assert found.status == expected


@pytest.mark.parametrize("mode", ["no_regression", "slice_no_regression"])
@pytest.mark.parametrize(
    ("p_value", "p_adjusted", "detect", "mde", "expected"),
    [
        (0.01, None, None, 0.05, "fail"),
        (0.01, 0.02, None, 0.05, "fail"),
        (0.01, 0.03, None, 0.05, "pass"),
        (0.4, None, None, 0.05, "pass"),
        (0.4, None, 0.05, 0.04, "pass"),
        (0.4, None, 0.05, 0.05, "pass"),
        (0.4, None, 0.05, 0.06, "inconclusive"),
        (0.4, None, 0.05, None, "inconclusive"),
        (0.01, None, 0.05, 0.06, "fail"),
        (None, None, None, None, "inconclusive"),
    ],
)
def test_no_regression(
    mode: str,
    p_value: float | None,
    p_adjusted: float | None,
    detect: float | None,
    mde: float | None,
    expected: str,
) -> None:
    found = comparison(mode, -0.05, 0.01, p_value=p_value, p_adjusted=p_adjusted, detect=detect, mde=mde)
    assert judge(found).status == expected
    weak = judge(changed(found, insufficient="12 items, fewer than items.min 30"))
    assert weak.status == expected, "a veto is decided as usual whatever the data row says"


@pytest.mark.parametrize(("low_limit", "high_limit"), [(0.40, None), (None, 0.60), (0.40, 0.60)])
@pytest.mark.parametrize("value", [0.35, 0.40, 0.50, 0.60, 0.65])
def test_limit_on_the_observed_value(low_limit: float | None, high_limit: float | None, value: float) -> None:
    found = comparison(
        "limit", 0, 0, candidate=value, bound=low_limit, upper_bound=high_limit, interval=None, delta=None
    )
    beyond = (low_limit is not None and value < low_limit) or (high_limit is not None and value > high_limit)
    assert judge(found).status == ("fail" if beyond else "pass")


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.41, 0.59), "pass"),
        ((0.40, 0.60), "pass"),
        ((0.39, 0.59), "inconclusive"),
        ((0.41, 0.61), "inconclusive"),
        ((0.30, 0.70), "inconclusive"),
        ((0.61, 0.70), "fail"),
        ((0.30, 0.39), "fail"),
    ],
)
def test_limit_that_must_be_proven(ends: tuple[float, float], expected: str) -> None:
    found = comparison("limit", *ends, candidate=sum(ends) / 2, bound=0.40, upper_bound=0.60, proven=True)
    assert judge(found).status == expected


def test_limit_without_a_value_or_an_interval_is_no_pass() -> None:
    found = comparison("limit", 0, 0, candidate=None, upper_bound=0.6, interval=None)
    assert judge(found).status == "inconclusive"
    assert judge(changed(found, candidate=0.5, proven=True)).status == "inconclusive"


@pytest.mark.parametrize(
    ("share", "expected"), [(0.049, "pass"), (0.05, "pass"), (0.051, "fail"), (None, "inconclusive")]
)
def test_churn(share: float | None, expected: str) -> None:
    found = comparison("churn", 0.1, 0.2, share=share, upper_bound=0.05)
    assert judge(found).status == expected


@pytest.mark.parametrize(
    ("lost", "unknown", "expected"), [(0, "", "pass"), (1, "", "fail"), (0, "no result", "inconclusive")]
)
def test_must_pass(lost: int, unknown: str, expected: str) -> None:
    found = comparison("must_pass", 0, 0, only_baseline=lost, only_candidate=0, insufficient=unknown)
    assert judge(found).status == expected


@pytest.mark.parametrize("mode", ["slice_no_regression", "slice_non_inferior"])
def test_small_slices_are_reported_and_not_gated(mode: str) -> None:
    found = comparison(mode, -0.9, -0.5, p_value=1e-9, bound=TOLERANCE, gated=False, insufficient="6 items")
    assert judge(found).status == "not_gated"
    assert outcome([judge(found)]) == "pass"


def test_both_readings_of_failed_runs_must_agree() -> None:
    worst = gating(-0.01, 0.05, "observed", reading="worst")
    dropped = gating(0.025, 0.06, "observed", reading="drop")
    assert judge(changed(worst, other=dropped)).status == "inconclusive"
    assert judge(changed(dropped, other=worst)).status == "inconclusive"
    assert judge(changed(dropped, other=changed(dropped, reading="worst"))).status == "pass"
    assert judge(changed(gating(-0.06, -0.01, "observed"), other=dropped)).status == "inconclusive"


def reason(status: str, rule: str = "r") -> Reason:
    return Reason(rule, status, "m", "", "", "")


STATUSES = ["pass", "fail", "inconclusive", "waived", "not_gated"]


@pytest.mark.parametrize("statuses", list(itertools.combinations_with_replacement(STATUSES, 3)))
def test_outcome(statuses: tuple[str, ...]) -> None:
    expected = next((status for status in ("fail", "inconclusive") if status in statuses), "pass")
    assert outcome([reason(status) for status in statuses]) == expected


def test_exit_codes() -> None:
    assert {verdict: verdict.exit_code for verdict in Verdict} == {
        "promote": 0,
        "block": 1,
        "inconclusive": 3,
        "hold": 4,
    }


def test_a_failing_first_guardrail_ends_the_matter() -> None:
    first = comparison("limit", 0, 0, candidate=0.9, upper_bound=0.1, interval=None, first=True)
    good, bad = gating(0.025, 0.06, "observed"), comparison("churn", 0, 0, share=0.9, upper_bound=0.1)
    found = decided([good, first, bad], [reason("inconclusive", "history:x")])
    assert [r.status for r in found] == ["fail", "not_decided", "not_decided"]
    assert found[0].rule == "limit:m"
    assert outcome(found) == "fail"
    passing = changed(first, candidate=0.05)
    assert [r.status for r in decided([good, passing, bad])] == ["fail", "pass", "pass"]


def test_reasons_are_in_the_order_a_person_reads_them() -> None:
    found = decided(
        [
            gating(0.025, 0.06, "observed"),
            comparison("no_regression", -0.05, 0.01, p_value=0.5),
            comparison("churn", 0, 0, share=0.9, upper_bound=0.1),
            comparison("non_inferior", -0.05, 0.01, null_value=-TOLERANCE, bound=TOLERANCE),
            comparison("slice_no_regression", 0, 0, gated=False),
        ],
        [reason("inconclusive", "history:window_not_fresh")],
    )
    assert [r.status for r in found] == ["fail", "inconclusive", "inconclusive", "pass", "pass", "not_gated"]


def test_a_waiver_excuses_its_own_rule_only() -> None:
    failing = [
        comparison("churn", 0, 0, share=0.9, upper_bound=0.1),
        comparison("limit", 0, 0, candidate=0.9, upper_bound=0.1, interval=None),
    ]
    found = decided([gating(0.025, 0.06, "observed"), *failing], waivers={"churn:m": "known (ops)"})
    assert {r.rule: r.status for r in found} == {
        "churn:m": "waived",
        "limit:m": "fail",
        "gating:m": "pass",
    }
    assert "known (ops)" in next(r.message for r in found if r.status == "waived")
    passing = decided([gating(0.025, 0.06, "observed")], waivers={"gating:m": "x"})
    assert passing[0].status == "pass", "what passes needs no waiver"


def test_watched_metrics_never_decide() -> None:
    watched = changed(comparison("no_regression", -0.9, -0.5, p_value=1e-9), role="watch", mode="watch")
    assert [r.rule for r in decided([gating(0.025, 0.06, "observed"), watched])] == ["gating:m"]


# --- ties: every threshold met exactly, and missed by the smallest step -----------------------------------


@pytest.mark.parametrize(("p", "status"), [(LEVEL, "inconclusive"), (LEVEL - 1e-9, "pass")])
@pytest.mark.parametrize("adjusted", [False, True])
def test_a_claim_needs_p_below_its_level(p: float, status: str, adjusted: bool) -> None:
    ps = {"p_value": 0.001, "p_adjusted": p} if adjusted else {"p_value": p}
    assert judge(gating(0.005, 0.05, "observed", **ps)).status == status
    proof = comparison("non_inferior", -0.01, 0.01, null_value=-TOLERANCE, bound=TOLERANCE, **ps)
    assert judge(proof).status == status


@pytest.mark.parametrize(("p", "status"), [(LEVEL, "pass"), (LEVEL - 1e-9, "fail")])
@pytest.mark.parametrize("adjusted", [False, True])
def test_a_veto_needs_p_below_its_level(p: float, status: str, adjusted: bool) -> None:
    ps = {"p_value": 0.9, "p_adjusted": p} if adjusted else {"p_value": p}
    assert judge(comparison("no_regression", -0.05, 0.01, **ps)).status == status


@pytest.mark.parametrize(("high", "status"), [(MARGIN, "inconclusive"), (MARGIN - 1e-9, "fail")])
def test_a_gain_is_below_the_margin_when_its_interval_is(high: float, status: str) -> None:
    assert judge(gating(0.005, high, "observed", delta=0.01)).status == status


@pytest.mark.parametrize(("delta", "status"), [(0.15, "pass"), (0.15 + 1e-9, "inconclusive")])
def test_a_gain_is_suspect_above_its_bound(delta: float, status: str) -> None:
    assert judge(gating(0.10, 0.30, "observed", delta=delta, suspect_gain=0.15)).status == status


@pytest.mark.parametrize(
    ("share", "bound", "status"),
    [
        (None, None, "pass"),
        (0.9, None, "pass"),
        (0.5, 0.5, "pass"),
        (0.51, 0.5, "inconclusive"),
        (-0.2, 0.5, "pass"),
        (None, 0.5, "inconclusive"),
    ],
)
def test_a_gain_on_flaky_items(share: float | None, bound: float | None, status: str) -> None:
    flaky = {} if share is None else {"delta_share": share}
    found = judge(gating(0.03, 0.05, "observed", flaky=flaky, max_flaky_share=bound))
    assert found.status == status
    if status == "inconclusive":
        assert ("is not known" in found.message) is (share is None)
    unclear = judge(gating(-0.01, 0.05, "observed", flaky=flaky, max_flaky_share=bound))
    assert "flaky" not in unclear.message


@pytest.mark.parametrize(
    ("sign_p", "adjusted", "delta", "status"),
    [
        (0.01, None, -0.01, "fail"),
        (LEVEL, None, -0.01, "pass"),
        (LEVEL - 1e-9, None, -0.01, "fail"),
        (0.01, 0.03, -0.01, "pass"),
        (0.01, 0.02, -0.01, "fail"),
        (0.01, None, 0.0, "pass"),
        (0.01, None, 0.01, "pass"),
        (0.9, None, -0.01, "pass"),
    ],
)
def test_the_sign_test_is_a_veto_where_the_mean_is_worse(
    sign_p: float, adjusted: float | None, delta: float, status: str
) -> None:
    signs = SignTest(1070, 2100, sign_p, adjusted)
    found = judge(comparison("no_regression", -0.05, 0.01, p_value=0.4, delta=delta, sign_test=signs))
    assert found.status == status
    if status == "fail":
        word = "" if adjusted is None else "adjusted "
        p = sign_p if adjusted is None else adjusted
        assert f"1,070 of the 2,100 that changed got worse (sign test, {word}p {p:.4f})" in found.message
        assert "worse on the whole" in found.message


@pytest.mark.parametrize(
    ("sweep", "status"),
    [(None, "pass"), (LEVEL - 1e-9, "pass"), (LEVEL, "inconclusive"), (0.5, "inconclusive")],
)
def test_a_veto_that_cannot_fire_is_no_pass(sweep: float | None, status: str) -> None:
    found = judge(comparison("no_regression", -0.05, 0.01, p_value=0.4, clean_sweep=sweep))
    assert found.status == status
    if sweep == 0.5:
        assert "even if m got worse everywhere, p would be 0.5000, not below 0.025" in found.message
    lost = judge(comparison("no_regression", -0.05, 0.01, p_value=0.01, clean_sweep=sweep))
    assert lost.status == "fail"


def test_a_veto_without_a_number_is_no_pass() -> None:
    found = comparison("no_regression", -0.05, 0.01, p_value=float("nan"), insufficient="")
    assert (judge(found).status, judge(found).message) == ("inconclusive", "nothing could be tested")
    assert judge(changed(found, insufficient="no pairs at all")).message == "no pairs at all"
    assert judge(comparison("no_regression", 0, 0, p_value=None)).message == "nothing could be tested"


def test_one_run_on_both_sides_decides_nothing_that_is_gated() -> None:
    """Whatever the numbers say; what is only reported stays so."""
    for made in (gating(0.03, 0.05, "observed"), comparison("no_regression", -0.05, 0.01, p_value=0.5)):
        assert judge(made).status == "pass"
        found = judge(changed(made, same_run=True))
        assert found.status == "inconclusive"
        assert "one run" in found.message
    small = comparison("slice_no_regression", -0.05, 0.01, gated=False, same_run=True)
    assert judge(small).status == "not_gated"


@pytest.mark.parametrize("value", [0.3 - 1e-9, 0.3, 0.1 + 0.2, 0.3 + 1e-9])
def test_limits_forgive_binary_noise_only(value: float) -> None:
    """0.1 + 0.2 is 0.30000000000000004."""
    beyond = abs(value - 0.3) > 1e-10
    for ends in ((value, value), (value - 0.1, value), (value, value + 0.1)):
        proven = ends[0] != ends[1]
        found = comparison("limit", *ends, candidate=value, upper_bound=0.3, proven=proven)
        past = ends[0] > 0.3 and beyond
        straddles = ends[1] > 0.3 and not past and (ends[1] > 0.3 + 1e-10)
        assert judge(found).status == ("fail" if past else "inconclusive" if straddles else "pass")
        found = comparison("limit", *ends, candidate=value, bound=0.3, proven=proven)
        past = ends[1] < 0.3 and beyond
        straddles = ends[0] < 0.3 - 1e-10 and not past
        assert judge(found).status == ("fail" if past else "inconclusive" if straddles else "pass")


# --- the words: what was found, what is asked for, and why --------------------------------------------------


def test_the_words_of_the_gating_rule() -> None:
    passed = judge(gating(0.005, 0.05, "observed", delta=0.025))
    assert passed.observed == "+0.0250"
    assert passed.required == "gain of at least 0.0200 observed, and above 0 at level 0.025"
    assert passed.message == "m is better by +0.0250 (interval [+0.0050, +0.0500], one-sided p 0.0010)"
    adjusted = judge(gating(0.005, 0.05, "observed", delta=0.025, p_adjusted=0.02))
    assert adjusted.message.endswith("one-sided adjusted p 0.0200)")
    worse = judge(gating(-0.06, -0.01, "observed", delta=-0.035))
    assert worse.message.startswith("m is worse by 0.0350 (interval [-0.0600, -0.0100]")
    tested = judge(gating(0.03, 0.05, "tested"))
    assert tested.required == "gain above 0.0200 shown at level 0.025"


@pytest.mark.parametrize(
    ("low", "word"), [(0.005, "real but below"), (1e-9, "real but below"), (0.0, "below"), (-0.01, "below")]
)
def test_a_gain_below_the_margin_is_real_where_it_is_above_0(low: float, word: str) -> None:
    found = judge(gating(low, 0.015, "observed", delta=0.01))
    assert found.status == "fail"
    assert found.message.startswith(f"the gain in m is {word} the margin (interval [")


@pytest.mark.parametrize(
    ("rule", "bound", "delta", "text"),
    [
        ("observed", 0.02, 0.01, "a gain of the margin is neither observed (+0.0100) nor ruled out ("),
        ("observed", 0.02, 0.02, "a gain above 0 is not shown ("),
        ("observed", 0.0, 0.01, "a gain above 0 is not shown ("),
        ("tested", 0.02, 0.01, "a gain above 0.0200 is not shown ("),
        ("tested", 0.02, 0.03, "a gain above 0.0200 is not shown ("),
        ("tested", 0.0, 0.01, "a gain above 0 is not shown ("),
    ],
)
def test_what_no_claim_says(rule: str, bound: float, delta: float, text: str) -> None:
    found = judge(changed(gating(-0.01, 0.05, rule, delta=delta), bound=bound))
    assert found.status == "inconclusive"
    assert found.message.startswith(text)


def test_the_words_of_a_limit() -> None:
    one = comparison("limit", 0, 0, candidate=0.5, baseline=0.9, bound=0.4, interval=None)
    assert judge(one).required == "at least 0.4000"
    assert judge(one).observed == "0.5000"
    assert judge(one).message == "the candidate's m is 0.5000, within the limit"
    both = changed(one, bound=None, upper_bound=0.45)
    assert judge(both).required == "at most 0.4500"
    assert judge(both).message == "the candidate's m is 0.5000, beyond the limit"
    proven = comparison("limit", 0.41, 0.61, candidate=0.5, bound=0.4, upper_bound=0.6, proven=True)
    assert judge(proven).required == "at least 0.4000 and at most 0.6000, proven at level 0.025"
    shown = "the candidate's m is 0.5000 (0.4100 to 0.6100): "
    assert judge(proven).message == shown + "the interval straddles the limit"
    assert judge(changed(proven, insufficient="equal values")).message == shown + "equal values"
    without = changed(proven, interval=None)
    assert judge(without).message == "no interval for m"
    assert judge(changed(without, insufficient="few clusters")).message == "few clusters"
    nothing = changed(proven, candidate=None)
    assert judge(nothing).message == "no value of m"
    assert judge(changed(nothing, insufficient="no items")).message == "no items"


def test_the_words_of_counted_rules() -> None:
    churn = judge(comparison("churn", 0.1, 0.2, share=0.04, upper_bound=0.05))
    assert (churn.observed, churn.required) == ("0.0400", "at most 0.0500 of the items lost")
    assert churn.message == "0.0400 of the items got worse in m"
    assert judge(comparison("churn", 0, 0, share=None, upper_bound=0.05)).message == "no pairs"
    held = judge(comparison("must_pass", 0, 0, n=9, only_baseline=0, only_candidate=3))
    assert (held.observed, held.message) == ("0 newly failing", "all 9 must-pass items hold")
    lost = judge(comparison("must_pass", 0, 0, n=9, only_baseline=2, only_candidate=3))
    assert (lost.observed, lost.message) == ("2 newly failing", "2 of 9 must-pass items newly fail")


@pytest.mark.parametrize("mode", ["slice_no_regression", "slice_non_inferior"])
def test_why_a_slice_is_not_gated(mode: str) -> None:
    small = comparison(mode, -0.05, 0.01, gated=False, bound=TOLERANCE)
    assert judge(small).message == "reported, not gated"
    assert judge(changed(small, insufficient="6 items")).message == "6 items"


def test_the_words_of_a_veto() -> None:
    seen = comparison("no_regression", -0.05, 0.01, p_value=0.4, detect=0.05, mde=0.06)
    assert judge(seen).required == "a loss of 0.0500 would be seen"
    assert judge(seen).message.endswith("the smallest loss this set can see is 0.0600, above 0.0500")
    assert judge(changed(seen, mde=None)).message.endswith("this set can see is unknown")
    plain = judge(comparison("no_regression", -0.05, 0.01, p_value=0.4))
    assert plain.required == "no significant loss at level 0.025"
    assert plain.message == "no significant loss in m (interval [-0.0500, +0.0100], one-sided p 0.4000)"
    lost = judge(comparison("no_regression", -0.05, -0.01, p_value=0.01, p_adjusted=0.02))
    assert lost.message.endswith("(interval [-0.0500, -0.0100], one-sided adjusted p 0.0200)")


def test_a_failing_first_guardrail_among_several() -> None:
    """The one that fails is decided; one that passes, or that is not first, is not."""
    failing = comparison("limit", 0, 0, candidate=0.9, upper_bound=0.1, interval=None, first=True)
    passing = changed(failing, rule="limit:other", candidate=0.05)
    late = changed(failing, rule="limit:late", first=False)
    found = {r.rule: r.status for r in decided([failing, passing, late])}
    assert found == {"limit:m": "fail", "limit:other": "not_decided", "limit:late": "not_decided"}
    found = {r.rule: r.status for r in decided([passing, late], [reason("inconclusive", "history:x")])}
    assert found == {"limit:other": "pass", "limit:late": "fail", "history:x": "inconclusive"}


def test_every_status_has_its_place() -> None:
    first = comparison("limit", 0, 0, candidate=0.9, upper_bound=0.1, interval=None)
    made = [
        comparison("slice_no_regression", 0, 0, gated=False),
        changed(gating(0.03, 0.06, "observed"), rule="passes"),
        changed(first, rule="excused"),
        changed(gating(-0.01, 0.05, "observed"), rule="unclear"),
        changed(first, rule="fails"),
    ]
    found = decided(made, waivers={"excused": "known"})
    assert [r.status for r in found] == ["fail", "inconclusive", "waived", "pass", "not_gated"]
    ended = decided([made[0], changed(first, first=True), made[1]])
    assert [r.status for r in ended] == ["fail", "not_decided", "not_decided"]

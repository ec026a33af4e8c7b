"""The truth table of decisions, complete: DESIGN's table row by row, over every combination of its inputs.

The expected column is written from the table's words, not from the code: each oracle below states one row.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from gate.compare.model import Comparison
from gate.decide import EXIT_CODES, Reason, decided, judge, outcome
from gate.stats.results import Interval

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
        "null_value": null,
        "interval": Interval(low, high, 1 - 2 * LEVEL, "x"),
        "p_value": 0.001 if low > null else 0.4,
        "p_two_sided": 0.002 if low > null else 0.8,
        "level": LEVEL,
        "clears_bound": low > null,
        "worse": high < 0,
    }
    return Comparison(**(base | more))


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
    found = judge(replace(gating(0.001, 0.03, "observed"), delta=delta, bound=0.01))
    assert found.status == "pass"


def test_the_adjusted_p_decides_in_a_family() -> None:
    candidate = gating(0.005, 0.05, "observed")
    assert judge(replace(candidate, p_value=0.01, p_adjusted=0.02)).status == "pass"
    assert judge(replace(candidate, p_value=0.01, p_adjusted=0.03)).status == "inconclusive"


def test_p_and_interval_must_both_clear() -> None:
    assert judge(replace(gating(0.005, 0.05, "observed"), p_value=0.03)).status == "inconclusive"
    assert judge(replace(gating(0.005, 0.05, "observed"), clears_bound=False)).status == "inconclusive"


def test_a_suspect_gain_is_inconclusive() -> None:
    found = gating(0.10, 0.30, "observed", delta=0.2)
    assert judge(found).status == "pass"
    assert judge(replace(found, suspect_gain=0.15)).status == "inconclusive"
    assert judge(replace(found, suspect_gain=0.25)).status == "pass"


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
    weak = judge(replace(found, insufficient="12 items, fewer than items.min 30"))
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
    assert judge(replace(found, candidate=0.5, proven=True)).status == "inconclusive"


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
    assert judge(replace(worst, other=dropped)).status == "inconclusive"
    assert judge(replace(dropped, other=worst)).status == "inconclusive"
    assert judge(replace(dropped, other=replace(dropped, reading="worst"))).status == "pass"
    assert judge(replace(gating(-0.06, -0.01, "observed"), other=dropped)).status == "inconclusive"


def reason(status: str, rule: str = "r") -> Reason:
    return Reason(rule, status, "m", "", "", "")


STATUSES = ["pass", "fail", "inconclusive", "waived", "not_gated"]


@pytest.mark.parametrize("statuses", list(itertools.combinations_with_replacement(STATUSES, 3)))
def test_outcome(statuses: tuple[str, ...]) -> None:
    expected = next((status for status in ("fail", "inconclusive") if status in statuses), "pass")
    assert outcome([reason(status) for status in statuses]) == expected


def test_exit_codes() -> None:
    assert EXIT_CODES == {"promote": 0, "block": 1, "inconclusive": 3, "hold": 4}


def test_a_failing_first_guardrail_ends_the_matter() -> None:
    first = comparison("limit", 0, 0, candidate=0.9, upper_bound=0.1, interval=None, first=True)
    good, bad = gating(0.025, 0.06, "observed"), comparison("churn", 0, 0, share=0.9, upper_bound=0.1)
    found = decided([good, first, bad], [reason("inconclusive", "history:x")])
    assert [r.status for r in found] == ["fail", "not_decided", "not_decided"]
    assert found[0].rule == "limit:m"
    assert outcome(found) == "fail"
    passing = replace(first, candidate=0.05)
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
    watched = replace(comparison("no_regression", -0.9, -0.5, p_value=1e-9), role="watch", mode="watch")
    assert [r.rule for r in decided([gating(0.025, 0.06, "observed"), watched])] == ["gating:m"]

"""Doubts about a policy beside its data: each threshold met exactly and missed by a little."""

from __future__ import annotations

import math
from typing import Any

import pytest
from paired_tables import table

from gate.measure.sanity import direction_doubts, doubts
from gate.policy.model import Policy

NAN = math.nan


def doubted(
    old: list[float],
    new: list[float] | None = None,
    *,
    rails: list[dict[str, Any]] | None = None,
    slices: dict[str, Any] | None = None,
    seen: float | None = None,
    **gating: Any,
) -> list[tuple[str, str, str]]:
    """(rule id, code, message) of one metric under a gating rule, with guardrails on the same metric."""
    rule = {"metric": "m", "kind": "graded", "direction": "higher", "margin": 0} | gating
    made: dict[str, Any] = {"version": 1, "name": "p", "gating": rule}
    if rails is not None:
        base = {"metric": "m", "kind": rule["kind"], "direction": rule["direction"]}
        made["guardrails"] = [base | ({"scale": rule["scale"]} if "scale" in rule else {}) | r for r in rails]
    if slices is not None:
        made["slices"] = {"by": ["language"]} | slices
    wanted = Policy.model_validate(made)
    tables = {None: table(old, old if new is None else new)}
    found = doubts(wanted, tables, {"gating:m": seen, "guardrail:m": seen})
    return [(rule_id, caution.code, caution.message) for rule_id, caution in found]


def codes(*given: Any, **more: Any) -> list[str]:
    return [code for _, code, _ in doubted(*given, **more)]


HALF = [0.0, 1.0] * 6
"""A mean of .5, so that what is left and what can be lost are both .5."""


# --- out of reach -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize(
    ("rule", "margin", "beyond"),
    [
        ("observed", 0.5, False),
        ("observed", 0.5 + 1e-9, True),
        ("tested", 0.5, True),
        ("tested", 0.5 - 1e-9, False),
        ("observed", 0.0, False),
    ],
)
def test_a_margin_that_no_candidate_can_reach(direction: str, rule: str, margin: float, beyond: bool) -> None:
    """An observed gain may equal what is left; a proven one must lie below it."""
    given: dict[str, Any] = {"margin": margin, "margin_rule": rule, "direction": direction}
    for kind in ({"kind": "binary"}, {"kind": "graded", "scale": [0.0, 1.0]}):
        assert codes(HALF, **given, **kind) == (["margin_out_of_reach"] if beyond else [])
    assert codes(HALF, **given) == [], "without a scale there is no best value"


def test_where_nothing_is_left_to_gain() -> None:
    full = [1.0] * 12
    (found,) = doubted(full, [0.0] * 12, kind="binary", margin=0.01)
    best = "the baseline's mean is 1.0000, the best value 1.0000"
    assert found == (
        "gating:m",
        "margin_out_of_reach",
        f"no candidate can reach the margin 0.0100: {best}",
    )
    assert codes(full, [0.0] * 12, kind="binary", margin=0, margin_rule="tested") == []
    lower = doubted([0.2] * 12, kind="graded", scale=[0.0, 1.0], direction="lower", margin=0.3)
    assert lower[0][2].endswith("the baseline's mean is 0.2000, the best value 0")


def test_a_relative_margin_is_a_share_of_the_mean() -> None:
    """.8 of .25 leaves .75: a factor of 3 is all that is left."""
    quarter = [0.0, 0.0, 0.0, 1.0] * 3
    assert codes(quarter, kind="binary", margin={"relative": 3.0}) == []
    assert codes(quarter, kind="binary", margin={"relative": 3.001}) == ["margin_out_of_reach"]


def test_a_mean_is_over_the_results_that_are_there() -> None:
    assert codes([*HALF, NAN], kind="binary", margin=0.6) == ["margin_out_of_reach"]
    assert codes([NAN] * 12, kind="binary", margin=0.6) == []


@pytest.mark.parametrize(("word", "mode"), [("tolerance", "non_inferior"), ("detect", "no_regression")])
@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize(("amount", "beyond"), [(0.25, False), (0.26, True)])
def test_a_loss_larger_than_all_there_is_to_lose(
    word: str, mode: str, direction: str, amount: float, beyond: bool
) -> None:
    mean = [0.0, 0.0, 0.0, 1.0] * 3 if direction == "higher" else [0.0, 1.0, 1.0, 1.0] * 3
    found = doubted(mean, kind="binary", direction=direction, rails=[{"mode": mode, word: amount}])
    assert [(rule, code) for rule, code, _ in found] == [("guardrail:m", "bound_guards_nothing")] * beyond
    if beyond:
        worst = "0" if direction == "higher" else "1.0000"
        assert f"no candidate can lose more than the {word} 0.2600" in found[0][2]
        assert found[0][2].endswith(f"the worst value {worst}")


def test_the_tolerance_of_slices_is_one_of_the_gating_rule() -> None:
    (found,) = doubted(HALF, kind="binary", slices={"tolerance": 0.6})
    assert found[:2] == ("gating:m", "bound_guards_nothing")
    assert "slices.tolerance 0.6000" in found[2]
    assert doubted(HALF, kind="binary", slices={}) == []


# --- another unit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typical", "margin", "hint"),
    [
        (450.0, 0.9, True),
        (449.0, 0.9, False),
        (500.0, 0.999, True),
        (600.0, 1.0, False),
        (10.0, 0.02, True),
        (9.99, 0.01, False),
        (10.0, 0.021, False),
        (0.0, 0.01, False),
        (-450.0, 0.9, True),
    ],
)
def test_an_amount_that_looks_like_a_share_of_a_large_metric(
    typical: float, margin: float, hint: bool
) -> None:
    """From a typical value of 10 on, and 500 times the amount. Zeros are not typical."""
    values = [0.0] * 13 + [typical] * 12
    found = doubted(values, margin=margin)
    assert [code for _, code, _ in found] == ["bound_in_another_unit"] * hint
    if hint:
        text = f"the margin {margin:g} is an amount in the metric's unit, where {abs(typical):g} is typical"
        assert found[0][2] == f"{text}; a share of the baseline is written {{relative: {margin:g}}}"


@pytest.mark.parametrize(
    ("largest", "margin", "kind", "hint"),
    [
        (1.0, 1.0, "graded", True),
        (-1.0, 1.0, "graded", True),
        (0.3, 5.0, "graded", True),
        (1.01, 1.0, "graded", False),
        (1.0, 0.99, "graded", False),
        (0.0, 1.0, "graded", False),
    ],
)
def test_an_amount_that_looks_like_percent(largest: float, margin: float, kind: str, hint: bool) -> None:
    found = doubted([0.0] * 6 + [largest] * 6, margin=margin, kind=kind)
    assert [code for _, code, _ in found] == ["bound_in_another_unit"] * hint
    if hint:
        assert found[0][2].endswith("; is it in percent?")


def test_an_amount_that_can_be_seen_or_is_relative_is_no_slip() -> None:
    large = [500.0] * 12
    for seen, doubtful in ((None, True), (0.0, True), (0.51, True), (0.5, False), (0.1, False)):
        assert bool(codes(large, margin=0.5, seen=seen)) is doubtful, seen
    assert codes(large, margin={"relative": 0.01}) == []
    assert codes(large, margin=0.0) == []


# --- limits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "nothing"),
    [
        ({"max": 1.0}, True),
        ({"max": 0.99}, False),
        ({"min": 0.0}, True),
        ({"min": 0.01}, False),
        ({"min": 0.0, "max": 1.0}, True),
        ({"min": 0.0, "max": 0.99}, False),
        ({"min": 0.01, "max": 1.0}, False),
    ],
)
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_limit_that_no_value_can_break(limit: dict[str, float], nothing: bool, direction: str) -> None:
    found = doubted(HALF, kind="binary", direction=direction, rails=[{"mode": "limit", **limit}])
    assert [code for _, code, _ in found] == ["bound_guards_nothing"] * nothing
    if nothing:
        assert found[0][2] == "no value can break this limit: the metric lies between 0 and 1"


@pytest.mark.parametrize(
    ("typical", "limit", "text"),
    [
        (10.0, {"min": 0.9}, "the limit min 0.9 looks like a share, but a typical value is 10"),
        (9.9, {"min": 0.9}, ""),
        (10.0, {"min": 1.0}, ""),
        (10.0, {"min": 0.0}, ""),
        (10.0, {"min": 0.9, "max": 20.0}, ""),
        (0.2, {"max": 100.0}, "the limit max 100 is far above all values (0.2 is typical)"),
        (0.2, {"max": 99.0}, ""),
        (0.2, {"min": 0.1, "max": 100.0}, ""),
        (0.0, {"max": 100.0}, ""),
    ],
)
def test_a_limit_in_another_unit(typical: float, limit: dict[str, float], text: str) -> None:
    """What counts is the candidate's values, those that are there."""
    found = doubted([1.0] * 13, [typical] * 11 + [0.0, NAN], rails=[{"mode": "limit", **limit}])
    assert [code for _, code, _ in found] == ["bound_in_another_unit"] * bool(text)
    if text:
        assert found[0][0] == "guardrail:m"
        assert found[0][2] == f"{text}: are both in one unit?"


# --- too good -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "before", "doubtful"), [(10, 4, True), (10, 5, False), (9, 0, False), (12, 5, True), (12, 6, False)]
)
@pytest.mark.parametrize(
    "kind", [{"kind": "binary"}, {"kind": "graded", "scale": [0.0, 1.0]}, {"kind": "graded"}]
)
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_candidate_that_is_perfect_where_the_baseline_was_not(
    n: int, before: int, doubtful: bool, kind: dict[str, Any], direction: str
) -> None:
    """From ten items on, and where fewer than half had the best value before."""
    best = 1.0 if direction == "higher" else 0.0
    old, new = [best] * before + [1 - best] * (n - before), [best] * n
    found = doubted([*old, NAN], [*new, 1 - best], direction=direction, **kind)
    assert [code for _, code, _ in found] == ["perfect_candidate"] * doubtful
    if doubtful:
        value = "1.0000" if direction == "higher" else "0"
        text = f"all {n} items have the best value {value} in the candidate, {before} in the baseline"
        assert found[0][2].startswith(text)
    assert doubted(old, [*new[:-1], 1 - best], direction=direction, **kind) == []


def test_the_best_value_is_that_of_the_scale() -> None:
    """All at 4 of 5 is not perfect; a limit is asked for its own doubts only."""
    assert codes([1.0] * 12, [4.0] * 12, scale=[1.0, 5.0]) == []
    assert codes([1.0] * 12, [4.0] * 12) == ["perfect_candidate"]
    rails = [{"mode": "limit", "min": 0.5}, {"mode": "churn", "max": 0.5}]
    found = doubted([0.0] * 12, [1.0] * 12, kind="binary", rails=rails)
    assert [code for _, code, _ in found] == ["perfect_candidate"] * 2, "gating and churn"


@pytest.mark.parametrize(
    ("metric", "direction", "told", "code"),
    [
        ("m", "higher", None, None),
        ("m", "higher", "higher", None),
        ("m", "higher", "lower", "direction_contradicts_file"),
        ("error_rate", "higher", None, "direction_contradicts_name"),
        ("error_rate", "lower", None, None),
        ("error_rate", "higher", "higher", None),
        ("accuracy", "lower", None, "direction_contradicts_name"),
        ("accuracy", "higher", None, None),
        ("error_rate", "neutral", "lower", None),
    ],
)
@pytest.mark.parametrize("item_set", [None, "safety"])
def test_a_direction_that_file_or_name_contradicts(
    metric: str, direction: str, told: str | None, code: str | None, item_set: str | None
) -> None:
    """Of a watched metric, in the set that it belongs to."""
    watch = {"metric": metric, "direction": direction} | ({"set": item_set} if item_set else {})
    gating = {"metric": "q", "kind": "graded", "direction": "higher", "margin": 0}
    wanted = Policy.model_validate({"version": 1, "name": "p", "gating": gating, "watch": [watch, "plain"]})
    files = {"q": "higher"} | ({} if told is None else {metric: told})
    found = list(direction_doubts(wanted, item_set, files))
    assert [name for name, _ in found] == ([code] if code else [])
    if found:
        assert f"{direction} is better" in found[0][1]
    other = None if item_set else "safety"
    assert list(direction_doubts(wanted, other, files)) == []

"""Numbers that anyone can write and no float can be squared with: refused by name, before a look is spent."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from black_box import GRADED, Rows, command, decide, policy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.stats.methods import named_tests

SIZES = (0.0, 1e-300, 1e-50, 1e-20, 0.3, 1.0, 90.0, 9.2e18, 1e49, 1e50)
"""What a file may hold, as long as something in it is at least 1e-50."""
RAIL = {"metric": "score", "kind": "graded", "direction": "higher"}
RAILS = [
    {"mode": "no_regression"},
    {"mode": "no_regression", "detect": 1e-50},
    {"mode": "limit", "max": 1.0, "proven": True},
    {"mode": "churn", "max": 0.5},
]


def rows(values: list[float], other: float = 0.0) -> Rows:
    return [
        {"id": f"i{k}", "score": value, "other": other, "doc": f"d{k // 4}"} for k, value in enumerate(values)
    ]


def repeated(values: list[float]) -> Rows:
    return [{"id": f"i{k // 3}", "run": k % 3, "score": value} for k, value in enumerate(values)]


def yaml(value: dict[str, Any]) -> str:
    """As JSON, with the decimal point that a policy asks for; one key a line."""
    return re.sub(r"([ -][0-9])(e[+-])", r"\1.0\2", json.dumps(value, indent=1))


@pytest.mark.parametrize("value", [1e200, -1e200, 1.7e308, 1.1e50, 1e-300, 5e-324, 9e-51])
@pytest.mark.parametrize("test", ["auto", "bootstrap", "sign_flip", "wilcoxon"])
def test_a_value_out_of_range_names_file_and_item_and_spends_no_look(
    tmp_path: Path, value: float, test: str
) -> None:
    usual = 0.5 if abs(value) > 1 else 0.0
    history = tmp_path / "history.jsonl"
    files = rows([usual] * 60), rows([*[usual] * 59, value])
    answer = decide(tmp_path, policy(GRADED, gating={"test": test}), *files, "--history", history)
    assert "candidate.jsonl:60" in answer.error
    assert "'i59'" in answer.error
    kinds = [json.loads(line)["kind"] for line in history.read_text().splitlines()]
    assert kinds == ["init", "void"]
    summary = (tmp_path / "report" / "summary.md").read_text()
    assert "cannot decide" in summary.splitlines()[0], "exit 2 leaves a summary too"
    assert "i59" in summary
    sides = (tmp_path / "baseline.jsonl", tmp_path / "candidate.jsonl")
    assert "'i59'" in command("compare", *sides, "--metric", "score").error


def test_a_watched_value_out_of_range_is_not_assessed(tmp_path: Path) -> None:
    wanted = policy(GRADED, watch=["other"])
    answer = decide(tmp_path, wanted, rows([0.1, 0.2] * 20), rows([0.3, 0.5] * 20, other=1e200))
    assert answer.verdict == "promote"
    assert answer.report is not None
    assert "watch:other" in {one["rule"] for one in answer.report["not_assessed"]}
    assert "metric_not_read" in answer.cautions()


KEYS: list[dict[str, Any]] = [
    {"gating": {"margin": 1e308}},
    {"gating": {"margin": 1e-300}},
    {"gating": {"margin": {"relative": 1e308}}},
    {"gating": {"suspect_gain": 1e308}},
    {"gating": {"scale": [0.0, 1e308], "assurance": "guaranteed"}},
    {"gating": {"scale": [-1e308, 1e308]}},
    {"alpha": 1e-300},
    {"guardrails": [RAIL | {"mode": "non_inferior", "tolerance": 1e308}]},
    {"guardrails": [RAIL | {"mode": "no_regression", "detect": 1e-300}]},
    {"guardrails": [RAIL | {"mode": "limit", "min": -1e308}]},
    {"guardrails": [RAIL | {"mode": "limit", "max": 1.7e308, "proven": True}]},
]


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_a_number_of_the_policy_out_of_range_names_its_line(tmp_path: Path, keys: dict[str, Any]) -> None:
    wanted = yaml(policy(GRADED, **keys))
    answer = decide(tmp_path, wanted, rows([0.1, 0.2] * 20), rows([0.3, 0.5] * 20))
    for error in (answer.error, command("check", tmp_path / "gate.yaml").error):
        assert "must be 0 or lie between 1e-50 and 1e+50" in error
        assert "gate.yaml:" in error


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("value", "fits"), [(0.0, True), (1.0, True), (1.001, False), (-0.001, False), (46, False)]
)
@pytest.mark.parametrize("rule", ["gating", "no_regression", "limit", "proven", "churn"])
def test_a_declared_scale_is_held_by_every_rule(
    tmp_path: Path, rule: str, value: float, fits: bool, side: int
) -> None:
    tables = [rows([0.1, 0.2] * 20, 0.5), rows([0.3, 0.5] * 20, 0.5)]
    tables[side][7]["other"] = value  # type: ignore[index]
    scale = {"metric": "other", "scale": [0, 1]}
    if rule == "gating":
        wanted = policy(GRADED, gating=scale)
    else:
        keys = {"limit": {"max": 90}, "proven": {"mode": "limit", "max": 90, "proven": True}}.get(rule, {})
        keys |= {"max": 0.5} if rule == "churn" else {}
        wanted = policy(GRADED, guardrails=[RAIL | {"mode": rule} | scale | keys])
    answer = decide(tmp_path, wanted, *tables)
    one_sided = side == 0 and "limit" in str(wanted)
    if fits or one_sided:  # a limit reads the candidate alone
        assert answer.code != 2, answer.err
    else:
        assert f"{['baseline', 'candidate'][side]}.jsonl:8" in answer.error
        assert "outside the declared scale [0, 1]" in answer.error
        assert "'i7'" in answer.error


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("end", [1.0, 1e3, 1e20, 1e49, 1e50])
def test_a_wide_scale_makes_no_claim_easier(tmp_path: Path, sign: int, end: float) -> None:
    """Every item loses (or gains) half a point: the wider the scale, the less it proves."""
    keys = {"scale": [-end, end], "assurance": "guaranteed"}
    wanted = yaml(policy(GRADED, gating={**keys, "margin": 0.0}))
    answer = decide(tmp_path, wanted, rows([0.0] * 60), rows([0.5 * sign] * 60))
    if sign < 0:
        assert answer.verdict != "promote"
        assert answer.gating["p_value"] > 0.5
    assert answer.verdict == "promote" or end > 1 or sign < 0
    low, high = (answer.gating["interval"][key] for key in ("low", "high"))
    assert low <= 0.5 * sign <= high


FREE = {test.id for test in named_tests("pairs", "graded")} - {"bca_sign_flip", "gaffke"}
TESTS: list[tuple[dict[str, Any], str]] = [
    *(({"test": test}, "") for test in sorted(FREE)),
    *(({"test": test}, "cluster") for test in sorted(test.id for test in named_tests("clusters", "graded"))),
    ({}, "repeat"),
    ({"scale": [-1e50, 1e50], "assurance": "guaranteed"}, ""),
    ({"margin": {"relative": 0.1}}, ""),
    ({"margin": {"relative": 1e50}}, ""),
    ({"margin": 1e50, "margin_rule": "tested"}, ""),
    ({"margin": 1e-50, "margin_rule": "tested"}, ""),
]


@pytest.mark.parametrize(("keys", "column"), TESTS, ids=str)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_within_range_is_computed_with(
    tmp_path: Path, keys: dict[str, Any], column: str, data: st.DataObject
) -> None:
    sizes = st.sampled_from([sign * size for sign, size in product((1.0, -1.0), SIZES)])
    old, new = (data.draw(st.lists(sizes, min_size=60, max_size=60)) for _ in range(2))
    scale = {"scale": keys["scale"]} if "scale" in keys else {}
    items = {"cluster": {"cluster": "doc"}, "repeat": {"repeat": "run", "min": 2}}.get(column, {})
    wanted = policy(GRADED, gating=keys, items=items)
    wanted["guardrails"] = [RAIL | scale | data.draw(st.sampled_from(RAILS))]
    made = repeated if column == "repeat" else rows
    answer = decide(tmp_path, yaml(wanted), made(old), made(new))
    refused = ("whose square cannot", "so a share of it means nothing")
    assert answer.code in {0, 1, 3} or any(text in answer.error for text in refused), answer.err

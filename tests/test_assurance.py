"""What a report may say about the chance of a false pass: every test is exact or says what breaks it."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, GRADED, Rows, command, decide, policy, tables, write_policy

from gate.stats.methods import METHODS, assurance, named_tests

BINARY_TESTS = [method.id for method in named_tests("pairs") if "graded" not in method.kinds]


def test_four_tests_are_bounded_and_every_other_says_what_breaks_it() -> None:
    bounded = {method for method, found in METHODS.items() if found.bounded}
    assert bounded == {"mcnemar_exact", "exact_unconditional", "gaffke", "cluster_gaffke"}
    for method, found in METHODS.items():
        assert ("bounded" in assurance(method, 0.025)) is (method in bounded)
        assert found.breaks in assurance(method, 0.025)


@pytest.mark.parametrize(("method", "holds"), [("mcnemar_exact", True), ("mcnemar_chi2", False)])
def test_bounded_is_what_enumeration_finds(method: str, holds: bool) -> None:
    """Of s changed items, Bin(s, 1/2) are gains if there is no difference: the chance of a pass, summed."""
    worst = 0.0
    for s in range(1, 60):
        passed = [b for b in range(s + 1) if _one_sided_p(method, b, s) < 0.025]
        worst = max(worst, sum(comb(s, b) for b in passed) / 2**s)
    assert (worst <= 0.025) is holds
    assert METHODS[method].bounded is holds


def _one_sided_p(method: str, b: int, s: int) -> float:
    from gate.stats.pairs import from_counts
    from gate.stats.procedures import run

    return run(method, from_counts(b, s - b, 1000), 0.0, 0.025).p_greater


def _claim(tmp_path: Path, wanted: dict[str, Any], sides: tuple[Rows, Rows]) -> str:
    answer = decide(tmp_path, wanted, *sides)
    assert answer.report is not None, answer.err
    claim = str(answer.report["claims"][0])
    checked = command("check", tmp_path / "gate.yaml")
    if "nominal" in claim:
        assert "nominal" in checked.out, checked.out
        assert "bounded by" not in checked.out + claim
    else:
        assert "bounded by" in checked.out, checked.out
        assert "nominal" not in claim
    return claim


PASS_FAIL = tables(
    [
        {"n": n, "baseline": {"correct": old}, "candidate": {"correct": new}}
        for n, old, new in ((40, 0, 1), (5, 1, 0), (155, 1, 1))
    ]
)
NUMBERS = tables(
    [
        {"n": 5, "both": {"doc": f"d{k}"}, "baseline": {"score": 0.4}, "candidate": {"score": 0.5 + k / 100}}
        for k in range(12)
    ]
)


@pytest.mark.parametrize("method", ["auto", *BINARY_TESTS, "gaffke"])
def test_pass_fail_claims(tmp_path: Path, method: str) -> None:
    sides = (PASS_FAIL["baseline"], PASS_FAIL["candidate"])
    claim = _claim(tmp_path, policy(BINARY, gating={"test": method}), sides)
    exact = method in {"auto", "mcnemar_exact", "exact_unconditional", "gaffke"}
    assert ("bounded by 0.025" in claim) is exact, claim


@pytest.mark.parametrize(
    ("keys", "items", "bounded"),
    [
        ({}, {}, False),
        ({"scale": [0, 1], "assurance": "guaranteed"}, {}, True),
        *(
            ({"test": method}, {}, False)
            for method in ("bootstrap", "sign", "sign_flip", "wilcoxon", "paired_t")
        ),
        ({}, {"cluster": "doc"}, False),
        ({"scale": [0, 1], "assurance": "guaranteed"}, {"cluster": "doc", "max_cluster": 500}, True),
    ],
)
def test_graded_claims(tmp_path: Path, keys: dict[str, Any], items: dict[str, Any], bounded: bool) -> None:
    sides = (NUMBERS["baseline"], NUMBERS["candidate"])
    claim = _claim(tmp_path, policy(GRADED, gating=keys, items=items), sides)
    assert ("bounded by 0.025" in claim) is bounded, claim


@pytest.mark.parametrize(("margin", "bounded"), [(0.01, True), ({"relative": 0.01}, False)])
def test_a_margin_taken_from_the_observed_baseline_is_nominal(
    tmp_path: Path, margin: object, bounded: bool
) -> None:
    wanted = policy(BINARY, gating={"margin": margin, "margin_rule": "tested"})
    answer = decide(tmp_path, wanted, PASS_FAIL["baseline"], PASS_FAIL["candidate"])
    assert answer.report is not None
    assert ("bounded by 0.025" in answer.report["claims"][0]) is bounded


def test_check_names_the_level_and_the_claim_of_one_look(tmp_path: Path) -> None:
    """Five looks, the margin proven: one look has a sixth of 0.025; the claim is about the margin."""
    wanted = policy(BINARY, gating={"margin_rule": "tested"}, cycles={"looks": 5})
    said = command("check", write_policy(tmp_path / "gate.yaml", wanted)).out
    claim = "a candidate whose true gain is at or below the margin passes one look is bounded by 0.00416667"
    assert claim in said
    share = policy(BINARY, gating={"margin_rule": "tested", "margin": {"relative": 0.02}})
    said = command("check", write_policy(tmp_path / "gate.yaml", share)).out
    assert "passes one look is held to a nominal 0.025 (exact_unconditional: the bound is a share" in said

"""Runs that may have failed on one side only: inconclusive from p < .01 on, and never a footnote."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from black_box import BINARY, Answer, decide, policy
from scipy import stats

from gate.stats.fisher import fisher_two_sided


@pytest.mark.parametrize("sizes", [(40, 40), (80, 80), (200, 190), (3, 500)])
def test_fisher_against_another_implementation(sizes: tuple[int, int]) -> None:
    n, m = sizes
    for a in range(0, n + 1, max(1, n // 9)):
        for b in range(0, m + 1, max(1, m // 9)):
            expected = stats.fisher_exact([[a, n - a], [b, m - b]])[1]
            assert fisher_two_sided(a, n, b, m) == pytest.approx(expected, rel=1e-9)


def run(before: int, after: int, cell: Any, fine: Any, name: str = "exception", **keys: Any) -> Answer:
    """80 items; the cell stands in the first ones of each side. The candidate gains 10 items of its own."""
    sides = [
        [{"id": f"q{k}", "correct": int(k >= wrong), name: cell if k < filled else fine} for k in range(80)]
        for wrong, filled in ((40, before), (30, after))
    ]
    with TemporaryDirectory() as folder:
        return decide(Path(folder), policy(BINARY, **keys), *sides)


@pytest.mark.parametrize(("count", "verdict"), [(6, "promote"), (7, "promote"), (8, "inconclusive")])
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_an_error_column_filled_unevenly(count: int, verdict: str, side: str) -> None:
    """Of 80 against none of 80: 7 have a two-sided p of .0138, 8 of .0067."""
    filled = (count, 0) if side == "baseline" else (0, count)
    answer = run(*filled, "boom", None)
    assert answer.verdict == verdict
    text = f"exception is filled ('boom') in {filled[0]} of 80 baseline runs and in {filled[1]} of 80"
    assert text in answer.out
    assert "completed: {exception: ['*']}" in answer.out


def test_the_same_on_both_sides_is_a_property_of_the_items() -> None:
    answer = run(20, 20, "boom", None)
    assert answer.verdict == "promote"
    assert "exception" not in answer.out


def test_alike_on_both_sides_is_a_caution() -> None:
    answer = run(20, 18, "boom", None)
    assert answer.verdict == "promote"
    assert "counts as completed" in answer.out


@pytest.mark.parametrize(
    ("before", "after", "verdict"), [(1, 0, "inconclusive"), (0, 1, "inconclusive"), (1, 9, "promote")]
)
def test_an_unknown_status_on_one_side(before: int, after: int, verdict: str) -> None:
    """On both sides it stays a caution, whatever the numbers: solved and unsolved are words too."""
    answer = run(before, after, "shelved", "ok", name="status")
    assert answer.verdict == verdict
    assert "shelved" in answer.out


def test_what_the_policy_says_decides() -> None:
    assert run(9, 0, "boom", None, artifacts={"completed": {"exception": ["*"]}}).verdict == "promote"
    failed = run(9, 0, "boom", None, artifacts={"failed": {"exception": ["*"]}})
    assert failed.code == 2
    assert "9 of 80 baseline runs failed" in failed.err


def test_a_block_stays_a_block() -> None:
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "limit", "min": 0.9}
    answer = run(20, 0, "boom", None, guardrails=[rail])
    assert answer.verdict == "block"

"""How far a decision is from turning, and how differences are spread: against counting by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.measure.item_facts import MOST_BINS, MOST_VALUES, distribution
from gate.stats.methods import METHODS
from gate.stats.pairs import from_counts
from gate.stats.procedures import p_of_counts, run
from tests.report.reports import counts, report


def exact_p(b: int, c: int) -> float:
    """P(Bin(b + c, 1/2) >= b), by summing."""
    return sum(math.comb(b + c, k) for k in range(b, b + c + 1)) / 2 ** (b + c)


def passes(b: int, c: int, n: int, margin: float) -> bool:
    return b + c > 0 and (b - c) / n >= margin - 1e-12 and exact_p(b, c) < 0.025


def fewest(b: int, c: int, both: int, n: int, margin: float) -> int | None:
    """The cheapest of all ways to flip candidate results: gains and losses, new ones and ones taken back."""
    now = passes(b, c, n, margin)
    neither = n - b - c - both
    best: int | None = None
    moves = product(range(neither + 1), range(b + 1), range(both + 1), range(c + 1))
    for new_gain, gain_back, new_loss, loss_back in moves:
        k = new_gain + gain_back + new_loss + loss_back
        cheaper = k and (best is None or k < best)
        if cheaper and passes(b + new_gain - gain_back, c + new_loss - loss_back, n, margin) is not now:
            best = k
    return best


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.15])
@pytest.mark.parametrize(
    ("b", "c", "both", "n"),
    [
        (9, 1, 11, 30),
        (12, 2, 9, 30),
        (6, 0, 16, 30),
        (5, 5, 10, 30),
        (2, 6, 12, 30),
        (8, 2, 0, 30),
        (7, 3, 20, 30),
    ],
)
def test_no_smaller_number_of_flips_would_do(b: int, c: int, both: int, n: int, margin: float) -> None:
    made = counts(b, c, both, n, gating={"margin": margin})
    assert made["gating"]["flips"] == fewest(b, c, both, n, margin)


def test_the_published_table_is_one_item_from_passing() -> None:
    """18 and 8 of 200: one loss repaired gives p = .0216."""
    assert exact_p(18, 7) < 0.025 <= exact_p(18, 8)
    assert counts(18, 8, 113, 200)["gating"]["flips"] == 1


def test_lower_is_better_counts_the_same_way() -> None:
    flipped = counts(8, 18, 113, 200, gating={"direction": "lower"})
    assert flipped["gating"]["flips"] == 1


@pytest.mark.parametrize("rule", ["observed", "tested"])
@pytest.mark.parametrize(
    "test", ["mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards", "tango"]
)
def test_the_count_itself_turns_the_rule_and_one_less_does_not(test: str, rule: str) -> None:
    if rule == "tested" and test != "tango":
        return
    sections = {"gating": {"test": test, "margin_rule": rule}}
    made = counts(121, 69, 1105, 2000, **sections)
    k = made["gating"]["flips"]
    assert made["gating"]["status"] == "pass"
    assert counts(121, 69 + k, 1105 - k, 2000, **sections)["gating"]["status"] != "pass"
    assert counts(121, 69 + k - 1, 1106 - k, 2000, **sections)["gating"]["status"] == "pass"


def test_where_no_count_is_known_none_is_given() -> None:
    assert counts(4, 1, 0, 5)["gating"]["flips"] is None
    assert report("graded")["gating"]["flips"] is None
    assert report("repeats")["gating"]["flips"] is None
    assert report("equal")["gating"]["flips"] is None


@pytest.mark.parametrize("method", [m.id for m in METHODS.values() if m.form == "counts"])
@pytest.mark.parametrize(("b", "c"), [(18, 8), (121, 69), (3, 9), (6, 0), (7, 7)])
def test_the_short_way_to_p_is_the_registered_one(method: str, b: int, c: int) -> None:
    for null in (0.0, 0.02) if METHODS[method].margin else (0.0,):
        expected = run(method, from_counts(b, c, 400, 30), null, 0.025).p_greater
        assert p_of_counts(method, b, c, 400, null, 0.025) == pytest.approx(expected, rel=1e-9)


VALUES = st.lists(
    st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 6)), min_size=1, max_size=200
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_every_difference_is_counted_once_and_no_bin_mixes_gains_and_losses(values: list[float]) -> None:
    gains = np.asarray(values)
    found = distribution(gains)
    assert sum(found["counts"]) == len(values)
    if "values" in found:
        assert len(found["values"]) <= MOST_VALUES
        assert found["values"] == sorted(set(values))
        assert found["counts"] == [values.count(value) for value in found["values"]]
        return
    edges = found["edges"]
    assert len(found["counts"]) == len(edges) - 1 <= MOST_BINS + 2
    assert not [k for k in range(len(edges) - 1) if edges[k] < 0 < edges[k + 1]]


def test_nothing_has_no_spread() -> None:
    assert distribution(np.asarray([])) == {}

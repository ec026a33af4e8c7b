"""Preferences: votes, judges and orders to one value an item; the place of presentation; pass^k from runs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats.gaffke import gaffke
from gate.stats.pass_k import pass_at_k, pass_hat_k
from gate.stats.preferences import position_bias, position_caution, preferences
from gate.stats.procedures import run
from gate.values import GateError

LEVEL = 0.025
VERDICTS = st.sampled_from([-1, 0, 1])


def test_one_vote_an_item_is_a_table_of_wins_and_losses():
    found = preferences(range(60), [1] * 30 + [-1] * 12 + [0] * 18)
    assert (found.wins, found.ties, found.losses) == (30, 18, 12)
    assert found.decided
    assert found.position is None
    pairs = found.pairs()
    assert (pairs.b, pairs.c, pairs.n, pairs.binary) == (30, 12, 60, True)
    assert pairs.mean() == pytest.approx(18 / 60)
    assert run("exact_unconditional", pairs, -0.1, LEVEL).p_greater < 1e-3


def test_votes_then_judges_then_orders():
    items = ["a"] * 7
    judges = ["x", "x", "x", "y", "x", "y", "y"]
    first = [1, 1, 1, 1, 0, 0, 0]
    verdicts = [1, 1, -1, 0, 1, -1, -1]  # first: x 1/3, y 0 -> 1/6; second: x 1, y -1 -> 0
    mean = preferences(items, verdicts, first, judges, orders="mean")
    assert mean.values.tolist() == [pytest.approx(1 / 12, abs=1e-12)]
    assert preferences(items, verdicts, first, judges).values.tolist() == [1.0]  # one order is a tie
    assert preferences(items, verdicts, first, judges, votes="majority", orders="mean").values.tolist() == [
        0.5
    ]


@pytest.mark.parametrize(("shown_first", "shown_second", "value"), [
    (1, 1, 1), (-1, -1, -1), (1, 0, 1), (0, -1, -1), (0, 0, 0), (1, -1, 0), (-1, 1, 0),
])  # fmt: skip
def test_consistent_orders(shown_first, shown_second, value):
    found = preferences([0, 0], [shown_first, shown_second], [True, False])
    assert found.values.tolist() == [value]


def test_several_votes_are_one_value_and_graded():
    items = np.repeat(np.arange(50), 3)
    rng = np.random.default_rng(0)
    found = preferences(items, rng.integers(-1, 2, 150))
    assert found.values.size == 50
    assert not found.decided
    pairs = found.pairs()
    np.testing.assert_allclose(np.sort(pairs.differences), found.values, atol=1e-12)
    assert (
        run("gaffke", pairs, 0.0, LEVEL, scale=(0, 1)).p_greater
        == gaffke(pairs, 0.0, LEVEL, (-1, 1)).p_greater
    )
    assert preferences(items, rng.integers(-1, 2, 150), votes="majority").decided


@given(st.lists(st.tuples(st.integers(0, 4), VERDICTS, st.integers(0, 2)), min_size=1, max_size=25))
def test_names_and_order_of_rows_change_no_digit_and_exchange_mirrors(rows):
    item, verdict, judge = (np.array(column) for column in zip(*rows, strict=True))
    one = preferences(item, verdict, None, judge)
    order = np.random.default_rng(1).permutation(item.size)
    names = np.array(["e", "d", "c", "b", "a"])
    two = preferences(names[item][order], verdict[order], None, names[judge][order])
    assert one.values.tolist() == two.values.tolist()
    three = preferences(item, -verdict, None, judge)
    assert three.values.tolist() == pytest.approx((-one.values[::-1]).tolist(), abs=1e-15)
    assert (three.wins, three.losses) == (one.losses, one.wins)


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1, max_size=40))
def test_position_counts(rows):
    n = len(rows)
    verdicts = [first for first, _ in rows] + [second for _, second in rows]
    found = preferences([*range(n)] * 2, verdicts, [True] * n + [False] * n).position
    assert found.items == n
    assert found.first_both == rows.count((1, -1))
    assert found.second_both == rows.count((-1, 1))
    assert found.agree == sum(one == two for one, two in rows)
    assert found.inconsistency + found.agreement <= 1 + 1e-12
    s = found.first_both + found.second_both
    tail = sum(math.comb(s, k) for k in range(max(found.first_both, found.second_both), s + 1)) / 2**s
    assert found.p_value == pytest.approx(min(1, 2 * tail))


@pytest.mark.parametrize(("first", "second", "words"), [(6, 0, "first"), (0, 6, "second"), (5, 0, None)])
def test_bias_is_said_below_five_percent(first, second, words):
    note = position_caution(position_bias(first, second, 40, 30))
    if words is None:
        assert note is None
    else:
        assert note.code == "position_bias"
        assert f"shown {words}" in note.message


def test_both_orders_on_some_items_only_is_refused():
    with pytest.raises(GateError) as refused:
        preferences(["a", "a", "b"], [1, 1, 0], [True, False, True])
    assert refused.value.code == "orders_differ"
    assert "1 of 2 items" in refused.value.message
    one_each = preferences(["a", "b"], [1, 0], [True, False])  # one order an item, both used
    assert one_each.position is None


@pytest.mark.parametrize(("columns", "words"), [
    ((["a"], [2]), "1, 0 or -1"), ((["a"], [math.nan]), "1, 0 or -1"),
    ((["a", "b"], [1]), "item and a judge"), (([], []), "item and a judge"),
    ((["a"], [1], [2]), "true or false"), ((["a"], [1], [True, False]), "true or false"),
    ((["a"], [1], None, ["x", "y"]), "item and a judge"),
])  # fmt: skip
def test_columns_that_do_not_fit(columns, words):
    with pytest.raises(ValueError, match=words):
        preferences(*columns)


@pytest.mark.parametrize(("runs", "k"), [(5, 1), (5, 3), (8, 8), (6, 2)])
@pytest.mark.parametrize("p", [0.0, 0.2, 0.7, 1.0])
def test_pass_k_is_unbiased(runs, k, p):
    passes = np.arange(runs + 1)
    chance = [math.comb(runs, c) * p**c * (1 - p) ** (runs - c) for c in passes]
    total = np.full(runs + 1, runs)
    assert np.dot(chance, pass_hat_k(total, passes, k)) == pytest.approx(p**k)
    assert np.dot(chance, pass_at_k(total, passes, k)) == pytest.approx(1 - (1 - p) ** k)


def test_pass_k_at_its_ends():
    assert pass_hat_k([5, 5, 5], [0, 4, 5], 5).tolist() == [0.0, 0.0, 1.0]
    assert pass_at_k([5, 5, 5], [0, 1, 5], 5).tolist() == [0.0, 1.0, 1.0]
    assert pass_hat_k([4, 7], [3, 3], 1).tolist() == [0.75, 3 / 7]
    assert pass_at_k([4, 7], [3, 3], 1).tolist() == pytest.approx([0.75, 3 / 7])
    big = pass_hat_k([5_000], [4_999], 2_500)
    assert big.tolist() == [pytest.approx(0.5)]


@given(st.integers(1, 12), st.data())
def test_pass_k_falls_and_rises_with_k(runs, data):
    passes = data.draw(st.integers(0, runs))
    every = [float(pass_hat_k([runs], [passes], k)[0]) for k in range(1, runs + 1)]
    some = [float(pass_at_k([runs], [passes], k)[0]) for k in range(1, runs + 1)]
    assert all(a >= b for a, b in itertools.pairwise(every))
    assert all(a <= b + 1e-15 for a, b in itertools.pairwise(some))
    assert all(0 <= x <= 1 for x in (*every, *some))


@pytest.mark.parametrize("k", [0, 4, -1])
def test_k_beyond_the_fewest_runs_is_refused(k):
    with pytest.raises(GateError) as refused:
        pass_hat_k([5, 3], [2, 2], k)
    assert refused.value.code == "k_beyond_runs"


@pytest.mark.parametrize(
    ("runs", "passes"),
    [([3], [4]), ([3, 3], [4, 1]), ([3], [-1]), ([3, 3], [-1, 1]), ([3, 3], [1]), ([], [])],
)
def test_passes_must_fit_the_runs(runs, passes):
    with pytest.raises(ValueError, match="at most as many passes"):
        pass_at_k(runs, passes, 1)

"""Which items still decide: planted dead, flaky and backward items are found, others seldom."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.stats.item_health import (
    backwards_items,
    dead_items,
    effective_items,
    flaky_items,
    smallest_gain_after,
)
from gate.stats.power import smallest_effect

NAN = math.nan


def systems_table(rng, items=200, systems=12):
    """Pass/fail of systems of rising skill on items of differing difficulty (Rasch)."""
    skill, difficulty = np.linspace(-1.5, 1.5, systems), rng.normal(0, 1, items)
    return (rng.random((items, systems)) < 1 / (1 + np.exp(difficulty[:, None] - skill))).astype(float)


# --- dead


def test_dead_items():
    scores = [
        [1, 1, 1, NAN],
        [0, 0, 0, 0],
        [1, 0, 1, 1],
        [1, 1, NAN, NAN],
        [NAN, NAN, NAN, NAN],
        [0, 0, 0, 1],
    ]
    found = dead_items(scores)
    assert found.best.tolist() == [True, False, False, False, False, False]
    assert found.worst.tolist() == [False, True, False, False, False, False]
    assert found.known.tolist() == [True, True, True, False, False, True]
    assert found.all.sum() == 2
    assert not found.between.any()


def test_graded_items_are_dead_between_the_ends_too():
    found = dead_items([[0.5, 0.5, 0.5], [0.0, 0.2, 0.1], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert found.between.tolist() == [True, False, False, False]
    assert found.best.tolist() == [False, False, True, False]
    assert found.worst.tolist() == [False, False, False, True]


def test_a_table_of_one_value_is_all_dead_and_passing():
    found = dead_items(np.ones((4, 3)))
    assert found.best.all()
    assert not found.worst.any()
    assert dead_items(np.zeros((0, 3))).all.size == 0


# --- flaky


@pytest.mark.parametrize(
    ("runs", "flaky"),
    [
        ([1, 1, 0, 0], True),
        ([1, 0, 0, 0], False),
        ([1, 1, 1, 0], False),
        ([1, 1, 0], False),
        ([1, 0, NAN, 1, 0], True),
        ([1, 0, NAN, 1], False),
        ([1] * 8 + [0] * 2, True),
        ([NAN] * 4, False),
    ],
)
def test_two_of_each_is_flaky(runs, flaky):
    assert flaky_items([[runs]]).tolist() == [flaky]


def test_any_system_may_show_it():
    stable, unstable = [[1, 1, 1, 1], [1, 1, 1, 1]], [[1, 1, 1, 1], [1, 0, 0, 1]]
    assert flaky_items([stable, unstable]).tolist() == [False, True]
    with pytest.raises(ValueError, match="no system"):
        flaky_items([])


# --- backwards


def slow_net(table):
    """Concordant minus discordant pairs, by their definition."""
    n, systems = table.shape
    found = []
    for i in range(n):
        net = 0
        for a, b in itertools.combinations(range(systems), 2):
            x, y = table[i, a], table[i, b]
            rest = [np.nanmean(np.delete(table[:, s], i)) for s in (a, b)]
            if not (math.isnan(x) or math.isnan(y)) and abs(rest[0] - rest[1]) > 1e-12:
                net += int(np.sign(x - y) * np.sign(rest[0] - rest[1]))
        found.append(net)
    return found


@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_the_counts_by_their_definition(gaps):
    rng = np.random.default_rng(1)
    table = systems_table(rng, 15, 7)
    table[rng.random(table.shape) < gaps] = NAN
    assert backwards_items(table, 1, 99).net.tolist() == slow_net(table)


def test_the_counts_are_kendalls_numerator():
    rng = np.random.default_rng(2)
    table = rng.random((6, 9))
    net = backwards_items(table, 1, 99).net
    for i in range(6):
        rest = np.delete(table, i, axis=0).mean(axis=0)
        assert net[i] == pytest.approx(stats.kendalltau(table[i], rest).statistic * 36)


def test_planted_backward_items_are_found_and_few_others():
    rng = np.random.default_rng(3)
    table = systems_table(rng, 220, 14)
    table[:20] = 1 - np.sort(table[:20], axis=1)  # passed by the worst systems only
    table[:20, :3], table[:20, -3:] = 1, 0
    found = backwards_items(table, 7)
    assert found.flagged[:20].all()
    assert found.flagged[20:].sum() <= 5
    assert (found.net[:20] < 0).all()
    assert found.p < 0.01
    assert found.expected < 12


def test_items_that_have_nothing_to_do_with_each_other_are_flagged_as_often_as_chance():
    rng = np.random.default_rng(4)
    flagged, expected, small = 0, 0.0, 0
    for seed in range(60):
        found = backwards_items((rng.random((60, 8)) < 0.5).astype(float), seed, 199)
        flagged += found.flagged.sum()
        expected += found.expected
        small += found.p <= 0.05
    assert flagged == pytest.approx(expected, rel=0.35)
    assert expected / 60 <= 60 * 0.05
    assert small <= stats.binom.ppf(1 - 1e-4, 60, 0.05)


def test_the_limit_of_an_item_is_its_exact_law():
    """Eight systems, four of which pass: the flagged nets are those with an exact p of at most .05."""
    rng = np.random.default_rng(5)
    table = (np.add.outer(rng.random(40), np.arange(8) / 8) > 1).astype(float)
    table[0] = [1, 1, 1, 1, 0, 0, 0, 0]
    found = backwards_items(table, 3, 4999)
    rest = table[1:].mean(axis=0)
    assert np.unique(rest).size == 8
    law = [
        sum(np.sign(x[a] - x[b]) * np.sign(rest[a] - rest[b]) for a, b in itertools.combinations(range(8), 2))
        for chosen in itertools.combinations(range(8), 4)
        for x in [np.isin(np.arange(8), chosen).astype(float)]
    ]
    exact = np.mean(np.array(law) <= found.net[0])
    assert exact == pytest.approx(1 / 70)
    assert found.flagged[0]
    table[0] = [1, 0, 1, 1, 0, 1, 0, 0]  # net -6 of -16
    again = backwards_items(table, 3, 4999)
    assert np.mean(np.array(law) <= again.net[0]) > 0.06
    assert not again.flagged[0]


def test_order_of_systems_and_items_does_not_matter():
    rng = np.random.default_rng(6)
    table = systems_table(rng, 30, 9)
    found = backwards_items(table, 1, 99).net
    assert np.array_equal(backwards_items(table[:, ::-1], 1, 99).net, found)
    assert np.array_equal(backwards_items(table[::-1], 1, 99).net, found[::-1])


def test_gaps_stay_where_they_are():
    rng = np.random.default_rng(7)
    table = systems_table(rng, 40, 9)
    table[rng.random(table.shape) < 0.3] = NAN
    found = backwards_items(table, 1, 199)
    assert not found.flagged[np.isnan(table).sum(axis=1) >= 8].any()
    assert found.expected <= 2.5


@pytest.mark.parametrize("shape", [(30, 4), (1, 9)])
def test_too_little_says_nothing(shape):
    assert backwards_items(np.zeros(shape), 1) is None
    enough = backwards_items(np.zeros((30, 5)), 1, 99)
    assert (enough.flagged.sum(), enough.expected, enough.p) == (0, 0.0, 1.0)


# --- worth


def test_equal_items_are_worth_their_number_and_dead_ones_nothing():
    table = np.array([[0.0, 1.0, 0.0, 1.0]] * 30 + [[1.0] * 4] * 70)
    assert effective_items(table) == pytest.approx(30)
    assert effective_items(np.ones((5, 3))) == 0.0
    assert effective_items(np.full((5, 3), 0.1 + 0.2)) == 0.0


@given(st.integers(2, 30), st.integers(2, 8), st.integers(0, 1000))
def test_the_worth_by_its_definition(n, systems, seed):
    table = np.random.default_rng(seed).integers(0, 3, (n, systems)).astype(float)
    v = np.mean(
        [(table[:, a] - table[:, b]) ** 2 for a, b in itertools.combinations(range(systems), 2)], axis=0
    )
    wanted = v.sum() ** 2 / np.sum(v * v) if v.any() else 0.0
    assert effective_items(table) == pytest.approx(wanted)
    assert effective_items(table) <= np.sum(v > 0) + 1e-9


def test_what_dropping_and_adding_does():
    rng = np.random.default_rng(8)
    table = np.vstack([systems_table(rng, 100, 6), np.ones((100, 6))])
    level = 0.025
    whole = smallest_gain_after(table, level)
    v = 2 * table.var(axis=1, ddof=1)
    assert whole.smallest_gain == pytest.approx(smallest_effect(v.mean(), 200, level))
    without = smallest_gain_after(table, level, drop=dead_items(table).all)
    assert without.summed == pytest.approx(whole.summed)  # dead items cost money and hide nothing
    assert without.items < 200
    assert without.smallest_gain == pytest.approx(whole.summed / without.items)
    more = smallest_gain_after(table, level, add=400)
    live = v[v > 1e-12]
    assert more.items == 600
    assert more.smallest_gain == pytest.approx(
        smallest_effect((v.sum() + 400 * live.mean()) / 600, 600, level)
    )
    assert more.smallest_gain < whole.smallest_gain
    with pytest.raises(ValueError, match="no item"):
        smallest_gain_after(table, level, drop=np.ones(200, bool))
    assert smallest_gain_after(np.ones((3, 3)), level, add=2).smallest_gain == 0.0


def test_gaps_are_left_out_of_the_variance():
    assert effective_items([[1.0, NAN, 0.0], [1.0, NAN, NAN], [0.0, 1.0, NAN]]) == pytest.approx(2)


def test_gaps_of_unequal_number_by_every_pair_of_systems():
    """v of an item is the mean squared difference over the pairs of systems that have it; 0 without one."""
    nan = math.nan
    table = np.array([[0.1, 0.5, nan], [nan, 0.2, 0.3], [0.0, 0.4, 0.9], [nan, 0.7, nan], [nan] * 3])
    v = []
    for row in table:
        pairs = [(a - b) ** 2 for a, b in itertools.combinations(row[~np.isnan(row)], 2)]
        v.append(float(np.mean(pairs)) if pairs else 0.0)
    assert effective_items(table) == pytest.approx(sum(v) ** 2 / sum(x * x for x in v))
    found = smallest_gain_after(table, 0.025)
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    assert (found.items, found.summed) == (5, pytest.approx(z * math.sqrt(sum(v))))

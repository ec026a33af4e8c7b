"""Quantile differences and ratios of sums: enumerated laws, direction, units, what is too little."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats.quantiles import quantile_difference, quantile_metric
from gate.stats.ratios import fieller, ratio_difference, ratio_rows
from gate.stats.results import Settings

LEVEL = 0.025
ASK = Settings(0.0, LEVEL)


def latencies(n=300, seed=0, gain=0.8):
    rng = np.random.default_rng(seed)
    old = rng.gamma(2, 100, n)
    return old, old * gain * rng.uniform(0.8, 1.2, n)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=15).filter(
        lambda rows: sum(times for _, times in rows) > 0
    ),
    st.floats(0.01, 0.99),
)
def test_weighted_quantile_is_that_of_the_repeated_values(rows, q):
    values, times = np.array([v for v, _ in rows], dtype=float), np.array([t for _, t in rows])
    found = float(quantile_metric(values, q)(times))
    assert found == pytest.approx(np.quantile(np.repeat(values, times), q), abs=1e-12)


def test_resampled_quantiles_follow_the_enumerated_law():
    old, new = np.array([1.0, 4.0, 2.0, 7.0]), np.array([1.5, 3.0, 2.0, 9.0])
    law = np.array([
        np.quantile(new[list(rows)], 0.8) - np.quantile(old[list(rows)], 0.8)
        for rows in itertools.product(range(4), repeat=4)
    ])  # fmt: skip
    for m in (0.0, 0.5, -0.4):
        found = quantile_difference(old, new, 0.8, Settings(m, LEVEL, resamples=9_999, seed=1)).test
        assert found.p_greater == pytest.approx(np.mean(np.round(law, 12) <= m), abs=0.021)


def test_lower_is_better_turns_the_difference_and_not_the_values():
    old, new = latencies()
    raw = quantile_difference(old, new, 0.95, Settings(0.0, LEVEL, resamples=999))
    turned = quantile_difference(old, new, 0.95, Settings(0.0, LEVEL, resamples=999), lower_is_better=True)
    assert (raw.baseline, raw.candidate) == (turned.baseline, turned.candidate)
    assert turned.test.estimate == -raw.test.estimate > 0
    assert turned.test.p_greater == raw.test.p_less
    assert turned.test.interval.low == -raw.test.interval.high
    assert not turned.test.insufficient


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_another_unit_changes_no_p(unit):
    old, new = latencies(gain=0.97)
    one = quantile_difference(old, new, 0.5, Settings(0.0, LEVEL, resamples=999, seed=1)).test
    two = quantile_difference(old * unit, new * unit, 0.5, Settings(0.0, LEVEL, resamples=999, seed=1)).test
    assert one.p_greater == two.p_greater
    assert two.interval.low == pytest.approx(one.interval.low * unit)


def test_order_of_rows_changes_no_digit():
    old, new = latencies()
    order = np.random.default_rng(3).permutation(old.size)
    one = quantile_difference(old, new, 0.9, Settings(1.0, LEVEL, resamples=999))
    assert one == quantile_difference(old[order], new[order], 0.9, Settings(1.0, LEVEL, resamples=999))
    rows = [np.round(x, 2) for x in (old, new + 5, new, old + 3)]
    assert ratio_difference(ratio_rows(*rows), ASK) == ratio_difference(
        ratio_rows(*(x[order] for x in rows)), ASK
    )


@pytest.mark.parametrize(("n", "q", "reason"), [
    (199, 0.95, "10 items"), (200, 0.95, ""), (200, 0.05, ""), (199, 0.05, "10 items"), (49, 0.5, "50 items"),
    (50, 0.5, ""), (999, 0.99, "10 items"), (1000, 0.99, ""),
])  # fmt: skip
def test_enough_items_must_lie_beyond(n, q, reason):
    found = quantile_difference(*latencies(n), q, Settings(0.0, LEVEL, resamples=799))
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


@pytest.mark.parametrize("m", [0.0, -10.0])
def test_equal_values_are_never_a_pass(m):
    old, _ = latencies()
    found = quantile_difference(old, old, 0.5, Settings(m, LEVEL, resamples=799), lower_is_better=True)
    assert found.test.p_greater == 1.0
    assert found.test.insufficient
    found = ratio_difference(ratio_rows(old, old + 1, old, old + 1), Settings(m, LEVEL))
    assert found.test.p_greater == 1.0
    assert found.test.insufficient


@pytest.mark.parametrize(("changed", "enough"), [(5, False), (6, True)])
def test_changed_items_must_be_able_to_reach_the_level(changed, enough):
    old, _ = latencies()
    new = old.copy()
    new[np.argsort(old)[148 : 148 + changed]] -= 40
    found = quantile_difference(old, new, 0.5, Settings(0.0, LEVEL, resamples=799), lower_is_better=True)
    assert (not found.test.insufficient) == enough
    found = ratio_difference(ratio_rows(old, np.ones(300), new, np.ones(300)), ASK)
    assert (not found.test.insufficient) == enough


def rows_of_cost(n=200, seed=0):
    rng = np.random.default_rng(seed)
    cost = rng.gamma(2, 1, n)
    return cost, rng.integers(1, 5, n) * 1.0, cost * rng.uniform(0.6, 1.1, n), rng.integers(1, 5, n) * 1.0


def test_ratio_of_equal_denominators_is_the_t_test_of_means():
    cost, _, cheaper, _ = rows_of_cost()
    found = ratio_difference(ratio_rows(cost, np.ones(200), cheaper, np.ones(200)), ASK)
    d = cheaper - cost
    assert found.test.estimate == pytest.approx(d.mean())
    assert found.standard_error == pytest.approx(d.std(ddof=1) / math.sqrt(200))


def test_ratio_turns_mirrors_and_ignores_units():
    a, b, c, d = rows_of_cost()
    one = ratio_difference(ratio_rows(a, b, c, d), ASK)
    turned = ratio_difference(ratio_rows(a, b, c, d), ASK, lower_is_better=True)
    mirror = ratio_difference(ratio_rows(c, d, a, b), ASK)
    assert turned.test.p_greater == pytest.approx(one.test.p_less)
    assert turned.test.interval.low == pytest.approx(-one.test.interval.high)
    assert mirror.test.p_less == pytest.approx(one.test.p_greater)
    cents = ratio_difference(ratio_rows(100 * a, b, 100 * c, d), ASK)
    assert cents.test.p_greater == pytest.approx(one.test.p_greater)
    for unit in (1.0, 7.0):
        log = ratio_difference(ratio_rows(unit * a, b, unit * c, d), ASK, log=True)
        assert log.test.estimate == pytest.approx(math.log(one.candidate / one.baseline))
        assert log.test.estimand == "log_ratio"


@given(st.floats(-0.5, 0.5))
def test_interval_and_p_of_a_ratio_are_one_decision(m):
    test = ratio_difference(ratio_rows(*rows_of_cost()), Settings(m, 0.05)).test
    assert (test.interval.low > m) == (test.p_greater < 0.05)
    assert (test.interval.high < m) == (test.p_less < 0.05)


def test_denominators_that_add_up_to_nothing_give_no_ratio():
    a, b, c, d = rows_of_cost()
    found = ratio_difference(ratio_rows(a, 0 * b, c, d), ASK)
    assert "the baseline's denominators add up to 0" in found.test.insufficient
    assert math.isnan(found.test.estimate)
    found = ratio_difference(ratio_rows(a, b, -c, d), ASK, log=True)
    assert "no logarithm" in found.test.insufficient
    losses = ratio_difference(ratio_rows(a, b, -c, d), ASK)
    assert losses.candidate < 0
    assert not losses.test.insufficient


@pytest.mark.parametrize(("successes", "reason", "cautions"), [
    (8, "standard errors from 0; at least 3", ["weak_denominator"]), (10, "", ["weak_denominator"]),
    (120, "", []),
])  # fmt: skip
def test_weak_denominators(successes, reason, cautions):
    a, _, c, _ = rows_of_cost()
    wins = (np.arange(200) < successes) * 1.0
    found = ratio_difference(ratio_rows(a, wins, c, np.ones(200)), ASK)
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient
    assert [c.code for c in found.test.cautions] == cautions
    assert all("the baseline's" in c.message for c in found.test.cautions)
    turned = ratio_difference(ratio_rows(c, np.ones(200) - 0.01 * (a > 2), a, wins), ASK)
    assert all("the candidate's" in c.message for c in turned.test.cautions)


def test_the_weaker_of_two_denominators_is_named():
    a, _, c, _ = rows_of_cost()
    few, more = ((np.arange(200) < count) * 1.0 for count in (10, 20))
    for rows, name in (((a, few, c, more), "baseline"), ((a, more, c, few), "candidate")):
        (note,) = ratio_difference(ratio_rows(*rows), ASK).test.cautions
        assert f"the {name}'s denominator is only 3.2 standard errors" in note.message


@pytest.mark.parametrize(("n", "reason"), [(49, "50 items"), (50, "")])
def test_a_ratio_needs_items(n, reason):
    found = ratio_difference(ratio_rows(*rows_of_cost(n)), ASK)
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


def test_fieller_of_a_constant_denominator_is_students_interval():
    x = rows_of_cost()[0]
    found = fieller(x, np.full(200, 2.0), LEVEL)
    half = 1.9719565442518 * x.std(ddof=1) / math.sqrt(200)
    assert [found.low, found.high] == pytest.approx([(x.mean() - half) / 2, (x.mean() + half) / 2])


def test_fieller_is_unbounded_where_the_denominator_may_be_zero():
    x = rows_of_cost()[0]
    noise = np.where(np.arange(200) % 2 == 0, 1.0, -1.0)
    assert math.isinf(fieller(x, noise, LEVEL).high)
    assert math.isinf(fieller(x[:1], noise[:1], LEVEL).high)


@pytest.mark.parametrize(("columns", "words"), [
    (([1.0], [1.0, 2.0], [1.0], [1.0]), "pair up"), (([], [], [], []), "pair up"),
    (([1.0], [math.nan], [1.0], [1.0]), "finite"),
])  # fmt: skip
def test_columns_that_do_not_fit(columns, words):
    with pytest.raises(ValueError, match=words):
        ratio_rows(*columns)


def test_confidence_is_that_of_the_level():
    rows = ratio_rows(*rows_of_cost())
    assert ratio_difference(rows, Settings(0.0, 0.05)).test.interval.confidence == pytest.approx(0.9)
    assert fieller(rows.baseline_top, rows.baseline_bottom, 0.05).confidence == pytest.approx(0.9)


def test_small_denominators_are_a_unit_and_no_fault():
    a, b, c, d = rows_of_cost()
    one = ratio_difference(ratio_rows(a, b, c, d), ASK)
    two = ratio_difference(ratio_rows(a, b / 1e6, c, d / 1e6), ASK)
    assert not two.test.insufficient
    assert two.test.p_greater == pytest.approx(one.test.p_greater)


def test_fieller_of_two_items_is_finite_where_the_denominator_is_sure():
    found = fieller([1.0, 2.0], [3.0, 3.0], 0.25)
    assert [found.low, found.high] == pytest.approx([(1.5 - 0.5) / 3, (1.5 + 0.5) / 3])


def test_two_items_have_a_spread_and_one_has_none():
    two = ratio_difference(ratio_rows([1.0, 2], [1.0, 1], [2.0, 5], [1.0, 1]), ASK)
    assert two.standard_error == pytest.approx(1.0)
    one = ratio_difference(ratio_rows([1.0], [1.0], [2.0], [1.0]), ASK)
    assert (one.test.estimate, one.test.p_greater) == (1.0, 1.0)
    assert "no spread" in one.test.insufficient

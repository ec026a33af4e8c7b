"""Repeats, sample sizes and power."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gate.stats import power
from gate.stats.multiplicity import adjust
from gate.stats.repeats import flaky, run_noise
from gate.stats.unconditional import p_greater

LEVEL = 0.025


def runs(seed=0, n=400, k=5, item_sd=0.05):
    rng = np.random.default_rng(seed)
    base = rng.beta(2, 1, n)
    gain = rng.normal(0, item_sd, n)
    draw = [rng.random((n, k)) < np.clip(p, 0, 1)[:, None] for p in (base, base + gain)]
    return [x.astype(float) for x in draw]


def test_flaky_items_are_counted_in_integers():
    old = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], dtype=float)
    new = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], dtype=float)
    found = flaky(old, new)
    assert (found.status, found.items, found.flagged) == ("measured", 4, 2)
    assert found.delta_share == pytest.approx(0.8)
    assert found.flagged_contribution + found.stable_contribution == pytest.approx((0.4 + 0.2 + 0.4) / 4)
    assert found.flagged_mean == pytest.approx(0.4)
    assert found.stable_mean == pytest.approx(0.1)
    d = np.array([0.4, 0.2, 0.0, 0.4])
    squares = (d - d.mean()) ** 2
    assert found.variance_share == pytest.approx((squares[0] + squares[3]) / squares.sum())


def test_too_few_runs_are_not_measurable():
    old, new = runs(k=3)
    assert flaky(old, new).status == "not measurable"
    assert flaky(old[:, :1], new[:, :1]).status == "not measured"
    assert flaky(old * 0.5 + 0.1, new).status == "not measurable"
    assert flaky(-runs(k=4)[0], -runs(k=4)[1]).status == "measured"


def test_flaky_with_no_delta_has_no_share_of_it():
    old, _ = runs(k=6)
    found = flaky(old, old)
    assert found.delta_share is None
    assert found.variance_share is None


def test_missing_runs_are_left_out():
    old, new = runs(k=6)
    old[3, 4:], new[5, 2] = np.nan, np.nan
    assert flaky(old, new).status == "measured"
    assert run_noise(old, new).v_run > 0
    with pytest.raises(ValueError, match="at least one run"):
        flaky(np.full((3, 4), np.nan), np.zeros((3, 4)))


def test_run_noise_separates_items_from_runs():
    old, new = runs(seed=3, n=4000, k=5, item_sd=0.0)
    found = run_noise(old, new)
    p_old, p_new = old.mean(axis=1), new.mean(axis=1)
    expected = np.mean(p_old * (1 - p_old) + p_new * (1 - p_new)) * 5 / 4
    assert found.v_run == pytest.approx(expected)
    assert found.runs == pytest.approx(5)
    assert found.v_item < 0.03 * found.v_run
    d = p_new - p_old
    assert found.se == pytest.approx(d.std(ddof=1) / math.sqrt(4000))
    assert found.se_twice_items == pytest.approx(found.se / math.sqrt(2))
    assert found.se_twice_runs == pytest.approx(math.sqrt((found.v_item + found.v_run / 10) / 4000))
    assert found.se_floor <= found.se_twice_runs <= found.se * (1 + 1e-9)
    steady = np.tile(np.linspace(0, 1, 50)[:, None], (1, 4))
    still = run_noise(np.zeros((50, 4)), steady)
    assert still.v_run == 0
    assert still.se_twice_runs == pytest.approx(still.se)
    assert run_noise(old[:, :1], new[:, :1]) is None
    assert run_noise(old[:1], new[:1]) is None


def test_a_system_of_few_runs_is_measured_by_the_other():
    """The larger number of runs on any item decides whether two passes and two failures can be seen."""
    one, four = np.zeros((3, 1)), np.array([[1.0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    for old, new in ((one, four), (four, one)):
        found = flaky(old, new)
        assert (found.status, found.flagged) == ("measured", 1)
        assert found.flagged_contribution + found.stable_contribution == pytest.approx(
            np.mean(new.mean(axis=1) - old.mean(axis=1))
        )
    uneven = np.array([[1.0, 0, np.nan, np.nan], [1, 1, 0, 0]])
    assert flaky(uneven, uneven).flagged == 1
    assert flaky(uneven[:1], uneven[:1]).status == "not measurable"
    assert flaky(one, np.zeros((3, 2))).status == "not measurable"
    assert flaky(one, one).status == "not measured"
    assert flaky(one[:, 0], one[:, 0]).status == "not measured"


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ((0.0, 1.0), "measured"),
        ((0.0, -1.0), "measured"),
        ((0.0, 0.0), "measured"),
        ((1.0, -1.0), "not measurable"),
        ((0.0, 0.5), "not measurable"),
        ((1.0, 0.5), "not measurable"),
    ],
)
def test_only_passes_and_failures_can_be_flaky(values, status):
    odd, plain = np.array([values * 2] * 2), np.array([[0.0, 0, 0, 0]] * 2)
    for old, new in ((odd, plain), (plain, odd), (odd, odd)):
        assert flaky(old, new).status == status


def test_where_all_or_none_are_flaky_one_mean_is_unknown():
    mixed, steady = np.array([[1.0, 1, 0, 0]] * 2), np.array([[1.0, 1, 1, 1]] * 2)
    every, none = flaky(steady, mixed), flaky(steady, steady * 0)
    assert (every.flagged_mean, every.stable_mean, every.delta_share) == (-0.5, None, 1.0)
    assert (none.flagged_mean, none.stable_mean, none.delta_share) == (None, -1.0, 0.0)
    assert (every.flagged_contribution, every.stable_contribution) == (-0.5, 0.0)


def test_run_noise_of_two_items_with_two_runs_by_hand():
    """Variances .5 and 0 of the baseline, 2 and 2 of the candidate; differences 1.5 and 2."""
    old, new = [[1.0, 2.0], [4.0, 4.0]], [[2.0, 4.0], [5.0, 7.0]]
    found = run_noise(old, new)
    assert found.v_run == pytest.approx((2.5 + 2.0) / 2)
    noise = 0.25 / 2 + 2.0 / 2
    assert found.runs == pytest.approx(2.25 / noise)
    assert found.v_item == 0.0  # the differences vary by .125, less than their noise
    assert found.se == pytest.approx(math.sqrt(0.125 / 2))
    assert found.se_twice_items == pytest.approx(math.sqrt(0.125 / 4))
    assert found.se_twice_runs == pytest.approx(math.sqrt(noise / 2 / 2))
    assert found.se_floor == 0.0
    apart = run_noise([[1.0, 2.0], [4.0, 4.0]], [[2.0, 4.0], [15.0, 17.0]])
    assert apart.v_item == pytest.approx(np.var([1.5, 12.0], ddof=1) - noise)
    assert apart.se_floor == pytest.approx(math.sqrt(apart.v_item / 2))
    assert apart.se_twice_runs == pytest.approx(math.sqrt((apart.v_item + noise / 2) / 2))


def test_run_noise_needs_two_runs_on_both_sides_of_some_item():
    nan = math.nan
    assert run_noise([[1.0, 2.0], [1.0, nan]], [[1.0, nan], [1.0, 2.0]]) is None
    assert run_noise([[1.0, 2.0]], [[1.0, 2.0]]) is None
    partly = run_noise([[1.0, 2.0], [3.0, nan]], [[2.0, 4.0], [1.0, nan]])
    assert partly.v_run == pytest.approx(0.5 + 2.0)  # of the first item alone
    assert partly.runs == pytest.approx(2.5 / (2.5 * 0.75))  # 1 / 2 and 1 run: on average 3 / 4
    still = run_noise([[1.0, 1, 1], [2.0, 2, nan]], [[1.0, 1, 1], [3.0, 3, 3]])
    assert (still.v_run, still.runs) == (0.0, pytest.approx((3 + 2.5) / 2))


@pytest.mark.parametrize(
    ("n", "points"), [(200, 6.0), (400, 4.2), (800, 3.0), (1200, 2.5), (2000, 1.9), (5000, 1.2)]
)
def test_smallest_effect_at_the_seed_variance(n, points):
    assert round(100 * power.smallest_effect(0.0918, n, LEVEL), 1) == points


@pytest.mark.parametrize(("points", "n"), [(1, 7206), (2, 1802), (3, 801), (5, 289)])
def test_items_needed_are_rounded_up(points, n):
    assert power.items_needed(0.0918, points / 100, LEVEL) == n


def test_items_needed_at_variance_one_ninth():
    assert power.items_needed(1 / 9, 0.03, LEVEL) == 969
    assert power.items_needed(1 / 9, 0.0, LEVEL) is None
    assert power.items_needed(1 / 9, -0.01, LEVEL) is None
    assert power.items_needed(0.0, 0.01, LEVEL) == 2
    assert power.items_needed(1e300, 1e-300, LEVEL) is None


@pytest.mark.parametrize(("n", "share"), [(200, 0.21), (400, 0.44), (800, 0.77), (1200, 0.92), (2000, 0.99)])
def test_power_of_exact_mcnemar(n, share):
    assert power.mcnemar_power(n, 0.0927, 0.03, LEVEL) == pytest.approx(share, abs=0.006)


def test_degenerate_power():
    assert power.mcnemar_power(50, 0.0, 0.0, LEVEL) == 0.0
    assert power.mcnemar_power(6, 1.0, 1.0, LEVEL) == pytest.approx(1.0)
    assert power.mcnemar_power(5, 1.0, 1.0, LEVEL) == pytest.approx(0.0)
    assert power.normal_power(0.0918, 801, 0.03, LEVEL) == pytest.approx(0.8, abs=0.001)
    assert power.normal_power(0.0, 10, 0.1, LEVEL) == 1.0


@pytest.mark.parametrize(("psi", "delta", "n"), [(0.0927, 0.03, 855), (0.2, 0.1, 168), (0.05, 0.02, 1035)])
def test_items_that_exact_mcnemar_needs(psi, delta, n):
    assert power.mcnemar_items_needed(psi, delta, LEVEL) == n


@pytest.mark.parametrize(("tolerance", "level"), [(0.02, 0.025), (0.05, 0.05), (0.01, 0.005), (0.1, 0.025)])
def test_items_that_prove_a_tolerance_without_a_discordant_pair(tolerance, level):
    n = power.clean_items_needed(tolerance, level)
    g = 1e-4 if level >= 0.005 else 1e-6
    assert p_greater(0, 0, n, -tolerance, g) < level <= p_greater(0, 0, n - 1, -tolerance, g)
    if (tolerance, level) == (0.02, 0.025):
        assert n == 183


def test_corrections_of_small_families():
    for method in ("none", "bonferroni", "holm", "hochberg", "bh", "by"):
        assert adjust([0.03], method) == [0.03]
        assert adjust([], method) == []
        assert max(adjust([0.9, 0.8, 1.0], method)) <= 1
    assert adjust([0.02, 0.01, 0.02], "holm") == pytest.approx([0.04, 0.03, 0.04])
    with pytest.raises(ValueError, match="correction"):
        adjust([0.1], "sidak")


@pytest.mark.parametrize(
    ("level", "units"), [(0.5, 2), (0.4999, 2), (0.25, 3), (0.025, 6), (2**-6, 7), (1e-4, 14)]
)
def test_the_fewest_units_that_can_pass(level, units):
    assert power.fewest_units(level) == units
    assert 0.5**units < level <= 0.5 ** (units - 1)

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

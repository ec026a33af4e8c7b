"""Two runs of one system: the floor by enumeration and simulation, and what a rule makes of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.stats.graded import t_guarded
from gate.stats.noise_floor import false_promotions, noise_floor
from gate.stats.pairs import from_differences

LEVEL = 0.025


def runs_of(wins, losses, n):
    rows = [(0, 1)] * wins + [(1, 0)] * losses + [(1, 1)] * (n - wins - losses)
    return np.array(rows, dtype=float)


@given(st.integers(0, 120), st.sampled_from([0.025, 0.05, 0.0125]))
def test_the_floor_of_pass_fail_is_the_largest_gain_by_luck(flips, level):
    found = noise_floor(runs_of(flips, 0, 200), level)
    gains = 2 * np.arange(flips + 1) - flips
    law = stats.binom.pmf(np.arange(flips + 1), flips, 0.5)
    floor = round(found.floor * 200)
    assert law[gains > floor].sum() <= level + 1e-12
    assert floor == 0 or law[gains >= floor].sum() > level
    assert found.flipped == flips / 200
    assert found.delta == flips / 200
    assert found.sd == pytest.approx(math.sqrt(flips / 200))


def promotions(runs, rule, replays, seed):
    """The rule over the runs that each replay draws."""

    def decide(rows, swap):
        first = swap.astype(int)
        return rule(runs[rows, first], runs[rows, 1 - first])

    return false_promotions(len(runs), decide, range(replays), seed)


def test_the_floor_does_not_depend_on_who_won():
    assert noise_floor(runs_of(12, 3, 100), LEVEL).floor == noise_floor(runs_of(0, 15, 100), LEVEL).floor
    assert noise_floor(runs_of(0, 0, 100), LEVEL).floor == 0.0


def test_a_margin_below_the_floor_is_swallowed():
    found = noise_floor(runs_of(8, 8, 100), LEVEL)
    assert found.floor == pytest.approx(0.08)  # 12 of 16 is within luck at .025, 13 is not
    assert found.swallows(0.0799)
    assert not found.swallows(found.floor)
    assert not noise_floor(runs_of(0, 0, 100), LEVEL).swallows(0.0)


def test_scores_by_the_variance_between_runs():
    rng = np.random.default_rng(1)
    runs = rng.normal(0, 1, (300, 1)) + 0.2 * rng.standard_normal((300, 2))
    found = noise_floor(runs, LEVEL)
    d = runs[:, 1] - runs[:, 0]
    assert found.floor == pytest.approx(stats.norm.isf(LEVEL) * math.sqrt(np.sum(d * d)) / 300)
    assert found.delta == pytest.approx(d.mean())
    assert found.sd == pytest.approx(math.sqrt(np.mean(d * d)))
    assert found.flipped == 1.0
    beyond = np.mean(
        [abs(np.mean(rng.choice([-1, 1], 300) * d)) > found.floor for _ in range(4000)]
    )  # the sign-flip law of the mean, both sides
    assert beyond == pytest.approx(2 * LEVEL, abs=0.012)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_flips_over_all_pairs_of_runs(k):
    rng = np.random.default_rng(k)
    runs = (rng.random((40, k)) < 0.6).astype(float)
    wanted = np.mean([np.mean(runs[:, a] != runs[:, b]) for a, b in itertools.combinations(range(k), 2)])
    assert noise_floor(runs, LEVEL).flipped == pytest.approx(wanted)


def test_more_runs_agree_with_two():
    """The floor of many runs is near that of any two of them, and is what two new runs keep to."""
    rng = np.random.default_rng(4)
    strength = rng.beta(2, 1, 2000)
    runs = (rng.random((2000, 6)) < strength[:, None]).astype(float)
    many, two = noise_floor(runs, LEVEL), noise_floor(runs[:, :2], LEVEL)
    assert many.floor == pytest.approx(two.floor, rel=0.1)
    assert many.flipped == pytest.approx(np.mean(2 * strength * (1 - strength)), abs=0.02)
    new = [
        np.mean((rng.random(2000) < strength).astype(float) - (rng.random(2000) < strength)) > many.floor
        for _ in range(1500)
    ]
    assert np.mean(new) < 0.04


@pytest.mark.parametrize("runs", [np.zeros((3, 1)), np.zeros((0, 2)), np.zeros(4)])
def test_one_run_is_no_floor(runs):
    with pytest.raises(ValueError, match="two runs"):
        noise_floor(runs, LEVEL)


def test_a_rule_that_holds_its_level_promotes_reruns_that_often():
    rng = np.random.default_rng(5)
    strength = rng.beta(3, 1, 300)
    runs = (rng.random((300, 2)) < strength[:, None]).astype(float)

    def exact(old, new):
        b = int(np.sum(new > old))
        return stats.binom.sf(b - 1, b + int(np.sum(new < old)), 0.5) < LEVEL

    found = promotions(runs, exact, 3000, 9)
    assert 0.008 < found.share <= 0.031
    assert found.trials == 3000
    assert found == promotions(runs, exact, 3000, 9)
    naive = promotions(runs, lambda old, new: new.mean() > old.mean(), 1000, 9)
    assert 0.4 < naive.share < 0.54
    assert promotions(runs, lambda old, new: False, 50, 9).count == 0


def test_two_different_runs_are_drawn_in_either_order():
    runs = np.array([[0.0, 1.0]] * 500)
    seen = []

    def watch(old, new):
        seen.append(new - old)
        return False

    promotions(runs, watch, 20, 1)
    values, counts = np.unique(np.concatenate(seen), return_counts=True)
    assert values.tolist() == [-1.0, 1.0]
    assert counts / 10_000 == pytest.approx([0.5, 0.5], abs=0.02)


def test_graded_rules_hold_too():
    rng = np.random.default_rng(6)
    runs = rng.random((120, 1)) + 0.1 * rng.standard_normal((120, 2))

    def guarded(old, new):
        return t_guarded(from_differences(np.round(new - old, 12)), 0.0, LEVEL).p_greater < LEVEL

    assert promotions(runs, guarded, 1500, 2).share < 0.04

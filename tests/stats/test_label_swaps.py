"""Swapped labels and planted gains: what a replay keeps, what it changes, and that it meets the truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from gate.stats.label_swaps import (
    Luck,
    PastCycle,
    against_outcomes,
    first_promotions,
    gains_to_try,
    luck,
    operating,
    replayed,
)
from gate.stats.rates import Rate

# --- rates


@pytest.mark.parametrize(("count", "trials"), [(0, 10), (10, 10), (3, 40), (57, 2000)])
def test_wilsons_interval_as_statsmodels_has_it(count, trials):
    for confidence in (0.8, 0.95):
        wanted = proportion_confint(count, trials, alpha=1 - confidence, method="wilson")
        assert Rate(count, trials).interval(confidence) == pytest.approx(wanted, abs=1e-12)


def test_nothing_tried_is_nothing_known():
    assert (Rate(0, 0).share, Rate(0, 0).interval()) == (0.0, (0.0, 1.0))
    assert Rate(3, 12).share == 0.25


# --- one replay


def cycle_of(pairs, items=None):
    old, new = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    return PastCycle(np.arange(len(pairs)) if items is None else np.array(items), old, new)


def chance_of(n, swap=False, odd=0.5):
    return Luck(np.full(n, swap), np.arange(n) / n, odd)


tables = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(tables, st.integers(0, 10**6))
def test_a_swap_keeps_the_two_results_of_an_item(pairs, seed):
    cycle = cycle_of(pairs)
    chance = luck(len(pairs), np.random.default_rng(seed))
    found = replayed(cycle, 0.0, chance)
    for i, (old, new) in enumerate(pairs):
        assert (found.baseline[i], found.candidate[i]) == ((new, old) if chance.swap[i] else (old, new))
    assert np.array_equal(found.items, cycle.items)


@given(tables, st.floats(0, 1), st.integers(0, 10**6))
def test_a_planted_gain_is_as_large_as_it_says(pairs, gain, seed):
    n = len(pairs)
    cycle = cycle_of(pairs)
    chance = luck(n, np.random.default_rng(seed))
    null, found = replayed(cycle, 0.0, chance), replayed(cycle, gain, chance)
    wanted = int(np.floor(gain * n + chance.odd))
    added = np.sum((found.candidate - found.baseline) - (null.candidate - null.baseline))
    assert added == min(wanted, n - np.sum(null.candidate > null.baseline))
    assert set(np.unique(found.candidate)) | set(np.unique(found.baseline)) <= {0.0, 1.0}
    # no win is taken away, and a loss taken back is a tie
    assert np.all(found.candidate - found.baseline >= null.candidate - null.baseline)
    assert np.all(np.abs((found.candidate - found.baseline) - (null.candidate - null.baseline)) <= 1)


@given(tables, st.floats(0, 1), st.integers(0, 10**6))
def test_a_planted_loss_is_a_gain_of_the_other_side(pairs, gain, seed):
    chance = luck(len(pairs), np.random.default_rng(seed))
    mirrored = replayed(cycle_of([(new, old) for old, new in pairs]), gain, chance)
    found = replayed(cycle_of(pairs), -gain, chance)
    assert np.array_equal(found.candidate, mirrored.baseline)
    assert np.array_equal(found.baseline, mirrored.candidate)


def test_half_are_new_wins_and_half_are_losses_taken_back():
    cycle = cycle_of([(1, 0)] * 20 + [(0, 1)] * 10 + [(0, 0)] * 30 + [(1, 1)] * 40)
    found = replayed(cycle, 0.10, chance_of(100))
    won = (found.candidate > found.baseline).sum() - 10
    taken_back = 20 - (found.candidate < found.baseline).sum()
    assert (won, taken_back) == (5, 5)
    assert found.candidate.sum() == cycle.candidate.sum() + 10  # ties that both fail come first
    assert found.baseline.sum() == cycle.baseline.sum()
    few = replayed(cycle_of([(1, 0)] * 2 + [(0, 0)] * 98), 0.10, chance_of(100))
    assert (few.candidate > few.baseline).sum() == 8
    assert (few.candidate < few.baseline).sum() == 0
    passing = replayed(cycle_of([(1, 1)] * 100), 0.10, chance_of(100))
    assert (passing.candidate > passing.baseline).sum() == 10


def test_the_number_planted_is_right_on_average():
    cycle = cycle_of([(0, 0)] * 50 + [(1, 0)] * 10)
    sizes = [
        float(np.mean(f.candidate - f.baseline)) + 1 / 6
        for f in (replayed(cycle, 0.02, chance_of(60, odd=odd)) for odd in (np.arange(100) + 0.5) / 100)
    ]
    assert np.mean(sizes) == pytest.approx(0.02)


def test_scores_lose_their_mean_and_move_by_the_gain():
    rng = np.random.default_rng(1)
    old, d = rng.random(50), rng.normal(0.3, 0.1, 50)
    cycle = PastCycle(np.arange(50), old, old + d)
    assert not cycle.binary
    kept = replayed(cycle, 0.02, chance_of(50))
    assert kept.candidate - kept.baseline == pytest.approx(d - d.mean() + 0.02)
    turned = replayed(cycle, 0.02, chance_of(50, swap=True))
    assert turned.candidate - turned.baseline == pytest.approx(-(d - d.mean()) + 0.02)
    assert turned.baseline == pytest.approx(cycle.candidate)


def test_an_item_of_several_cycles_has_one_coin():
    rng = np.random.default_rng(2)
    first = cycle_of([(0, 1)] * 100)
    second = PastCycle(np.arange(50, 150), np.zeros(100), np.ones(100))
    chance = luck(150, rng)
    one, other = replayed(first, 0.0, chance), replayed(second, 0.0, chance)
    assert np.array_equal(one.candidate[50:], other.candidate[:50])
    assert not np.array_equal(one.candidate[:50], other.candidate[50:])
    assert 30 < one.candidate.sum() < 70


# --- many replays


def passes(level):
    def judge(cycle):
        b = int(np.sum(cycle.candidate > cycle.baseline))
        s = b + int(np.sum(cycle.candidate < cycle.baseline))
        return CRITICAL[level][s] <= b

    return judge


CRITICAL = {
    level: [next(b for b in range(s + 2) if stats.binom.sf(b - 1, s, 0.5) <= level) for s in range(301)]
    for level in (0.05, 0.025)
}


def streak_promotions(passes, required):
    """Promotions of a rule that wants so many passes in a row and begins anew after each promotion."""
    run, found = 0, []
    for passed in passes:
        run = run + 1 if passed else 0
        found.append(run == required)
        run = 0 if run == required else run
    return found


def policy(required, level=0.05):
    passed = passes(level)
    return lambda cycles, _chance: streak_promotions([passed(cycle) for cycle in cycles], required)


def test_an_unchanged_candidate_passes_as_often_as_the_level_says():
    """Cycles on fresh items, k = 1 at .05: .03 to .05, as exact McNemar is a little careful."""
    rng = np.random.default_rng(15)
    cycles = [
        PastCycle(np.arange(500) + 500 * t, *(rng.random((2, 500)) < 0.75).astype(float)) for t in range(6)
    ]
    found = operating(0.0, first_promotions(cycles, policy(1), 0.0, range(1500), 7), 6)
    assert 0.03 <= found.cycles.share <= 0.05
    assert found.promoted.share == pytest.approx(1 - (1 - found.cycles.share) ** 6, abs=0.03)
    assert found.promoted.trials == 1500
    assert found.cycles.trials == 9000


def test_any_part_of_the_replays_can_be_computed_by_itself():
    rng = np.random.default_rng(16)
    cycles = [PastCycle(np.arange(60), *(rng.random((2, 60)) < 0.5).astype(float)) for _ in range(3)]
    whole = first_promotions(cycles, policy(1), 0.1, range(40), 3)
    parts = [first_promotions(cycles, policy(1), 0.1, range(a, a + 10), 3) for a in range(0, 40, 10)]
    assert whole == list(itertools.chain(*parts))
    assert whole != first_promotions(cycles, policy(1), 0.1, range(40), 4)


def test_the_figures_of_the_replays():
    found = operating(0.02, [(0, 0), (1, 3), (2, 1), (1, 2)], 4)
    assert (found.promoted.count, found.promoted.trials) == (3, 4)
    assert (found.cycles.count, found.cycles.trials) == (4, 16)
    assert (found.first, found.median) == (2.0, 2.0)
    none = operating(0.02, [(0, 0), (0, 0), (1, 4)], 4)
    assert (none.first, none.median) == (4.0, None)
    assert operating(0.02, [(0, 0)], 4).first is None


def test_the_gains_of_the_operating_characteristic():
    assert gains_to_try(0.02) == pytest.approx((0, 0.01, 0.02, 0.03, 0.04, 0.06))


@pytest.mark.parametrize(
    ("passed", "required", "promoted"),
    [
        ("110111", 1, "110111"),
        ("110111", 2, "010010"),
        ("111111", 3, "001001"),
        ("110110", 3, "000000"),
        ("", 2, ""),
    ],
)
def test_a_streak_promotes_and_begins_anew(passed, required, promoted):
    found = streak_promotions([c == "1" for c in passed], required)
    assert "".join("01"[x] for x in found) == promoted


def test_decisions_against_what_production_said():
    found = against_outcomes([True, True, False, False, True, False], [True, False, True, False, None, True])
    assert (found.wrong_promotions, found.wrong_blocks, found.unknown) == (Rate(1, 2), Rate(2, 3), 1)
    with pytest.raises(ValueError, match="zip"):
        against_outcomes([True], [])


# --- against the truth


class World:
    """Items with own chances; on re-used items one baseline run serves all cycles and item luck is shared."""

    def __init__(self, rng, n=500, cycles=12, reused=True):
        self.rng, self.n, self.cycles, self.reused = rng, n, cycles, reused

    def draw(self, gain):
        total = self.n if self.reused else self.n * self.cycles
        strength = self.rng.beta(5, 1.2, total)
        lifted = np.clip(
            strength + gain * strength * (1 - strength) / np.mean(strength * (1 - strength)), 0, 1
        )
        base = (self.rng.random(total) < strength).astype(float)
        found = []
        for t in range(self.cycles):
            items = np.arange(self.n) + (0 if self.reused else t * self.n)
            candidate = (self.rng.random(self.n) < lifted[items]).astype(float)
            found.append(PastCycle(items, base[items], candidate))
        return found


def share_promoted(world, gain, required, replicates):
    judge = policy(required)
    return np.mean([any(judge(world.draw(gain))) for _ in range(replicates)])


def independent_share(cycles, required, replays, rng):
    """The wrong way: each cycle with coins of its own."""
    judge = policy(required)
    total = 1 + max(int(cycle.items.max()) for cycle in cycles)
    hits = sum(any(judge([replayed(c, 0.0, luck(total, rng)) for c in cycles])) for _ in range(replays))
    return hits / replays


@pytest.mark.slow
def test_joint_swaps_meet_the_truth_where_independent_ones_do_not():
    """Histories recorded under a real gain of 2 points on re-used items; the truth is a fresh simulation."""
    rng = np.random.default_rng(21)
    world = World(rng)
    histories = [world.draw(0.02) for _ in range(20)]
    for required in (1, 3):
        truth = share_promoted(world, 0.0, required, 1500)
        joint = np.mean(
            [operating(0, first_promotions(h, policy(required), 0.0, range(100), 5), 12).promoted.share
             for h in histories]
        )  # fmt: skip
        apart = np.mean([independent_share(h, required, 40, rng) for h in histories])
        assert joint == pytest.approx(truth, abs=0.05)
        assert abs(apart - truth) > 2 * abs(joint - truth)
    assert apart < 0.3 * truth  # what would be said of a streak
    for gain in (0.01, 0.02):
        truth = share_promoted(world, gain, 1, 600)
        joint = np.mean(
            [operating(gain, first_promotions(h, policy(1), gain, range(60), 5), 12).promoted.share
             for h in histories]
        )  # fmt: skip
        assert joint == pytest.approx(truth, abs=0.08)


@pytest.mark.slow
def test_on_fresh_items_the_replays_meet_the_truth_as_well():
    rng = np.random.default_rng(22)
    world = World(rng, reused=False)
    histories = [world.draw(0.02) for _ in range(12)]
    for gain, required in ((0.0, 1), (0.02, 1), (0.03, 3)):
        truth = share_promoted(world, gain, required, 800)
        found = np.mean(
            [operating(gain, first_promotions(h, policy(required), gain, range(80), 5), 12).promoted.share
             for h in histories]
        )  # fmt: skip
        assert found == pytest.approx(truth, abs=0.06)

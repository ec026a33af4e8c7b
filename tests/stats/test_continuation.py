"""A second look at the level that the first one left: exact sums, integrals, and every advice followed."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from gate.stats.continuation import (
    continuation_constant,
    continued_lower_limit,
    continued_p,
    level_left_by_p,
    level_left_by_wins,
    more_items,
    useful,
)
from gate.stats.graded import t_guarded
from gate.stats.pairs import from_differences

LEVEL = 0.025


@pytest.mark.parametrize(
    ("level", "reserve", "weight", "k"),
    [
        (0.025, 0.2, 0.5, 2.376290540037896),
        (0.025, 0.1, 0.5, 2.5633071624365837),
        (0.025, 0.5, 0.5, 2.1210922785289474),
        (0.0125, 0.2, 0.5, 2.651567966971929),
        (0.005, 0.2, 0.5, 2.975194589423057),
        (0.025, 0.2, 1 / 3, 2.439879172707747),
    ],
)
def test_the_constant_as_published_and_by_integration(level, reserve, weight, k):
    assert continuation_constant(level, reserve, weight) == pytest.approx(k, abs=1e-9)
    w = math.sqrt(weight)
    mean = integrate.quad(
        lambda z: stats.norm.cdf((w * z - k) / math.sqrt(1 - weight)) * stats.norm.pdf(z),
        0,
        stats.norm.isf((1 - reserve) * level),
        epsabs=1e-13,
    )[0]
    assert (1 - reserve) * level + mean == pytest.approx(level, abs=1e-10)


@pytest.mark.parametrize(
    ("wins", "discordant", "level", "reserve", "left"),
    [
        (18, 26, 0.025, 0.0, 0.13555904846664052),
        (17, 26, 0.025, 0.0, 0.0678),
        (16, 26, 0.025, 0.0, 0.0297),
        (33, 50, 0.025, 0.5, 0.27143380148444646),
        (58, 100, 0.0125, 0.0, 0.01290592769227118),
        (53, 93, 0.025, 0.0, 0.027101557341833823),
        (109, 190, 0.005, 0.2, 0.020578161333083024),
        (30, 50, 0.025, 0.0, 0.04179919356964095),
        (19, 26, 0.025, 0.0, 1.0),
        (13, 26, 0.025, 0.0, 0.0),
        (0, 0, 0.025, 0.0, 0.0),
    ],
)
def test_what_exact_mcnemar_leaves_as_published(wins, discordant, level, reserve, left):
    found = level_left_by_wins(wins, discordant, level, reserve)
    assert found == pytest.approx(left, abs=1e-9 if len(str(left)) > 8 else 5e-5)


@pytest.mark.parametrize(
    ("p", "reserve", "left"),
    [
        (0.021, 0.2, 0.09224406054170975),
        (0.05, 0.2, 0.04310585622364332),
        (0.1, 0.2, 0.018807262374819264),
        (0.3, 0.2, 0.002282822452771101),
        (0.6, 0.2, 0.0),
        (0.04, 0.5, 0.10583411039489854),
        (0.02, 0.2, 1.0),
        (0.5 + 1e-12, 0.2, 0.0),
        (0.0251, 0.0, 0.0),
        (0.025, 0.0, 1.0),
    ],
)
def test_what_a_p_leaves_as_published(p, reserve, left):
    assert level_left_by_p(p, LEVEL, reserve) == pytest.approx(left, abs=1e-9)


@given(st.integers(0, 160), st.floats(0.001, 0.4), st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]))
def test_what_is_left_has_the_level_as_its_mean(s, level, reserve):
    """E[A] <= level exactly, for every number of discordant items: with it the whole is bounded."""
    left = [level_left_by_wins(b, s, level, reserve) for b in range(s + 1)]
    mean = float(stats.binom.pmf(np.arange(s + 1), s, 0.5) @ left)
    assert mean <= level + 1e-12
    assert left == sorted(left)  # rises with the wins: valid below theta = 1/2 too
    tails = stats.binom.sf(np.arange(s + 1) - 1, s, 0.5)
    for b in range(s + 1):
        if abs(tails[b] - (1 - reserve) * level) > 1e-12 and left[b] < 1:
            assert tails[b] >= (1 - reserve) * level
    possible = float(stats.binom.sf(s // 2, s, 0.5))
    assert mean == pytest.approx(min(level, possible), abs=1e-9)


@given(st.floats(0.001, 0.4), st.floats(0.05, 1.0))
def test_what_a_p_leaves_integrates_to_the_level(level, reserve):
    grid = (np.arange(4000) + 0.5) / 4000 * (0.5 - (1 - reserve) * level) + (1 - reserve) * level
    left = [level_left_by_p(float(p), level, reserve) for p in grid[::20]]
    assert left == sorted(left, reverse=True)
    k = continuation_constant(level, reserve)
    curve = stats.norm.cdf((math.sqrt(0.5) * stats.norm.isf(grid) - k) / math.sqrt(0.5))
    total = (1 - reserve) * level + curve.mean() * (0.5 - (1 - reserve) * level)
    assert total == pytest.approx(level, abs=2e-5)
    assert left == pytest.approx(curve[::20], abs=1e-12)


@pytest.mark.parametrize("reserve", [0.0, -0.1, 1.1, math.nan])
def test_no_constant_without_a_reserve(reserve):
    with pytest.raises(ValueError, match="reserve"):
        continuation_constant(LEVEL, reserve)


def test_a_hundredth_is_the_least_that_counts():
    assert useful(0.01) == 0.01
    assert useful(math.nextafter(0.01, 0)) == 0.0


@given(st.integers(5, 120), st.data(), st.floats(1e-6, 1.0), st.sampled_from([0.0, 0.2]))
def test_the_common_p_decides_as_the_rule_does(s, data, second, reserve):
    wins = data.draw(st.integers(0, s))

    def left(level):
        return level_left_by_wins(wins, s, level, reserve)

    p = continued_p(second, left, LEVEL)
    assert (p <= LEVEL) is (second <= left(LEVEL))
    assert 0 < p <= 1


@settings(max_examples=25)
@given(st.floats(1e-4, 0.499), st.floats(1e-4, 0.999))
def test_the_common_p_is_the_level_at_which_the_second_look_just_passes(first, second):
    p = continued_p(second, lambda level: level_left_by_p(first, level, 0.2), LEVEL)
    assert p <= first / 0.8 + 1e-9
    if first > 0.8 * p + 1e-9 and p < 1 - 1e-9:
        assert level_left_by_p(first, p, 0.2) == pytest.approx(second, rel=1e-5)


def test_without_anything_left_the_common_p_is_one():
    assert continued_p(1e-9, lambda level: 0.0, LEVEL) == 1.0
    assert continued_p(0.0, lambda level: 0.0, LEVEL) == 1.0
    # a first p above one half leaves nothing of any level below it
    p = continued_p(1e-9, lambda level: level_left_by_p(0.7, level, 0.2), LEVEL)
    assert p == pytest.approx(0.7 / 0.8)


def test_the_interval_inverts_the_rule():
    """Normal data: the limit against scipy's root of the combination, and "above 0" where the p passes."""
    first, second, se1, se2 = 0.020, 0.022, 0.012, 0.010

    def p1(m):
        return float(stats.norm.sf((first - m) / se1))

    def p2(m):
        return float(stats.norm.sf((second - m) / se2))

    low = continued_lower_limit(p1, p2, LEVEL, 0.2, 0.0, (-1.0, 1.0))
    k = continuation_constant(LEVEL, 0.2)

    def combined(m):
        z1, z2 = (first - m) / se1, (second - m) / se2
        return math.sqrt(0.5) * z1 + math.sqrt(0.5) * z2 - k

    assert low == pytest.approx(optimize.brentq(combined, -1, 1, xtol=1e-14), abs=1e-10)
    p = continued_p(p2(0.0), lambda level: level_left_by_p(p1(0.0), level, 0.2), LEVEL)
    assert (low > 0) is (p < LEVEL)
    # a first look that nothing is left of bounds nothing above where its p is one half
    assert continued_lower_limit(p1, lambda m: 1e-12, LEVEL, 0.2, 0.0, (-1.0, 1.0)) == pytest.approx(first)
    assert continued_lower_limit(lambda m: 0.9, p2, LEVEL, 0.2, 0.0, (-1.0, 1.0)) == -1.0
    at_null = continued_lower_limit(
        lambda m: 0.3, lambda m: 1e-9 if m <= 0 else 0.9, LEVEL, 0.5, 0.0, (-1.0, 1.0)
    )
    assert 0 < at_null < 1e-12


@pytest.mark.parametrize(
    ("left", "variance", "effect", "first", "least", "items"),
    [
        (0.1, 0.1, 0.03, 500, 30, math.ceil((stats.norm.isf(0.1) + stats.norm.ppf(0.8)) ** 2 * 0.1 / 0.0009)),
        (0.1, 0.1, 0.03, 100, 30, 300),  # at most three times the first look
        (0.9, 0.1, 0.5, 100, 30, 30),  # at least items.min
        (1.0, 0.1, 0.03, 100, 30, 30),
        (0.1, 0.1, 0.0, 100, 30, 300),
    ],
)
def test_how_many_more_items(left, variance, effect, first, least, items):
    assert more_items(left, variance, effect, first, least) == items


# --- every advice followed, by enumeration


@cache
def exact_power(n, psi, delta, level):
    """P(P(Bin(s, 1/2) >= b) <= level) on n new items: scipy's laws alone."""
    if level >= 1:
        return 1.0
    s = np.arange(n + 1)
    least = stats.binom.isf(level, s, 0.5) + 1
    least = np.where(stats.binom.sf(least - 2, s, 0.5) <= level, least - 1, least)
    reject = stats.binom.sf(least - 1, s, (psi + delta) / (2 * psi))
    return float(stats.binom.pmf(s, n, psi) @ reject)


def advice_loop(n, psi, delta, reserve=0.0):
    """P(pass at once), P(pass at once or after the advised items) and the mean number of items.

    The number asked for is rounded to 25, which keeps the enumeration small.
    """
    at_once = later = 0.0
    items = float(n)
    for s in range(n + 1):
        chance_s = stats.binom.pmf(s, n, psi)
        if chance_s < 1e-9:
            continue
        law = stats.binom.pmf(np.arange(s + 1), s, (psi + delta) / (2 * psi))
        for b in range(s // 2 + 1, s + 1):
            chance = chance_s * law[b]
            left = useful(level_left_by_wins(b, s, LEVEL, reserve))
            if left == 1:
                at_once += chance
            elif left and chance > 1e-10:
                gain = (2 * b - s) / n
                more = round(more_items(left, s / n - gain * gain, gain, n, 30) / 25) * 25
                items += chance * more
                later += chance * exact_power(more, psi, delta, left)
    return at_once, at_once + later, items


@pytest.mark.parametrize(
    ("n", "psi", "delta", "at_once", "in_all", "items"),
    [
        (200, 0.1, 0.0, 0.0147, 0.0214, 303.58116),
        (200, 0.1, 0.04, 0.35306, 0.72169, 392.6239),
    ],
)
def test_an_unchanged_candidate_that_follows_every_advice_stays_within_the_bound(
    n, psi, delta, at_once, in_all, items
):
    found = advice_loop(n, psi, delta)
    assert found[:2] == pytest.approx((at_once, in_all), abs=5e-4)
    assert found[2] == pytest.approx(items, abs=1.0)
    assert delta or found[1] <= LEVEL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "psi", "delta", "reserve", "at_once", "in_all", "items"),
    [
        (200, 0.1, 0.06, 0.0, 0.73347, 0.95207, None),
        (500, 0.1, 0.0, 0.0, 0.0183, 0.02299, 695.45959),
        (500, 0.1, 0.03, 0.0, 0.51864, 0.82087, 866),
        (500, 0.1, 0.04, 0.0, 0.78545, 0.95581, None),
        (500, 0.2, 0.0, 0.0, 0.01974, 0.02351, None),
        (500, 0.2, 0.06, 0.0, 0.835, 0.966, 639),
        (200, 0.1, 0.0, 0.2, None, 0.0204, None),
        (500, 0.1, 0.0, 0.2, None, 0.0222, None),
        (200, 0.1, 0.04, 0.2, None, 0.756, 421),
        (500, 0.1, 0.03, 0.2, None, 0.866, 930),
    ],
)
def test_the_whole_loop_as_in_the_tables(n, psi, delta, reserve, at_once, in_all, items):
    found = advice_loop(n, psi, delta, reserve)
    assert at_once is None or found[0] == pytest.approx(at_once, abs=6e-4)
    assert found[1] == pytest.approx(in_all, abs=6e-4)
    assert items is None or found[2] == pytest.approx(items, abs=1.5)
    assert delta or found[1] <= LEVEL


def test_looking_again_at_everything_is_what_the_rule_prevents():
    """The same advice, all items tested again at the full level: about double the luck."""
    rng = np.random.default_rng(15)
    n, psi, replicates = 500, 0.1, 40_000
    first = rng.binomial(n, psi, replicates)
    wins = rng.binomial(first, 0.5)
    reach = stats.norm.isf(LEVEL) + stats.norm.ppf(0.8)
    gain = (2 * wins - first) / n
    with np.errstate(divide="ignore"):
        wanted = np.ceil(reach**2 * (first / n - gain**2) / gain**2)
    wanted = np.minimum(np.where(gain > 0, wanted, n), 4 * n).astype(int)
    passed = stats.binom.sf(wins - 1, first, 0.5) < LEVEL
    again = ~passed & (gain > 0) & (wanted > n)
    new = rng.binomial(np.where(again, wanted - n, 0), psi)
    pooled, pooled_wins = first + new, wins + rng.binomial(new, 0.5)
    late = again & (stats.binom.sf(pooled_wins - 1, pooled, 0.5) < LEVEL)
    assert np.mean(passed | late) == pytest.approx(0.0354, abs=0.004)


def continued_graded(rng, n, draw, reserve):
    """One unchanged candidate with graded scores that follows every advice, twice if it is told to."""
    d, level = draw(n), LEVEL
    for _ in range(3):
        pairs = from_differences(d)
        p = t_guarded(pairs, 0.0, LEVEL).p_greater
        left = useful(level_left_by_p(p, level, reserve))
        if left in (0.0, 1.0):
            return left == 1.0
        level = left
        d = draw(more_items(left, float(np.var(d)), float(d.mean()), n, 30))
    return t_guarded(from_differences(d), 0.0, LEVEL).p_greater <= level


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gauss", "ratings"])
def test_graded_continuation_holds_over_three_looks(kind):
    rng = np.random.default_rng(4)
    replicates = 12_000

    def draw(n):
        if kind == "gauss":
            return rng.standard_normal(n)
        return rng.choice([-1.0, 0.0, 1.0], n, p=[0.2, 0.6, 0.2])

    promoted = sum(continued_graded(rng, 200, draw, 0.2) for _ in range(replicates))
    assert promoted <= stats.binom.ppf(1 - 1e-3, replicates, LEVEL)
    assert promoted > 0.6 * LEVEL * replicates

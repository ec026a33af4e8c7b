"""Staged looks: boundaries, p and limits against whole enumerations, R's figures and seeded simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from gate.stats.binary import mcnemar_exact
from gate.stats.graded import t_guarded
from gate.stats.pairs import from_counts, from_differences
from gate.stats.spending import (
    binary_drift,
    conditional_power,
    next_move,
    planned_drift,
    spending,
)
from gate.stats.staged_normal import (
    FEWEST_GRADED,
    normal_crossings,
    nuisance_share,
    staged_normal,
    stagewise_drift,
    stagewise_normal_p,
)
from gate.stats.staged_wins import (
    first_crossings,
    reported_p,
    staged_power,
    staged_wins,
    stagewise_median,
    stagewise_p,
    stagewise_theta,
)
from gate.stats.unconditional import p_greater

LEVEL = 0.025
FIFTHS, THIRDS = (0.2, 0.4, 0.6, 0.8, 1.0), (1 / 3, 2 / 3, 1.0)

# (discordant counts, fractions, level): boundaries, spent, nominal, first crossings at theta = .65
PUBLISHED = [
    ([10, 20, 30, 40, 50], FIFTHS, LEVEL, [11, 18, 23, 28, 33], None,
     [0.0, 0.00020122528076171875, 0.0026114396750926976, 0.008294501687487355, 0.016419568782134242],
     [0.0, 0.012117706710340199, 0.11264960946235501, 0.19705950050863094, 0.19942602994896177]),
    ([4, 9, 17, 22, 30], FIFTHS, LEVEL, [5, 10, 15, 17, 21],
     [0.0, 0.0, 0.0011749267578124998, 0.00864887237548828, 0.024066576734185205],
     [0.0, 0.0, 0.0011749267578125, 0.00845026969909668, 0.021386972628533847],
     [0.0, 0.0, 0.03272535579361578, 0.13160740829522546, 0.2046115575632067]),
    ([0, 3, 8, 15, 21], FIFTHS, LEVEL, [1, 4, 9, 13, 16], None, None,
     [0.0, 0.0, 0.0, 0.06173409536528498, 0.14501056438907967]),
    ([12, 26], (0.5, 1.0), LEVEL, None, [0.000244140625, 0.014576137065887458],
     [0.000244140625, 0.014479637145996094], None),
    ([20, 41, 63], THIRDS, LEVEL, None,
     [2.0027160644531236e-05, 0.0057604064541010285, 0.023437743099730332],
     [2.002716064453125e-05, 0.005753894867666531, 0.021478272762194606],
     [0.002133119625353272, 0.27408219745886836, 0.3833835419794542]),
    ([11, 19, 33, 41], (0.25, 0.5, 0.75, 1.0), 0.0125, None, None,
     [0.0, 0.0003643035888671875, 0.002275692066177726, 0.005753894867666531],
     [0.0, 0.016956391220756907, 0.11740557110005047, 0.15100746377539662]),
    ([30, 62, 90, 121, 150], FIFTHS, 0.005, None,
     [0.0, 8.714261300816012e-06, 0.00022224963493668428, 0.0010288429328981546, 0.0037260716617541897],
     [0.0, 8.714261300815998e-06, 0.0002189610983170669, 0.0009365474650161107, 0.003425819534086858],
     [0.0, 0.024754121077638955, 0.2315666407611795, 0.33824726438852676, 0.255982089834822]),
    ([18, 40], (0.4, 1.0), LEVEL, None, [7.247924804687496e-05, 0.01925717199083012],
     [7.2479248046875e-05, 0.01923865414210013], None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "fractions", "level", "boundaries", "spent", "nominal", "crossings"), PUBLISHED
)
def test_boundaries_and_crossings_as_published(
    counts, fractions, level, boundaries, spent, nominal, crossings
):
    plan = staged_wins(counts, fractions, level)
    for found, wanted in (
        (plan.boundaries, boundaries),
        (plan.spent, spent),
        (plan.nominal, nominal),
        (first_crossings(plan, 0.65), crossings),
    ):
        assert wanted is None or list(found) == pytest.approx(wanted, rel=1e-11, abs=1e-16)


def fair_paths(counts):
    """Every path of wins through the stages, with its exact chance at theta = 1/2."""
    steps = np.diff([0, *counts])
    for wins in itertools.product(*(range(step + 1) for step in steps)):
        ways = math.prod(math.comb(int(step), won) for step, won in zip(steps, wins, strict=True))
        yield tuple(itertools.accumulate(wins)), Fraction(ways, 2 ** counts[-1])


def chance_of(counts, theta, event):
    steps = np.diff([0, *counts])
    total = 0.0
    for path, _ in fair_paths(counts):
        if event(path):
            wins = np.diff([0, *path])
            total += math.prod(stats.binom.pmf(w, s, theta) for w, s in zip(wins, steps, strict=True))
    return total


counts_of_stages = st.lists(st.integers(0, 7), min_size=1, max_size=4).map(
    lambda steps: list(itertools.accumulate(steps))
)


@given(counts_of_stages, st.sampled_from([0.4, 0.05, 0.025, 0.0125, 0.005]), st.integers(0, 3))
def test_the_level_holds_exactly_for_any_counts(counts, level, closed):
    """Summed over all paths in fractions: P(any boundary is reached) is what is said, within the level."""
    fractions = [(k + 1) / len(counts) for k in range(len(counts))]
    plan = staged_wins(counts, fractions, level, closed)
    crossed = sum(
        chance
        for path, chance in fair_paths(counts)
        if any(won >= c for won, c in zip(path, plan.boundaries, strict=True))
    )
    assert crossed <= Fraction(level)
    assert float(crossed) == pytest.approx(plan.spent[-1], abs=1e-14)
    assert all(c == s + 1 for c, s in zip(plan.boundaries[:closed], counts, strict=False))
    assert all(2 * c > s for c, s in zip(plan.boundaries, counts, strict=True))
    paths = [(path, float(chance)) for path, chance in fair_paths(counts)]
    for k, (c, allowed) in enumerate(zip(plan.boundaries, spending(fractions, level), strict=True)):
        assert plan.spent[k] <= allowed + 1e-15
        before = plan.spent[k - 1] if k else 0.0
        reach = sum(
            chance
            for path, chance in paths
            if path[k] >= c - 1
            and not any(won >= bound for won, bound in zip(path[:k], plan.boundaries, strict=False))
        )
        # one win less would have spent too much: no boundary is stricter than it must be
        assert k < closed or 2 * (c - 1) <= counts[k] or before + reach > allowed - 1e-15


@given(counts_of_stages.filter(lambda counts: sum(counts) > 0), st.floats(0.0, 0.5))
def test_below_one_half_the_level_holds_too(counts, theta):
    fractions = [(k + 1) / len(counts) for k in range(len(counts))]
    plan = staged_wins(counts, fractions, LEVEL)
    assert sum(first_crossings(plan, theta)) <= LEVEL + 1e-15


def test_no_later_stage_moves_an_earlier_boundary():
    long = staged_wins([7, 19, 30, 44], (0.25, 0.5, 0.75, 1.0), LEVEL)
    for k in range(1, 4):
        short = staged_wins([7, 19, 30, 44][:k], (0.25, 0.5, 0.75, 1.0)[:k], LEVEL)
        assert short.boundaries == long.boundaries[:k]
        assert short.spent == long.spent[:k]


def test_one_stage_is_exact_mcnemar():
    for s in range(200):
        plan = staged_wins([s], [1.0], LEVEL)
        least = next(b for b in range(s + 2) if b > s / 2 and stats.binom.sf(b - 1, s, 0.5) <= LEVEL)
        assert plan.boundaries == (least,)
        assert plan.spent[0] == pytest.approx(stats.binom.sf(least - 1, s, 0.5))


def test_half_the_wins_never_promote_whatever_the_level():
    plan = staged_wins([4, 9, 20], THIRDS, 0.9)
    assert all(2 * c > s for c, s in zip(plan.boundaries, plan.discordant, strict=True))
    assert plan.boundaries[2] == 11


def test_far_out_p_is_tiny_and_not_zero():
    plan = staged_wins([2000, 5000], (0.5, 1.0), LEVEL)
    assert 0 < stagewise_p(plan, 1, 2000) < 1e-100
    assert 0 < stagewise_normal_p(staged_normal(THIRDS, LEVEL), 1, 60.0) < 1e-100


def test_large_counts_lose_no_digit():
    """Against the normal theory, and against the tail of scipy at the first stage."""
    plan = staged_wins([20_000, 40_000, 60_000, 80_000, 100_000], FIFTHS, LEVEL)
    assert plan.spent[0] == pytest.approx(stats.binom.sf(plan.boundaries[0] - 1, 20_000, 0.5), rel=1e-10)
    z = [(2 * c - s) / math.sqrt(s) for c, s in zip(plan.boundaries, plan.discordant, strict=True)]
    assert z == pytest.approx(staged_normal(FIFTHS, LEVEL).boundaries, abs=0.02)
    assert 0.024 < plan.spent[-1] <= LEVEL


@pytest.mark.parametrize(
    ("counts", "fractions", "stage", "wins", "p", "limits", "median"),
    [
        ([10, 20, 30, 40, 50], FIFTHS, 3, 24, None, (0.6119166344328466, 0.9217447778421055),
         0.7945623898342873),
        ([10, 20, 30, 40, 50], FIFTHS, 5, 32, None, (0.4904855340277158, 0.7693605467497486), None),
        ([4, 9, 17, 22, 30], FIFTHS, 4, 18, 0.0027151107788085933, None, 0.8063364750941382),
        ([12, 26], (0.5, 1.0), 2, 14, 0.42250971496105205, (0.3337081396454029, 0.734128561878673), None),
        ([12, 26], (0.5, 1.0), 2, 19, None, None, 0.7277299495775931),
        ([20, 41, 63], THIRDS, 2, 31, 0.0007384670207102313, (0.596755375593651, 0.8762852570404833), None),
        ([0, 3, 8, 15, 21], FIFTHS, 5, 16, 0.014453887939453125, (0.5250333801495406, 0.9156934322157964),
         0.7537425844253063),
    ],
)  # fmt: skip
def test_inference_after_stopping_as_published(counts, fractions, stage, wins, p, limits, median):
    plan = staged_wins(counts, fractions, LEVEL)
    if p is not None:
        assert stagewise_p(plan, stage, wins) == pytest.approx(p, rel=1e-11)
    if limits is not None:
        assert stagewise_theta(plan, stage, wins) == pytest.approx(limits, abs=1e-9)
    if median is not None:
        assert stagewise_median(plan, stage, wins) == pytest.approx(median, abs=1e-9)


@pytest.mark.parametrize("theta", [0.3, 0.5, 0.8])
def test_stagewise_p_is_the_chance_of_better_outcomes(theta):
    counts = [4, 9, 14]
    plan = staged_wins(counts, THIRDS, 0.1)

    def outcome(path):
        return next((k for k, won in enumerate(path) if plan.crosses(k + 1, won)), 2)

    for stage, wins in [(1, 4), (2, 8), (2, 5), (3, 0), (3, 9), (3, 14)]:

        def better(path, stage=stage, wins=wins):
            first = outcome(path)
            return first + 1 < stage or (
                all(not plan.crosses(k + 1, path[k]) for k in range(stage - 1)) and path[stage - 1] >= wins
            )

        found = stagewise_p(plan, stage, wins, theta)
        assert found == pytest.approx(chance_of(counts, theta, better), abs=1e-13)


@given(counts_of_stages.filter(lambda counts: counts[-1] >= 3), st.data())
def test_p_decides_at_the_last_stage_and_limits_agree_with_it(counts, data):
    fractions = [(k + 1) / len(counts) for k in range(len(counts))]
    plan = staged_wins(counts, fractions, LEVEL)
    last, wins = len(counts), data.draw(st.integers(0, counts[-1]))
    p = stagewise_p(plan, last, wins)
    assert (p <= LEVEL) is (plan.crosses(last, wins) or plan.spent[-1] == p)
    low, high = stagewise_theta(plan, last, wins)
    assert (low > 0.5) is (p < LEVEL)
    assert 0 <= low <= stagewise_median(plan, last, wins) + 1e-9 <= high + 2e-9 <= 1 + 2e-9
    assert (
        wins == 0
        or low == pytest.approx(0, abs=1e-9)
        or stagewise_p(plan, last, wins, low) == pytest.approx(LEVEL, rel=1e-6)
    )


def test_p_is_a_p_value_after_any_stop():
    """Stop at the first crossing, else at the end: P(p <= x) <= x for every x, by enumeration."""
    counts = [5, 11, 18]
    plan = staged_wins(counts, THIRDS, 0.1)
    law = {}
    for path, chance in fair_paths(counts):
        stop = next((k for k, won in enumerate(path) if plan.crosses(k + 1, won)), 2)
        p = stagewise_p(plan, stop + 1, path[stop])
        law[p] = law.get(p, 0.0) + float(chance)
    total = 0.0
    for p in sorted(law):
        total += law[p]
        assert total <= p + 1e-12


@pytest.mark.parametrize("theta", [0.2, 0.5, 0.65, 0.8])
def test_the_median_estimate_is_as_often_too_high_as_too_low(theta):
    counts = [8, 16, 24]
    plan = staged_wins(counts, THIRDS, LEVEL)
    ends = [(k + 1, b) for k in range(2) for b in range(plan.boundaries[k], counts[k] + 1)]
    ends += [(3, b) for b in range(counts[2] + 1)]
    high = low = bias = total = 0.0
    for stage, wins in ends:
        # the ordering has no gaps: the law of an outcome is what its p adds to that of the next better one
        chance = stagewise_p(plan, stage, wins, theta) - stagewise_p(plan, stage, wins + 1, theta)
        estimate = stagewise_median(plan, stage, wins)
        high += chance * (estimate > theta)
        low += chance * (estimate < theta)
        bias += chance * (wins / counts[stage - 1] - theta)
        total += chance
    assert total == pytest.approx(1)
    assert abs(high - low) < 0.2  # as close as a law with so few outcomes allows
    assert theta < 0.6 or bias > 0.001  # what the estimate repairs


def test_the_interval_of_a_stage_agrees_with_its_boundary():
    """A crossing lies above 0 in the repeated interval, one win less does not."""
    n = 300
    plan = staged_wins([14, 31, 40], THIRDS, LEVEL)
    for stage, (s, c) in enumerate(zip(plan.discordant, plan.boundaries, strict=True), start=1):
        level = plan.interval_level(stage)
        assert mcnemar_exact(c, s - c, n, 0.0, level).interval.low > 0
        assert mcnemar_exact(c - 1, s - c + 1, n, 0.0, level).interval.low <= 0
    assert staged_wins([3, 31], (0.5, 1.0), LEVEL).interval_level(1) is None


def test_a_stop_without_a_crossing_never_prints_a_p_below_the_level():
    assert reported_p(0.01, LEVEL, crossed=False, last=False) == LEVEL
    assert reported_p(0.01, LEVEL, crossed=True, last=False) == 0.01
    assert reported_p(0.4, LEVEL, crossed=False, last=False) == 0.4
    assert reported_p(0.02, LEVEL, crossed=False, last=True) == 0.02


@pytest.mark.parametrize(
    ("counts", "fractions"), [([3, 2], (0.5, 1.0)), ([1], (0.5, 1.0)), ([-1, 2], (0.5, 1.0)), ([], ())]
)
def test_counts_that_do_not_fit_are_refused(counts, fractions):
    with pytest.raises(ValueError, match="found"):
        staged_wins(counts, fractions, LEVEL)


@pytest.mark.parametrize("fractions", [(), (0.0, 1.0), (0.5, 0.4), (0.5, 1.1), (math.nan,)])
def test_fractions_that_are_none_are_refused(fractions):
    with pytest.raises(ValueError, match="fractions"):
        spending(fractions, LEVEL)
    with pytest.raises(ValueError, match="level"):
        spending((1.0,), 1.0)


def test_spending_ends_at_the_level():
    z = stats.norm.isf(LEVEL / 2)
    wanted = [2 * stats.norm.sf(z / math.sqrt(t)) for t in FIFTHS]
    assert spending(FIFTHS, LEVEL) == pytest.approx(wanted)
    assert spending(FIFTHS, LEVEL)[-1] == LEVEL


# --- graded: boundaries on z


@pytest.mark.parametrize(
    ("fractions", "boundaries"),
    [
        (FIFTHS, [4.876884948790762, 3.3570119215745153, 2.680280064545247, 2.289816767714152,
                  2.031032043494414]),
        ((0.5, 1.0), [2.9625880427275666, 1.9685956406373974]),
        (THIRDS, [3.710302873262371, 2.5114274812693758, 1.993047477826185]),
    ],
)  # fmt: skip
def test_boundaries_on_z_as_published(fractions, boundaries):
    plan = staged_normal(fractions, LEVEL)
    assert plan.boundaries == pytest.approx(boundaries, abs=1e-9)
    assert plan.nominal == pytest.approx(stats.norm.sf(boundaries), rel=1e-8)
    assert plan.spent[-1] == LEVEL
    assert sum(normal_crossings(plan, 0.0)) == pytest.approx(LEVEL, abs=1e-12)


def test_two_stages_against_the_bivariate_normal_law():
    plan = staged_normal((0.3, 1.0), LEVEL)
    c, rho = plan.boundaries, math.sqrt(0.3)
    joint = stats.multivariate_normal(cov=[[1, rho], [rho, 1]])
    assert 1 - joint.cdf(c) == pytest.approx(LEVEL, abs=1e-6)
    for drift in (-1.0, 1.5, 3.0):
        moved = stats.multivariate_normal(mean=[drift * rho, drift], cov=[[1, rho], [rho, 1]])
        assert sum(normal_crossings(plan, drift)) == pytest.approx(1 - moved.cdf(c), abs=1e-6)
    second = integrate.quad(
        lambda b: stats.norm.pdf(b, 1.5 * 0.3, rho) * stats.norm.sf(2.4, b + 1.5 * 0.7, math.sqrt(0.7)),
        -12,
        c[0] * rho,
        epsabs=1e-12,
    )[0]
    first = stats.norm.sf(c[0], 1.5 * rho)
    assert stagewise_normal_p(plan, 2, 2.4, 1.5) == pytest.approx(first + second, abs=1e-9)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.floats(1e-4, 0.3),
)
def test_boundaries_spend_the_level(steps, level):
    shares = np.cumsum(steps) / sum(steps)
    plan = staged_normal(shares.tolist(), level)
    assert sum(normal_crossings(plan, 0.0)) == pytest.approx(level, rel=1e-6)
    assert list(plan.spent) == sorted(plan.spent)
    assert sum(normal_crossings(plan, -1.0)) < level
    assert stagewise_normal_p(plan, len(steps), plan.boundaries[-1]) == pytest.approx(level, rel=1e-6)


def test_limits_of_the_drift_invert_the_p():
    plan = staged_normal(FIFTHS, LEVEL)
    low, middle, high = stagewise_drift(plan, 3, 2.9)
    for drift, target in ((low, LEVEL), (middle, 0.5), (high, 1 - LEVEL)):
        assert stagewise_normal_p(plan, 3, 2.9, drift) == pytest.approx(target, rel=1e-6)
    naive = 2.9 / math.sqrt(0.6)
    assert middle < naive  # an early stop makes the naive gain too large
    single = staged_normal((1.0,), LEVEL)
    assert stagewise_drift(single, 1, 2.0) == pytest.approx(
        (2 - stats.norm.isf(LEVEL), 2.0, 2 + stats.norm.isf(LEVEL)), abs=1e-8
    )


def test_stages_that_add_nothing_are_refused():
    with pytest.raises(ValueError, match="items of its own"):
        staged_normal((0.5, 0.5, 1.0), LEVEL)
    with pytest.raises(ValueError, match="not planned"):
        stagewise_normal_p(staged_normal((1.0,), LEVEL), 2, 1.0)
    with pytest.raises(ValueError, match="not reached"):
        stagewise_p(staged_wins([4], [1.0], LEVEL), 2, 1)


def test_what_cannot_be_spent_has_no_boundary():
    plan = staged_normal((1e-4, 1.0), 1e-6)
    assert plan.boundaries[0] == math.inf
    assert plan.nominal[0] == 0.0
    assert plan.boundaries[1] == pytest.approx(stats.norm.isf(1e-6))


# --- futility and moves


def test_conditional_power_as_published():
    assert conditional_power(1.2, 0.6, 2.8, 2.03103) == pytest.approx(0.5116589987689543, abs=1e-12)
    assert conditional_power(-0.3, 0.2, 2.8, 2.03103) == pytest.approx(0.5333269044552174, abs=1e-12)


def test_conditional_power_is_what_a_simulation_of_the_rest_gives():
    rng = np.random.default_rng(3)
    z, t, drift, c = 0.8, 0.4, 2.5, 2.0
    rest = drift * (1 - t) + math.sqrt(1 - t) * rng.standard_normal(200_000)
    share = np.mean(math.sqrt(t) * z + rest >= c)
    assert conditional_power(z, t, drift, c) == pytest.approx(share, abs=0.004)


def test_the_planned_drift_is_the_mean_of_the_final_z():
    assert planned_drift(0.02, 400, 0.04) == pytest.approx(0.02 / (0.2 / 20))
    assert binary_drift(0.05, 500, 30, 300) == pytest.approx(0.05 * math.sqrt(500 / (0.1 - 0.0025)))
    assert binary_drift(0.05, 500, 0, 100) == pytest.approx(0.05 * math.sqrt(500 / (0.05 - 0.0025)))
    assert binary_drift(1.0, 500, 100, 100) == math.inf
    assert conditional_power(0.0, 0.5, math.inf, 2.0) == 1.0


@pytest.mark.parametrize(
    ("last", "crossed", "failed", "power", "futility", "move"),
    [
        (False, True, False, None, None, "promote"),
        (False, True, True, None, None, "block"),
        (True, False, True, None, None, "block"),
        (True, False, False, 0.01, 0.1, "end"),
        (False, False, False, 0.0999, 0.1, "futile"),
        (False, False, False, 0.1, 0.1, "continue"),
        (False, False, False, None, 0.1, "continue"),
        (False, False, False, 0.01, None, "continue"),
    ],
)
def test_what_a_stage_leads_to(last, crossed, failed, power, futility, move):
    assert next_move(last=last, crossed=crossed, failed=failed, power=power, futility=futility) == move


# --- the whole rule, simulated


def staged_promotes(d, fractions, plan):
    """Whether any stage promotes graded differences in this order, by the stage's own t_guarded p."""
    for t, a in zip(fractions, plan.nominal, strict=True):
        n = math.ceil(t * d.size)
        if n >= FEWEST_GRADED and t_guarded(from_differences(d[:n]), 0.0, LEVEL).p_greater <= a:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gauss", "ratings", "left"])
@pytest.mark.parametrize("n", [150, 500])
def test_graded_stages_hold_what_the_fixed_test_holds(kind, n):
    rng = np.random.default_rng([n, len(kind)])
    plan, replicates = staged_normal(FIFTHS, LEVEL), 6000
    promoted = fixed = 0
    for _ in range(replicates):
        if kind == "gauss":
            d = rng.standard_normal(n)
        elif kind == "ratings":
            d = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], n, p=[0.05, 0.2, 0.5, 0.2, 0.05])
        else:
            d = 1.0 - rng.exponential(1.0, n)
        promoted += staged_promotes(d, FIFTHS, plan)
        fixed += t_guarded(from_differences(d), 0.0, LEVEL).p_greater < LEVEL
    error = math.sqrt(2 * LEVEL / replicates)
    assert promoted / replicates <= fixed / replicates + 2 * error
    assert promoted / replicates <= 0.030


@pytest.mark.slow
def test_staged_power_as_in_the_tables():
    """(n, rate of disagreement, gain): power, share of items, and the size at no gain."""
    for n, psi, gain, power, used, size in [
        (500, 0.1, 0.05, 0.9396, 0.726, 0.0191),
        (500, 0.2, 0.05, 0.6748, 0.865, 0.0208),
        (1000, 0.1, 0.03, 0.8327, 0.798, 0.0208),
        (200, 0.1, 0.06, 0.7306, 0.857, 0.0159),
        (200, 0.2, 0.10, 0.8749, 0.781, 0.0184),
    ]:
        found = [staged_power(n, psi, gain, FIFTHS, LEVEL, seed) for seed in range(4)]
        assert np.mean([x.power for x in found]) == pytest.approx(power, abs=0.004)
        assert np.mean([x.items for x in found]) == pytest.approx(used, abs=0.005)
        nothing = [staged_power(n, psi, 0.0, FIFTHS, LEVEL, seed).power for seed in range(4)]
        assert np.mean(nothing) == pytest.approx(size, abs=0.0006)


def test_staged_power_at_a_glance():
    found = staged_power(200, 0.1, 0.06, FIFTHS, LEVEL)
    assert found.power == pytest.approx(0.7306, abs=0.02)
    assert found.items == pytest.approx(0.857, abs=0.02)
    assert staged_power(200, 0.1, 0.0, FIFTHS, LEVEL).power <= LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("m", [0.0, 0.05, -0.1])
def test_margins_hold_their_level_over_the_stages(m):
    """Every table of 30, 60 and 90 items over rates of disagreement: P(any stage promotes) <= level."""
    plan, sizes = staged_normal(THIRDS, LEVEL), (30, 60, 90)
    least = [
        [
            next((b for b in range(s + 1) if p_greater(b, s - b, n, m, nuisance_share(a)) <= a), s + 1)
            for s in range(n + 1)
        ]
        for n, a in zip(sizes, plan.nominal, strict=True)
    ]
    worst = 0.0
    for psi in np.linspace(max(abs(m), 0.01) + 1e-9, 1.0, 25):
        theta = (psi + m) / (2 * psi)
        step = np.zeros((31, 31))
        for s in range(31):
            step[s, : s + 1] = stats.binom.pmf(s, 30, psi) * stats.binom.pmf(np.arange(s + 1), s, theta)
        law, spent = np.ones((1, 1)), 0.0
        for bounds in least:
            after = np.zeros((law.shape[0] + 30, law.shape[1] + 30))
            for s, b in zip(*np.nonzero(law > 1e-15), strict=True):
                after[s : s + 31, b : b + 31] += law[s, b] * step
            for s in range(after.shape[0]):
                spent += after[s, bounds[s] :].sum()
                after[s, bounds[s] :] = 0.0
            law = after
        worst = max(worst, spent)
    assert worst <= LEVEL
    assert worst > 0.02


def test_the_nuisance_set_takes_a_hundredth_of_a_small_level():
    assert nuisance_share(0.02113) == 1e-4
    assert nuisance_share(3.94e-4) == pytest.approx(3.94e-6)
    plan = staged_normal(THIRDS, LEVEL)
    table = from_counts(9, 0, 30)
    assert p_greater(table.b, table.c, 30, 0.02, nuisance_share(plan.nominal[0])) > plan.nominal[0]


def test_what_five_stages_use_and_what_they_see() -> None:
    """The figures of docs/stages.md: 500 items, one in ten changes, five points of gain, fifths."""
    rng, seen, used, fixed, tries = np.random.default_rng(15), 0, 0.0, 0, 1200
    for _ in range(tries):
        changed = rng.random(500) < 0.1
        wins = changed & (rng.random(500) < 0.75)
        sizes = [100, 200, 300, 400, 500]
        counts = [int(changed[:n].sum()) for n in sizes]
        plan = staged_wins(counts, [n / 500 for n in sizes], 0.025, 0)
        stops = [k for k, n in enumerate(sizes, 1) if plan.crosses(k, int(wins[:n].sum()))]
        seen += bool(stops)
        used += sizes[stops[0] - 1] / 500 if stops else 1.0
        fixed += stats.binom.sf(int(wins.sum()) - 1, counts[-1], 0.5) < 0.025
    assert abs(used / tries - 0.726) < 0.03
    assert abs(seen / tries - 0.9396) < 0.03
    assert 0 <= fixed - seen <= 0.01 * tries

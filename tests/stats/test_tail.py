"""The worst items and the worst share: coverage by enumeration, order, edges of the scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.stats.tail import tail_bound, tail_bound_from, worst_items
from gate.values import GateError


def losses(n=400, seed=0):
    return np.random.default_rng(seed).beta(0.4, 3, n)


def test_worst_items_are_named_the_largest_loss_first():
    found = worst_items([0.1, 0.5, -0.2, 0.9, 0.5], 0.3)
    assert found.largest == 0.9
    assert found.beyond == (3, 1, 4)


@pytest.mark.parametrize(("allowed", "beyond"), [(0.2, ()), (0.2 - 1e-9, (0,)), (0.2 + 1e-9, ())])
def test_a_loss_of_exactly_what_is_allowed_is_allowed(allowed, beyond):
    assert worst_items([0.3 - 0.1, 0.1], allowed).beyond == beyond


def test_gains_only_have_a_negative_largest_loss():
    assert worst_items([-0.5, -0.25], 0.0) == worst_items([-0.25, -0.5], 0.0)
    assert worst_items([-0.5, -0.25], 0.0).largest == -0.25


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("n", [60, 400])
def test_limits_cover_the_truth_of_every_two_point_law(n, share):
    level = 0.1
    counts = np.arange(n + 1)
    found = [tail_bound(np.repeat([0.0, 1.0], [n - c, c]), share, (0, 1), level) for c in counts]
    for rate in np.linspace(0.005, 0.6, 40):
        truth, chance = min(1.0, rate / share), stats.binom.pmf(counts, n, rate)
        assert chance[[f.upper < truth - 1e-12 for f in found]].sum() <= level
        assert chance[[f.lower > truth + 1e-12 for f in found]].sum() <= level


@pytest.mark.parametrize("start", [0.0, 0.3])
def test_the_sharper_limit_covers_every_two_point_law(start):
    n, share, level = 80, 0.2, 0.1
    counts = np.arange(n + 1)
    found = [
        tail_bound_from(np.repeat([0.0, 1.0], [n - c, c]), share, (0, 1), level, start).upper for c in counts
    ]
    assert np.all(np.diff(found) >= -1e-9)
    for rate in np.linspace(0.01, 0.3, 30):
        truth = min(1.0, rate / share)
        missed = stats.binom.pmf(counts, n, rate)[np.array(found) < truth - 1e-9].sum()
        assert missed <= level


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.05, 1.0), st.floats(0.001, 0.3))
def test_lower_observed_and_upper_are_in_order(values, share, level):
    found = tail_bound(values, share, (0, 1), level)
    assert 0 <= found.lower <= found.observed + 1e-12
    assert found.observed <= found.upper + 1e-12 <= 1 + 1e-12


def test_the_whole_is_the_mean_and_the_least_share_the_largest():
    loss = losses()
    assert tail_bound(loss, 1.0, (0, 1), 0.025).observed == pytest.approx(loss.mean())
    assert tail_bound(loss, 1 / 400, (0, 1), 0.025).observed == pytest.approx(loss.max())


def test_units_and_signs_of_the_scale():
    loss = losses()
    one = tail_bound(loss, 0.2, (0, 1), 0.025)
    two = tail_bound(10 * loss - 5, 0.2, (-5, 5), 0.025)
    assert two.upper == pytest.approx(10 * one.upper - 5)
    assert two.lower == pytest.approx(10 * one.lower - 5)
    sharp = tail_bound_from(loss, 0.2, (0, 1), 0.025, 0.25).upper
    assert tail_bound_from(10 * loss - 5, 0.2, (-5, 5), 0.025, -2.5).upper == pytest.approx(10 * sharp - 5)
    assert sharp < one.upper


@pytest.mark.parametrize(("share", "needed"), [(0.1, 185), (0.05, 738), (0.2, 47)])
def test_needed_items(share, needed):
    assert tail_bound(losses(10), share, (0, 1), 0.025).needed == needed
    enough, short = (tail_bound(losses(n), share, (0, 1), 0.025) for n in (needed, needed - 1))
    assert not enough.insufficient
    assert enough.upper < 1 - 1e-6
    assert short.upper == pytest.approx(1)
    assert f"{needed} items" in short.insufficient


def test_more_loss_never_lowers_a_limit():
    loss = losses(200)
    worse = np.minimum(1, loss + 0.05)
    for bound in (tail_bound, lambda *more: tail_bound_from(*more, 0.2)):
        assert bound(worse, 0.2, (0, 1), 0.025).upper >= bound(loss, 0.2, (0, 1), 0.025).upper


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_equal_losses_have_a_bound_above_them(value):
    found = tail_bound(np.full(300, value), 0.2, (0, 1), 0.025)
    assert found.observed == value
    assert found.upper > value or value == 1.0
    sharp = tail_bound_from(np.full(300, value), 0.2, (0, 1), 0.025, 0.5)
    assert sharp.upper > value or value == 1.0


@pytest.mark.parametrize("wrong", [-0.01, 1.01])
def test_losses_outside_the_scale_are_refused(wrong):
    for bound in (tail_bound, lambda *more: tail_bound_from(*more, 0.2)):
        with pytest.raises(GateError) as refused:
            bound([0.5, wrong], 0.2, (0, 1), 0.025)
        assert refused.value.code == "outside_scale"
    assert tail_bound([0.5, 1 + 1e-12], 0.2, (0, 1), 0.025).upper == 1.0


@pytest.mark.parametrize("start", [-0.1, 1.0, 1.5])
def test_a_start_outside_the_scale_is_refused(start):
    with pytest.raises(GateError, match="within the scale"):
        tail_bound_from(losses(), 0.2, (0, 1), 0.025, start)


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, 0.1]])
def test_losses_must_be_numbers(values):
    with pytest.raises(ValueError, match="finite"):
        tail_bound(values, 0.2, (0, 1), 0.025)

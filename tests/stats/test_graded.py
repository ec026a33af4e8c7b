"""Student's and Hall's tests by their formulas, with roots from other programs; and their guards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from gate.stats.graded import hall, student, swept
from gate.stats.moments import Moments, moments
from gate.stats.pairs import from_differences, pair
from gate.stats.procedures import run

LEVEL = 0.025
RNG = np.random.default_rng(12)
SAMPLES = {
    "right": np.append(RNG.exponential(1, 14), 4.5),
    "left": -np.append(RNG.exponential(1, 14), 4.5) + 1,
    "even": np.arange(-4.0, 7.0),
    "two": np.array([0.0, 1.0]),
}


def cubic(d, m):
    """Hall 1992: sqrt(n) (T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 n)), T = (mean - m) / sd."""
    n, sd = len(d), np.std(d, ddof=1)
    t, g = (np.mean(d) - m) / sd, np.mean((d - np.mean(d)) ** 3) / sd**3
    return math.sqrt(n) * (t + g * t**2 / 3 + g**2 * t**3 / 27 + g / (6 * n))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("m", [0.0, 0.7, -1.3])
def test_tails_of_both_statistics(name, m):
    d = SAMPLES[name]
    x, df = moments(d), len(d) - 1
    t = stats.ttest_1samp(d, m).statistic
    for tails, statistic in ((student(x), t), (hall(x), cubic(d, m))):
        assert tails.greater(m) == pytest.approx(stats.t.sf(statistic, df), rel=1e-9)
        assert tails.less(m) == pytest.approx(stats.t.cdf(statistic, df), rel=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.2, 0.025, 0.001])
def test_limits_are_where_p_is_the_level(name, level):
    d = SAMPLES[name]
    x, q = moments(d), stats.t.isf(level, len(d) - 1)
    reach = 60 * np.std(d) * q
    low = optimize.brentq(lambda m: cubic(d, m) - q, np.mean(d) - reach, np.mean(d) + reach, xtol=1e-13)
    high = optimize.brentq(lambda m: cubic(d, m) + q, np.mean(d) - reach, np.mean(d) + reach, xtol=1e-13)
    assert (hall(x).low(level), hall(x).high(level)) == pytest.approx((low, high), rel=1e-8)
    known = stats.ttest_1samp(d, 0).confidence_interval(1 - 2 * level)
    assert (student(x).low(level), student(x).high(level)) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("g", [0.0, 4e-10, -4e-10])
def test_limits_of_hardly_any_skewness(g):
    """To first order in g the root of the cubic is t - g t^2 / 3 - g / (6 n)."""
    x, q = Moments(10, 0.0, 1.0, g), stats.t.isf(LEVEL, 9) / math.sqrt(10)
    for found, t in ((hall(x).low(LEVEL), q), (hall(x).high(LEVEL), -q)):
        assert -found == pytest.approx(t - g * t * t / 3 - g / 60, rel=0, abs=1e-14)


def test_a_statistic_too_large_to_be_cubed_is_as_large_as_can_be():
    x = Moments(10, 0.0, 1e-250, 0.5)
    assert (hall(x).greater(1.0), hall(x).less(1.0)) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-80))
    assert (hall(x).greater(-1.0), hall(x).less(-1.0)) == (pytest.approx(0.0, abs=1e-80), pytest.approx(1.0))


@pytest.mark.parametrize("name", ["right", "left", "even"])
def test_the_guarded_test_is_the_worse_of_both(name):
    d, m = SAMPLES[name], 0.2
    x = moments(d)
    guarded, plain = (run(method, from_differences(d), m, LEVEL) for method in ("t_guarded", "paired_t"))
    tests = (student(x), hall(x))
    assert guarded.p_greater == pytest.approx(max(t.greater(m) for t in tests))
    assert guarded.p_less == pytest.approx(max(t.less(m) for t in tests))
    assert guarded.interval.low == pytest.approx(min(t.low(LEVEL) for t in tests))
    assert guarded.interval.high == pytest.approx(max(t.high(LEVEL) for t in tests))
    assert guarded.p_two_sided == pytest.approx(2 * min(guarded.p_greater, guarded.p_less))
    known = stats.ttest_1samp(d, m)
    for found in (guarded, plain):
        assert found.statistic == pytest.approx(known.statistic)
        assert (found.estimate, found.estimand_value) == (pytest.approx(d.mean()), pytest.approx(d.mean()))
        assert (found.n, found.null_value, found.interval.confidence) == (d.size, m, 0.95)
    assert plain.p_two_sided == pytest.approx(known.pvalue)


def test_equal_units_bound_the_mean_only_below_the_level():
    p = 2**-6
    assert swept(1.0, 0.5, 6, p + 1e-9) == (p, 1.0, (0.5, 0.5))
    assert swept(1.0, 0.5, 6, p) == (p, 1.0, (-math.inf, math.inf))
    assert swept(-1.0, 0.5, 6, p + 1e-9) == (1.0, p, (0.5, 0.5))
    assert swept(0.0, 0.5, 6, 0.4) == (1.0, 1.0, (0.5, 0.5))
    assert swept(1.0, 0.0, 6, 0.4) == (1.0, 1.0, (-math.inf, math.inf))
    one = run("paired_t", from_differences([0.5]), 0.0, LEVEL)
    assert one.insufficient == "one item has no spread: this set cannot weigh the two systems"
    assert one.p_greater == one.smallest_p == 0.5
    none = run("paired_t", from_differences([0.0] * 3), 0.0, LEVEL)
    assert none.insufficient == "all 3 differences are zero: this set cannot weigh the two systems"


def outliers(method, d, m=0.0):
    return "gain_widens_interval" in [c.code for c in run(method, from_differences(d), m, LEVEL).cautions]


def test_a_gain_is_named_only_where_less_of_it_would_pass():
    """Cut to the next largest, the first sample passes; the second has as many losses as to fail anyhow."""
    for method in ("paired_t", "t_guarded"):
        assert outliers(method, [0.4] * 8 + [0.3] * 2 + [9.0, 0.0])
        assert not outliers(method, [0.4] * 6 + [-0.4] * 3 + [3.0])
        assert outliers(method, [1.4] * 8 + [1.3] * 2 + [10.0, 1.0], 1.0)  # above the margin
        assert not outliers(method, [0.4] * 8 + [0.3] * 2 + [9.0, 0.0], 3.0)  # below it


def test_a_gain_is_an_outlier_beyond_root_n_over_t_deviations():
    """The influence of one gain on t turns where it lies sqrt(n) / t standard deviations above the mean."""
    steady = [0.4] * 8 + [0.3] * 3 + [0.0] * 2
    told = []
    for top in np.round(np.arange(0.5, 6.0, 0.05), 2):
        d = np.array([*steady, top])
        t = stats.ttest_1samp(d, 0).statistic
        beyond = (top - d.mean()) / d.std(ddof=1) > math.sqrt(d.size) / t
        fails = run("paired_t", from_differences(d), 0.0, LEVEL).p_greater >= LEVEL
        assert outliers("paired_t", d) == (beyond and fails)
        told.append(outliers("paired_t", d))
    assert {True, False} == set(told)


def few(changed, m=0.0):
    old = np.linspace(0.2, 0.4, 60)
    return run("t_guarded", pair(old, old + np.r_[changed, np.zeros(60 - len(changed))]), m, LEVEL)


def test_few_changes_are_refused_by_their_number():
    told = "only {} not zero; tests of the mean need 10 (gaffke with a declared scale, or sign_flip, do not)"
    assert few([0.3]).insufficient == told.format("1 difference is")
    assert few([0.3, 0.2]).insufficient == told.format("2 differences are")
    assert few([0.3] * 9).insufficient == told.format("9 differences are")
    assert few([0.3] * 10).insufficient == ""
    assert "all 60 differences are zero" in few([]).insufficient
    assert few([0.3] * 9, 0.1).insufficient == told.format("9 differences are")
    assert few([0.3] * 9, -0.1).insufficient == ""
    assert few([0.3] * 10, -0.1).cautions == ()


def test_few_changes_against_a_tolerance_take_the_worse_of_two_tests():
    """Gaffke's bound on the declared scale, and on the range of the scores seen where none is declared."""
    old = np.linspace(0.2, 0.4, 60)
    new = old + np.r_[[0.3, -0.1, 0.2], np.zeros(57)]
    pairs = pair(old, new)
    plain = hall(moments(pairs.values, pairs.counts)), student(moments(pairs.values, pairs.counts))
    for scale, seen in (((0.0, 1.0), "declared scale"), (None, "range of the scores seen")):
        bounds = scale or (float(min(old.min(), new.min())), float(max(old.max(), new.max())))
        width = bounds[1] - bounds[0]
        bounded = run("gaffke", pairs, -0.05, LEVEL, scale=bounds)
        found = run("t_guarded", pairs, -0.05, LEVEL, scale=scale)
        assert found.p_greater == max(bounded.p_greater, *(t.greater(-0.05) for t in plain))
        assert found.p_less == max(bounded.p_less, *(t.less(-0.05) for t in plain))
        assert found.interval.low == max(min(bounded.interval.low, *(t.low(LEVEL) for t in plain)), -width)
        assert found.interval.high == max(bounded.interval.high, *(t.high(LEVEL) for t in plain))
        message = next(c.message for c in found.cautions if c.code == "few_changed")
        assert message.startswith(
            f"only 3 of 60 differences are not zero: the bound rests on n and the {seen}"
        )
        assert found.p_two_sided >= 2 * min(bounded.p_greater, bounded.p_less) * (1 - 1e-12)
        assert (found.insufficient, found.method) == ("", "t_guarded")

"""Limits by inverting a test, on tests whose limits are known in closed form."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from gate.stats.inversion import lower_limit, upper_limit

LEVEL = 0.025
WIDE = (-50.0, 50.0)


class Asked:
    """The z test of an estimate with standard error 1: p(m) = P(Z > estimate - m); counts its calls."""

    def __init__(self, estimate: float) -> None:
        self.estimate, self.calls = estimate, 0

    def greater(self, m: float) -> float:
        self.calls += 1
        return float(stats.norm.sf(self.estimate - m))

    def less(self, m: float) -> float:
        self.calls += 1
        return float(stats.norm.cdf(self.estimate - m))


@pytest.mark.parametrize("estimate", [-30.0, -1.3, 0.0, 1.9, 2.0, 7.5, 44.0])
@pytest.mark.parametrize("null_value", [-3.0, 0.0, 2.5])
@pytest.mark.parametrize("level", [0.025, 0.3, 1e-5])
@pytest.mark.parametrize("near", [None, (0.0, 0.5), (1.0, 0.01), (49.0, 3.0), (-60.0, 1.0), (60.0, 1.0)])
def test_the_limits_of_a_z_test(estimate, null_value, level, near):
    z = stats.norm.isf(level)
    asked = Asked(estimate)
    low = lower_limit(asked.greater, level, null_value, WIDE, near=near)
    high = upper_limit(asked.less, level, null_value, WIDE, near=near)
    assert low == pytest.approx(max(estimate - z, -50), abs=1e-7)
    assert high == pytest.approx(min(estimate + z, 50), abs=1e-7)
    assert low <= max(estimate - z, -50) + 1e-12  # it errs outwards
    assert high >= min(estimate + z, 50) - 1e-12


def test_a_good_guess_saves_evaluations():
    plain, guessed = Asked(7.0), Asked(7.0)
    lower_limit(plain.greater, LEVEL, 0.0, (-1e6, 1e6))
    lower_limit(guessed.greater, LEVEL, 0.0, (-1e6, 1e6), near=(5.0, 0.1))
    assert guessed.calls < plain.calls
    assert guessed.calls <= 15


@pytest.mark.parametrize("power", [0.2, 1.0, 6.0])
def test_a_curved_p_needs_few_evaluations(power):
    """p(m) = m^power on [0, 1] has the limit level^(1 / power)."""
    calls = []

    def p(m):
        calls.append(m)
        return m**power if m > 0 else 0.0

    low = lower_limit(p, LEVEL, 0.0, (0.0, 1.0), tolerance=1e-10)
    assert low == pytest.approx(LEVEL ** (1 / power), rel=1e-7)
    assert p(low) < LEVEL or low == 0
    assert len(calls) < 60


def test_a_step_is_found_by_bisection():
    for step in (0.123456789, -0.7, 0.999):
        low = lower_limit(lambda m, step=step: 1e-9 if m < step else 0.9, LEVEL, 0.0, (-1.0, 1.0))
        assert low == pytest.approx(step, abs=1e-8)
        assert low < step


def test_tolerance_is_relative_to_the_limit_from_a_thousandth_on():
    for tolerance in (1e-3, 1e-9):
        low = lower_limit(Asked(1001.96).greater, LEVEL, 0.0, (-1e4, 1e4), tolerance=tolerance)
        assert 0 <= 1001.96 - stats.norm.isf(LEVEL) - low <= 1000 * tolerance


def test_the_limit_stays_above_a_null_value_that_is_rejected():
    """p(0) is just below the level and jumps above it at once: the limit is the next number after 0."""

    def p(m):
        return LEVEL * (1 - 1e-12) if m <= 0 else 0.9

    assert lower_limit(p, LEVEL, 0.0, (-1.0, 1.0)) == pytest.approx(0.0, abs=1e-9)
    assert lower_limit(p, LEVEL, 0.0, (-1.0, 1.0)) > 0
    assert upper_limit(lambda m: p(-m), LEVEL, 0.0, (-1.0, 1.0)) < 0


def test_p_at_the_level_does_not_reject():
    assert lower_limit(lambda m: LEVEL if m <= 0 else 0.9, LEVEL, 0.0, (-1.0, 1.0)) == -1.0
    assert lower_limit(lambda _m: 1e-9, LEVEL, 0.0, (0.0, 1.0)) == pytest.approx(1.0, abs=1e-8)


def test_the_limit_is_the_least_conceivable_value_where_nothing_is_rejected():
    assert lower_limit(lambda _m: 0.5, LEVEL, 0.0, (-0.4, 1.0)) == -0.4
    assert upper_limit(lambda _m: 0.5, LEVEL, 0.0, (-0.4, 0.8)) == 0.8
    assert lower_limit(lambda _m: 0.5, LEVEL, -2.0, (-1.0, 1.0)) == -1.0  # the null value lies outside
    assert lower_limit(lambda _m: 1e-9, LEVEL, -1.0, (-1.0, 1.0)) == pytest.approx(1.0, abs=1e-8)
    assert math.isclose(upper_limit(lambda _m: 1e-9, LEVEL, 1.0, (-1.0, 1.0)), -1.0, abs_tol=1e-8)

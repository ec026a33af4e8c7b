"""The laws behind the tests, against scipy.stats, which the gate itself never imports."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import stats

from gate.stats import distributions as law
from gate.stats.fisher import fisher_two_sided
from gate.stats.moments import moments

TAILS = (1e-12, 1e-4, 0.025, 0.3, 0.5, 0.7, 0.999)


def test_p_values_lie_above_0_and_at_most_at_1():
    assert [law.clip_p(p) for p in (-0.1, 0.0, 0.3, 1.0, 1.2)] == [sys.float_info.min] * 2 + [0.3, 1.0, 1.0]


def test_the_normal_law():
    for z in (-40.0, -3.0, 0.0, 1.7, 9.0, 37.0):
        assert law.normal_sf(z) == pytest.approx(stats.norm.sf(z), rel=1e-12)
    for p in TAILS:
        assert law.normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9, abs=1e-12)
    assert [law.normal_quantile(p) for p in (-0.1, 0.0, 1.0, 1.1)] == [-math.inf] * 2 + [math.inf] * 2


@pytest.mark.parametrize("df", [1.0, 2.7, 11.0, 500.0])
def test_students_law(df):
    for t in (-30.0, -2.0, -0.3, 0.0, 0.4, 2.5, 60.0):
        assert law.t_sf(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-10)
    assert [law.t_sf(t, df) for t in (-math.inf, math.inf)] == [1.0, 0.0]
    assert (law.t_sf(1e200, df), law.t_sf(-1e200, df)) == (pytest.approx(0.0, abs=1e-90), pytest.approx(1.0))
    for p in TAILS:
        assert law.t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)
    assert [law.t_quantile(p, df) for p in (0.0, 1.0)] == [-math.inf, math.inf]


def test_the_binomial_law():
    for n in (0, 1, 2, 7, 40):
        for p in (0.5, 0.2):
            for k in range(-1, n + 3):
                assert law.binomial_sf(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-10)
                assert law.binomial_pmf(k, n, p) == pytest.approx(stats.binom.pmf(k, n, p), rel=1e-10)


def test_the_beta_law_and_its_point_masses():
    x = np.array([-0.5, 0.0, 0.2, 0.9, 1.0, 1.5])
    np.testing.assert_allclose(law.beta_cdf(3, 5, x), stats.beta.cdf(x, 3, 5), rtol=1e-12)
    np.testing.assert_array_equal(law.beta_cdf(0, 5, x), [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(law.beta_cdf(3, 0, x), [0, 0, 0, 0, 1, 1])
    assert law.log_beta(3, 5) == pytest.approx(math.log(2 * 24 / 5040))  # G(3) G(5) / G(8)
    assert law.beta_quantile(3, 5, 0.2) == pytest.approx(stats.beta.ppf(0.2, 3, 5))
    assert (law.beta_quantile(0, 5, 0.2), law.beta_quantile(3, 0, 0.2)) == (0.0, 1.0)
    assert law.beta_quantile(1, 5, 0.2) == pytest.approx(1 - 0.8**0.2)
    assert law.beta_quantile(5, 1, 0.2) == pytest.approx(0.2**0.2)


@pytest.mark.parametrize("table", [(0, 9, 0, 7), (3, 9, 3, 7), (9, 9, 0, 12), (1, 30, 9, 25), (5, 5, 5, 5)])
def test_fishers_exact_test(table):
    first, n_first, second, n_second = table
    cells = [[first, n_first - first], [second, n_second - second]]
    assert fisher_two_sided(*table) == pytest.approx(stats.fisher_exact(cells).pvalue, rel=1e-9)
    assert fisher_two_sided(second, n_second, first, n_first) == pytest.approx(fisher_two_sided(*table))


def test_fishers_test_of_every_table_of_seven_and_five():
    for first in range(8):
        for second in range(6):
            cells = [[first, 7 - first], [second, 5 - second]]
            expected = stats.fisher_exact(cells).pvalue
            assert fisher_two_sided(first, 7, second, 5) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_moments_of_values_and_their_counts(unit):
    values, counts = np.array([-2.0, 0.5, 3.0, 7.0]), np.array([3, 1, 4, 2])
    every = np.repeat(values, counts)
    for found in (moments(values * unit, counts), moments(every * unit)):
        assert found.n == 10
        assert found.mean == pytest.approx(every.mean() * unit)
        assert found.sd == pytest.approx(every.std(ddof=1) * unit)
        assert found.se == pytest.approx(every.std(ddof=1) * unit / math.sqrt(10))
        third = np.mean((every - every.mean()) ** 3)
        assert found.skewness == pytest.approx(third / every.std(ddof=1) ** 3)


def test_the_mean_of_large_numbers_keeps_its_digits():
    x = 1e9 + np.random.default_rng(3).normal(0, 1, 4001)
    found = moments(x)
    assert found.mean == pytest.approx(math.fsum(x.tolist()) / x.size, rel=2e-16)
    assert found.sd == pytest.approx((x - 1e9).std(ddof=1), rel=1e-9)


def test_moments_without_spread():
    assert (moments(np.array([4.0])).sd, moments(np.array([4.0])).mean) == (0.0, 4.0)
    tenths = moments(np.full(7, 0.1))
    assert (tenths.mean, tenths.sd, tenths.skewness) == (pytest.approx(0.1), 0.0, 0.0)
    assert moments(np.zeros(5)).mean == 0.0
    assert moments(np.array([0.0, 1e-9])).sd == pytest.approx(1e-9 / math.sqrt(2))

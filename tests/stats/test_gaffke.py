"""Gaffke's test: by drawing its exponentials, by exact laws where it is one, and on large samples."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import stats

from gate.stats import gaffke
from gate.stats.gaffke import bounded_p
from gate.stats.pairs import from_counts, from_differences
from gate.stats.procedures import run

LEVEL = 0.025


@pytest.mark.parametrize("m", [-0.3, 0.0, 0.15, 0.4])
@pytest.mark.parametrize("least", [-1.0, -2.5])
def test_p_by_drawing_its_exponentials(m, least):
    """P(sum E_i (d_i - m) + E (least - m) <= 0), E independent exponentials."""
    values, counts = np.array([-0.5, 0.1, 0.3, 1.0]), np.array([2, 3, 1, 2])
    e = np.random.default_rng(9).exponential(size=(200_000, 9))
    y = np.append(np.repeat(values, counts), least) - m
    share = np.mean(e @ y <= 0)
    assert bounded_p(values, counts, m, least) == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(("b", "c"), [(0, 3), (3, 0), (60, 35), (35, 60), (900, 100), (2000, 0), (1, 4000)])
def test_on_signs_it_is_the_sign_test(b, c):
    """With m = 0 and the least value -1: P(Bin(b + c, 1/2) >= b), however small."""
    values, counts = np.array([-1.0, 1.0]), np.array([c, b])
    found = bounded_p(values[counts > 0], counts[counts > 0], 0.0, -1.0)
    log_p = stats.binom.logsf(b - 1, b + c, 0.5)
    assert math.log(found) == pytest.approx(max(log_p, math.log(sys.float_info.min)), rel=1e-12, abs=2e-6)


@pytest.mark.parametrize(
    ("k", "n"),
    [(0, 5), (3, 5), (5, 5), (40, 300), (299, 300), (300, 300), (2998, 3000), (2, 3000), (1500, 3000)],
)
def test_on_one_proportion_it_is_clopper_and_pearson(k, n):
    """P(Bin(n, m) >= k) for k ones of n scores of at least 0."""
    values, counts = np.array([0.0, 1.0]), np.array([n - k, k])
    for m in (0.001, 0.01, 0.5, 0.97, 0.999):
        found = bounded_p(values[counts > 0], counts[counts > 0], m, 0.0)
        assert found == pytest.approx(stats.binom.sf(k - 1, n, m), rel=2e-6, abs=1e-307)


def test_what_cannot_be_and_what_must_be():
    values, counts = np.array([0.5, 1.0]), np.array([3, 2])
    assert bounded_p(values, counts, 1.0, 0.0) == 1.0  # the null value is the largest one seen
    assert bounded_p(values, counts, 1.5, 0.0) == 1.0
    assert bounded_p(values, counts, 0.0, 0.0) == sys.float_info.min  # no mean below 0 can be
    assert bounded_p(values, counts, -0.5, 0.0) == sys.float_info.min
    assert 0 < bounded_p(values, counts, 1e-6, 0.0) < 1e-20
    assert 1 - 1e-3 < bounded_p(values, counts, 1 - 1e-6, 0.0) <= 1


@pytest.mark.parametrize("n", [5, 60, 300, 3_000, 300_000])
def test_equal_scores_against_the_worst_one_are_exact_for_any_n(n):
    """n scores of 1 of at least 0: p = m^n, which is the level at m = level^(1 / n)."""
    for level in (0.3, 0.025, 1e-9):
        found = bounded_p(np.array([1.0]), np.array([n]), level ** (1 / n), 0.0)
        assert found == pytest.approx(level, rel=5e-7)


@pytest.mark.parametrize("m", [-0.4, -0.05, 0.0, 0.04, 0.3])
@pytest.mark.parametrize("far", [0.0, 40.0, -40.0])
def test_the_series_for_many_values_is_what_their_logarithms_give(m, far):
    """The same multiset as 30 values with their counts, and as 3,030 values of one item each."""
    values = np.append(np.linspace(-1.0, 1.1, 30), far)
    counts = np.append(np.arange(30) * 7 % 13 + 94, 1)
    assert counts.sum() > 1000
    one = bounded_p(values, counts, m, -50.0)
    many = bounded_p(np.repeat(values, counts), np.ones(counts.sum(), dtype=np.int64), m, -50.0)
    assert many == pytest.approx(one, rel=1e-10)


def test_the_series_is_for_small_arguments_only():
    q, weights = np.linspace(-0.02, 0.02, 1500), np.ones(1500)
    line = gaffke._Line(q, weights, 10.0)
    assert line.series.size == 48
    for z in (np.array([0.5j, 1 + 9j]), np.array([-2 + 3j, 4 + 24j])):
        expected = -np.sum(weights * np.log(1 - z[:, None] * q), axis=1)
        np.testing.assert_allclose(line.change(z), expected, rtol=1e-12, atol=1e-13)
    assert gaffke._Line(q[:999], weights[:999], 10.0).series.size == 0
    assert gaffke._Line(np.append(q, 3.0), np.append(weights, 2.0), 10.0).rest[0].tolist() == [3.0]


@pytest.mark.parametrize("m", [0.0, 0.1, -0.2])
def test_both_sides_and_limits(m):
    d = np.array([0.4, 0.1, -0.3, 0.6, 0.2, 0.0, 0.5, 0.3])
    pairs, bounds = from_differences(d), (-1.0, 1.5)
    found = gaffke.gaffke(pairs, m, 0.1, bounds)
    counts = np.ones(8, dtype=np.int64)
    assert found.p_greater == pytest.approx(bounded_p(np.sort(d), counts, m, -1.0))
    assert found.p_less == pytest.approx(bounded_p(np.sort(-d), counts, -m, -1.5))
    assert found.p_two_sided == pytest.approx(min(1.0, 2 * min(found.p_greater, found.p_less)))
    assert bounded_p(np.sort(d), counts, found.interval.low, -1.0) == pytest.approx(0.1, rel=1e-6)
    assert bounded_p(np.sort(-d), counts, -found.interval.high, -1.5) == pytest.approx(0.1, rel=1e-6)
    assert (found.estimate, found.estimand_value) == (pytest.approx(d.mean()), pytest.approx(d.mean()))
    assert (found.interval.confidence, found.n, found.null_value) == (0.8, 8, m)


def test_all_items_alike_leave_what_n_allows():
    """n equal scores of 1 on [0, 1]: the limit is level^(1 / n)."""
    found = gaffke.gaffke(from_differences([1.0] * 12), 0.5, LEVEL, (0.0, 1.0))
    assert found.interval.low == pytest.approx(LEVEL ** (1 / 12), rel=1e-7)
    assert found.interval.high == 1.0
    assert found.p_greater == pytest.approx(0.5**12, rel=1e-8)
    assert found.p_less == pytest.approx(1.0)
    none = run("gaffke", from_counts(0, 0, 60), 0.0, LEVEL)
    assert (none.interval.high, none.interval.low) == (
        pytest.approx(1 - LEVEL ** (1 / 60), rel=1e-6),
        pytest.approx(-1 + LEVEL ** (1 / 60), rel=1e-6),
    )

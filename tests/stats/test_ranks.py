"""Rank and sign tests against enumeration and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gate.stats import signed
from gate.stats.pairs import from_differences
from gate.stats.procedures import run
from gate.values import GateError

LEVEL = 0.025


def test_midranks_share_ties():
    values = np.array([3.0, 1.0, 3.0, 2.0, 3.0, 1.0])
    np.testing.assert_array_equal(signed.midranks(values), stats.rankdata(values))


def test_the_law_of_the_rank_sum_is_that_of_every_pattern():
    doubled = np.array([3, 2, 7, 3, 8])
    sums = [sum(itertools.compress(doubled, chosen)) for chosen in itertools.product((0, 1), repeat=5)]
    np.testing.assert_allclose(signed.rank_sum_law(doubled), np.bincount(sums, minlength=24) / 32)


@pytest.mark.parametrize("pratt", [False, True])
def test_signed_ranks_with_ties_and_zeros_by_enumeration(pratt):
    d = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    ranks = stats.rankdata(np.abs(d)) if pratt else stats.rankdata(np.abs(d[d != 0]))
    ranks = ranks[d != 0] if pratt else ranks
    signs = np.sign(d[d != 0])
    plus = np.array([p @ ranks for p in np.array(list(itertools.product((0, 1), repeat=7)))])
    seen = ranks[signs > 0].sum()
    greater, less, z = signed.signed_rank(d, pratt=pratt)
    assert (greater, less) == (pytest.approx(np.mean(plus >= seen)), pytest.approx(np.mean(plus <= seen)))
    assert z == pytest.approx((signs @ ranks) / math.sqrt(ranks @ ranks))
    assert signed.signed_rank(np.zeros(4), pratt=pratt) == (1.0, 1.0, 0.0)


def test_the_normal_law_takes_over_above_two_hundred_differences():
    d = np.random.default_rng(6).normal(0.12, 1, 201)
    exact, normal = (signed.signed_rank(x, pratt=False) for x in (d[:200], d))
    for found, x, method in ((exact, d[:200], "exact"), (normal, d, "asymptotic")):
        for p, side in ((found[0], "greater"), (found[1], "less")):
            expected = stats.wilcoxon(x, alternative=side, method=method, correction=False).pvalue
            assert p == pytest.approx(expected, rel=1e-9)


def walsh(d):
    return np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_the_pseudo_median_is_the_median_of_pair_means(n):
    d = np.sort(np.random.default_rng(n).normal(0, 1, n))
    assert signed.hodges_lehmann(d) == pytest.approx(np.median(walsh(d)))
    total = signed._walsh_total(n)
    assert total == len(walsh(d))
    for rank in range(1, total + 1):
        assert signed._walsh_average(d, rank) == pytest.approx(walsh(d)[rank - 1], abs=1e-12)
    assert signed.hodges_lehmann(np.array([])) == 0.0


@pytest.mark.parametrize("n", [1500, 1501, 1502])
def test_the_pseudo_median_of_many(n):
    d = np.sort(np.round(np.random.default_rng(n).normal(0.3, 1, n), 3))
    rows, columns = np.triu_indices(n)
    assert signed.hodges_lehmann(d) == pytest.approx(np.median(0.5 * (d[rows] + d[columns])), abs=1e-9)


@pytest.mark.parametrize("level", [0.025, 0.2, 0.5**6, 0.5**6 + 1e-12, 0.001])
def test_the_sign_tests_limits_are_order_statistics(level):
    for s in range(25):
        tail = [k for k in range(1, s // 2 + 1) if stats.binom.cdf(k - 1, s, 0.5) < level]
        assert signed._sign_rank(s, level) == max(tail, default=0)


def test_the_sign_test_and_its_median():
    d = [-0.3, 0.0, 0.1, 0.2, 0.2, 0.4, 0.5, 0.6, 0.7, 0.9]
    found = run("sign", from_differences(d), 0.0, 0.05)
    assert found.p_greater == pytest.approx(stats.binom.sf(7, 9, 0.5))
    assert found.p_less == pytest.approx(stats.binom.sf(0, 9, 0.5))
    assert found.p_two_sided == pytest.approx(2 * stats.binom.sf(7, 9, 0.5))
    assert (found.interval.low, found.interval.high) == (0.1, 0.7)  # the second from either end of nine
    assert (found.estimand_value, found.statistic, found.smallest_p) == (0.4, 8.0, 2**-9)
    assert (found.interval.confidence, found.insufficient, found.cautions) == (0.9, "", ())
    none = run("sign", from_differences([0.0] * 4), 0.0, LEVEL)
    assert (none.estimand_value, none.interval.low, none.interval.high) == (0.0, -math.inf, math.inf)
    assert "all 4 differences are zero" in none.insufficient


@pytest.mark.parametrize("method", ["wilcoxon", "wilcoxon_pratt"])
def test_the_interval_of_the_signed_ranks_is_made_of_pair_means(method):
    """Without ties the Walsh averages at the exact critical rank bound the pseudo-median."""
    d = np.round(np.random.default_rng(14).normal(0.4, 1, 12), 3)
    found = run(method, from_differences(d), 0.0, LEVEL)
    law = np.cumsum(signed.rank_sum_law(2 * np.arange(1, 13)))[::2]
    k = int(np.sum(law < LEVEL))  # P(W <= k - 1) < level
    averages = walsh(np.sort(d))
    assert found.interval.low == pytest.approx(averages[k - 1], abs=1e-8)
    assert found.interval.high == pytest.approx(averages[-k], abs=1e-8)
    assert found.smallest_p == 2**-12
    equal = run(method, from_differences([0.5] * 8), 0.0, LEVEL)
    assert (equal.p_greater, equal.interval.low) == (2**-8, pytest.approx(0.5))
    unknown = run(method, from_differences([0.5] * 5), 0.0, LEVEL)
    assert unknown.interval.low == -math.inf
    assert "smallest_p" in [c.code for c in unknown.cautions]


def test_a_limit_keeps_the_side_of_0_that_it_excludes():
    assert (signed._snapped(0.12345678949, 1), signed._snapped(-0.5 - 1e-12, -1)) == (0.123456789, -0.5)
    assert [signed._snapped(1e-12, 1), signed._snapped(-1e-12, -1)] == [1e-12, -1e-12]
    assert [signed._snapped(1e-12, -1), signed._snapped(-1e-12, 1), signed._snapped(0.0, 1)] == [0, 0, 0]


def test_rank_tests_take_no_margin():
    for test in ("wilcoxon", "wilcoxon_pratt", "sign"):
        with pytest.raises(GateError) as caught:
            run(test, from_differences([1.0, 2.0]), 0.01, LEVEL)
        assert caught.value.code == "no_margin"


def test_a_median_of_0_disagrees_with_no_mean():
    assert not run("wilcoxon", from_differences([-3.0, 0.0, 1.0, 2.0, 1.0, -1.0]), 0.0, LEVEL).cautions[1:]
    found = run("sign", from_differences([-1.0, 1.0, -5.0, 5.0, -4.0, 4.1]), 0.0, LEVEL)
    assert found.insufficient == ""

"""A judge beside people: kappa against other programs and by hand, and limits where nothing varies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.stats.distributions import t_quantile
from gate.stats.judging import agreement, correlation, mean_change, share_of

LEVEL = 0.025


def outputs(table):
    """[people's word][judge's word] -> one row an output."""
    rows = [(h, j) for h in (0, 1) for j in (0, 1) for _ in range(table[h][j])]
    return np.array(rows, dtype=float).T


@pytest.mark.parametrize(
    ("table", "kappa", "variance"),
    [
        # statsmodels 0.14 cohens_kappa(table).kappa and .var_kappa; scikit-learn 1.7 cohen_kappa_score
        (((45, 15), (25, 15)), 0.13043478260869554, 0.009734099006221388),
        (((80, 7), (11, 102)), 0.8178690680967318, 0.0016735854862575533),
    ],
)
def test_kappa_and_its_variance(table, kappa, variance):
    human, judge = outputs(table)
    n = human.size
    found = agreement(human, judge, np.arange(n), LEVEL).kappa
    assert found.value == pytest.approx(kappa, abs=1e-12)
    half = -t_quantile(LEVEL, n - 1) * math.sqrt(variance * n / (n - 1))
    assert found.high == pytest.approx(kappa + half, abs=1e-9)
    assert found.low <= kappa - half + 1e-9


def test_two_outputs_of_an_item_are_no_two_items():
    human, judge = outputs(((80, 7), (11, 102)))
    twice = agreement(np.tile(human, 2), np.tile(judge, 2), np.tile(np.arange(200), 2), LEVEL).kappa
    once = agreement(human, judge, np.arange(200), LEVEL).kappa
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high))


def test_full_agreement_on_few_items_proves_little():
    found = agreement([0, 1, 1], [0, 1, 1], [0, 1, 2], LEVEL)
    assert found.kappa.value == 1
    # exact lower limit of 3 of 3: 0.025 ** (1 / 3) = 0.2924; by chance 5/9 agree
    assert found.kappa.low == pytest.approx((0.025 ** (1 / 3) - 5 / 9) / (1 - 5 / 9))


def test_one_word_only_has_no_kappa():
    assert agreement([1, 1, 1], [1, 1, 1], [0, 1, 2], LEVEL).kappa is None


def test_one_unit_bounds_nothing():
    assert agreement([0, 1], [0, 1], [7, 7], LEVEL).kappa.low <= 0


def test_a_judge_that_is_always_right_is_bounded_by_the_number_of_items():
    zeros = np.zeros(100)
    found = mean_change(zeros, zeros, None, LEVEL, 2.0)
    # 1 - 0.025 ** (1 / 100) = 0.0362 of the items may be otherwise, by 2 each
    assert (found.low, found.high) == pytest.approx((-0.07243, 0.07243), abs=1e-5)
    assert mean_change(zeros, zeros, None, LEVEL, None).high == math.inf


def test_few_changes_are_bounded_by_their_share():
    after = np.zeros(200)
    after[0] = 1
    found = mean_change(np.zeros(200), after, None, LEVEL, 2.0)
    # exact upper limit of 1 of 200: 0.02754 (Clopper and Pearson), by 2 each
    assert found.high == pytest.approx(2 * 0.02754, abs=1e-4)
    assert found.low == pytest.approx(-2 * 0.02754, abs=1e-4)


def test_clusters_are_what_is_independent():
    rng = np.random.default_rng(3)
    shift = np.repeat(rng.normal(size=20), 10)
    alone = mean_change(np.zeros(200), shift, None, LEVEL, None)
    together = mean_change(np.zeros(200), shift, np.repeat(np.arange(20), 10), LEVEL, None)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_correlation():
    # scipy 1.16 pearsonr(...).statistic and .confidence_interval(0.95)
    found = correlation(range(1, 9), [2, 1, 4, 3, 7, 5, 8, 6], LEVEL)
    assert found.value == pytest.approx(5 / 6)
    assert (found.low, found.high) == pytest.approx((0.31169805718344, 0.968989208891987), abs=1e-9)
    assert correlation([1, 1, 1, 1], [1, 2, 3, 4], LEVEL) is None
    assert correlation([1, 2, 3], [1, 2, 3], LEVEL) is None


def test_a_share_of_nothing_is_none():
    assert share_of(0, 0, LEVEL) is None
    assert share_of(0, 30, LEVEL).high == pytest.approx(1 - 0.025 ** (1 / 30))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_kappa_lies_in_its_interval_and_does_not_ask_who_is_called_judge(rows):
    human, judge = np.array(rows, dtype=float).T
    found, turned = (
        agreement(*pair, np.arange(len(rows)), LEVEL) for pair in ((human, judge), (judge, human))
    )
    if found.kappa is None:
        assert turned.kappa is None
        return
    assert found.kappa.low <= found.kappa.value <= found.kappa.high
    assert found.kappa.value == pytest.approx(turned.kappa.value)
    assert found.kappa.low == pytest.approx(turned.kappa.low)

"""DeLong's test: symmetry, invariances, ties to the last bit, degenerate curves, what is too little."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats.auc import _sum_of_squares, auc_bootstrap, delong
from gate.stats.labelled import labelled
from gate.stats.ranking import auc_metric, placements
from gate.stats.results import Settings

LEVEL = 0.025
ASK = Settings(0.0, LEVEL)


@st.composite
def scored_rows(draw):
    n = draw(st.integers(4, 40))
    label = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < len(y)))
    scores = st.lists(st.integers(-4, 4), min_size=n, max_size=n)
    return np.array(label), np.array(draw(scores), dtype=float), np.array(draw(scores), dtype=float)


def many(n=120, seed=1):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3 == 0
    base = rng.normal(size=n) + label
    return label, base, base + 0.5 * rng.normal(size=n)


def numbers(found):
    test = found.test
    return (test.estimate, test.p_greater, test.p_less, test.interval.low, test.interval.high)


@given(scored_rows())
def test_placements_are_counts_of_pairs(rows):
    label, score, _ = rows
    expected = [
        2 * sum(score[i] > score[j] for j in range(label.size) if label[j] != label[i])
        + sum(score[i] == score[j] for j in range(label.size) if label[j] != label[i])
        for i in range(label.size)
    ]
    assert placements(label, score).tolist() == expected
    area = Fraction(sum(e for e, y in zip(expected, label, strict=True) if y), 1)
    area /= 2 * int(label.sum()) * int((~label).sum())
    assert auc_metric(label, score)(np.ones(label.size, dtype=np.int64)) == float(area)


@given(scored_rows())
def test_exchanging_the_systems_mirrors_everything(rows):
    label, old, new = rows
    one, two = delong(labelled(label, old, new), ASK), delong(labelled(label, new, old), ASK)
    assert one.test.estimate == -two.test.estimate
    assert one.test.p_greater == pytest.approx(two.test.p_less, abs=1e-15)
    assert one.test.interval.low == pytest.approx(-two.test.interval.high, abs=1e-15)
    assert bool(one.test.insufficient) == bool(two.test.insufficient)


@given(scored_rows())
def test_exchanging_the_labels_and_signs_changes_nothing(rows):
    label, old, new = rows
    one = delong(labelled(label, old, new), ASK)
    two = delong(labelled(~label, -old, -new), ASK)
    np.testing.assert_allclose(numbers(one), numbers(two), atol=1e-13)


@given(scored_rows(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_no_digit(rows, random):
    label, old, new = rows
    order = list(range(label.size))
    random.shuffle(order)
    one = delong(labelled(label, old, new), Settings(0.05, LEVEL))
    two = delong(labelled(label[order], old[order], new[order]), Settings(0.05, LEVEL))
    assert one.test == two.test


def test_only_the_order_of_scores_counts():
    label, old, new = many()
    one = delong(labelled(label, old, new), ASK)
    two = delong(labelled(label, np.exp(old) / 7, np.arctan(new)), ASK)
    assert one == two


@given(scored_rows(), st.floats(-0.3, 0.3))
def test_interval_and_p_are_one_decision(rows, m):
    test = delong(labelled(*rows), Settings(m, 0.1)).test
    assert (test.interval.low > m) == (test.p_greater < 0.1) or test.p_greater == pytest.approx(0.1)
    assert (test.interval.high < m) == (test.p_less < 0.1) or test.p_less == pytest.approx(0.1)


@pytest.mark.parametrize("m", [-0.02, 0.0, 0.02])
def test_identical_curves_are_never_a_pass(m):
    label, old, _ = many()
    for new in (old, np.exp(old)):
        found = delong(labelled(label, old, new), Settings(m, LEVEL))
        assert (found.test.p_greater, found.test.p_less, found.test.p_two_sided) == (1.0, 1.0, 1.0)
        assert "identical" in found.test.insufficient
        assert math.isinf(found.test.interval.low)
        assert math.isnan(found.standard_error)


def test_two_perfect_systems_are_at_the_ceiling():
    label = np.arange(100) % 2 == 0
    found = delong(labelled(label, label + 0.1 * np.sin(np.arange(100)), label * 2.0), ASK)
    assert "ceiling" in found.test.insufficient
    assert found.test.p_greater == 1.0


def test_one_perfect_system_is_tested_with_a_caution():
    label, old, _ = many()
    found = delong(labelled(label, old, label.astype(float)), ASK)
    assert found.candidate == 1.0
    assert [c.code for c in found.test.cautions] == ["ceiling"]
    assert found.test.p_greater < LEVEL
    assert not found.test.insufficient


def test_a_difference_in_the_last_bit_is_no_tie():
    label, old, new = many()
    apart = old.copy()
    positive, negative = np.flatnonzero(label)[5], np.flatnonzero(~label)[7]
    base = 0.1 + 0.2  # one step above 0.3
    for one, two, gain in ((base, 0.3, 2), (0.3, 0.3, 1), (0.3, base, 0)):
        apart[positive], apart[negative] = one, two
        found = placements(label, apart)[positive] - 2 * np.count_nonzero(
            np.delete(apart, negative)[~np.delete(label, negative)] < min(one, two)
        )
        assert found == gain
    assert delong(labelled(label, apart, new), ASK).standard_error > 0


def test_negative_zero_ties_with_zero():
    label = np.array([True, False])
    assert placements(label, np.array([0.0, -0.0])).tolist() == [1, 1]


@pytest.mark.parametrize(("n", "positives", "reason"), [
    (49, 20, "at least 50 rows"), (50, 20, ""), (60, 9, "at least 10 positive"), (60, 10, ""),
    (60, 51, "at least 10 negative"), (60, 50, ""),
])  # fmt: skip
def test_too_few(n, positives, reason):
    rng = np.random.default_rng(n + positives)
    label = np.arange(n) < positives
    found = delong(labelled(label, rng.normal(size=n), rng.normal(size=n)), ASK)
    assert (reason in found.test.insufficient) if reason else found.test.insufficient == ""
    assert math.isfinite(found.test.interval.low)  # the numbers are there all the same


@pytest.mark.parametrize(("moved", "enough"), [(5, False), (6, True)])
def test_rows_that_moved_must_be_able_to_reach_the_level(moved, enough):
    label = np.arange(200) % 2 == 0
    old = np.where(label, 2.0, 0.0) + np.arange(200) / 1000
    old[np.flatnonzero(label)[:20]] -= 3  # below every negative
    new = old.copy()
    new[np.flatnonzero(label)[:moved]] += 3
    found = delong(labelled(label, old, new), ASK)
    assert found.test.estimate == pytest.approx(moved / 100)
    assert (not found.test.insufficient) == enough


@pytest.mark.parametrize("label", [np.zeros(60), np.ones(60)])
def test_one_label_has_no_auc(label):
    rng = np.random.default_rng(1)
    for test in (delong, auc_bootstrap):
        found = test(labelled(label, rng.normal(size=60), rng.normal(size=60)), ASK)
        assert "one label" in found.test.insufficient
        assert math.isnan(found.test.estimate)
        assert found.test.p_greater == 1.0


def test_one_positive_row_has_no_spread():
    label = np.arange(60) == 0
    rng = np.random.default_rng(1)
    found = delong(labelled(label, rng.normal(size=60), rng.normal(size=60)), ASK)
    assert "no spread" in found.test.insufficient
    assert found.test.p_greater == 1.0


def test_sums_of_squares_stay_exact_beyond_64_bits():
    values = np.array([2**40 + 12345, -(2**41) - 7, 3, 2**39 - 1] * 50)
    assert _sum_of_squares(values) == sum(int(v) ** 2 for v in values)
    for large in (2**40, -(2**40)):
        assert _sum_of_squares(np.array([large, 1])) == 2**80 + 1
    assert _sum_of_squares(np.array([-3, 2])) == 13


def test_a_margin_moves_the_null():
    label, old, new = many(300)
    found = delong(labelled(label, old, new + 0.4 * label), ASK)
    low = found.test.interval.low
    assert delong(
        labelled(label, old, new + 0.4 * label), Settings(low, LEVEL)
    ).test.p_greater == pytest.approx(LEVEL)


def test_bootstrap_and_delong_agree_on_many_rows():
    rows = labelled(*many(600))
    one, two = delong(rows, ASK), auc_bootstrap(rows, Settings(0.0, LEVEL, resamples=1999))
    assert two.test.estimate == pytest.approx(one.test.estimate, abs=1e-12)
    assert two.standard_error == pytest.approx(one.standard_error, rel=0.06)
    assert two.test.interval.low == pytest.approx(one.test.interval.low, abs=0.2 * one.standard_error)
    assert two.test.interval.high == pytest.approx(one.test.interval.high, abs=0.2 * one.standard_error)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "positives"), [(100, 10), (100, 20), (200, 10), (500, 100)])
def test_delong_holds_its_level(n, positives):
    """Equal AUC of .76, correlated scores; referred to the normal law 10 positives reach .0375."""
    reps, rejected = 6000, 0
    for seed in range(reps):
        rng = np.random.default_rng(seed)
        label = np.arange(n) < positives
        shared = rng.normal(size=n)
        old, new = (shared + rng.normal(size=n) + 1.4 * label for _ in range(2))
        rejected += delong(labelled(label, old, new), ASK).test.p_greater < LEVEL
    assert rejected / reps < 0.025 + 4 * math.sqrt(0.025 * 0.975 / reps)
    assert rejected / reps > 0.008

"""Paired scores: counts, ties, digests, and what a declared scale says about their difference."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from gate.stats.bounds import difference_bounds, observed_scale, within
from gate.stats.pairs import decimals_for, from_counts, from_differences, mean_of, pair, tidy
from gate.stats.results import Interval, TestResult
from gate.values import GateError


def plain(old, new):
    """What ``pair`` promises, by one sort of the rows."""
    rows = sorted((round(b - a, 12) + 0.0, a, b) for a, b in zip(old, new, strict=True))
    return [np.array(column) for column in zip(*rows, strict=True)]


def alphabets():
    rng = np.random.default_rng(11)
    yield "one value", np.array([3.0]), 200
    yield "zeros and ones", np.array([0.0, 1.0]), 127
    yield "zeros and ones, counted", np.array([0.0, 1.0]), 128
    yield "ratings", np.arange(1.0, 6.0), 400
    yield "32 values", np.arange(32) / 8, 900
    yield "33 values", np.arange(33) / 8, 900
    yield "whole numbers far apart", np.array([-3.0, 0.0, 996.0]), 300
    yield "whole numbers too far apart", np.array([-4.0, 0.0, 996.0]), 300
    yield "tenths", np.array([0.1, 0.2, 0.3]), 300
    yield "any", rng.normal(0, 1, 500), 500


@pytest.mark.parametrize("case", list(alphabets()), ids=lambda case: case[0])
def test_rows_are_sorted_and_counted_whatever_their_values(case):
    _, values, n = case
    rng = np.random.default_rng(3)
    old, new = rng.choice(values, n), rng.choice(values, n)
    old[-1], new[-1] = values[0], values[-1]  # a rare value may come after all that were looked at first
    found = pair(old, new)
    delta, before, after = plain(old, new)
    np.testing.assert_array_equal(found.differences, delta)
    np.testing.assert_array_equal(found.baseline, before)
    np.testing.assert_array_equal(found.candidate, after)
    distinct, counts = np.unique(delta, return_counts=True)
    np.testing.assert_array_equal(found.values, distinct)
    np.testing.assert_array_equal(found.counts, counts)
    assert (found.b, found.c) == ((delta > 0).sum(), (delta < 0).sum())
    assert found.nonzero == (delta != 0).sum()
    assert found.mean() == pytest.approx(delta.mean(), rel=1e-12)


def test_a_value_that_comes_late_is_counted_too():
    old = np.concatenate([np.zeros(600), [7.0, 5.5]])
    found = pair(old, np.zeros(602))
    assert (found.c, found.values.tolist(), found.counts.tolist()) == (2, [-7.0, -5.5, 0.0], [1, 1, 600])


@pytest.mark.parametrize(
    ("old", "new", "binary"),
    [
        ([0, 1], [1, 1], True),
        ([1, 1], [0, 1], True),
        ([1, 1], [0, 0], True),
        ([0, 0], [1, 1], True),
        ([0, 0], [-1, 0], True),
        ([0, 0], [0, 0], True),
        ([1, 1], [1, 1], True),
        ([-1, 0], [0, 0], True),
        ([-1, -1], [-1, -1], True),
        ([-1, 0], [1, 0], False),
        ([0, 1], [0.5, 1], False),
        ([0.5, 1], [0, 1], False),
        ([0, 2], [0, 2], False),
        ([2, 2], [2, 2], False),
        ([0, 0.5], [0, 0], False),
    ],
)
def test_pass_fail_is_zeros_and_ones_or_their_mirror(old, new, binary):
    assert pair(old, new).binary is binary
    assert pair(old * 100, new * 100).binary is binary


def test_a_relative_difference_is_not_pass_fail():
    old, new = np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0])
    relative = pair(old, new, new - 1.1 * old)
    assert (relative.binary, relative.ratio) == (False, pytest.approx(1.1))
    same = pair(old, new, new - old)
    assert (same.binary, same.ratio) == (True, 1.0)
    assert pair([0, 0], [2.0, 3.0], [2.0, 3.0]).ratio == 1.0
    assert math.isnan(pair([0, 0], [2.0, 3.0], [2.0, 3.1]).ratio)


def test_the_digest_is_that_of_the_sorted_rows_and_their_counts():
    found = pair([0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0])
    columns = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]  # difference, baseline, candidate
    data = b"".join(np.array(column, "<f8").tobytes() for column in columns)
    expected = hashlib.sha256(b"gate pairs 1" + data + np.array([1, 1, 2], "<i8").tobytes()).digest()
    assert found.digest() == expected
    assert found.digest() == expected
    assert pair([0.0, 1.0], [1.0, 1.0]).digest() != expected
    alone = hashlib.sha256(b"gate pairs 1" + np.array([1.0, 2.0, 3.0, 1.0])[:3].astype("<f8").tobytes())
    alone.update(np.array([1], "<i8").tobytes())
    assert pair([2.0], [3.0]).digest() == alone.digest()


def test_counts_are_cells_of_a_table():
    found = from_counts(3, 2, 10, 4)
    assert (found.n, found.b, found.c, found.nonzero) == (10, 3, 2, 5)
    assert (found.baseline.sum(), found.candidate.sum()) == (6, 7)
    assert from_counts(1, 1, 2).n == 2
    for cells in ((1, 1, 2, 1), (-1, 2, 5, 0), (2, -1, 5, 0), (1, 1, 5, -1)):
        with pytest.raises(ValueError, match="add up"):
            from_counts(*cells)


def test_numbers_are_rounded_as_a_person_wrote_them():
    """12 decimals from .001 to 1000, else 15 digits: one digit before the point and 14 after it."""
    assert [decimals_for(np.array([x])) for x in (0.0, 1e-3, 1.0, 999.9)] == [12] * 4
    assert [decimals_for(np.array([x])) for x in (9e-4, 1e3, -1e5, 1e-9)] == [18, 11, 9, 23]
    assert [decimals_for(np.array([x])) for x in (1e-305, np.inf, 1e305)] == [300, 12, -291]
    assert decimals_for() == decimals_for(np.array([])) == 12
    assert tidy(np.array([0.12 - 0.10]), np.array([0.12]), np.array([0.10]))[0] == 0.02
    assert tidy(np.array([1e-4 - 3e-19]), np.array([1e-4]))[0] == 1e-4
    assert tidy(np.array([1e-4 + 3e-17]), np.array([1e-4]))[0] > 1e-4


@pytest.mark.parametrize(
    ("size", "decimals"), [(0.0, 12), (9.99e-4, 18), (1e-3, 12), (1.0, 12), (999.9, 12), (1e3, 11), (1e4, 10)]
)
def test_how_many_decimals_a_difference_keeps(size, decimals):
    one = tidy(np.array([1.25 * 10.0**-decimals]), np.array([size]))[0]
    assert one == pytest.approx(10.0**-decimals, rel=1e-9, abs=0)


def test_each_pair_is_rounded_by_its_own_scores():
    old = np.array([0.0, 1e15, 1e-5, 0.5])
    new = np.array([1e-9, 1e15 + 3, 3e-5, 0.5 + 1e-13])
    found = tidy(new - old, new, old)
    np.testing.assert_allclose(found, [1e-9, 0, 2e-5, 0], rtol=1e-12, atol=0)
    for unit in (2.0**-900, 2.0**60):
        x = np.array([3.0, -2.0]) * unit
        np.testing.assert_allclose(tidy(x, x), x, rtol=1e-12)


def test_the_mean_of_a_multiset():
    values = np.array([1e16, 1.0, -1e16])
    assert mean_of(values, np.array([1, 2, 1])) == 0.5
    hard = np.r_[1e16, np.full(998, 1.0), -1e16]
    assert mean_of(hard, np.ones(1000, dtype=np.int64)) == 0.998  # up to a thousand values without an error
    rng = np.random.default_rng(2)
    for size in (1000, 1001):
        many, counts = 1e6 + rng.normal(0, 1, size), rng.integers(1, 4, size)
        exact = math.fsum(np.repeat(many, counts).tolist()) / counts.sum()
        assert mean_of(many, counts) == pytest.approx(exact, rel=1e-15)


def test_what_a_scale_allows_a_difference_to_be():
    ratings = pair([1.0, 4.0], [2.0, 5.0])
    assert difference_bounds(ratings, (1, 5)) == (-4, 4)
    assert difference_bounds(pair([-1.0, -4.0], [-2.0, -5.0]), (1, 5)) == (-4, 4)
    assert difference_bounds(ratings, None) is None
    assert difference_bounds(from_counts(1, 0, 3), None) == (-1, 1)
    assert difference_bounds(pair([1.0, 1.0], [1.0, 1.0]), None) is None  # which scale, nobody knows
    assert difference_bounds(pair([3.0], [3.0]), (1, 5)) == (-4, 4)
    old, new = np.array([0.2, 0.8]), np.array([0.4, 1.0])
    # candidate - 1.1 baseline: from 0 - 1.1 to 1 - 0; turned, from -1 + 0 to 0 + 1.1
    assert difference_bounds(pair(old, new, new - 1.1 * old), (0, 1)) == pytest.approx((-1.1, 1.0))
    turned = difference_bounds(pair(-old, -new, -new + 1.1 * old), (0, 1))
    assert turned == pytest.approx((-1.0, 1.1))
    assert difference_bounds(pair(old, new, old * new), (0, 1)) is None
    assert observed_scale(ratings) == (1, 5)
    assert observed_scale(pair([2.0, 3.0], [2.5, 2.5])) == (2, 3)
    assert observed_scale(pair([2.5, 2.5], [2.0, 3.0])) == (2, 3)
    assert observed_scale(pair([2.0], [2.0])) is None


def test_a_score_outside_its_scale_is_named():
    edge = 1e-10  # rounding at the ends is no score outside
    assert difference_bounds(pair([1 - edge, 5 + edge], [1.0, 5.0]), (1, 5)) == (-4, 4)
    for old, found in (([0.5, 4.0], "0.5"), ([1.0, 5.5], "5.5"), ([0.25, 7.0], "0.25")):
        with pytest.raises(GateError, match=f"found {found}") as caught:
            difference_bounds(pair(old, [1.0, 2.0]), (1, 5))
        assert caught.value.code == "outside_scale"


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (-0.5, 0.5, (-0.5, 0.5)),
        (-2.0, 0.5, (-1.0, 0.5)),
        (-0.5, 2.0, (-0.5, 1.0)),
        (-math.inf, math.inf, (-1.0, 1.0)),
        (1.5, 2.0, (1.0, 1.0)),
        (-3.0, -2.0, (-1.0, -1.0)),
    ],
)
def test_an_interval_is_cut_to_what_is_possible(low, high, cut):
    found = TestResult("t", 3, 0.0, 0.0, 0.5, 0.5, 1.0, Interval(low, high, 0.95, "t"))
    assert within(found, (-1.0, 1.0)).interval == Interval(*cut, 0.95, "t")
    assert within(found, None) is found


def test_one_difference_is_one_pair():
    found = from_differences([0.5])
    assert (found.n, found.mean(), found.binary) == (1, 0.5, False)

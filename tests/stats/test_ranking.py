"""Row bootstrap and metrics of a ranking: enumerated laws, invariances, groups, what is too little."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats import ranking as rk
from gate.stats.auc import auc_bootstrap
from gate.stats.labelled import distinct_rows, labelled, row_resampling
from gate.stats.results import Settings
from gate.stats.set_level import Resampling, bootstrap_rows

LEVEL = 0.025
METRICS = {
    "auc": rk.auc_metric,
    "average_precision": rk.average_precision_metric,
    "precision": lambda y, s: rk.precision_at_metric(y, s, 4),
    "recall": lambda y, s: rk.recall_at_metric(y, s, 0.3),
    "lift": lambda y, s: rk.lift_at_metric(y, s, 3),
}


def some_rows(n=200, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    base = rng.normal(size=n) + label
    return labelled(label, np.round(base, decimals), np.round(base + 0.6 * rng.normal(size=n), decimals))


@st.composite
def counted_rows(draw):
    n = draw(st.integers(2, 12))
    label = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    score = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    times = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)))
    return label, score, times


@pytest.mark.parametrize("name", METRICS)
@given(data=counted_rows())
def test_counting_a_row_twice_is_having_it_twice(name, data):
    label, score, times = data
    repeated = METRICS[name](np.repeat(label, times), np.repeat(score, times))
    whole = repeated(np.ones(times.sum(), dtype=np.int64))
    assert METRICS[name](label, score)(times) == pytest.approx(whole, abs=1e-14)


@pytest.mark.parametrize("name", METRICS)
def test_many_resamples_at_once_are_each_on_their_own(name):
    rows = some_rows(30)
    times = np.random.default_rng(4).multinomial(30, np.full(30, 1 / 30), size=(2, 5))
    value = METRICS[name](rows.positive, rows.candidate)
    together = value(times)
    assert together.shape == (2, 5)
    alone = [[float(value(times[i, j])) for j in range(5)] for i in range(2)]
    np.testing.assert_allclose(together, alone, rtol=1e-14)


@pytest.mark.parametrize("name", METRICS)
def test_only_the_order_of_scores_counts(name):
    rows = some_rows()
    once = np.ones(rows.n, dtype=np.int64)
    value = METRICS[name](rows.positive, rows.baseline)(once)
    assert METRICS[name](rows.positive, np.exp(rows.baseline) - 5)(once) == value


@pytest.mark.parametrize("name", METRICS)
def test_no_positives_give_zero_and_never_a_fault(name):
    assert METRICS[name](np.zeros(9, dtype=bool), np.arange(9.0))(np.ones(9, dtype=np.int64)) == 0.0


def test_all_tied_scores_share_every_place():
    label, times = np.arange(10) < 3, np.ones(10, dtype=np.int64)
    assert rk.precision_at_metric(label, np.zeros(10), 4)(times) == pytest.approx(0.3)
    assert rk.average_precision_metric(label, np.zeros(10))(times) == pytest.approx(0.3)
    assert rk.lift_at_metric(label, np.zeros(10), 4)(times) == pytest.approx(1.0)
    assert rk.auc_metric(label, np.zeros(10))(times) == 0.5


@pytest.mark.parametrize(("k", "n", "deep"), [
    (0.1, 24, 2), (0.1, 25, 3), (0.001, 10, 1), (0.999, 10, 10), (1, 10, 1), (7, 10, 7), (12, 10, 12),
])  # fmt: skip
def test_depth(k, n, deep):
    assert rk.depth(k, n) == deep


def test_k_beyond_the_rows_counts_the_missing_as_negatives():
    label, once = np.array([True, True, False]), np.ones(3, dtype=np.int64)
    assert rk.precision_at_metric(label, np.arange(3.0), 6)(once) == pytest.approx(2 / 6)
    assert rk.recall_at_metric(label, np.arange(3.0), 6)(once) == 1.0


@pytest.mark.parametrize(("name", "by_label"), [
    ("auc", True), ("average_precision", True), ("lift", True), ("precision", False), ("recall", False),
])  # fmt: skip
def test_resampled_law_is_the_enumerated_one(name, by_label):
    label = np.array([True, True, False, False, True])
    old, new = np.array([3.0, 1.0, 2.0, 2.0, 0.0]), np.array([3.0, 2.5, 2.0, 2.5, 1.0])
    make = METRICS[name]
    sides = make(label, old), make(label, new)
    strata = [np.flatnonzero(label), np.flatnonzero(~label)] if by_label else [np.arange(5)]
    law = []
    for chosen in itertools.product(*(itertools.product(rows, repeat=rows.size) for rows in strata)):
        times = np.bincount(np.concatenate(chosen), minlength=5)
        law.append(round(sides[1](times) - sides[0](times), 12))
    codes = label.astype(np.int64) if by_label else np.zeros(5, dtype=np.int64)
    plan = row_resampling(name, sides, np.ones(5, dtype=np.int64), codes, b"x")
    for m in (0.0, 0.1, -0.05):
        found = bootstrap_rows(plan, Settings(m, LEVEL, resamples=9_999, seed=5)).test
        for p, exact in (
            (found.p_greater, np.mean(np.array(law) <= m)),
            (found.p_less, np.mean(np.array(law) >= m)),
        ):
            assert p == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 10_000) + 1e-4)
    ordered = np.sort(law)
    assert found.interval.low in {ordered[int(q * ordered.size)] for q in (0.02, 0.025, 0.03)}


def test_repeated_rows_are_drawn_as_often_as_they_occur():
    label, old, new = np.array([1, 1, 0, 0]), np.array([2.0, 0, 1, 0]), np.array([2.0, 1, 1, 0])
    for times in ([30, 20, 40, 35], [1, 2, 2, 1]):  # drawn by how often, drawn by which
        rows = labelled(np.repeat(label, times), np.repeat(old, times), np.repeat(new, times))
        one = auc_bootstrap(rows, Settings(0.0, LEVEL, resamples=3_999, seed=1))
        sides = rk.auc_metric(rows.positive, rows.baseline), rk.auc_metric(rows.positive, rows.candidate)
        one_each = np.ones(rows.n, dtype=np.int64)
        plain = row_resampling("auc", sides, one_each, rows.positive.astype(np.int64), b"")
        two = bootstrap_rows(plain, Settings(0.0, LEVEL, resamples=3_999, seed=2))
        assert one.standard_error == pytest.approx(two.standard_error, rel=0.06)
        assert one.test.estimate == two.test.estimate


@pytest.mark.parametrize("test", [
    auc_bootstrap,
    rk.average_precision,
    lambda rows, *more: rk.precision_at_k(rows, 0.2, *more),
    lambda rows, *more: rk.recall_at_k(rows, 40, *more),
    lambda rows, *more: rk.lift_at_k(rows, 0.2, *more),
])  # fmt: skip
def test_what_changes_nothing_and_what_mirrors(test):
    rows = some_rows()
    order = np.random.default_rng(9).permutation(rows.n)
    shuffled = labelled(rows.positive[order], rows.baseline[order], rows.candidate[order])
    one = test(rows, Settings(0.1, LEVEL, resamples=999))
    assert one == test(shuffled, Settings(0.1, LEVEL, resamples=999))
    assert not one.test.insufficient
    assert one.test.estimate == pytest.approx(one.candidate - one.baseline, abs=1e-12)
    assert one.test.interval.low <= one.test.estimate <= one.test.interval.high
    mirror = test(
        labelled(rows.positive, rows.candidate, rows.baseline),
        Settings(-0.1, LEVEL, resamples=999, seed=one.test.seed),
    )
    assert mirror.test.estimate == -one.test.estimate
    assert mirror.test.p_less == pytest.approx(one.test.p_greater, abs=0.05)
    same = test(
        labelled(rows.positive, rows.baseline, np.exp(rows.baseline)), Settings(0.0, LEVEL, resamples=999)
    )
    assert same.test.p_greater == 1.0
    assert same.test.insufficient
    same = test(labelled(rows.positive, rows.baseline, rows.baseline), Settings(-0.1, LEVEL, resamples=999))
    assert same.test.p_greater == 1.0
    assert same.test.insufficient


@pytest.mark.parametrize(("name", "test", "make", "by_label"), [
    ("auc", auc_bootstrap, rk.auc_metric, True),
    ("average_precision", rk.average_precision, rk.average_precision_metric, True),
    ("precision_at_k 40", lambda rows, ask: rk.precision_at_k(rows, 40, ask),
     lambda y, s: rk.precision_at_metric(y, s, 40), False),
    ("recall_at_k 40", lambda rows, ask: rk.recall_at_k(rows, 40, ask),
     lambda y, s: rk.recall_at_metric(y, s, 40), False),
    ("lift_at_k 40", lambda rows, ask: rk.lift_at_k(rows, 40, ask),
     lambda y, s: rk.lift_at_metric(y, s, 40), True),
])  # fmt: skip
def test_which_metrics_are_drawn_by_label(name, test, make, by_label):
    rows = some_rows()
    distinct, counts, digest = distinct_rows(rows)
    sides = make(distinct.positive, distinct.baseline), make(distinct.positive, distinct.candidate)
    strata = distinct.positive.astype(np.int64) if by_label else np.zeros(counts.size, dtype=np.int64)
    ask = Settings(0.0, LEVEL, resamples=999)
    assert test(rows, ask) == bootstrap_rows(row_resampling(name, sides, counts, strata, digest), ask)


@pytest.mark.parametrize("near", [False, True])
def test_what_is_asked_for_is_drawn_whatever_it_costs_and_no_more(near):
    drawn = []

    def draw(count, rng):
        drawn.append(count)
        return rng.normal(size=count) if near else 9 + rng.normal(size=count)

    plan = Resampling("x", 100, 0.0, 1.0, b"", 10**12, draw)
    found = bootstrap_rows(plan, Settings(0.0, 0.49, resamples=999, seed=1)).test
    assert drawn == [999]
    assert [caution.code for caution in found.cautions] == (["mc_borderline"] if near else [])
    assert found.p_two_sided == min(1.0, 2 * min(found.p_greater, found.p_less))
    assert found.interval.confidence == pytest.approx(0.02)
    assert found.smallest_p == 0.001


def test_more_resamples_where_p_is_near_the_level():
    label = np.arange(60) % 2 == 0
    rng = np.random.default_rng(0)
    rows = labelled(label, rng.normal(size=60), rng.normal(size=60) + 0.9 * label)
    first = rk.average_precision(rows, Settings(0.0, 0.2, resamples=999, seed=1))
    near = rk.average_precision(rows, Settings(0.0, first.test.p_greater, resamples=999, seed=1))
    assert near.test.resamples >= 99_999


@pytest.mark.parametrize(("positives", "n", "reason"), [
    (19, 100, "20 positive"), (20, 100, ""), (81, 100, "20 negative"), (80, 100, ""), (25, 49, "50 rows"),
])  # fmt: skip
def test_too_few_of_a_class(positives, n, reason):
    rng = np.random.default_rng(positives)
    rows = labelled(np.arange(n) < positives, rng.normal(size=n), rng.normal(size=n))
    found = rk.average_precision(rows, Settings(0.0, LEVEL, resamples=799))
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


@pytest.mark.parametrize(("k", "reason"), [
    (19, "20 rows"), (20, ""), (0.19, "20 rows"), (0.2, ""), (100, "no spread"), (101, "larger than"),
])  # fmt: skip
def test_the_cut_must_hold_enough_and_not_more_than_all(k, reason):
    rng = np.random.default_rng(1)
    rows = labelled(np.arange(100) % 2, rng.normal(size=100), rng.normal(size=100))
    found = rk.precision_at_k(rows, k, Settings(0.0, LEVEL, resamples=799))
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


@pytest.mark.parametrize(("moved", "enough"), [(5, False), (6, True)])
def test_positives_that_crossed_the_cut_must_be_able_to_reach_the_level(moved, enough):
    label = np.arange(200) % 2 == 0
    old = -np.arange(200.0)
    new = old.copy()
    new[np.flatnonzero(label)[-moved:]] += 1000  # a positive enters for every row that leaves
    new[np.flatnonzero(~label)[:moved]] -= 1000
    found = rk.precision_at_k(labelled(label, old, new), 50, Settings(0.0, LEVEL, resamples=799))
    assert found.test.estimate > 0
    assert (not found.test.insufficient) == enough


def test_digest_sees_content_and_not_order():
    rows = some_rows()
    order = np.random.default_rng(2).permutation(rows.n)
    one, two = (
        distinct_rows(rows),
        distinct_rows(labelled(rows.positive[order], rows.baseline[order], rows.candidate[order])),
    )
    assert one[2] == two[2]
    assert int(one[1].sum()) == rows.n
    changed = rows.baseline.copy()
    changed[0] += 1e-9
    assert distinct_rows(labelled(rows.positive, changed, rows.candidate))[2] != one[2]


def test_groups_are_paired_values():
    label = [1, 0, 0, 1, 0, 0, 0, 0]
    old, new = [1, 2, 3, 3, 2, 1, 5, 4], [3, 2, 1, 3, 2, 1, 4, 5]
    rows = labelled(label, old, new, ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 2)
    found = rk.group_values(rows, rk.average_precision_metric)
    assert found.groups.tolist() == [0, 1]
    assert found.baseline.tolist() == [pytest.approx(1 / 3), 1.0]
    assert found.candidate.tolist() == [1.0, 1.0]
    cut = rk.group_values(rows, lambda y, s: rk.precision_at_metric(y, s, 1), needs_positive=False)
    assert cut.groups.tolist() == [0, 1, 2]
    assert (cut.candidate - cut.baseline).mean() == pytest.approx(1 / 3)
    renamed = labelled(label, old, new, ["z"] * 3 + ["y"] * 3 + ["x"] * 2)
    again = rk.group_values(renamed, rk.average_precision_metric)
    once, twice = (sorted(zip(f.baseline, f.candidate, strict=True)) for f in (found, again))
    assert once == twice


def test_groups_without_any_positive_have_no_pairs():
    rows = labelled([0, 0], [1, 2], [2, 1], [1, 2])
    found = rk.group_values(rows, rk.average_precision_metric)
    assert found.groups.size == found.baseline.size == 0
    with pytest.raises(ValueError, match="no groups"):
        rk.group_values(labelled([0, 1], [1, 2], [2, 1]), rk.average_precision_metric)


@pytest.mark.parametrize(("columns", "words"), [
    (([0, 1], [1.0], [1.0, 2.0]), "pair up"),
    (([], [], []), "pair up"),
    (([0, 2], [1.0, 2.0], [1.0, 2.0]), "0 or 1"),
    (([0, math.nan], [1.0, 2.0], [1.0, 2.0]), "0 or 1"),
    (([0, 1], [1.0, math.nan], [1.0, 2.0]), "finite"),
    (([0, 1], [1.0, 2.0], [math.inf, 2.0]), "finite"),
    (([0, 1], [1.0, 2.0], [1.0, 2.0], ["a"]), "one label a row"),
])  # fmt: skip
def test_columns_that_do_not_fit(columns, words):
    with pytest.raises(ValueError, match=words):
        labelled(*columns)

"""What must hold on any data, for every procedure that claims it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gate.stats.methods import METHODS, named_tests
from gate.stats.pairs import from_counts, from_differences, pair
from gate.stats.procedures import run
from gate.stats.unconditional import p_greater

LEVEL = 0.025
BINARY = [m.id for m in named_tests("pairs") if "graded" not in m.kinds]
CLOSED = ["t_guarded", "paired_t", "gaffke"]
RANKS = ["wilcoxon", "wilcoxon_pratt", "sign"]
RESAMPLING = ["bootstrap", "bootstrap_bca", "bootstrap_t", "sign_flip", "bca_sign_flip"]
MARGIN = [m.id for m in named_tests("pairs", margin=True)]
SCALE = (-5.0, 5.0)

tables = st.tuples(st.integers(0, 25), st.integers(0, 25), st.integers(1, 90)).map(
    lambda t: (t[0], t[1], sum(t))
)
small_tables = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(1, 40)).map(
    lambda t: (t[0], t[1], sum(t))
)
scores = st.integers(-500, 500).map(lambda k: k / 100)
ratings = st.integers(1, 5).map(float)


def rows(elements, least=2, most=40):
    return st.lists(st.tuples(elements, elements), min_size=least, max_size=most)


def apply(method, pairs, null_value=0.0, level=LEVEL, **more):
    scale = None if pairs.binary else SCALE
    return run(method, pairs, null_value, level, scale=scale, resamples=999, **more)


def mirrored(one, two):
    assert one.p_greater == pytest.approx(two.p_less, rel=1e-7, abs=1e-12)
    assert one.p_two_sided == pytest.approx(two.p_two_sided, rel=1e-7, abs=1e-12)
    for end, other in ((one.interval.low, -two.interval.high), (one.interval.high, -two.interval.low)):
        assert end == pytest.approx(other, rel=1e-6, abs=1e-7)


@settings(max_examples=12)
@given(small_tables, st.sampled_from([0.0, 0.03, -0.05]))
def test_swapping_the_sides_mirrors_pass_fail(table, m):
    b, c, n = table
    for method in BINARY if m == 0 else ("tango", "exact_unconditional", "gaffke"):
        mirrored(apply(method, from_counts(b, c, n), m), apply(method, from_counts(c, b, n), -m))


@settings(max_examples=25)
@given(rows(ratings))
def test_swapping_the_sides_mirrors_graded(data):
    old, new = np.array(data).T
    for method in [*CLOSED, *RANKS] + (["sign_flip"] if len(data) <= 12 else []):
        mirrored(apply(method, pair(old, new)), apply(method, pair(new, old)))


@settings(max_examples=20)
@given(rows(scores, most=25), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_no_digit(data, random):
    shuffled = list(data)
    random.shuffle(shuffled)
    one, two = (pair(*np.array(x).T) for x in (data, shuffled))
    for method in [*CLOSED, *RANKS, *RESAMPLING]:
        assert apply(method, one) == apply(method, two)


@settings(max_examples=30)
@given(tables, st.integers(0, 400))
def test_items_on_which_both_agree_leave_mcnemar_alone(table, more):
    b, c, n = table
    for method in ("mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards"):
        one, two = (apply(method, from_counts(b, c, size)) for size in (n, n + more))
        assert (one.p_greater, one.p_less, one.p_two_sided) == (two.p_greater, two.p_less, two.p_two_sided)


@pytest.mark.parametrize("method", [m.id for m in named_tests("pairs")])
@pytest.mark.parametrize("n", [1, 5, 60, 300])
@pytest.mark.parametrize("m", [0.0, 0.05])
def test_identical_systems_never_pass(method, n, m):
    if m and method not in MARGIN:
        return
    for old in (np.arange(n) % 2, np.ones(n), np.linspace(0, 1, n)):
        pairs = pair(old, old)
        if "graded" not in METHODS[method].kinds and not pairs.binary:
            continue
        result = apply(method, pairs, m)
        assert result.insufficient
        assert result.p_greater >= LEVEL
        assert not result.interval.low > m


@settings(max_examples=25)
@given(
    small_tables,
    st.sampled_from([0.0, 0.02, 0.1, -0.02, -0.1]),
    st.sampled_from([0.05, 0.025, 0.005, 0.0002]),
)
@example((3, 0, 3), -0.1, 0.025)
@example((5, 5, 10), 0.1, 0.025)
@example((0, 0, 183), -0.02, 0.025)
def test_pass_fail_interval_and_p_are_one_decision(table, m, level):
    for method in [*BINARY, "gaffke"]:
        if m == 0 or method in MARGIN:
            one_decision(apply(method, from_counts(*table), m, level), level)


@settings(max_examples=40)
@given(rows(scores), st.sampled_from([0.0, 0.25, -0.5]))
def test_graded_interval_and_p_are_one_decision(data, m):
    pairs = pair(*np.array(data).T)
    for method in [*CLOSED, *RANKS, *RESAMPLING]:
        if m == 0 or method in MARGIN:
            one_decision(apply(method, pairs, m), LEVEL)


def one_decision(result, level):
    m = result.null_value
    for p, beyond in ((result.p_greater, result.interval.low > m), (result.p_less, result.interval.high < m)):
        assert 0 < p <= 1
        assert beyond == (p < level) or p == pytest.approx(level, rel=1e-9), (result, level)
    assert result.interval.low <= result.interval.high
    assert 0 < result.p_two_sided <= 1
    assert not math.isnan(result.interval.low + result.interval.high) or math.isinf(result.interval.low)


@settings(max_examples=30)
@given(small_tables, st.sampled_from(["tie", "loss"]))
def test_a_win_more_never_hurts_pass_fail(table, source):
    b, c, n = table
    assume(c > 0 if source == "loss" else b + c < n)
    better = (b + 1, c, n) if source == "tie" else (b, c - 1, n)
    for method in ("mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "tango", "gaffke"):
        one, two = apply(method, from_counts(*table)), apply(method, from_counts(*better))
        # z = (b - c) / sqrt(s) is monotone only while the candidate leads; and no test is left at s = 0
        if (method in {"mcnemar_chi2", "tango"} and b <= c) or better[0] + better[1] == 0:
            continue
        assert two.p_greater <= one.p_greater * (1 + 1e-9)


@pytest.mark.parametrize("m", [0.0, 0.05, -0.1])
def test_a_win_more_never_undoes_an_exact_unconditional_pass(m):
    """Berger and Boos' nuisance set moves with the table: monotone wherever a decision could lie (p < .5)."""
    n, most = 40, 16
    p = {(b, c): p_greater(b, c, n, m, 1e-4) for b in range(most) for c in range(most)}
    for (b, c), value in p.items():
        for better in ((b + 1, c), (b, c - 1)):
            if better in p and value < 0.5:
                assert p[better] <= value + 1e-9


@settings(max_examples=40)
@given(st.lists(scores, min_size=2, max_size=10), st.integers(0, 14), st.floats(0.01, 3))
def test_a_larger_gain_never_hurts_sign_flip_and_gaffke(d, at, more):
    better = np.array(d)
    better[at % len(d)] += round(more, 2)
    for method in ("sign_flip", "sign"):
        p = [run(method, from_differences(x), 0.0, LEVEL).p_greater for x in (d, better)]
        assert p[1] <= p[0] + 1e-12 or method == "sign"
    p = [run("gaffke", from_differences(x), 0.0, LEVEL, scale=(-9.0, 9.0)).p_greater for x in (d, better)]
    assert p[1] <= p[0] * (1 + 1e-9)


def test_one_outlying_gain_can_stop_a_t_test_and_is_named():
    """No t test is monotone in one large gain (.4 x 4 and three zeros passes, 1.0 instead of .4 does not)."""
    steady, outlying = [0.4] * 8 + [0.3] * 4 + [0.0] * 2, [0.4] * 8 + [0.3] * 3 + [9.0] + [0.0] * 2
    one, two = (run("t_guarded", from_differences(x), 0.0, LEVEL) for x in (steady, outlying))
    assert one.p_greater < LEVEL <= two.p_greater
    assert "gain_widens_interval" in [caution.code for caution in two.cautions]
    assert "gain_widens_interval" not in [caution.code for caution in one.cautions]


@settings(max_examples=40)
@given(rows(ratings, least=5), st.sampled_from([1e-6, 0.01, 7.0, 1e6]), st.sampled_from([0.0, 100.0, -3.0]))
def test_unit_and_origin_of_a_graded_score_do_not_matter(data, factor, shift):
    old, new = np.array(data).T
    for method in ("t_guarded", "paired_t", "wilcoxon", "wilcoxon_pratt", "sign"):
        one = run(method, pair(old, new), 0.0, LEVEL)
        two = run(method, pair(factor * (old + shift), factor * (new + shift)), 0.0, LEVEL)
        assert two.p_greater == pytest.approx(one.p_greater, rel=1e-6)
        assert two.p_less == pytest.approx(one.p_less, rel=1e-6)
        if math.isfinite(one.interval.low):
            assert two.interval.low == pytest.approx(factor * one.interval.low, rel=1e-4, abs=1e-6 * factor)


@settings(max_examples=30)
@given(small_tables)
def test_gaffke_on_pass_fail_is_exact_mcnemar(table):
    exact, bounded = (apply(method, from_counts(*table)) for method in ("mcnemar_exact", "gaffke"))
    assert bounded.p_greater == pytest.approx(exact.p_greater, rel=1e-8)
    if exact.interval.low < 0:  # above 0 the melded interval takes the smaller rate of disagreement
        assert bounded.interval.low == pytest.approx(exact.interval.low, abs=1e-6)


@settings(max_examples=25)
@given(rows(st.floats(allow_nan=False, allow_infinity=False, width=64), most=30))
def test_numbers_of_any_size_give_numbers(data):
    """Scores near the ends of the float range must not become NaN or an error."""
    old, new = np.array(data).T / 4
    pairs = pair(old, new)
    for method in ("t_guarded", "paired_t", "sign", "wilcoxon", "sign_flip"):
        result = run(method, pairs, 0.0, LEVEL, resamples=999)
        assert 0 < result.p_greater <= 1
        assert not math.isnan(result.interval.low)
        assert not math.isnan(result.estimate)

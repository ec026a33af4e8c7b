"""The strict rule for clusters: what it adds to the default, invariances, limits, and what it repairs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gate.stats.cluster_data import cluster_pairs
from gate.stats.cluster_skew import (
    cluster_cautions,
    cluster_gaffke,
    cluster_pooled,
    cluster_skewness,
    cluster_strict,
    hall_tails,
)
from gate.stats.clusters import cluster, cluster_cr2
from gate.stats.results import Settings
from gate.values import GateError

LEVEL = 0.025
ASK = Settings(0.0, LEVEL)


def clustered(sizes=(10,) * 12, seed=0, effect=1.0, shift=0.5, left=False):
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=len(sizes)) if not left else 1 - rng.exponential(size=len(sizes))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    d = shift + effect * effects[labels] + rng.normal(size=labels.size)
    return cluster_pairs(np.zeros(labels.size), d, labels)


UNEVEN = (4, 9, 30, 12, 7, 15, 22, 5, 11, 8)


@pytest.mark.parametrize("sizes", [(10,) * 12, UNEVEN])
def test_p_and_interval_are_the_widest_of_three_and_one_decision(sizes):
    for seed in range(6):
        data = clustered(sizes, seed)
        plain = cluster(data, ASK)
        strict, pooled = cluster_strict(data, ASK), cluster_pooled(data, ASK)
        assert strict.p_greater >= pooled.p_greater
        for found in (strict, pooled):
            assert found.p_greater >= plain.p_greater
            assert found.p_less == plain.p_less
            assert found.interval.low <= plain.interval.low
            assert found.interval.high >= plain.interval.high
            assert (found.interval.low > 0) == (found.p_greater < LEVEL)
            assert found.p_two_sided == min(1.0, 2 * min(found.p_greater, found.p_less))
            assert found.interval.confidence == pytest.approx(0.95)
            assert found.statistic == cluster_cr2(data, ASK).statistic


@pytest.mark.parametrize("sizes", [(10,) * 12, UNEVEN])
@pytest.mark.parametrize("insured", [False, True])
def test_halls_limits_invert_his_test(sizes, insured):
    data = clustered(sizes, 3)
    skewness = cluster_skewness(data)
    tails = hall_tails(data, skewness, skewness.insurance if insured else 0.0)
    for level in (0.2, 0.025, 0.001):
        assert tails.greater(tails.low(level)) == pytest.approx(level, rel=1e-9)
        assert tails.less(tails.high(level)) == pytest.approx(level, rel=1e-9)


def test_single_items_have_the_usual_skewness():
    d = np.random.default_rng(1).exponential(size=40)
    skewness = cluster_skewness(cluster_pairs(np.zeros(40), d, np.arange(40)))
    assert skewness.g == pytest.approx(stats.skew(d, bias=False))
    assert skewness.weight == pytest.approx(1.0)
    assert skewness.insurance == pytest.approx(math.sqrt(6 / 40))


@given(st.integers(0, 30), st.floats(-0.5, 0.5))
def test_names_units_and_exchange(seed, m):
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, 9, 60))
    d = rng.normal(size=60) + 0.2
    one = cluster_strict(cluster_pairs(np.zeros(60), d, labels), Settings(m, LEVEL))
    order = rng.permutation(60)
    names = np.array([f"c{9 - i}" for i in labels])
    assert one == cluster_strict(cluster_pairs(np.zeros(60), d[order], names[order]), Settings(m, LEVEL))
    larger = cluster_strict(cluster_pairs(np.zeros(60), 8 * d, labels), Settings(8 * m, LEVEL))
    assert larger.p_greater == pytest.approx(one.p_greater, rel=1e-6)
    data = cluster_pairs(np.zeros(60), d, labels)
    turned = cluster_pairs(np.zeros(60), -d, labels)
    there, back = cluster_skewness(data), cluster_skewness(turned)
    assert back.g == pytest.approx(-there.g)
    assert hall_tails(turned, back, 0.2).greater(-m) == pytest.approx(hall_tails(data, there, 0.2).less(m))


def test_equal_clusters_and_too_few_have_no_spread():
    flat = cluster_pairs(np.zeros(60), np.ones(60), np.repeat(np.arange(12), 5))
    assert cluster_strict(flat, ASK).p_greater == 0.5**12
    none = cluster_pairs(np.zeros(60), np.zeros(60), np.repeat(np.arange(12), 5))
    assert cluster_strict(none, ASK).p_greater == 1.0
    assert cluster_strict(none, ASK).insufficient
    two = cluster_pairs(np.zeros(4), [1.0, 2, 3, 4], [0, 0, 1, 1])
    assert cluster_strict(two, ASK).p_greater == cluster(two, ASK).p_greater


def test_the_insurance_says_when_it_alone_keeps_the_result_back():
    codes = []
    for seed in range(40):
        data = clustered(seed=seed, left=True, shift=0.8)
        found = cluster_strict(data, ASK)
        said = "skew_insured" in {caution.code for caution in found.cautions}
        assert said == (cluster_pooled(data, ASK).p_greater < LEVEL <= found.p_greater)
        assert "skew_insured" not in {caution.code for caution in cluster_pooled(data, ASK).cautions}
        codes.append(said)
    assert 0 < sum(codes) < 40


@pytest.mark.parametrize(("sizes", "uneven"), [
    ((10,) * 12, False), ((10,) * 11, True), ((10,) * 19 + (47,), False), ((10,) * 19 + (48,), True),
])  # fmt: skip
def test_cautions_of_few_and_uneven_clusters(sizes, uneven):
    found = {caution.code: caution.message for caution in cluster_cautions(clustered(sizes), LEVEL)}
    assert ("uneven_clusters" in found) == uneven
    assert f"{-math.expm1(math.log(LEVEL) / len(sizes)):.0%} of all" in found["unseen_cluster"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 20])
def test_strict_repairs_left_skewed_cluster_effects(count):
    reps, strict, plain = 3000, 0, 0
    for seed in range(reps):
        data = clustered((10,) * count, seed, shift=0.0, left=True)
        strict += cluster_strict(data, ASK).p_greater < LEVEL
        plain += cluster(data, ASK).p_greater < LEVEL
    assert plain / reps > 0.045
    assert strict / reps < 0.025 + 3.5 * math.sqrt(0.025 * 0.975 / reps)


def binary_clusters(n=20, seed=0, size=5):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n), size)
    old = rng.random(n * size) < 0.5
    new = old | (rng.random(n * size) < 0.6)
    return cluster_pairs(old.astype(float), new.astype(float), labels)


def guaranteed(data, m, bounds, most, level=LEVEL):
    """Scores of which the differences reach just so far."""
    half = bounds[1] / 2
    data = replace(data, observed=(-half, half), most=most)
    return cluster_gaffke(data, Settings(m, level, (-half, half)))


def test_guaranteed_limits_invert_the_test_and_lie_within_the_bounds():
    data = binary_clusters()
    found = guaranteed(data, 0.0, (-1.0, 1.0), 5)
    assert -1 <= found.interval.low <= found.estimate <= found.interval.high <= 1
    assert (found.interval.low > 0) == (found.p_greater < LEVEL)
    at = guaranteed(data, found.interval.low, (-1.0, 1.0), 5)
    assert at.p_greater == pytest.approx(LEVEL, rel=1e-5)
    at = guaranteed(data, found.interval.high, (-1.0, 1.0), 5)
    assert at.p_less == pytest.approx(LEVEL, rel=1e-5)


def test_guaranteed_costs_more_with_a_larger_cap_and_a_wider_scale():
    data = binary_clusters()
    p = [guaranteed(data, 0.0, (-r, r), cap).p_greater for r, cap in ((1, 5), (1, 8), (2, 8))]
    assert p[0] < p[1] < p[2]


def test_guaranteed_exchange_mirrors():
    data = binary_clusters()
    turned = cluster_pairs(np.zeros(100), -np.repeat(data.totals / 5, 5), np.repeat(np.arange(20), 5))
    one = guaranteed(data, 0.1, (-1.0, 1.0), 5)
    two = guaranteed(turned, -0.1, (-1.0, 1.0), 5)
    assert two.p_less == pytest.approx(one.p_greater, rel=1e-9)
    assert two.interval.high == pytest.approx(-one.interval.low, abs=1e-8)


@pytest.mark.parametrize(("cap", "refused"), [(29, True), (30, False)])
def test_a_cluster_beyond_the_cap_is_refused(cap, refused):
    data = clustered(UNEVEN)
    if refused:
        with pytest.raises(GateError) as error:
            guaranteed(data, 0.0, (-20.0, 20.0), cap)
        assert error.value.code == "cluster_too_large"
    else:
        assert guaranteed(data, 0.0, (-20.0, 20.0), cap).p_greater <= 1


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_guaranteed_holds_its_level_where_whole_clusters_fail(rate):
    """Clusters lose everything at the rate, else gain so that the mean is 0; every outcome is counted."""
    count, level = 15, 0.1
    gain = rate / (1 - rate)
    missed = 0.0
    for bad in range(count + 1):
        d = np.repeat(np.where(np.arange(count) < bad, -1.0, gain), 5)
        data = cluster_pairs(np.zeros(count * 5), d, np.repeat(np.arange(count), 5))
        if guaranteed(data, 0.0, (-1.0, 1.0), 5, level).p_greater < level:
            missed += stats.binom.pmf(bad, count, rate)
    assert missed <= level

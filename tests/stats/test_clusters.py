"""Clustered pairs: reference values, limits, and what clustering costs."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from gate.stats import clusters
from gate.stats.cluster_data import cluster_pairs, cr2_variance, describe, tipping_points
from gate.stats.clusters import satterthwaite_df
from gate.stats.methods import named_tests
from gate.stats.pairs import pair
from gate.stats.procedures import run
from gate.stats.results import Settings
from gate.values import GateError

LEVEL = 0.025
CLUSTER_TESTS = ["cluster_strict", *(method.id for method in named_tests("clusters"))]
ROWS = [
    row
    for row in json.loads((Path(__file__).parent.parent / "oracles" / "published.json").read_text("utf-8"))
    if "cluster" in row["call"]
]


def from_table(sizes, gains, losses):
    old, new, labels = [], [], []
    for j, (n, b, c) in enumerate(zip(sizes, gains, losses, strict=True)):
        old += [0] * b + [1] * c + [1] * (n - b - c)
        new += [1] * b + [0] * c + [1] * (n - b - c)
        labels += [j] * n
    return cluster_pairs(old, new, labels)


def value_of(name, data):
    cr0 = math.sqrt(float(np.sum(data.residuals**2))) / data.n
    return {
        "cluster_CR0_se": lambda: cr0,
        "cluster_CR1_se": lambda: cr0 * math.sqrt(data.count / (data.count - 1)),
        "cluster_CR2_se": lambda: math.sqrt(cr2_variance(data)),
        "cluster_CR2_df": lambda: satterthwaite_df(data),
        "cluster_CR2_p_two": lambda: run("cluster_cr2", data, 0.0, LEVEL).p_two_sided,
        "cluster_signflip_exact_greater": lambda: run("cluster_sign_flip", data, 0.0, LEVEL).p_greater,
    }[name]()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_reference_value(row):
    data = row["call"]["data"]
    if "d" in data:
        labelled = cluster_pairs(np.zeros(len(data["d"])), data["d"], data["cluster"])
        found = value_of(row["id"], labelled)
    else:
        table = from_table(data["n"], data["b"], data["c"])
        found = run(row["id"].split("_")[0], table, 0.0, LEVEL).statistic
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


def documents():
    """20 documents of 10 questions: 8 gain three, 3 lose three, 9 stay."""
    return from_table([10] * 20, [3] * 8 + [0] * 12, [0] * 8 + [3] * 3 + [0] * 9)


def test_clusters_turn_a_pass_into_no_claim():
    data = documents()
    result = run("cluster_strict", data, 0.0, LEVEL)
    assert result.method == "cluster_strict"
    assert result.n == 200
    assert 2 * result.p_greater > 0.13
    assert result.interval.low < 0
    summary = describe(data)
    assert summary.n_clusters == 20
    assert summary.cluster_se > summary.naive_se
    assert summary.deff == pytest.approx((summary.cluster_se / summary.naive_se) ** 2)


def test_clusters_of_one_item_are_the_paired_t_test():
    d = np.random.default_rng(1).normal(0.2, 1, 40)
    clustered = run("cluster_cr2", cluster_pairs(np.zeros(40), d, np.arange(40)), 0.1, LEVEL)
    plain = run("paired_t", pair(np.zeros(40), d), 0.1, LEVEL)
    assert clustered.p_greater == pytest.approx(plain.p_greater, rel=1e-9)
    assert clustered.interval.low == pytest.approx(plain.interval.low, rel=1e-9)


@pytest.mark.parametrize("method", CLUSTER_TESTS)
def test_swapping_mirrors_and_row_order_does_not_matter(method):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 14, 120).astype(str)
    old, new = rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    one = run(method, cluster_pairs(old, new, labels), 0.0, LEVEL)
    order = rng.permutation(120)
    renamed = np.char.add("doc-", labels)
    assert run(method, cluster_pairs(old[order], new[order], renamed[order]), 0.0, LEVEL) == one
    if method != "cluster_bootstrap":
        other = run(method, cluster_pairs(new, old, labels), 0.0, LEVEL)
        assert other.p_less == pytest.approx(one.p_greater)
        assert other.interval.high == pytest.approx(-one.interval.low, abs=1e-7)


@pytest.mark.parametrize("method", CLUSTER_TESTS)
@pytest.mark.parametrize("gain", [0.0, 0.12, 0.3])
def test_interval_and_p_are_one_decision(method, gain):
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(12), 8)
    old = rng.random(96) < 0.5
    new = np.where(rng.random(96) < gain, True, old ^ (rng.random(96) < 0.1))
    result = run(method, cluster_pairs(old, new, labels), 0.0, LEVEL)
    assert (result.interval.low > 0) == (result.p_greater < LEVEL) or result.p_greater == pytest.approx(LEVEL)
    assert -1 <= result.interval.low <= result.interval.high <= 1


def test_five_clusters_prove_nothing():
    result = run("cluster_strict", from_table([9] * 5, [5] * 5, [0] * 5), 0.0, LEVEL)
    assert "at least 6 clusters" in result.insufficient
    flips = run("cluster_sign_flip", from_table([9] * 5, [5, 4, 5, 3, 5], [0] * 5), 0.0, LEVEL)
    assert flips.smallest_p == 2**-5
    assert "smallest_p" in [c.code for c in flips.cautions]
    assert "few_clusters" in [c.code for c in run("cluster_bootstrap", documents(), 0.0, LEVEL).cautions]


def test_degenerate_clusters():
    same = from_table([4] * 8, [0] * 8, [0] * 8)
    for method in CLUSTER_TESTS:
        result = run(method, same, 0.0, LEVEL)
        assert result.insufficient
        assert result.p_greater >= LEVEL
    alone = cluster_pairs([0.0, 1.0, 0.5], [1.0, 1.0, 0.7], ["a", "a", "a"])
    assert run("cluster_strict", alone, 0.0, LEVEL).insufficient
    assert describe(alone).icc is None


def test_many_clusters_use_monte_carlo_that_agrees_with_enumeration():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(17), 5)
    d = rng.normal(0.25, 1, 85)
    sampled = run("cluster_sign_flip", cluster_pairs(np.zeros(85), d, labels), 0.0, LEVEL)
    totals = np.bincount(labels, weights=d)
    patterns = 1 - 2 * ((np.arange(2**17)[:, None] >> np.arange(17)) & 1)
    exact = float(np.mean(patterns @ totals >= totals.sum() - 1e-9))
    assert sampled.p_greater == pytest.approx(exact, abs=5 * math.sqrt(exact / sampled.resamples))
    assert sampled.resamples >= 9_999


def test_clustered_tests_refuse_what_they_cannot_do():
    graded = cluster_pairs(np.zeros(20), np.linspace(-1, 1, 20), np.arange(20) % 7)
    for method, null, code in (("yang", 0.0, "wrong_kind"), ("mcnemar_exact", 0.0, "unknown_test")):
        with pytest.raises(GateError) as caught:
            run(method, graded, null, LEVEL)
        assert caught.value.code == code
    with pytest.raises(GateError) as caught:
        run("durkalski", documents(), 0.01, LEVEL)
    assert caught.value.code == "no_margin"


def test_tipping_points_of_unlabelled_clusters():
    found = {point.size: point.icc for point in tipping_points(3.77, LEVEL)}
    assert found[2] is None
    assert found[5] == pytest.approx(0.68, abs=0.01)
    assert found[20] == pytest.approx(0.14, abs=0.005)
    assert [point.icc for point in tipping_points(1.0, LEVEL)] == [0.0] * 4


SMALL = ([1.0, 2.0, 0.0, 4.0, 1.0, 3.0, 2.0], ["a", "a", "b", "b", "b", "c", "d"])


def small():
    return cluster_pairs(np.zeros(7), *SMALL)


def test_totals_and_counts_of_clusters():
    data = cluster_pairs([0, 1, 0, 1, 0], [1, 0, 1, 1, 1], [2, 2, 1, 1, 3])
    assert (data.n, data.count, data.binary, data.squares, data.observed) == (5, 3, True, 4.0, (0.0, 1.0))
    cells = sorted(zip(data.sizes, data.totals, data.gains, data.losses, strict=True))
    assert cells == [(1, 1.0, 1, 0), (2, 0.0, 1, 1), (2, 1.0, 1, 0)]
    assert data.mean == pytest.approx(0.4)
    assert sorted(data.residuals) == pytest.approx([-0.8, 0.2, 0.6])
    with pytest.raises(ValueError, match="one label a pair"):
        cluster_pairs([0, 1], [1, 1], ["a"])
    other = cluster_pairs([0, 1, 0, 1, 0], [1, 0, 1, 1, 1], [2, 2, 1, 1, 1])
    assert data.digest() != other.digest()
    bounds = cluster_pairs([1.0, 2.0], [5.0, 0.0], ["a", "b"]).observed
    assert (bounds, cluster_pairs([5.0, 0.0], [1.0, 2.0], ["a", "b"]).observed) == ((0.0, 5.0),) * 2


def test_what_clustering_costs_by_the_analysis_of_variance():
    """Mean squares between and within; n_0 = (N - sum n_j^2 / N) / (J - 1)."""
    d, labels = np.array(SMALL[0]), np.array(SMALL[1])
    groups = [d[labels == g] for g in "abcd"]
    between = sum(g.size * (g.mean() - d.mean()) ** 2 for g in groups) / 3
    within = sum(np.sum((g - g.mean()) ** 2) for g in groups) / 3
    size = (7 - 15 / 7) / 3  # 15 = 4 + 9 + 1 + 1
    found = describe(small())
    assert (found.n_clusters, found.largest_share) == (4, pytest.approx(3 / 7))
    assert found.icc == pytest.approx((between - within) / (between + (size - 1) * within))
    assert found.naive_se == pytest.approx(d.std(ddof=1) / math.sqrt(7))
    totals = np.array([sum((d - d.mean())[labels == g]) for g in "abcd"])
    share = np.array([2, 3, 1, 1]) / 7
    assert found.cluster_se == pytest.approx(math.sqrt(np.sum(totals**2 / (1 - share))) / 7)
    assert found.deff == pytest.approx((found.cluster_se / found.naive_se) ** 2)
    assert describe(cluster_pairs(np.zeros(7), d / 100, labels)).icc == pytest.approx(found.icc)
    assert cluster_pairs(np.zeros(3), [1.0, 2.0, 3.0], [1, 2, 3]).varies  # though one lies on the mean
    single = describe(cluster_pairs(np.zeros(4), [1.0, 2.0, 4.0, 4.0], [1, 2, 3, 4]))
    assert (single.icc, single.deff) == (None, pytest.approx(1.0))
    for data in (
        cluster_pairs(np.zeros(4), np.full(4, 0.1), [1, 1, 2, 2]),
        cluster_pairs(np.zeros(2), [1.0, 2.0], [1, 2]),
        cluster_pairs(np.zeros(3), [1.0, 2.0, 3.0], [1, 1, 1]),
    ):
        assert (describe(data).naive_se, describe(data).deff) == (None, None)
    assert describe(cluster_pairs(np.zeros(3), [1.0, 2.0, 3.0], [1, 1, 2])).naive_se is not None


def test_the_cr2_test_of_a_margin_is_a_t_test():
    data = small()
    for m in (0.0, 0.5, -0.5):
        found = run("cluster_cr2", data, m, LEVEL)
        se, df = math.sqrt(cr2_variance(data)), satterthwaite_df(data)
        assert found.statistic == pytest.approx((13 / 7 - m) / se)
        assert found.p_greater == pytest.approx(stats.t.sf((13 / 7 - m) / se, df))
        assert found.p_less == pytest.approx(stats.t.cdf((13 / 7 - m) / se, df))
        assert found.p_two_sided == pytest.approx(2 * min(found.p_greater, found.p_less))
        reach = stats.t.isf(LEVEL, df) * se
        assert (found.interval.low, found.interval.high) == pytest.approx((13 / 7 - reach, 13 / 7 + reach))
        assert (found.estimate, found.interval.confidence) == (pytest.approx(13 / 7), 0.95)


def flips(data, m):
    signs = np.array(list(itertools.product((1, -1), repeat=data.count)))
    sums = signs @ (data.totals - m * data.sizes)
    return np.mean(sums >= sums[0] - 1e-9), np.mean(sums <= sums[0] + 1e-9)


def test_whole_clusters_are_flipped_up_to_sixteen_of_them():
    rng = np.random.default_rng(5)
    for count in (8, 16, 17):
        d = np.round(rng.normal(0.3, 1, 3 * count), 2)
        data = cluster_pairs(np.zeros(d.size), d, np.arange(d.size) % count)
        found = run("cluster_sign_flip", data, 0.1, LEVEL)
        assert (found.resamples == 0) == (found.seed == 0) == (count <= 16)
        if count == 8:
            assert (found.p_greater, found.p_less) == pytest.approx(flips(data, 0.1))
            assert found.smallest_p == 2**-8
            sets = [s for r in range(1, 9) for s in itertools.combinations(range(8), r)]
            means = np.sort([data.totals[list(s)].sum() / data.sizes[list(s)].sum() for s in sets])
            k = math.floor(2**8 * LEVEL)
            assert found.interval.low == pytest.approx(means[k - 1], abs=1e-12)
            assert found.interval.high == pytest.approx(means[-k], abs=1e-12)


def test_the_worse_of_both_in_every_number():
    rng = np.random.default_rng(1)
    for _ in range(6):
        d = rng.normal(0.4, 1, 40) ** 3
        data = cluster_pairs(np.zeros(40), d, rng.integers(0, 9, 40))
        one, two = (run(m, data, 0.1, LEVEL) for m in ("cluster_cr2", "cluster_sign_flip"))
        both = clusters.cluster(data, Settings(0.1, LEVEL))
        assert both.p_greater == max(one.p_greater, two.p_greater)
        assert both.p_less == max(one.p_less, two.p_less)
        assert both.p_two_sided == max(one.p_two_sided, two.p_two_sided)
        assert both.interval.low == min(one.interval.low, two.interval.low)
        assert both.interval.high == max(one.interval.high, two.interval.high)
        assert both.statistic == one.statistic


def test_the_cluster_bootstrap_draws_whole_clusters():
    """Four clusters have 4^4 samples with replacement: their law is enumerated."""
    data = small()
    found = run("cluster_bootstrap", data, 1.5, 0.1)
    index = np.array(list(itertools.product(range(4), repeat=4)))
    means = data.totals[index].sum(axis=1) / data.sizes[index].sum(axis=1)
    error = 4 * 0.5 / math.sqrt(found.resamples)
    assert found.p_greater == pytest.approx(np.mean(means <= 1.5 + 1e-9), abs=error)
    assert found.p_less == pytest.approx(np.mean(means >= 1.5 - 1e-9), abs=error)
    assert found.interval.low == pytest.approx(np.quantile(means, 0.1), abs=0.11)
    assert found.interval.high == pytest.approx(np.quantile(means, 0.9), abs=0.11)


@pytest.mark.parametrize(("count", "told"), [(49, True), (50, False)])
def test_the_cluster_bootstrap_is_doubted_below_fifty_clusters(count, told):
    d = np.random.default_rng(3).normal(1.0, 1, 2 * count)
    data = cluster_pairs(np.zeros(d.size), d, np.arange(d.size) % count)
    found = run("cluster_bootstrap", data, 0.0, LEVEL)
    assert ("few_clusters" in [c.code for c in found.cautions]) is told


@pytest.mark.parametrize(("count", "reason"), [(5, "at least 6 clusters"), (6, "")])
def test_six_clusters_are_the_least(count, reason):
    d = np.random.default_rng(3).normal(1.0, 1, 3 * count)
    found = run("cluster_strict", cluster_pairs(np.zeros(d.size), d, np.arange(d.size) % count), 0, LEVEL)
    assert found.insufficient.startswith(reason)
    assert bool(found.insufficient) == bool(reason)
    assert ("smallest_p" in [c.code for c in found.cautions]) == (count == 5)  # 2^-5 > .025 > 2^-6


def test_the_smallest_p_is_compared_with_the_level():
    d = np.random.default_rng(3).normal(1.0, 1, 18)
    data = cluster_pairs(np.zeros(18), d, np.arange(18) % 6)
    for level, told in ((2**-6, True), (2**-6 + 1e-6, False)):
        found = run("cluster_sign_flip", data, 0.0, level)
        assert bool(found.cautions) is told


def test_clusters_that_never_differ_weigh_nothing_at_0_and_above():
    same = from_table([4] * 8, [0] * 8, [0] * 8)
    for null_value, told in ((0.0, True), (0.1, True), (-0.1, False)):
        found = run("cluster_sign_flip", same, null_value, LEVEL)
        assert ("all 32 differences are zero" in found.insufficient) is told


@pytest.mark.parametrize("method", ["cluster_cr2", "cluster_bootstrap"])
def test_clusters_of_one_change_are_decided_by_their_signs(method):
    """Every item of every cluster gains 1/8: 2^-8 by eight clusters, whatever their sizes."""
    d = np.full(20, 0.125)
    data = cluster_pairs(np.zeros(20), d, np.arange(20) % 8)
    assert not data.varies
    found = run(method, data, 0.0, LEVEL)
    assert (found.p_greater, found.p_less, found.smallest_p) == (2**-8, 1.0, 2**-8)
    assert (found.interval.low, found.interval.high) == (0.125, 0.125)
    behind = run(method, data, 0.2, LEVEL)
    assert (behind.p_greater, behind.p_less) == (1.0, 2**-8)
    level = run(method, data, 0.125, LEVEL)
    assert (level.p_greater, level.p_less) == (1.0, 1.0)
    assert small().varies


def test_a_declared_scale_bounds_the_interval_of_clusters():
    data = cluster_pairs(np.array([1.0] * 12), [5.0] * 11 + [1.0], np.arange(12) % 6)
    free, cut = (run("cluster_cr2", data, 0.0, LEVEL, scale=s) for s in (None, (1.0, 5.0)))
    assert free.interval.high > 4
    assert (cut.interval.high, cut.interval.low) == (4.0, free.interval.low)
    mirrored = cluster_pairs([5.0] * 11 + [1.0], np.array([1.0] * 12), np.arange(12) % 6)
    assert run("cluster_cr2", mirrored, 0.0, LEVEL, scale=(1.0, 5.0)).interval.low == -4.0
    old, new = np.ones(12), np.array([2.0] * 11 + [1.0])
    relative = cluster_pairs(old, new, np.arange(12) % 6, new - 1.1 * old)
    assert relative.ratio == pytest.approx(1.1)
    assert run("cluster_cr2", relative, 0.0, LEVEL, scale=(1.0, 1.5)).interval.high > 0.5


@pytest.mark.parametrize("method", ["obuchowski", "durkalski", "yang"])
def test_score_tests_of_clusters_by_their_formulas(method):
    sizes, gains = np.array([6, 4, 5, 3, 7, 2, 5, 6]), np.array([2, 0, 3, 1, 2, 1, 0, 3])
    losses = np.array([0, 1, 0, 0, 1, 0, 1, 1])
    data = from_table(sizes, gains, losses)
    totals, count = gains - losses, 8
    mean = totals.sum() / sizes.sum()

    def z(m):
        e = totals - m * sizes
        if method == "durkalski":
            rates = totals / sizes - m
            return rates.sum() / math.sqrt(np.sum(rates**2))
        spread = np.sum(e**2)
        if method == "yang":
            spread = (spread + np.sum((totals - mean * sizes) ** 2)) / 2
        return math.sqrt((count - 1) / count) * e.sum() / math.sqrt(spread)

    found = run(method, data, 0.0, LEVEL)
    assert found.statistic == pytest.approx(z(0) ** 2)
    assert found.p_greater == pytest.approx(stats.norm.sf(z(0)))
    assert found.p_less == pytest.approx(stats.norm.cdf(z(0)))
    centre = np.mean(totals / sizes) if method == "durkalski" else mean
    assert found.estimand_value == pytest.approx(centre)
    assert (found.estimand == "mean_of_clusters") == (method == "durkalski")
    bound = stats.norm.isf(LEVEL)
    low = optimize.brentq(lambda m: z(m) - bound, -0.99, centre)
    high = optimize.brentq(lambda m: z(m) + bound, centre, 0.99)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-7)


def test_tipping_points_by_hand():
    """t = 2 z: the standard error may double, so 1 + (size - 1) icc may be 4."""
    found = tipping_points(2 * (1 - 1e-12) * stats.norm.isf(LEVEL), LEVEL, (4, 3.999, 7))
    assert [point.icc for point in found] == pytest.approx([1.0, None, 0.5])
    assert [point.icc for point in tipping_points(-3.0, LEVEL, (2, 5))] == [0.0, 0.0]


def test_draws_of_clusters_come_in_blocks_that_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    d, labels = rng.normal(0.2, 1, 100), np.arange(100) % 20
    data = cluster_pairs(np.zeros(100), d, labels)
    whole = [run(m, data, 0.0, LEVEL) for m in ("cluster_sign_flip", "cluster_bootstrap")]
    monkeypatch.setattr(clusters, "BLOCK_CELLS", 20 * 41)
    assert list(clusters._blocks(100, 20)) == [40, 40, 20]
    assert [run(m, data, 0.0, LEVEL) for m in ("cluster_sign_flip", "cluster_bootstrap")] == whole
    assert list(clusters._blocks(9, 10**9)) == [4, 4, 1]
    monkeypatch.undo()
    assert list(clusters._blocks(10_000, 20)) == [4096, 4096, 1808]


@pytest.mark.parametrize("method", ["obuchowski", "durkalski", "yang"])
def test_without_a_change_the_score_is_0_and_each_side_one_half(method):
    found = run(method, from_table([4] * 8, [0] * 8, [0] * 8), 0.0, LEVEL)
    assert (found.statistic, found.p_greater, found.p_less) == (0.0, 0.5, 0.5)
    assert -1 <= found.interval.low < 0 < found.interval.high <= 1


@pytest.mark.parametrize("method", ["obuchowski", "durkalski", "yang"])
def test_where_every_item_is_won_the_interval_reaches_1(method):
    """e_j = n_j (1 - m): the statistic of J equal clusters is J / sqrt(J), shrunk, up to m = 1."""
    found = run(method, from_table([3] * 9, [3] * 9, [0] * 9), 0.0, LEVEL)
    assert found.interval.high == pytest.approx(1.0)
    z = math.sqrt(9) if method == "durkalski" else math.sqrt(8)
    z = z * math.sqrt(2) if method == "yang" else z
    assert found.statistic == pytest.approx(z * z)
    assert found.p_greater == pytest.approx(stats.norm.sf(z))

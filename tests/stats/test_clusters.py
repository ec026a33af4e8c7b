"""Clustered pairs: reference values, limits, and what clustering costs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gate.errors import GateError
from gate.stats.cluster_data import cluster_pairs, cr2_variance, describe, tipping_points
from gate.stats.clusters import CLUSTER_METHODS, run_clustered, satterthwaite_df
from gate.stats.pairs import pair
from gate.stats.registry import run

LEVEL = 0.025
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
        "cluster_CR2_p_two": lambda: run_clustered("cluster_cr2", data, 0.0, LEVEL).p_two_sided,
        "cluster_signflip_exact_greater": lambda: (
            run_clustered("cluster_sign_flip", data, 0.0, LEVEL).p_greater
        ),
    }[name]()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_reference_value(row):
    data = row["call"]["data"]
    if "d" in data:
        clusters = cluster_pairs(np.zeros(len(data["d"])), data["d"], data["cluster"])
        found = value_of(row["id"], clusters)
    else:
        clusters = from_table(data["n"], data["b"], data["c"])
        found = run_clustered(row["id"].split("_")[0], clusters, 0.0, LEVEL).statistic
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


def documents():
    """20 documents of 10 questions: 8 gain three, 3 lose three, 9 stay."""
    return from_table([10] * 20, [3] * 8 + [0] * 12, [0] * 8 + [3] * 3 + [0] * 9)


def test_clusters_turn_a_pass_into_no_claim():
    data = documents()
    result = run_clustered("cluster", data, 0.0, LEVEL)
    assert result.method == "cluster_cr2+cluster_sign_flip"
    assert result.n == 200
    assert 2 * result.p_greater > 0.13
    assert result.interval.low < 0
    summary = describe(data)
    assert summary.n_clusters == 20
    assert summary.cluster_se > summary.naive_se
    assert summary.deff == pytest.approx((summary.cluster_se / summary.naive_se) ** 2)


def test_clusters_of_one_item_are_the_paired_t_test():
    d = np.random.default_rng(1).normal(0.2, 1, 40)
    clustered = run_clustered("cluster_cr2", cluster_pairs(np.zeros(40), d, np.arange(40)), 0.1, LEVEL)
    plain = run("paired_t", pair(np.zeros(40), d), 0.1, LEVEL)
    assert clustered.p_greater == pytest.approx(plain.p_greater, rel=1e-9)
    assert clustered.interval.low == pytest.approx(plain.interval.low, rel=1e-9)


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_swapping_mirrors_and_row_order_does_not_matter(method):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 14, 120).astype(str)
    old, new = rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    one = run_clustered(method, cluster_pairs(old, new, labels), 0.0, LEVEL)
    order = rng.permutation(120)
    renamed = np.char.add("doc-", labels)
    assert run_clustered(method, cluster_pairs(old[order], new[order], renamed[order]), 0.0, LEVEL) == one
    if method != "cluster_bootstrap":
        other = run_clustered(method, cluster_pairs(new, old, labels), 0.0, LEVEL)
        assert other.p_less == pytest.approx(one.p_greater)
        assert other.interval.high == pytest.approx(-one.interval.low, abs=1e-7)


@pytest.mark.parametrize("method", CLUSTER_METHODS)
@pytest.mark.parametrize("gain", [0.0, 0.12, 0.3])
def test_interval_and_p_are_one_decision(method, gain):
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(12), 8)
    old = rng.random(96) < 0.5
    new = np.where(rng.random(96) < gain, True, old ^ (rng.random(96) < 0.1))
    result = run_clustered(method, cluster_pairs(old, new, labels), 0.0, LEVEL)
    assert (result.interval.low > 0) == (result.p_greater < LEVEL) or result.p_greater == pytest.approx(LEVEL)
    assert -1 <= result.interval.low <= result.interval.high <= 1


def test_five_clusters_prove_nothing():
    result = run_clustered("cluster", from_table([9] * 5, [5] * 5, [0] * 5), 0.0, LEVEL)
    assert "at least 6 clusters" in result.insufficient
    flips = run_clustered("cluster_sign_flip", from_table([9] * 5, [5, 4, 5, 3, 5], [0] * 5), 0.0, LEVEL)
    assert flips.smallest_p == 2**-5
    assert "smallest_p" in [c.code for c in flips.cautions]
    assert "few_clusters" in [
        c.code for c in run_clustered("cluster_bootstrap", documents(), 0.0, LEVEL).cautions
    ]


def test_degenerate_clusters():
    same = from_table([4] * 8, [0] * 8, [0] * 8)
    for method in CLUSTER_METHODS:
        result = run_clustered(method, same, 0.0, LEVEL)
        assert result.insufficient
        assert result.p_greater >= LEVEL
    alone = cluster_pairs([0.0, 1.0, 0.5], [1.0, 1.0, 0.7], ["a", "a", "a"])
    assert run_clustered("cluster", alone, 0.0, LEVEL).insufficient
    assert describe(alone).icc is None


def test_many_clusters_use_monte_carlo_that_agrees_with_enumeration():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(17), 5)
    d = rng.normal(0.25, 1, 85)
    sampled = run_clustered("cluster_sign_flip", cluster_pairs(np.zeros(85), d, labels), 0.0, LEVEL)
    totals = np.bincount(labels, weights=d)
    patterns = 1 - 2 * ((np.arange(2**17)[:, None] >> np.arange(17)) & 1)
    exact = float(np.mean(patterns @ totals >= totals.sum() - 1e-9))
    assert sampled.p_greater == pytest.approx(exact, abs=5 * math.sqrt(exact / sampled.resamples))
    assert sampled.resamples >= 9_999


def test_clustered_tests_refuse_what_they_cannot_do():
    graded = cluster_pairs(np.zeros(20), np.linspace(-1, 1, 20), np.arange(20) % 7)
    for method, null, code in (("yang", 0.0, "wrong_kind"), ("mcnemar_exact", 0.0, "unknown_test")):
        with pytest.raises(GateError) as caught:
            run_clustered(method, graded, null, LEVEL)
        assert caught.value.code == code
    with pytest.raises(GateError) as caught:
        run_clustered("durkalski", documents(), 0.01, LEVEL)
    assert caught.value.code == "no_margin"


def test_tipping_points_of_unlabelled_clusters():
    found = {point.size: point.icc for point in tipping_points(3.77, LEVEL)}
    assert found[2] is None
    assert found[5] == pytest.approx(0.68, abs=0.01)
    assert found[20] == pytest.approx(0.14, abs=0.005)
    assert [point.icc for point in tipping_points(1.0, LEVEL)] == [0.0] * 4

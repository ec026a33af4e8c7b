"""Every row of the reference table for preferences, tails, pass^k, judged scores and skewed clusters."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gate.stats.cluster_data import cluster_pairs
from gate.stats.cluster_skew import cluster_gaffke, cluster_skewness, cluster_strict, hall_tails
from gate.stats.distributions import normal_quantile
from gate.stats.pass_k import pass_at_k, pass_hat_k
from gate.stats.prediction_powered import judged_pairs, prediction_powered
from gate.stats.preferences import position_bias, preferences
from gate.stats.procedures import run
from gate.stats.results import Settings
from gate.stats.tail import tail_bound, tail_bound_from

TABLE = json.loads((Path(__file__).parent.parent / "oracles" / "judgements.json").read_text(encoding="utf-8"))
ROWS = [*TABLE["published"], *TABLE["computed"]]


def call_preferences(call):
    counts = call["preferences"]
    verdicts = [1] * counts["wins"] + [-1] * counts["losses"] + [0] * counts["ties"]
    test = run("mcnemar_exact", preferences(range(len(verdicts)), verdicts).pairs(), 0.0, 0.025)
    return [test.estimate, test.p_greater]


def call_position(call):
    first, second = call["position"]
    return position_bias(first, second, first + second + 40, 40).p_value


def call_pass_k(call):
    runs, passes, k = call["pass_k"]
    return [pass_hat_k([runs], [passes], k)[0], pass_at_k([runs], [passes], k)[0]]


def call_tail(call):
    found = tail_bound(call["tail"], call["share"], tuple(call["scale"]), call["level"])
    return [found.observed, found.lower, found.upper]


def call_tail_from(call):
    scale = tuple(call["scale"])
    return tail_bound_from(call["tail_from"], call["share"], scale, call["level"], call["start"]).upper


def call_judged(call):
    columns = [np.array([math.nan if x is None else x for x in column]) for column in call["judged"]]
    rows = judged_pairs(*columns)
    found = prediction_powered(rows, Settings(0.0, 0.025), call["weight"])
    biased = math.sqrt((rows.human.size - 1) / rows.human.size)  # of variances with n
    half = -normal_quantile(0.025) * found.standard_error * biased / -normal_quantile(0.025)
    return [found.test.estimate, half, found.test.statistic, found.test.p_greater]


def clusters_of(totals, sizes):
    """Items of which the first carries the whole total."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    d = np.zeros(labels.size)
    d[np.cumsum(sizes) - sizes] = totals
    return cluster_pairs(np.zeros(labels.size), d, labels)


def call_clusters(call):
    data = clusters_of(*call["clusters"])
    skewness, m = cluster_skewness(data), call["null_value"]
    hall = hall_tails(data, skewness, skewness.insurance).greater(m)
    insured = skewness.weight * (skewness.g - skewness.insurance)
    return [skewness.g, insured, hall, cluster_strict(data, Settings(m, 0.025)).p_greater]


def call_cluster_gaffke(call):
    data = replace(clusters_of(*call["cluster_gaffke"]), observed=(0.0, 1.0), most=call["max_cluster"])
    assert call["bounds"] == [-1, 1]
    return cluster_gaffke(data, Settings(call["null_value"], 0.025, (0.0, 1.0))).p_greater


CALLS = {
    "preferences": call_preferences,
    "position": call_position,
    "pass_k": call_pass_k,
    "tail": call_tail,
    "tail_from": call_tail_from,
    "judged": call_judged,
    "clusters": call_clusters,
    "cluster_gaffke": call_cluster_gaffke,
}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_reference_value(row):
    call = row["call"]
    found = CALLS[next(kind for kind in CALLS if kind in call)](call)
    if "part" in call:
        found = found[slice(*call["part"])] if isinstance(call["part"], list) else found[call["part"]]
    for one, expected in zip(np.atleast_1d(found), np.atleast_1d(row["expected"]), strict=True):
        if expected is not None:
            assert one == pytest.approx(expected, rel=0, abs=row["tolerance"]), row["source"]

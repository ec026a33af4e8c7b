"""Items that hang together: the same means, with whole clusters as the independent units."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.estimands.graded import mean_error, sides, spread
from gate.estimands.model import Estimand, Scale, Sides, Spread
from gate.estimands.selection import OneSide, Selection
from gate.pairing.model import IndexArray
from gate.stats.cluster_data import Clusters, ClusterSummary, cluster_pairs, describe
from gate.stats.clusters import cluster_cr2
from gate.stats.methods import CLUSTER_DEFAULTS, CLUSTER_GUARANTEED, FEWEST_CLUSTERS
from gate.stats.results import Interval, Settings


def of_clusters(items: Estimand, skew: str = "strict", most: int | None = None) -> Estimand:
    """As ``items``, but tested on whole clusters.

    skew: how far their skewness is insured against; most: items that a cluster can have, None if not known.
    """

    def default_test(_null_value: float, assurance: str) -> str:
        return CLUSTER_GUARANTEED if assurance == "guaranteed" else CLUSTER_DEFAULTS[skew]

    def sample(selection: Selection, shift: float = 0.0) -> Clusters:
        return replace(_sample(selection, shift), most=most)

    return replace(
        items,
        default_test=default_test,
        sample=sample,
        sides=_sides,
        spread=_spread,
        units=_units,
        unit_gains=_unit_gains,
        one_side=_one_side,
        unit_facts=_unit_facts,
    )


def _labels(selection: Selection) -> IndexArray:
    labels = selection.table.clusters
    assert labels is not None, "this estimand is for tables with clusters"
    return labels[selection.positions]


def _sample(selection: Selection, shift: float = 0.0) -> Clusters:
    own = selection.gains - shift * selection.baseline if shift else None
    baseline, candidate = selection.sign * selection.baseline, selection.sign * selection.candidate
    return cluster_pairs(baseline, candidate, _labels(selection), own)


def _sides(selection: Selection) -> Sides:
    values, labels = selection.baseline, _labels(selection)
    totals = np.bincount(labels, weights=values - np.mean(np.sort(values)))
    error = mean_error(np.sort(totals[np.bincount(labels) > 0]), len(values))
    return replace(sides(selection), baseline_error=error)


def _spread(selection: Selection) -> Spread:
    found = spread(selection)
    facts = _facts(selection)
    error = facts.cluster_se if facts.n_clusters >= FEWEST_CLUSTERS else None
    known = found.variance is not None and error
    return replace(found, variance=error**2 * selection.n if known and error else None)


def _units(selection: Selection, mask: BoolArray) -> int:
    return len(np.unique(_labels(selection)[mask]))


def _unit_gains(selection: Selection) -> FloatArray:
    return _sample(selection).changes


def _one_side(side: OneSide, level: float, _scale: Scale) -> tuple[Interval, str]:
    """CR2 t, and why there is no interval where there is none."""
    values, clusters = side.values, side.clusters
    assert clusters is not None, "this estimand is for tables with clusters"
    data = cluster_pairs(np.zeros(len(values)), values, clusters)
    if not data.varies:
        unknown = Interval(-math.inf, math.inf, 1 - 2 * level, "cluster_cr2")
        return unknown, "all clusters have the same mean: the spread between clusters is unknown"
    found = cluster_cr2(data, Settings(0.0, level))
    return found.interval, found.insufficient


def _unit_facts(selection: Selection) -> dict[str, Any]:
    """The report's ``clusters`` block: number, intraclass correlation, design effect."""
    return {"labelled": True} | asdict(_facts(selection))


def _facts(selection: Selection) -> ClusterSummary:
    return describe(_sample(selection))

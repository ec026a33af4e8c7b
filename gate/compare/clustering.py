"""Items that hang together: the same test call on clusters instead of items, and what clustering costs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from gate.compare.selection import Selection
from gate.stats.cluster_data import Clusters, cluster_pairs, describe, tipping_points
from gate.stats.clusters import cluster_cr2
from gate.stats.methods import FEWEST_CLUSTERS
from gate.stats.results import Interval, Settings


def clusters_of(selection: Selection, shift: float = 0.0) -> Clusters:
    """The selection's pairs as cluster totals; shift as in ``oriented_pairs``."""
    assert selection.table.clusters is not None
    own = selection.gains - shift * selection.baseline if shift else None
    return cluster_pairs(
        selection.sign * selection.baseline,
        selection.sign * selection.candidate,
        selection.table.clusters[selection.positions],
        own,
    )


def single_interval(values: Any, labels: Any, level: float) -> tuple[Interval, str]:
    """Interval of one side's mean over clustered items (CR2 t), and why there is none where there is none."""
    data = cluster_pairs(np.zeros(len(values)), values, labels)
    if not data.varies:
        unknown = Interval(-math.inf, math.inf, 1 - 2 * level, "cluster_cr2")
        return unknown, "all clusters have the same mean: the spread between clusters is unknown"
    found = cluster_cr2(data, Settings(0.0, level))
    return found.interval, found.insufficient


def cluster_block(selection: Selection) -> dict[str, Any]:
    """The report's ``clusters`` block where the policy names clusters: number, ICC, design effect."""
    if selection.table.clusters is None:
        return {}
    return {"labelled": True} | asdict(describe(clusters_of(selection)))


def clustered_error(selection: Selection) -> float | None:
    """Standard error of the mean difference over clusters; None where unknown or without clusters."""
    if selection.table.clusters is None:
        return None
    found = describe(clusters_of(selection))
    return found.cluster_se if found.n_clusters >= FEWEST_CLUSTERS else None


def baseline_error(selection: Selection) -> float | None:
    """Standard error of the baseline's mean over items, or over clusters; None where it is unknown."""
    values = selection.baseline
    clusters = selection.table.clusters
    if clusters is None:
        off = np.sort(values) - np.mean(np.sort(values))
    else:
        totals = np.bincount(clusters[selection.positions], weights=values - np.mean(np.sort(values)))
        off = np.sort(totals[np.bincount(clusters[selection.positions]) > 0])
    groups = len(off)
    if groups < 2:
        return None
    error = math.sqrt(groups / (groups - 1) * float(np.sum(off**2))) / len(values)
    return error if math.isfinite(error) else None


def tipping_block(delta: float, null_value: float, sd: float | None, n: int, level: float) -> dict[str, Any]:
    """Without cluster labels: from which intraclass correlation on would unseen clusters undo the result?"""
    if not sd or n < 2:
        return {}
    points = tipping_points((delta - null_value) / (sd / math.sqrt(n)), level)
    return {"labelled": False, "tipping": [asdict(point) for point in points]}

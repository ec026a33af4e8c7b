"""For each kind of metric what is estimated, from which sample. A new kind: a module here, a line below."""

from __future__ import annotations

from dataclasses import replace

from gate.estimands.clusters import of_clusters
from gate.estimands.graded import GRADED
from gate.estimands.groups import by_group
from gate.estimands.model import Estimand, Sides, Spread
from gate.estimands.pass_fail import AVERAGED, PASS_FAIL
from gate.estimands.preference import MEAN_PREFERENCE, PREFERENCE
from gate.estimands.seeds import of_seeds
from gate.estimands.selection import OneSide, Selection, one_side, oriented_pairs, select
from gate.estimands.whole_set import Cut, of_the_whole_set
from gate.policy.kinds import KINDS

__all__ = [
    "Cut",
    "Estimand",
    "OneSide",
    "Selection",
    "Sides",
    "Spread",
    "by_group",
    "estimand_of",
    "one_side",
    "oriented_pairs",
    "select",
]

_ONE_RUN = {"binary": PASS_FAIL, "graded": GRADED, "preference": PREFERENCE}
_AVERAGED = {"binary": AVERAGED, "graded": GRADED, "preference": MEAN_PREFERENCE}


def estimand_of(
    kind: str,
    *,
    averaged: bool = False,
    clustered: bool = False,
    cluster_skew: str = "strict",
    max_cluster: int | None = None,
    seeds: bool = False,
    cut: Cut | None = None,
    grouped: bool = False,
) -> Estimand:
    """How a metric of this kind is read.

    averaged: an item's value is the mean of several runs. clustered: items hang together in known clusters
    (cluster_skew, max_cluster: as the policy says of them).
    seeds: each item is one seed's result. cut: where a ranking is cut. grouped: the items are groups, each
    with its own value of the metric.
    """
    facts = KINDS[kind]
    if not (facts.by_item or grouped):
        return of_the_whole_set(kind, cut or Cut())
    found = (_AVERAGED if averaged else _ONE_RUN)["graded" if grouped else facts.tested_as]
    if facts.ends is not None and found.ends is None:
        found = replace(found, ends=facts.ends)
    if clustered:
        return of_clusters(found, cluster_skew, max_cluster)
    return of_seeds(found) if seeds else found

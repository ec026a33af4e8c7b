"""For each kind of metric what is estimated, from which sample. A new kind: a module here, a line below."""

from __future__ import annotations

from gate.estimands.clusters import of_clusters
from gate.estimands.graded import GRADED
from gate.estimands.model import Estimand, Sides, Spread
from gate.estimands.pass_fail import AVERAGED, PASS_FAIL
from gate.estimands.seeds import of_seeds
from gate.estimands.selection import Selection, oriented_pairs, select

__all__ = ["Estimand", "Selection", "Sides", "Spread", "estimand_of", "oriented_pairs", "select"]

_ONE_RUN = {"binary": PASS_FAIL, "graded": GRADED}
_AVERAGED = {"binary": AVERAGED, "graded": GRADED}


def estimand_of(
    kind: str, *, averaged: bool = False, clustered: bool = False, seeds: bool = False
) -> Estimand:
    """How a metric of this kind is read.

    averaged: an item's value is the mean of several runs. clustered: items hang together in known clusters.
    seeds: each item is one seed's result.
    """
    found = (_AVERAGED if averaged else _ONE_RUN)[kind]
    if clustered:
        return of_clusters(found)
    return of_seeds(found) if seeds else found

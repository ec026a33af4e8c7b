"""What every rule shares, and how one rule chooses its test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from gate.compare.model import Comparison
from gate.pairing import PairedMetric
from gate.stats.methods import CLUSTER_DEFAULT, default_test
from gate.values import Caution
from gate.words import count


@dataclass(frozen=True, slots=True)
class Setting:
    """level: one-sided, for claims (gating, non_inferior). veto_level: one-sided, for vetoes.

    seeds: each item is one seed's result, so there are few of them.

    A look ledger may grant a smaller ``level`` for claims; a smaller level would make a veto weaker, so
    vetoes keep alpha / 2.
    """

    level: float
    veto_level: float
    min_items: int
    seeds: bool = False
    max_flaky_share: float | None = None


@dataclass(frozen=True, slots=True)
class TestChoice:
    """The part of a rule that says what is tested and how."""

    __test__ = False  # not a pytest class

    metric: str
    kind: str
    direction: str
    set: str | None = None
    test: str = "auto"
    interval: str | None = None
    scale: tuple[float, float] | None = None
    assurance: str = "standard"

    def is_binary(self, metric: PairedMetric) -> bool:
        """Pass/fail as such: averaged repeats make it a share, which is graded."""
        return self.kind == "binary" and not metric.averaged

    def bounds(self) -> tuple[float, float] | None:
        """Lowest and highest value that the metric can take, if the policy says so."""
        return (0.0, 1.0) if self.kind == "binary" else self.scale

    def method(self, metric: PairedMetric, null_value: float, *, clustered: bool, seeds: bool) -> str:
        """The test that decides on this metric."""
        return self.planned(null_value, averaged=metric.averaged, clustered=clustered, seeds=seeds)

    def planned(self, null_value: float, *, averaged: bool, clustered: bool, seeds: bool) -> str:
        """The test that the policy names, or the default of its kind. Never chosen by the outcome.

        A handful of seeds is below what tests of the mean can carry; their default is the protocol made for
        them, the BCa interval and the sign-flip test together (arXiv 2511.19794).
        """
        if self.test != "auto":
            return self.test
        if clustered:
            return CLUSTER_DEFAULT
        kind: Literal["binary", "graded"] = "binary" if self.kind == "binary" and not averaged else "graded"
        if seeds and kind == "graded" and self.assurance == "standard":
            return "bca_sign_flip"
        return default_test(kind, null_value, assurance=self.assurance, repeats=averaged)


def both_readings(metric: PairedMetric, measure: Callable[[PairedMetric], Comparison]) -> Comparison:
    """Measure under the policy's reading of missing results, and under the other one where there is one.

    Failed runs must not decide, so the other reading is kept for the decision; ids that the policy allows to
    be missing are only reported.
    """
    found = measure(metric)
    if metric.other is None:
        return found
    other = measure(metric.other)
    if replace(other, reading=found.reading, incomplete=found.incomplete) == found:
        return found  # on these items, a slice perhaps, no result is missing
    other = replace(other, reading="drop" if metric.reading == "worst" else "worst")
    text = (
        f"{count(metric.incomplete, 'item lacks', 'items lack')} a result; read as {found.reading}: "
        f"{found.found()}; read as {other.reading}: {other.found()}"
    )
    found = replace(found, cautions=(*found.cautions, Caution("two_readings", text)))
    return replace(found, other=other) if metric.failed else found

"""What every rule shares, how one rule chooses its test, and both readings of missing results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gate.estimands import Cut, Estimand, by_group, estimand_of
from gate.measure.model import Comparison
from gate.measure.words import count
from gate.pairing import PairedMetric, PairedTable
from gate.policy.model import Rule, Watch
from gate.values import Caution


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
    cluster_skew: str = "strict"
    max_cluster: int | None = None

    def estimand(self, rule: Rule | Watch, table: PairedTable, metric: PairedMetric) -> Estimand:
        """How the metric of a rule is read from this table."""
        return estimand_of(
            rule.kind,
            averaged=metric.averaged,
            clustered=table.clusters is not None,
            cluster_skew=self.cluster_skew,
            max_cluster=self.max_cluster,
            seeds=self.seeds,
            cut=cut_of(rule),
            grouped=rule.group is not None,
        )


def cut_of(rule: Rule | Watch) -> Cut:
    """What the kind of a rule's metric is told."""
    usual = Cut()
    threshold = usual.threshold if rule.threshold is None else rule.threshold
    return Cut(rule.k or usual.k, threshold, rule.q or usual.q, rule.denominator or "", rule.human or "")


def own_table(rule: Rule | Watch, table: PairedTable, columns: Sequence[str] = ()) -> PairedTable:
    """The table of a rule: with ``group``, its items are the groups. columns: that stay, one text a group."""
    if rule.denominator is not None:
        return _with_both(table, rule.metric, rule.denominator)
    if rule.group is None:
        return table
    return by_group(table, rule.metric, rule.group, rule.kind, cut_of(rule), columns)


@dataclass(frozen=True, slots=True)
class TestChoice:
    """The part of a rule that says how it is tested."""

    __test__ = False  # not a pytest class

    test: str = "auto"
    interval: str | None = None
    scale: tuple[float, float] | None = None
    assurance: str = "standard"

    def method(self, estimand: Estimand, null_value: float) -> str:
        """The test that the policy names, or the default of its kind. Never chosen by the outcome."""
        return self.test if self.test != "auto" else estimand.default_test(null_value, self.assurance)


def _with_both(table: PairedTable, above: str, below: str) -> PairedTable:
    """Items that lack one of a ratio's two columns have neither."""
    top, bottom = table.metrics[above], table.metrics[below]
    gaps = [np.isfinite(side) for side in (bottom.baseline, bottom.candidate)]
    both = replace(
        top,
        baseline=np.where(gaps[0], top.baseline, np.nan),
        candidate=np.where(gaps[1], top.candidate, np.nan),
        other=None,
        incomplete=max(top.incomplete, bottom.incomplete),
    )
    return replace(table, metrics={**table.metrics, above: both})


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
        f"{found.named}; read as {other.reading}: {other.named}"
    )
    found = replace(found, cautions=(*found.cautions, Caution("two_readings", text)))
    return replace(found, other=other) if metric.failed else found

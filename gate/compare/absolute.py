"""Rules that count or look at one side only: limits, churn, must-pass items."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import BoolArray
from gate.compare.clustering import single_interval
from gate.compare.measure import changes_of
from gate.compare.model import Comparison
from gate.compare.selection import select
from gate.compare.setting import Setting, TestChoice, both_readings
from gate.pairing import PairedMetric, PairedTable
from gate.policy.model import Gating, Guardrail
from gate.stats import single
from gate.values import LARGEST, Caution


def limit(
    rule: Guardrail,
    choice: TestChoice,
    rule_id: str,
    table: PairedTable,
    metric: PairedMetric,
    setting: Setting,
) -> Comparison:
    """An absolute limit on the candidate; with ``proven`` its whole interval must be within."""
    known = np.isfinite(metric.candidate)
    values = np.sort(metric.candidate[known])
    interval, unknown = None, ""
    if rule.proven and len(values):
        if table.clusters is not None:
            labels = table.clusters[known]
            interval, unknown = single_interval(metric.candidate[known], labels, setting.level)
        elif choice.is_binary(metric):
            interval = single.proportion(values, setting.level).interval
        else:
            sample = single.mean(values, setting.level, choice.bounds())
            interval, unknown = sample.interval, sample.insufficient
    return Comparison(
        rule=rule_id,
        role="guardrail",
        mode="limit",
        metric=rule.metric,
        set=rule.set,
        kind=rule.kind,
        direction=rule.direction,
        method=interval.method if interval else "observed",
        n=len(values),
        baseline=_shown_mean(metric),
        candidate=float(values.mean()) if len(values) else None,
        bound=rule.min,
        upper_bound=rule.max,
        proven=rule.proven,
        interval=interval,
        level=setting.level,
        insufficient=unknown,
        reading=metric.reading,
        incomplete=metric.incomplete,
        cautions=_cautions(table, len(values), setting),
    )


def _shown_mean(metric: PairedMetric) -> float | None:
    """Of the baseline, where its file has the column: what the limit is met beside. It decides nothing."""
    values = np.sort(metric.baseline[np.isfinite(metric.baseline)])
    within = len(values) > 0 and float(np.abs(values).max()) <= LARGEST
    return float(values.mean()) if within else None


def churn(
    rule: Guardrail, rule_id: str, table: PairedTable, metric: PairedMetric, setting: Setting
) -> Comparison:
    """The share of items that got worse, whatever was gained elsewhere."""
    selection = select(table, metric, rule.direction)
    lost = int((selection.gains < 0).sum())
    return Comparison(
        rule=rule_id,
        role="guardrail",
        mode="churn",
        metric=rule.metric,
        set=rule.set,
        kind=rule.kind,
        direction=rule.direction,
        method="share_lost",
        n=selection.n,
        share=lost / selection.n if selection.n else None,
        delta=float(np.mean(np.sort(selection.gains))) if selection.n else None,
        upper_bound=rule.max,
        level=setting.level,
        only_candidate=int((selection.gains > 0).sum()),
        only_baseline=lost,
        reading=metric.reading,
        incomplete=metric.incomplete,
        cautions=_cautions(table, selection.n, setting),
    )


def must_pass(rule: Gating, rule_id: str, table: PairedTable, wanted: BoolArray) -> Comparison:
    """Items that may not newly fail: on none of them may the candidate be worse than the baseline."""
    return both_readings(
        table.metrics[rule.metric], lambda metric: _must_pass(rule, rule_id, table, metric, wanted)
    )


def _must_pass(
    rule: Gating, rule_id: str, table: PairedTable, metric: PairedMetric, wanted: BoolArray
) -> Comparison:
    selection = select(table, metric, rule.direction, wanted)
    lost = int((selection.gains < 0).sum())
    unknown = int(wanted.sum()) - selection.n
    return Comparison(
        rule=rule_id,
        role="must_pass",
        mode="must_pass",
        metric=rule.metric,
        set=rule.set,
        kind=rule.kind,
        direction=rule.direction,
        method="count",
        n=selection.n,
        only_baseline=lost,
        only_candidate=int((selection.gains > 0).sum()),
        insufficient=f"{unknown} must-pass items have no result" if unknown and not lost else "",
        reading=metric.reading,
        incomplete=metric.incomplete,
        changes=changes_of(selection),
    )


def _cautions(table: PairedTable, n: int, setting: Setting) -> tuple[Caution, ...]:
    """What the data row would say; these rules are decided as usual all the same."""
    found = []
    if n < setting.min_items:
        text = f"decided on {n} items, fewer than items.min {setting.min_items}"
        found.append(Caution("few_items", text))
    if table.identical:
        found.append(Caution("identical_artifacts", "both files are the same bytes and the same system"))
    return tuple(found)

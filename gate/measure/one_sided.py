"""Rules that rest on no paired test: limits, churn, must-pass items, the items that lose most."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import BoolArray
from gate.estimands import one_side, select
from gate.measure.core import Case, data_row
from gate.measure.item_facts import changes_of
from gate.measure.model import (
    Asked,
    Comparison,
    Counted,
    Limited,
    Limits,
    MostLost,
    MostOnOne,
    Worst,
    WorstShare,
)
from gate.measure.setting import Setting, both_readings
from gate.pairing import PairedMetric, PairedTable
from gate.policy.model import Gating, Guardrail
from gate.stats.results import Interval
from gate.stats.tail import tail_bound, tail_bound_from, worst_items
from gate.values import LARGEST, Caution, Direction, Kind, Mode, Role


def limit(rule: Guardrail, case: Case) -> Comparison:
    """An absolute limit on the candidate; with ``proven`` its whole interval must be within."""
    metric, table = case.selection.metric, case.selection.table
    side, estimand = one_side(table, metric, "candidate"), case.estimand
    n = len(side.values)
    interval, unknown = None, ""
    if rule.proven and n:
        interval, unknown = estimand.one_side(side, case.asked.level, case.scale)
    return Limited(
        **case.header() | {"n": n},
        method=interval.method if interval else "observed",
        wanted=Limits(rule.min, rule.max, rule.proven),
        baseline=_shown_value(case),
        candidate=estimand.value(side),
        interval=interval,
        insufficient=unknown,
        cautions=(*metric.notes, *_cautions(table, n, case.setting)),
    )


def _shown_value(case: Case) -> float | None:
    """Of the baseline, where its file has the column: what the limit is met beside. It decides nothing."""
    side = one_side(case.selection.table, case.selection.metric, "baseline")
    within = len(side.values) > 0 and float(np.abs(side.values).max()) <= LARGEST
    return case.estimand.value(side) if within else None


def churn(rule: Guardrail, case: Case) -> Comparison:
    """The share of items that got worse, whatever was gained elsewhere."""
    assert rule.max is not None, "a policy that limits churn says how much"
    selection = case.selection
    return Counted(
        **case.header(),
        method="share_lost",
        wanted=MostLost(rule.max),
        better=int((selection.gains > 0).sum()),
        worse=int((selection.gains < 0).sum()),
        delta=float(np.mean(np.sort(selection.gains))) if selection.n else None,
        cautions=_cautions(selection.table, selection.n, case.setting),
    )


def worst_item(rule: Guardrail, case: Case) -> Comparison:
    """The largest loss on any one item: a statement about these items."""
    assert rule.max is not None, "a policy that limits losses says how much"
    selection = case.selection
    found = worst_items(-selection.gains, rule.max) if selection.n else None
    ids = [str(selection.table.ids[selection.positions[k]]) for k in (found.beyond if found else ())]
    return Worst(
        **case.header(),
        method="largest_loss",
        wanted=MostOnOne(rule.max),
        loss=None if found is None else max(found.largest, 0.0) + 0.0,
        beyond=tuple(ids),
        cautions=_cautions(selection.table, selection.n, case.setting),
    )


def tail(rule: Guardrail, case: Case) -> Comparison:
    """The mean loss of the worst share of items, with a bound that holds whatever their distribution."""
    assert rule.max is not None, "a policy that limits losses says how much"
    assert rule.share is not None, "and of which share of the items"
    assert case.scale is not None, "and how far a value can go"
    selection, level, span = case.selection, case.asked.level, case.scale[1] - case.scale[0]
    wanted = WorstShare(rule.share, rule.max, rule.begins)
    if not selection.n:
        nothing = "no item has a result on both sides"
        return Worst(**case.header(), method="none", wanted=wanted, loss=None, insufficient=nothing)
    ends, losses = (-span, span), -selection.gains
    found = tail_bound(losses, rule.share, ends, level)
    if rule.begins is not None:
        found = tail_bound_from(losses, rule.share, ends, level, rule.begins)
    return Worst(
        **case.header(),
        method=found.method,
        wanted=wanted,
        loss=found.observed,
        interval=Interval(-found.upper, -found.lower, 1 - 2 * level, found.method),
        insufficient=data_row(case, found.insufficient),
    )


def must_pass(rule: Gating, rule_id: str, table: PairedTable, wanted: BoolArray) -> Comparison:
    """Items that may not newly fail: on none of them may the candidate be worse than the baseline."""
    kind, direction = Kind(rule.kind), Direction(rule.direction)
    asked = Asked(rule_id, Role.MUST_PASS, Mode.MUST_PASS, rule.metric, kind, direction, 0.0, rule.set)

    def measure(metric: PairedMetric) -> Comparison:
        selection = select(table, metric, rule.direction, wanted)
        lost = int((selection.gains < 0).sum())
        unknown = int(wanted.sum()) - selection.n
        return Counted(
            asked=asked,
            method="count",
            n=selection.n,
            wanted=None,
            better=int((selection.gains > 0).sum()),
            worse=lost,
            insufficient=f"{unknown} must-pass items have no result" if unknown and not lost else "",
            reading=metric.reading,
            incomplete=metric.incomplete,
            changes=changes_of(selection),
        )

    return both_readings(table.metrics[rule.metric], measure)


def _cautions(table: PairedTable, n: int, setting: Setting) -> tuple[Caution, ...]:
    """What the data row would say; these rules are decided as usual all the same."""
    found = []
    if n < setting.min_items:
        text = f"decided on {n} items, fewer than items.min {setting.min_items}"
        found.append(Caution("few_items", text))
    if table.identical:
        found.append(Caution("identical_artifacts", "both files are the same bytes and the same system"))
    return tuple(found)

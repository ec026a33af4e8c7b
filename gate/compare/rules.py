"""(rule of the policy, paired table) -> Comparison, for every rule that rests on a paired test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray
from gate.compare.absolute import churn, limit
from gate.compare.clustering import clusters_of, tipping_block
from gate.compare.core import compare, method_of
from gate.compare.flakiness import flaky_block, flaky_cautions
from gate.compare.items import item_facts
from gate.compare.measure import (
    Bound,
    effective_bound,
    p_above,
    reference_values,
    run_test,
)
from gate.compare.model import Comparison, SignTest, at_least
from gate.compare.selection import Selection, select
from gate.compare.setting import Setting, TestChoice, both_readings
from gate.pairing import PairedMetric, PairedTable
from gate.policy.model import Amount, Gating, Guardrail, Rule, Watch
from gate.stats import power
from gate.stats.distributions import binomial_sf
from gate.stats.graded import clean_sweep
from gate.stats.methods import METHODS
from gate.values import Caution


def _choice(rule: Rule) -> TestChoice:
    return TestChoice(
        rule.metric, rule.kind, rule.direction, rule.set, rule.test, rule.interval, rule.scale, rule.assurance
    )


def gating(rule: Gating, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """The gating metric: both margin rules are worked out, the policy's decides."""
    return both_readings(
        table.metrics[rule.metric], lambda metric: _gating(rule, rule_id, table, metric, setting)
    )


def _gating(
    rule: Gating, rule_id: str, table: PairedTable, metric: PairedMetric, setting: Setting
) -> Comparison:
    choice = _choice(rule)
    selection = select(table, metric, rule.direction)
    bound = effective_bound(rule.margin, selection, kind=rule.kind, sign=1, where="gating.margin")
    tested = rule.margin_rule == "tested"
    deciding = bound if tested else Bound(0.0, 0.0)
    base = compare(choice, rule_id, ("gating", "gating"), selection, deciding, setting, target=bound.amount)
    base = replace(
        base,
        bound=bound.amount,
        relative=bound.relative,
        margin_rule=rule.margin_rule,
        suspect_gain=rule.suspect_gain,
        max_flaky_share=setting.max_flaky_share,
    )
    delta = base.delta
    if delta is None:
        return base
    flaky = flaky_block(selection)
    if tested:
        base = _with_gain_above_zero(base, choice, selection, setting)
        above_margin = bool(base.clears_bound)
        above_zero = above_margin or _also_cleared(choice, selection, Bound(0.0, 0.0), setting)
    else:
        above_zero = bool(base.clears_bound)
        above_margin = above_zero and _also_cleared(choice, selection, bound, setting)
    return replace(
        base,
        observed_rule=above_zero and at_least(delta, bound.amount),
        tested_rule=above_margin,
        reference=reference_values(selection),
        clusters=base.clusters or _tipping(base),
        **item_facts(selection, base, flaky),
        cautions=(
            *base.cautions,
            *bound.cautions,
            *_margin_cautions(base, bound.amount),
            *flaky_cautions(flaky),
        ),
    )


def _with_gain_above_zero(
    base: Comparison, choice: TestChoice, selection: Selection, setting: Setting
) -> Comparison:
    """A proven margin is no less than a proven gain: the default test against 0 must clear it too.

    Where that test is the one that holds the claim back, its p and its limit are the ones that are reported.
    """
    if base.null_value == 0:
        return base
    default = replace(choice, test="auto")
    method = method_of(default, selection, 0.0, setting)
    against_zero = run_test(selection, method, 0.0, setting.level, scale=choice.bounds())
    if against_zero.result.p_greater < setting.level:
        return base
    assert base.interval is not None
    assert base.p_value is not None
    assert base.p_two_sided is not None
    return replace(
        base,
        clears_bound=False,
        p_value=max(base.p_value, against_zero.result.p_greater),
        p_two_sided=max(base.p_two_sided, against_zero.result.p_two_sided),
        interval=replace(base.interval, low=min(base.interval.low, against_zero.interval.low)),
    )


def _tipping(base: Comparison) -> dict[str, Any]:
    assert base.delta is not None
    return tipping_block(base.delta, base.null_value, base.sd_difference, base.n, base.level)


def _also_cleared(choice: TestChoice, selection: Selection, bound: Bound, setting: Setting) -> bool:
    """Whether the margin rule that the policy did not choose is cleared too: reported, never deciding."""
    null_value = 0.0 if bound.shift else bound.null_value
    method = method_of(choice, selection, null_value, setting)
    if null_value and not METHODS[method].margin:
        method = method_of(replace(choice, test="auto"), selection, null_value, setting)
    return p_above(selection, method, bound, setting.level, choice.bounds()) < setting.level


def guardrail(rule: Guardrail, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """A guardrail in its mode."""
    choice = _choice(rule)
    measures: dict[str, Callable[[PairedMetric], Comparison]] = {
        "non_inferior": lambda m: _non_inferior(rule, choice, rule_id, table, m, setting),
        "no_regression": lambda m: _no_regression(rule, choice, rule_id, table, m, setting),
        "limit": lambda m: limit(rule, choice, rule_id, table, m, setting),
        "churn": lambda m: churn(rule, rule_id, table, m, setting),
    }
    return replace(both_readings(table.metrics[rule.metric], measures[rule.mode]), first=rule.first)


def _non_inferior(
    rule: Guardrail,
    choice: TestChoice,
    rule_id: str,
    table: PairedTable,
    metric: PairedMetric,
    setting: Setting,
) -> Comparison:
    selection = select(table, metric, rule.direction)
    where = f"the tolerance of {rule.metric}"
    return _proof(choice, rule_id, ("guardrail", "non_inferior"), selection, rule.tolerance, where, setting)


def _proof(
    choice: TestChoice,
    rule_id: str,
    role_mode: tuple[str, str],
    selection: Selection,
    tolerance: Amount | None,
    where: str,
    setting: Setting,
) -> Comparison:
    """H0: the true loss is at least the tolerance."""
    bound = effective_bound(tolerance, selection, kind=choice.kind, sign=-1, where=where)
    base = compare(choice, rule_id, role_mode, selection, bound, setting, target=bound.amount)
    cautions = (*base.cautions, *bound.cautions)
    return replace(base, bound=bound.amount, relative=bound.relative, cautions=cautions)


def _no_regression(
    rule: Guardrail,
    choice: TestChoice,
    rule_id: str,
    table: PairedTable,
    metric: PairedMetric,
    setting: Setting,
) -> Comparison:
    selection = select(table, metric, rule.direction)
    base = _veto(choice, rule_id, ("guardrail", "no_regression"), selection, setting)
    return replace(base, detect=rule.detect)


def _veto(
    choice: TestChoice, rule_id: str, role_mode: tuple[str, str], selection: Selection, setting: Setting
) -> Comparison:
    """H0: there is no loss. What the data row says is a caution here, not a decision."""
    veto = replace(setting, level=setting.veto_level)
    found = compare(choice, rule_id, role_mode, selection, Bound(0.0, 0.0), veto)
    if found.delta is not None:
        found = replace(found, **_beside_veto(found, choice, selection))
    if not found.insufficient:
        return found
    return replace(found, cautions=(*found.cautions, Caution("weak_data", found.insufficient)))


def _able_to_lose(choice: TestChoice, selection: Selection) -> int | None:
    """Items, or clusters, that are not at the metric's worst end already; None where it has no known end.

    Asked where a loss is observed: of 100 items of which 5 passed, all 5 may be lost and no test shows it.
    """
    bounds = choice.bounds()
    if bounds is None:
        return None
    able = selection.baseline != (bounds[0] if selection.sign > 0 else bounds[1])
    clusters = selection.table.clusters
    return int(able.sum()) if clusters is None else len(np.unique(clusters[selection.positions][able]))


def _beside_veto(found: Comparison, choice: TestChoice, selection: Selection) -> dict[str, Any]:
    """The p of a clean sweep, and for a mean the sign test, over items or whole clusters."""
    clustered = selection.table.clusters is not None
    gains = clusters_of(selection).changes if clustered else selection.gains
    able = _able_to_lose(choice, selection) if found.delta is not None and found.delta < 0 else None
    units = len(gains) if able is None else able
    sweep = max(clean_sweep(units), 1 / (found.resamples + 1) if found.resamples else 0.0)
    if choice.is_binary(selection.metric) or found.estimand != "mean":
        return {"clean_sweep": sweep}
    worse, changed = int((gains < 0).sum()), int((gains != 0).sum())
    sign_test = SignTest(worse, changed, binomial_sf(worse, changed, 0.5))
    return {"clean_sweep": sweep, "sign_test": sign_test}


def subset(
    rule: Gating,
    rule_id: str,
    tolerance: Amount | None,
    table: PairedTable,
    mask: BoolArray,
    setting: Setting,
    *,
    proof: bool,
) -> Comparison:
    """The gating metric on one slice, as a veto or as a proof of non-inferiority."""
    choice = replace(_choice(rule), interval=None)

    def measure(metric: PairedMetric) -> Comparison:
        selection = select(table, metric, rule.direction, mask)
        if proof:
            role_mode = ("slice", "slice_non_inferior")
            where = f"the tolerance of {rule_id}"
            return _proof(choice, rule_id, role_mode, selection, tolerance, where, setting)
        veto = _veto(choice, rule_id, ("slice", "slice_no_regression"), selection, setting)
        if tolerance is None:
            return veto
        relative = None if isinstance(tolerance, float) else tolerance.relative
        return replace(veto, bound=_visible(tolerance, selection), relative=relative)

    return both_readings(table.metrics[rule.metric], measure)


def _visible(tolerance: Amount, selection: Selection) -> float:
    """The loss that a veto is asked to see. A share of nothing is no loss that any set could see."""
    if isinstance(tolerance, float):
        return tolerance
    mean = float(np.mean(np.sort(selection.baseline))) if selection.n else 0.0
    return max(tolerance.relative * mean, 0.0)


def watched(watch: Watch, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """A metric that is only reported."""
    choice = TestChoice(watch.metric, watch.kind, watch.direction, watch.set)
    way = "lower" if watch.direction == "lower" else "higher"
    selection = select(table, table.metrics[watch.metric], way)
    any_size = replace(setting, min_items=1)
    return compare(choice, rule_id, ("watch", "watch"), selection, Bound(0.0, 0.0), any_size)


def _margin_cautions(base: Comparison, margin: float) -> tuple[Caution, ...]:
    if base.mde is None or margin <= 0 or base.mde <= margin:
        return ()
    text = f"the smallest gain this set can see is {base.mde:.4g}, above the margin {margin:.4g}"
    return (Caution("mde_above_margin", text),)


def veto_mde(comparison: Comparison, spread: float) -> float | None:
    """The loss that a veto would miss 20 % of the time at its corrected level."""
    if comparison.variance is None:
        return None
    return power.smallest_effect(comparison.variance, comparison.n, comparison.level / spread)

"""(rule of the policy, paired table) -> what was measured, for every rule that rests on a paired test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from gate.artifacts.table import BoolArray
from gate.estimands import oriented_pairs, select
from gate.measure.core import (
    Bound,
    Case,
    baseline_value,
    choice_of,
    compare,
    effective_bound,
    p_above,
    run_test,
)
from gate.measure.item_facts import flaky_cautions, item_facts
from gate.measure.model import (
    Asked,
    Comparison,
    Gain,
    ItemFacts,
    Margin,
    SignTest,
    Tested,
    Tolerance,
    Untested,
    Veto,
    at_least,
)
from gate.measure.one_sided import churn, limit, tail, worst_item
from gate.measure.setting import Setting, TestChoice, both_readings, own_table
from gate.pairing import PairedMetric, PairedTable
from gate.policy.model import Amount, Gating, Guardrail, Rule, Watch
from gate.stats import power
from gate.stats.cluster_data import tipping_points
from gate.stats.distributions import binomial_sf
from gate.stats.graded import clean_sweep
from gate.stats.methods import METHODS
from gate.stats.reference import reference
from gate.stats.set_level import WholeSet
from gate.values import Caution, Direction, Kind, Mode, Role


def gating(rule: Gating, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """The gating metric: both margin rules are worked out, the policy's decides."""
    asked = asked_of(rule, rule_id, Role.GATING, Mode.GATING, setting.level)
    table = own_table(rule, table)

    def measure(metric: PairedMetric) -> Comparison:
        return _gating(rule, _case(asked, rule, choice_of(rule), table, metric, setting))

    return both_readings(table.metrics[rule.metric], measure)


def asked_of(rule: Gating | Guardrail | Watch, rule_id: str, role: Role, mode: Mode, level: float) -> Asked:
    """The header of one rule of the policy."""
    first = isinstance(rule, Guardrail) and rule.first
    kind, direction = Kind(rule.kind), Direction(rule.direction)
    return Asked(rule_id, role, mode, rule.metric, kind, direction, level, rule.set, first)


def _case(
    asked: Asked,
    rule: Rule | Watch,
    choice: TestChoice,
    table: PairedTable,
    metric: PairedMetric,
    setting: Setting,
    mask: BoolArray | None = None,
) -> Case:
    estimand = setting.estimand(rule, table, metric)
    return Case(asked, choice, estimand, select(table, metric, asked.direction, mask), setting)


def _gating(rule: Gating, case: Case) -> Comparison:
    bound = effective_bound(rule.margin, case, sign=1, where="gating.margin")
    tested = rule.margin_rule == "tested"
    margin = Margin(
        bound.amount, rule.margin_rule, bound.relative, rule.suspect_gain, case.setting.max_flaky_share
    )
    base = compare(case, margin, bound if tested else Bound(), target=bound.amount)
    if isinstance(base, Untested):
        return base
    reading = seed_reading(base)
    if tested:
        base = _with_gain_above_zero(base, case)
        above_margin = base.evidence.clears_bound
        above_zero = above_margin or _also_cleared(case, Bound())
    else:
        above_zero = base.evidence.clears_bound
        above_margin = above_zero and _also_cleared(case, bound)
    by_item = case.estimand.by_item
    items = item_facts(case, base, margin) if by_item else ItemFacts()
    gain = Gain(
        observed=above_zero and at_least(base.sides.delta, bound.amount),
        tested=above_margin,
        seed_reading=reading,
        reference=_reference_values(case) if by_item else _resampled(case),
        items=items,
    )
    told = (*bound.cautions, *_margin_cautions(base, bound.amount), *flaky_cautions(items.flaky))
    clusters = base.clusters or (_tipping(base) if by_item else {})
    return replace(base, gain=gain, clusters=clusters, cautions=(*base.cautions, *told))


def _with_gain_above_zero(base: Tested, case: Case) -> Tested:
    """A proven margin is no less than a proven gain: the default test against 0 must clear it too.

    Where that test is the one that holds the claim back, its p and its limit are the ones that are reported.
    """
    if base.null_value == 0:
        return base
    against_zero = run_test(case, case.estimand.default_test(0.0, case.choice.assurance), Bound())
    if against_zero.p_greater < case.asked.level:
        return base
    evidence = base.evidence
    return replace(
        base,
        evidence=replace(
            evidence,
            clears_bound=False,
            p_value=max(evidence.p_value, against_zero.p_greater),
            p_two_sided=max(evidence.p_two_sided, against_zero.p_two_sided),
            interval=replace(evidence.interval, low=min(evidence.interval.low, against_zero.interval.low)),
        ),
    )


def _tipping(base: Tested) -> dict[str, Any]:
    """Without cluster labels: from which intraclass correlation on would unseen clusters undo the result?"""
    sd = base.visible.sd_difference
    if not sd or base.n < 2:
        return {}
    t = (base.sides.delta - base.null_value) / (sd / math.sqrt(base.n))
    return {"labelled": False, "tipping": [asdict(point) for point in tipping_points(t, base.level)]}


def _also_cleared(case: Case, bound: Bound) -> bool:
    """Whether the margin rule that the policy did not choose is cleared too: reported, never deciding."""
    method = case.choice.method(case.estimand, bound.tested_null)
    if bound.tested_null and not METHODS[method].margin:
        method = case.estimand.default_test(bound.tested_null, case.choice.assurance)
    return p_above(case, method, bound) < case.asked.level


def seed_reading(found: Tested) -> str:
    """The published reading: does the interval exclude 0, and is the delta as large as the MDE?"""
    mde, interval = found.visible.mde, found.evidence.interval
    if interval.low <= 0 <= interval.high:
        return "cannot_answer"
    return "publish" if mde is not None and abs(found.sides.delta) >= mde else "sign_only"


def _reference_values(case: Case) -> dict[str, float | None]:
    """Two-sided values that readers of the literature look for; none of them decides."""
    found = reference(oriented_pairs(case.selection))
    return {
        "mcnemar_exact_p": found.mcnemar_exact_p,
        "mcnemar_chi2_p": found.mcnemar_chi2_p,
        "bootstrap_low": found.bootstrap_low,
        "bootstrap_high": found.bootstrap_high,
        "unpaired_p": found.unpaired_p,
    }


MOST_ROWS_BESIDE = 100_000
"""A bootstrap that only stands beside the deciding test is not worth minutes."""


def _resampled(case: Case) -> dict[str, float | None]:
    """The row bootstrap beside a test of the whole set that is none: it does not decide."""
    sample = case.estimand.sample(case.selection, 0.0)
    beside = isinstance(sample, WholeSet) and len(sample.tests) > 1 and sample.n <= MOST_ROWS_BESIDE
    if not beside or case.choice.method(case.estimand, 0.0) == "bootstrap_rows":
        return {}
    found = run_test(case, "bootstrap_rows", Bound()).interval
    known = math.isfinite(found.low)
    return {"bootstrap_low": found.low if known else None, "bootstrap_high": found.high if known else None}


def guardrail(rule: Guardrail, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """A guardrail in its mode."""
    mode = Mode(rule.mode)
    level = setting.veto_level if mode == Mode.NO_REGRESSION else setting.level
    asked = asked_of(rule, rule_id, Role.GUARDRAIL, mode, level)
    table = own_table(rule, table)

    def case(metric: PairedMetric) -> Case:
        return _case(asked, rule, choice_of(rule), table, metric, setting)

    measures: dict[str, Callable[[PairedMetric], Comparison]] = {
        "non_inferior": lambda m: _proof(case(m), _given(rule.tolerance), f"the tolerance of {rule.metric}"),
        "no_regression": lambda m: _veto(case(m), Veto(detect=rule.detect)),
        "limit": lambda m: limit(rule, case(m)),
        "churn": lambda m: churn(rule, case(m)),
        "worst_item": lambda m: worst_item(rule, case(m)),
        "tail": lambda m: tail(rule, case(m)),
    }
    return both_readings(table.metrics[rule.metric], measures[rule.mode])


def _given(tolerance: Amount | None) -> Amount:
    assert tolerance is not None, "a policy that asks for a proof states its tolerance"
    return tolerance


def _proof(case: Case, tolerance: Amount, where: str) -> Comparison:
    """H0: the true loss is at least the tolerance."""
    bound = effective_bound(tolerance, case, sign=-1, where=where)
    wanted = Tolerance(bound.amount, bound.relative)
    base = compare(case, wanted, bound, target=bound.amount)
    return replace(base, cautions=(*base.cautions, *bound.cautions))


def _veto(case: Case, wanted: Veto) -> Comparison:
    """H0: there is no loss. What the data row says is a caution here, not a decision."""
    found = compare(case, wanted, Bound())
    if isinstance(found, Tested):
        found = _with_sweep(found, case) if case.estimand.by_item else _able(found, case)
        if case.selection.metric.doubt:
            found = replace(found, visible=replace(found.visible, unable=case.selection.metric.doubt))
    if not found.insufficient:
        return found
    return replace(found, cautions=(*found.cautions, Caution("weak_data", found.insufficient)))


def _able(found: Tested, case: Case) -> Tested:
    """A veto on the whole set: what keeps it from being one, and the least p that its test can give."""
    unknown = found.insufficient if found.sides.delta != 0 and math.isinf(found.evidence.interval.low) else ""
    unable = case.estimand.too_small(case.selection) or unknown
    return replace(
        found, visible=replace(found.visible, clean_sweep=found.evidence.smallest_p, unable=unable)
    )


def _with_sweep(found: Tested, case: Case) -> Tested:
    """The p of a clean sweep, and for a mean the sign test, over items or whole clusters."""
    estimand, selection = case.estimand, case.selection
    gains = estimand.unit_gains(selection)
    able = _able_to_lose(case) if found.sides.delta < 0 else None
    units, drawn = len(gains) if able is None else able, found.evidence.resamples
    sweep = max(clean_sweep(units), 1 / (drawn + 1) if drawn else 0.0)
    found = replace(found, visible=replace(found.visible, clean_sweep=sweep))
    # means over other numbers of runs: most items may differ one way where nothing changed
    if estimand.pass_fail or found.evidence.estimand != "mean" or selection.unequal_runs:
        return found
    worse, changed = int((gains < 0).sum()), int((gains != 0).sum())
    return replace(found, sign_test=SignTest(worse, changed, binomial_sf(worse, changed, 0.5)))


def _able_to_lose(case: Case) -> int | None:
    """Units that are not at the metric's worst end already; None where it has no known end.

    Asked where a loss is observed: of 100 items of which 5 passed, all 5 may be lost and no test shows it.
    """
    if case.scale is None:
        return None
    worst = case.scale[0] if case.selection.sign > 0 else case.scale[1]
    return case.estimand.units(case.selection, case.selection.baseline != worst)


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
    choice = replace(choice_of(rule), interval=None)
    mode = Mode.SLICE_NON_INFERIOR if proof else Mode.SLICE_NO_REGRESSION
    asked = asked_of(rule, rule_id, Role.SLICE, mode, setting.level if proof else setting.veto_level)

    def measure(metric: PairedMetric) -> Comparison:
        case = _case(asked, rule, choice, table, metric, setting, mask)
        if proof:
            return _proof(case, _given(tolerance), f"the tolerance of {rule_id}")
        return _veto(case, _of_slice(tolerance, case))

    return both_readings(table.metrics[rule.metric], measure)


def _of_slice(tolerance: Amount | None, case: Case) -> Veto:
    """A share of nothing is no loss that any set could see."""
    if tolerance is None or isinstance(tolerance, float):
        return Veto(tolerance)
    return Veto(max(tolerance.relative * baseline_value(case), 0.0), tolerance.relative)


def watched(watch: Watch, rule_id: str, table: PairedTable, setting: Setting) -> Comparison:
    """A metric that is only reported."""
    asked = asked_of(watch, rule_id, Role.WATCH, Mode.WATCH, setting.level)
    any_size = replace(setting, min_items=1)
    table = own_table(watch, table)
    case = _case(asked, watch, TestChoice(), table, table.metrics[watch.metric], any_size)
    return compare(case, None, Bound())


def _margin_cautions(base: Tested, margin: float) -> tuple[Caution, ...]:
    mde = base.visible.mde
    if mde is None or margin <= 0 or mde <= margin:
        return ()
    text = f"the smallest gain this set can see is {mde:.4g}, above the margin {margin:.4g}"
    return (Caution("mde_above_margin", text),)


def veto_mde(found: Tested, spread: float) -> float | None:
    """The loss that a veto would miss 20 % of the time at its corrected level."""
    if found.visible.variance is None:
        return None
    return power.smallest_effect(found.visible.variance, found.n, found.level / spread)

"""Does the policy fit the data? What a person would ask about before they believe either; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.artifacts.directions import direction_by_name
from gate.artifacts.table import FloatArray
from gate.estimands import estimand_of
from gate.measure.model import ROUNDING, at_least
from gate.measure.words import number, p_value
from gate.pairing import PairedMetric, PairedTable
from gate.policy.kinds import KINDS
from gate.policy.model import Amount, Guardrail, Policy, Rule, Watch
from gate.policy.rules import gating_id, named_guardrails
from gate.stats.control import prediction_p
from gate.values import Caution

Tables = Mapping[str | None, PairedTable]

LARGE = 10.0
"""Percent, milliseconds, tokens: a typical value of what is no share and no score of a few points."""
TOO_FINE = 500.0
"""A bound so many times smaller than a typical value is more likely a share: 0.1 beside 65, not 0.2."""
FEW = 0.5
LEAST_ITEMS = 10
"""A perfect score on fewer items is no wonder."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One amount that the policy sets on a metric. word: its key. gain: a margin, else an accepted loss."""

    rule_id: str
    rule: Rule
    word: str
    amount: Amount
    gain: bool = False
    tested: bool = False


def doubts(policy: Policy, tables: Tables, seen: Mapping[str, float | None]) -> Iterator[tuple[str, Caution]]:
    """(rule id, caution) for every rule. seen: the smallest effect that a rule's items can see, if known."""
    for bound in _bounds(policy):
        if not KINDS[bound.rule.kind].by_item:
            continue  # its values are scores, not the metric
        metric = tables[bound.rule.set].metrics[bound.rule.metric]
        baseline = metric.baseline[np.isfinite(metric.baseline)]
        if baseline.size:
            found = _out_of_reach(bound, float(baseline.mean()))
            found = found or _other_unit(bound, baseline, seen.get(bound.rule_id))
            yield from ((bound.rule_id, caution) for caution in found)
    for rule_id, rule in ((gating_id(policy), policy.gating), *named_guardrails(policy)):
        metric = tables[rule.set].metrics[rule.metric]
        if isinstance(rule, Guardrail) and rule.mode == "limit":
            yield from ((rule_id, caution) for caution in _limit(rule, metric))
        elif KINDS[rule.kind].by_item:
            yield from ((rule_id, caution) for caution in _perfect(rule, metric))


def direction_doubts(
    policy: Policy, item_set: str | None, told: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """(code, message) of directions that the file contradicts (told) or, where it is silent, the name."""
    rules: list[Rule | Watch] = [
        policy.gating,
        *policy.guardrails,
        *(w for w in policy.watch if isinstance(w, Watch)),
    ]
    told_by_kind = {kind for kind, facts in KINDS.items() if facts.direction}
    rules = [rule for rule in rules if rule.set == item_set and rule.kind not in told_by_kind]
    declared = {rule.metric: rule.direction for rule in reversed(rules)}
    for metric, direction in declared.items():
        by_file, by_name = told.get(metric), direction_by_name(metric)
        if direction == "neutral":
            continue
        if by_file is not None and by_file != direction:
            text = f"{metric!a}: the policy says {direction} is better, the file that {by_file} is"
            yield "direction_contradicts_file", text
        if by_file is None and by_name not in {None, direction}:
            text = f"{metric!a} is read as {direction} is better; its name sounds as if {by_name} were"
            yield "direction_contradicts_name", text


def baseline_spread(policy: Policy, run_means: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, str]]:
    """(code, message) where the candidate's one mean lies within what runs of the baseline do by themselves.

    run_means: metric -> the mean of each run of the baseline, then of the candidate.
    """
    rule = policy.gating
    *runs, candidate = run_means.get(rule.metric, (0.0,))
    sign = -1.0 if rule.direction == "lower" else 1.0
    p = prediction_p([sign * mean for mean in runs], sign * candidate)
    if p is not None and p >= policy.alpha / 2:
        found = f"{len(runs)} runs of the baseline score {number(min(runs))} to {number(max(runs))}"
        text = f"{found}, the candidate {number(candidate)}: within what the baseline does by itself"
        yield "baseline_spread", f"{text} (p {p_value(p)} for one more run of it)"


def _bounds(policy: Policy) -> Iterator[Bound]:
    gating, rule_id = policy.gating, gating_id(policy)
    yield Bound(rule_id, gating, "margin", gating.margin, gain=True, tested=gating.margin_rule == "tested")
    if policy.slices is not None and policy.slices.tolerance is not None:
        yield Bound(rule_id, gating, "slices.tolerance", policy.slices.tolerance)
    for rail_id, rail in named_guardrails(policy):
        for word, amount in (("tolerance", rail.tolerance), ("detect", rail.detect)):
            if amount is not None:
                yield Bound(rail_id, rail, word, amount)


def _ends(rule: Rule) -> tuple[float, float] | None:
    """The worst and the best value that the metric can have, where kind or scale says so."""
    scale = estimand_of(rule.kind).ends or rule.scale
    if scale is None or rule.direction == "higher":
        return scale
    return scale[1], scale[0]


def _out_of_reach(bound: Bound, mean: float) -> list[Caution]:
    """A margin above what the metric has left, a tolerance above all that it can lose."""
    ends = _ends(bound.rule)
    if ends is None:
        return []
    worst, best = ends
    amount = bound.amount if isinstance(bound.amount, float) else bound.amount.relative * mean
    room = abs((best if bound.gain else worst) - mean)
    beyond = at_least(amount, room) if bound.tested else amount > room + ROUNDING
    if amount <= 0 or not beyond:
        return []
    at = f"the baseline's mean is {number(mean)}"
    if bound.gain:
        text = f"no candidate can reach the margin {number(amount)}: {at}, the best value {number(best)}"
        return [Caution("margin_out_of_reach", text)]
    text = f"no candidate can lose more than the {bound.word} {number(amount)}: {at}, the worst value"
    return [Caution("bound_guards_nothing", f"{text} {number(worst)}")]


def _other_unit(bound: Bound, baseline: FloatArray, seen: float | None) -> list[Caution]:
    """An amount that looks like a share of a large metric, or like percent of a share.

    An amount that the items can see is no slip, however small it is.
    """
    amount, typical = bound.amount, _typical(baseline)
    if not isinstance(amount, float) or amount <= 0 or (seen is not None and 0 < seen <= amount):
        return []
    if amount < 1 and typical >= LARGE and typical >= TOO_FINE * amount:
        hint = f"a share of the baseline is written {{relative: {amount:g}}}"
    elif amount >= 1 and 0 < float(np.abs(baseline).max()) <= 1 and estimand_of(bound.rule.kind).ends is None:
        hint = "is it in percent?"
    else:
        return []
    text = f"the {bound.word} {amount:g} is an amount in the metric's unit, where {typical:g} is typical"
    return [Caution("bound_in_another_unit", f"{text}; {hint}")]


def _typical(values: FloatArray) -> float:
    sizes = np.abs(values[values != 0])
    return float(np.median(sizes)) if sizes.size else 0.0


def _limit(rule: Guardrail, metric: PairedMetric) -> list[Caution]:
    """A limit that no value can break, or that values in another unit cannot."""
    ends = _ends(rule)
    low, high = (-np.inf if rule.min is None else rule.min), (np.inf if rule.max is None else rule.max)
    if ends is not None and low <= min(ends) and high >= max(ends):
        text = f"no value can break this limit: the metric lies between {min(ends):g} and {max(ends):g}"
        return [Caution("bound_guards_nothing", text)]
    if not KINDS[rule.kind].by_item:
        return []
    typical = _typical(metric.candidate[np.isfinite(metric.candidate)])
    if rule.max is None and 0 < low < 1 and typical >= LARGE:
        text = f"the limit min {low:g} looks like a share, but a typical value is {typical:g}"
    elif rule.min is None and rule.max is not None and typical > 0 and high >= TOO_FINE * typical:
        text = f"the limit max {high:g} is far above all values ({typical:g} is typical)"
    else:
        return []
    return [Caution("bound_in_another_unit", f"{text}: are both in one unit?")]


def _perfect(rule: Rule, metric: PairedMetric) -> list[Caution]:
    """Every item of the candidate at the best value, where few of the baseline's were."""
    both = np.isfinite(metric.baseline) & np.isfinite(metric.candidate)
    baseline, candidate = metric.baseline[both], metric.candidate[both]
    if len(baseline) < LEAST_ITEMS:
        return []
    ends = _ends(rule)
    everything = np.concatenate((baseline, candidate))
    seen_best = float(everything.max() if rule.direction == "higher" else everything.min())
    best = seen_best if ends is None else ends[1]
    before = int((baseline == best).sum())
    if not bool((candidate == best).all()) or before >= FEW * len(baseline):
        return []
    text = (
        f"all {len(candidate)} items have the best value {number(best)} in the candidate, {before} in the "
        "baseline: check extractor, leakage, judge"
    )
    return [Caution("perfect_candidate", text)]

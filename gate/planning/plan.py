"""A plan: what the policy's proofs need on data like these, and what a look costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gate.planning.design import Need, Planned, Row, Seen, margin_seen, needs, row
from gate.planning.floors import least_items_of
from gate.planning.standing import Standing
from gate.planning.variances import Variances
from gate.planning.world import Key, World
from gate.policy.model import Amount, Policy
from gate.policy.rules import gating_id, named_guardrails
from gate.values import GateError

MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
CURVE_STEPS = 13
MARGIN_STEPS = 8


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs in one unit of money. good: share of candidates that are truly better by the planned gain."""

    false_promotion: float
    missed_promotion: float
    item: float = 0.0
    good: float = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What the person asks. items: the number to look at, None for what the plan needs. gain: the true gain
    to plan for in the metric's unit, None for two margins. retrain_sd: of the true gains of one recipe."""

    runs: int = 1
    power: float = 0.8
    items: int | None = None
    gain: float | None = None
    prices: Prices | None = None
    retrain_sd: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """needs: one a rule, the gating rule first. rows: several numbers of items, ``items`` among them.

    items: what all rules need together, or what was asked for. curve: true gain -> chance that the gating
    rule passes with ``items``. costs: expected cost of a look for each row. left_out: rules that are not
    planned here, with the reason. standing: rules that no number of items makes pass. margins: with prices,
    what each would cost with ``items``; best: the one that is recommended.
    """

    question: Question
    needs: tuple[Need, ...]
    seen: Seen
    items: int
    rows: tuple[Row, ...]
    curve: tuple[tuple[float, float], ...]
    costs: tuple[float, ...]
    left_out: tuple[tuple[str, str], ...]
    standing: tuple[Standing, ...] = ()
    margins: tuple[MarginRow, ...] = ()

    @property
    def best(self) -> MarginRow | None:
        """The cheapest margin; of equal ones the larger."""
        return min(self.margins, key=lambda row: (round(row.cost, 2), -row.margin), default=None)


@dataclass(frozen=True, slots=True)
class MarginRow:
    """One margin: chance that a candidate without gain passes, that one with the planned gain is missed."""

    margin: float
    false_promotion: float
    missed: float
    cost: float


def plan(
    rules: tuple[Planned, ...],
    question: Question,
    left_out: tuple[tuple[str, str], ...] = (),
    standing: tuple[Standing, ...] = (),
) -> Plan:
    """Work out everything for these rules; the first one is the gating rule."""
    found = needs(rules, question.runs, question.power)
    items = question.items or _together(found)
    sizes = sorted({max(2, round(items * times)) for times in MULTIPLES})
    rows = tuple(row(rules, n, question.runs, question.power, standing) for n in sizes)
    costs: tuple[float, ...] = ()
    if question.prices is not None:
        costs = tuple(expected_cost(question.prices, r.n, r.no_gain, r.together[1]) for r in rows)
    seen = margin_seen(rules[0], question.runs, question.power)
    curve = _curve(rules[0], items, question.runs)
    margins = tuple(margin_rows(rules[0], items, question))
    return Plan(question, found, seen, items, rows, curve, costs, left_out, standing, margins)


def margin_rows(rule: Planned, n: int, question: Question) -> Iterator[MarginRow]:
    """Margins from 0 to the planned gain, each with both errors and its expected cost.

    With a retrain SD a candidate's true gain is not what its recipe gives on average but normal around it
    (3-point-exact Gauss-Hermite sums of order 15), so both errors are means over retrains.
    """
    prices = question.prices
    if prices is None or rule.what != "observed":
        return
    for step in range(MARGIN_STEPS + 1):
        tried = replace(rule, bound=rule.gain * step / MARGIN_STEPS)
        false = _over_retrains(tried, n, question, 0.0)
        true = _over_retrains(tried, n, question, rule.gain)
        yield MarginRow(tried.bound, false, 1 - true, expected_cost(prices, n, false, true))


def _over_retrains(rule: Planned, n: int, question: Question, gain: float) -> float:
    if not question.retrain_sd:
        return rule.chance(n, question.runs, gain)
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    chances = [rule.chance(n, question.runs, gain + question.retrain_sd * float(node)) for node in nodes]
    return float(weights @ chances / weights.sum())


def expected_cost(prices: Prices, n: int, false_pass: float, true_pass: float) -> float:
    """Mean cost of one look at n items.

    false_pass: chance that a candidate without gain passes. true_pass: that one with the gain does.
    """
    wrong = (1 - prices.good) * false_pass * prices.false_promotion
    missed = prices.good * (1 - true_pass) * prices.missed_promotion
    return wrong + missed + prices.item * n


def _together(found: tuple[Need, ...]) -> int:
    sizes = [need.items for need in found]
    if None in sizes:
        rule = found[sizes.index(None)].planned
        raise GateError(
            "no_items_help",
            f"no number of items gives {rule.rule} the power it needs for a true change of {rule.gain:g} "
            f"against a bound of {rule.bound:g}",
            help="plan for a larger true gain (--gain), or ask for a smaller margin",
        )
    return max(size for size in sizes if size is not None)


def _curve(rule: Planned, n: int, runs: int) -> tuple[tuple[float, float], ...]:
    """From no gain to three times the planned margin, or one and a half times the planned gain."""
    top = max(3 * rule.bound, 1.5 * rule.gain)
    gains = [top * k / (CURVE_STEPS - 1) for k in range(CURVE_STEPS)]
    return tuple((gain, rule.chance(n, runs, gain)) for gain in gains)


def gating_planned(
    rule_id: str,
    margin: float,
    margin_rule: str,
    level: float,
    variances: Variances,
    question: Question,
    least: int = 1,
) -> Planned:
    """The gating rule; without a stated gain two margins are planned for."""
    gain = question.gain
    if gain is None and margin <= 0:
        raise GateError(
            "usage",
            "the margin is 0, so there is no gain to plan for",
            help="add --gain GAIN: the true gain that you do not want to miss",
        )
    gain = 2 * margin if gain is None else gain
    return Planned(rule_id, margin_rule, margin, gain, level, variances, least)


def rules_of_policy(
    policy: Policy, world: World | None, known: Mapping[Key, Variances], level: float, question: Question
) -> tuple[tuple[Planned, ...], tuple[tuple[str, str], ...]]:
    """The rules that a plan can work out, and the others with the reason."""
    key: Key = (policy.gating.set, policy.gating.metric)
    if key not in known:
        raise GateError(
            "usage",
            f"nothing says how much {policy.gating.metric} varies",
            help="add --baseline FILE (with --candidate FILE from a pilot, if there is one), or --sd SD",
        )
    margin = _amount(policy.gating.margin, world, key)
    gating = policy.gating
    least = least_items_of(policy, gating, margin if gating.margin_rule == "tested" else 0.0, level)
    first = gating_planned(gating_id(policy), margin, gating.margin_rule, level, known[key], question, least)
    rails, left_out = [], []
    for rule, entry in _guardrails(policy, world, known, level):
        if isinstance(entry, Planned):
            rails.append(entry)
        else:
            left_out.append((rule, entry))
    return (first, *rails), tuple(left_out)


def _guardrails(
    policy: Policy, world: World | None, known: Mapping[Key, Variances], level: float
) -> Iterator[tuple[str, Planned | str]]:
    for rule, rail in named_guardrails(policy):
        key: Key = (rail.set, rail.metric)
        if rail.mode in {"no_regression", "limit", "churn"} and world is not None:
            continue  # see ``standing_rules``
        if rail.mode != "non_inferior" or rail.tolerance is None:
            yield rule, f"mode {rail.mode} is no proof: add --baseline FILE, or see gate selftest"
        elif key not in known:
            yield rule, f"nothing says how much {rail.metric} varies: add --baseline FILE"
        else:
            bound = _amount(rail.tolerance, world, key)
            least = least_items_of(policy, rail, -bound, level)
            yield rule, Planned(rule, "non_inferior", bound, 0.0, level, known[key], least)


def _amount(amount: Amount, world: World | None, key: Key) -> float:
    if isinstance(amount, float):
        return amount
    if world is None:
        raise GateError(
            "usage",
            f"the bound of {key[1]} is a share of the baseline, which is not given",
            help="add --baseline FILE",
        )
    return amount.relative * world.expected(key)

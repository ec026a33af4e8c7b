"""Items, repeats and power: what every rule of a policy needs, and the chance that all of them pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from gate.planning.rule_power import exact_proof, least_items, observed_rule, proof, seen_effect
from gate.planning.standing import Standing
from gate.planning.variances import Variances
from gate.stats.power import items_needed, mcnemar_items_needed

RUNS = (1, 2, 3, 5, 10)
Chance = Callable[[int, int, float], float]
"""(items, runs, true change after direction) -> chance that the rule passes."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One rule to plan for. bound: margin or tolerance, in the metric's unit. gain: the true change.

    least: fewer items cannot pass, whatever they say.
    """

    rule: str
    what: str
    bound: float
    gain: float
    level: float
    variances: Variances
    least: int = 1

    @property
    def null_value(self) -> float:
        """The true change at which the rule passes about half the time, however many items there are."""
        return -self.bound if self.what == "non_inferior" else self.bound

    def chance(self, n: int, runs: int, gain: float) -> float:
        """Chance that the rule passes with a true change of ``gain``."""
        if n < self.least:
            return 0.0
        spread = self.variances.spread(runs)
        if self.what == "observed":
            return observed_rule(spread, n, gain, self.bound, self.level)
        if self.null_value == 0 and spread.exact:
            return observed_rule(spread, n, gain, 0.0, self.level)
        return proof(spread, n, gain, self.null_value, self.level)

    def exact_chance(self, n: int, runs: int) -> float:
        """The same for the planned change, a proof of pass/fail enumerated where that is quick."""
        spread = self.variances.spread(runs)
        if self.what == "observed" or not spread.exact or self.null_value == 0 or n < self.least:
            return self.chance(n, runs, self.gain)
        return exact_proof(spread, n, self.gain, self.null_value, self.level)

    def mde(self, n: int, runs: int, power: float) -> float:
        """Smallest true change against 0 that is seen with ``power``."""
        return seen_effect(self.variances.spread(runs), n, self.level, power)


@dataclass(frozen=True, slots=True)
class Need:
    """What one rule needs. target: its own power, so that all together have the planned one.

    items: None where no number of items helps. expected: (b, c) at ``items`` for one pass/fail run an item.
    by_runs: items for each number of runs, where runs and items are known apart.
    """

    planned: Planned
    target: float
    items: int | None
    expected: tuple[float, float] | None
    by_runs: Mapping[int, int | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One number of items: MDE of the gating rule, each rule's chance, and the chance of all.

    together: (whatever the dependence, if independent). no_gain: chance of all rules without any true gain.
    """

    n: int
    mde: float
    chances: tuple[float, ...]
    together: tuple[float, float]
    no_gain: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Items at which the margin itself is seen against 0: the literature's figure and the exact test's."""

    normal: int | None
    exact: int | None


def needs(rules: tuple[Planned, ...], runs: int, power: float) -> tuple[Need, ...]:
    """Each rule at power 1 - beta / (number of rules): all pass together with at least ``power``.

    (Schultzberg, Ankargren & Franberg 2024: guardrails need no correction of alpha, but one of beta.)
    """
    target = 1 - (1 - power) / len(rules)
    return tuple(_need(rule, runs, target) for rule in rules)


def row(
    rules: tuple[Planned, ...], n: int, runs: int, power: float, standing: tuple[Standing, ...] = ()
) -> Row:
    """What n items give."""
    chances = tuple(rule.exact_chance(n, runs) for rule in rules) + tuple(rule.chance(n) for rule in standing)
    no_gain = [rules[0].chance(n, runs, 0.0), *chances[1:]]
    return Row(n, rules[0].mde(n, runs, power), chances, together(chances), math.prod(no_gain))


def together(chances: tuple[float, ...]) -> tuple[float, float]:
    """Chance that all pass: 1 - sum of the failures whatever the dependence; the product without any."""
    return max(0.0, 1 - sum(1 - chance for chance in chances)), math.prod(chances)


def margin_seen(rule: Planned, runs: int, power: float) -> Seen:
    """Items for a true gain of exactly the margin against 0."""
    spread = rule.variances.spread(runs)
    normal = items_needed(spread.at(rule.bound), rule.bound, rule.level, power)
    normal = normal and max(normal, rule.least)
    if not spread.exact or not 0 < rule.bound <= spread.variance:
        return Seen(normal, None)
    return Seen(normal, mcnemar_items_needed(spread.variance, rule.bound, rule.level, power))


def _need(rule: Planned, runs: int, target: float) -> Need:
    items = _items(rule, runs, target)
    spread = rule.variances.spread(runs)
    expected = None
    if spread.exact and items is not None:
        rate = max(spread.variance, abs(rule.gain))
        expected = (items * (rate + rule.gain) / 2, items * (rate - rule.gain) / 2)
    by_runs = {k: _items(rule, k, target) for k in RUNS} if rule.variances.splits else {}
    return Need(rule, target, items, expected, by_runs)


def _items(rule: Planned, runs: int, target: float) -> int | None:
    if (
        rule.gain <= rule.null_value and target >= 0.5
    ):  # with ever more items the chance ends at 0, at most 1/2
        return None
    return least_items(partial(_chance_of, rule, runs), target)


def _chance_of(rule: Planned, runs: int, n: int) -> float:
    return rule.chance(n, runs, rule.gain)

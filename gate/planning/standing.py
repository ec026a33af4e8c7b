"""Rules that no number of items can make pass: how often an unchanged candidate meets them all the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gate.planning.world import Key, World
from gate.policy.model import Guardrail, Policy
from gate.policy.rules import named_guardrails, slice_id
from gate.stats.distributions import normal_quantile, normal_sf
from gate.stats.power import smallest_effect


@dataclass(frozen=True, slots=True)
class Standing:
    """One veto, limit, churn rule or slice. chance: items -> that it passes for an unchanged candidate."""

    rule: str
    chance: Callable[[int], float]


def standing_rules(policy: Policy, world: World, level: float) -> tuple[Standing, ...]:
    """Those of the policy that need no proof, on items like the baseline's, by normal laws.

    level: one-sided, of a veto before its correction, which only makes a false block rarer.
    """
    found = [
        Standing(rule, law)
        for rule, rail in named_guardrails(policy)
        if (law := _law(rail, world, level)) is not None
    ]
    return (*found, *_slices(policy, world, level))


def _law(rail: Guardrail, world: World, level: float) -> Callable[[int], float] | None:
    key: Key = (rail.set, rail.metric)
    if rail.kind not in {"binary", "graded"} or key not in world.values:
        return None
    variance = world.noise[key].difference_variance
    if rail.mode == "no_regression":
        detect = rail.detect
        return lambda n: _veto(n, variance, level, detect)
    if rail.mode == "limit":
        mean, of_items = world.expected(key), world.noise[key].variance
        return lambda n: _limit(n, rail, mean, of_items, level)
    if rail.mode == "churn" and rail.kind == "binary" and rail.max is not None:
        most, lost = rail.max, variance / 2  # of the pass/fail items that a re-run changes, half are lost
        return lambda n: _below(most, lost, math.sqrt(lost * (1 - lost) / n))
    return None


def _veto(n: int, variance: float, level: float, detect: float | None) -> float:
    """Blocks with chance ``level``; decides nothing where it must see a loss that n items do not show."""
    blind = detect is not None and smallest_effect(variance, n, level) > detect
    return 0.0 if blind else 1.0 - level


def _limit(n: int, rail: Guardrail, mean: float, variance: float, level: float) -> float:
    """The mean of a re-run within the limits; ``proven``: its whole interval."""
    error = math.sqrt(variance / n)
    room = -normal_quantile(level) * error if rail.proven else 0.0
    above = 1.0 if rail.min is None else 1.0 - _below(rail.min + room, mean, error)
    below = 1.0 if rail.max is None else _below(rail.max - room, mean, error)
    return max(0.0, above + below - 1.0)


def _below(bound: float, mean: float, error: float) -> float:
    if error == 0:
        return float(mean <= bound)
    return normal_sf((mean - bound) / error)


def _slices(policy: Policy, world: World, level: float) -> list[Standing]:
    """Each value of a slice column that is large enough, as the veto that it is."""
    if policy.slices is None or policy.slices.mode != "no_regression":
        return []
    table, least = world.tables[policy.gating.set], policy.slices.min_items
    values = {
        (column, str(value)): sum(1 for cell in table.columns[column] if cell == value)
        for column in policy.slices.by
        for value in dict.fromkeys(table.columns[column])
        if value is not None
    }
    total = max(len(table.ids), 1)
    return [
        Standing(slice_id(column, value), _slice(size / total, least, level))
        for (column, value), size in values.items()
    ]


def _slice(share: float, least: int, level: float) -> Callable[[int], float]:
    return lambda n: 1.0 - level if n * share >= least else 1.0

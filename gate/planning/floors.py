"""How many items a rule needs before it can pass at all, whatever they say."""

from __future__ import annotations

from gate.compare.setting import TestChoice
from gate.policy.model import Gating, Guardrail, Policy
from gate.stats.clusters import FEWEST_CLUSTERS
from gate.stats.guards import FEWEST_CHANGED
from gate.stats.power import fewest_units
from gate.stats.registry import METHODS

NEED_CHANGES = frozenset({"t_guarded", "paired_t", "bootstrap", "bootstrap_bca", "bootstrap_t"})


def planned_test(policy: Policy, rule: Gating | Guardrail, null_value: float) -> str:
    """The test that would decide on files of the kind that the policy declares."""
    items = policy.items
    choice = TestChoice(rule.metric, rule.kind, rule.direction, test=rule.test, assurance=rule.assurance)
    return choice.planned(
        null_value,
        averaged=items.repeat is not None and items.reduce == "mean",
        clustered=items.cluster is not None,
        seeds=items.unit == "seed",
    )


def least_items_of(policy: Policy, rule: Gating | Guardrail, null_value: float, level: float) -> int:
    """``items.min``, or what the rule's test needs if that is more."""
    return max(policy.items.min, least_items_for(planned_test(policy, rule, null_value), null_value, level))


def least_items_for(method: str, null_value: float, level: float) -> int:
    """Fewest items with which a test can pass. Below 0 a tolerance is proven by n, as planned for."""
    if method not in METHODS:
        return max(FEWEST_CLUSTERS, fewest_units(level))
    least = METHODS[method].minimum_items
    if null_value < 0:
        return least
    return max(least, fewest_units(level), FEWEST_CHANGED if method in NEED_CHANGES else 1)

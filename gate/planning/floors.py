"""How many items a rule needs before it can pass at all, whatever they say."""

from __future__ import annotations

from gate.compare.setting import TestChoice
from gate.policy.model import Gating, Guardrail, Policy
from gate.stats.clusters import FEWEST_CLUSTERS
from gate.stats.guards import FEWEST_CHANGED
from gate.stats.power import fewest_units
from gate.stats.registry import METHODS

FEWEST_FOR_BOOTSTRAP = 50
_FEWEST = {
    "t_guarded": FEWEST_CHANGED,
    "paired_t": FEWEST_CHANGED,
    "bootstrap": FEWEST_FOR_BOOTSTRAP,
    "bootstrap_bca": FEWEST_FOR_BOOTSTRAP,
    "bootstrap_t": FEWEST_FOR_BOOTSTRAP,
}


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
    least = _FEWEST.get(method, 1)
    return max(least, fewest_units(level)) if null_value >= 0 or least > FEWEST_CHANGED else 1

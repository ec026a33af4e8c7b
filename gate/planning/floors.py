"""How many items a rule needs before it can pass at all, whatever they say."""

from __future__ import annotations

from gate.estimands import estimand_of
from gate.measure.core import choice_of
from gate.pairing.readings import is_mean
from gate.policy.model import Gating, Guardrail, Policy
from gate.stats.methods import FEWEST_CHANGED, METHODS
from gate.stats.power import fewest_units


def planned_test(policy: Policy, rule: Gating | Guardrail, null_value: float) -> str:
    """The test that would decide on files of the kind that the policy declares."""
    items = policy.items
    estimand = estimand_of(
        rule.kind,
        averaged=items.repeat is not None and is_mean(rule.kind, items.reduction),
        clustered=items.cluster is not None,
        cluster_skew=items.cluster_skew,
        seeds=items.unit == "seed",
    )
    return choice_of(rule).method(estimand, null_value)


def least_items_of(policy: Policy, rule: Gating | Guardrail, null_value: float, level: float) -> int:
    """``items.min``, or what the rule's test needs if that is more."""
    return max(policy.items.min, least_items_for(planned_test(policy, rule, null_value), null_value, level))


def least_items_for(test: str, null_value: float, level: float) -> int:
    """Fewest items with which a test can pass. Below 0 a tolerance is proven by n, as planned for."""
    method = METHODS[test]
    if null_value < 0 and method.sample == "pairs":
        return method.fewest
    return max(method.fewest, FEWEST_CHANGED if method.of_changes else 1, fewest_units(level))

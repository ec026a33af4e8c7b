"""What of a policy ``--engine spark`` serves: whatever it does not is refused before anything is read."""

from __future__ import annotations

from collections.abc import Iterator

from gate.pairing.spark import unsupported
from gate.policy.kinds import KINDS
from gate.policy.model import Guardrail, Policy
from gate.safe import examples


def refuse_unserved(policy: Policy) -> None:
    """Errors: keys of the policy that name items, or need their single runs, one by one."""
    found = list(dict.fromkeys(_unserved(policy)))
    if found:
        raise unsupported(examples(found))


def _unserved(policy: Policy) -> Iterator[str]:
    items = policy.items
    declared = {
        "items.repeat": items.repeat is not None,
        "items.must_pass": items.must_pass is not None,
        "items.stages": items.stages is not None,
        "items.unit: seed": items.unit == "seed",
        "artifacts.where": bool(policy.artifacts.where),
        "artifacts.system": policy.artifacts.system is not None,
        "bless": policy.bless is not None,
        "baseline": policy.baseline is not None,
        "judge": policy.judge is not None,
    }
    yield from (name for name, used in declared.items() if used)
    for rule in (policy.gating, *policy.guardrails):
        if isinstance(rule, Guardrail) and rule.mode in {"worst_item", "tail"}:
            yield f"mode: {rule.mode}"
        if rule.group is not None:
            yield "group"
        if rule.human is not None:
            yield "human"
        if KINDS[rule.kind].tested_as == "preference":
            yield f"kind: {rule.kind}"

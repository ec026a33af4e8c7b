"""The name of each rule, as reports, waivers and JUnit files write it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gate.policy.model import Guardrail, Policy, Watch

MUST_PASS = "must_pass"  # noqa: S105 - the id of a rule
SLICE = "slice:"


def gating_id(policy: Policy) -> str:
    """``gating:METRIC``, with ``:SET`` when it has one."""
    return _with_set(f"gating:{policy.gating.metric}", policy.gating.set)


def rule_id(rail: Guardrail, guardrails: Sequence[Guardrail] = ()) -> str:
    """``guardrail:METRIC``; ``:MODE`` where ``guardrails`` have the metric twice; ``:SET`` if it has one."""
    twice = sum(other.metric == rail.metric for other in guardrails) > 1
    return _guardrail_id(rail, twice=twice)


def guardrail_ids(policy: Policy) -> tuple[str, ...]:
    """The ids of all guardrails, in their order."""
    count = Counter(rail.metric for rail in policy.guardrails)
    return tuple(_guardrail_id(rail, twice=count[rail.metric] > 1) for rail in policy.guardrails)


def named_guardrails(policy: Policy) -> Iterator[tuple[str, Guardrail]]:
    """Every guardrail with its id."""
    return zip(guardrail_ids(policy), policy.guardrails, strict=True)


def slice_id(column: str, value: str) -> str:
    """``slice:COLUMN=VALUE``."""
    return f"{SLICE}{column}={value}"


def watch_id(watch: Watch | str) -> str:
    """``watch:METRIC``, with ``:SET`` when it has one."""
    return f"watch:{watch}" if isinstance(watch, str) else _with_set(f"watch:{watch.metric}", watch.set)


def rule_ids(policy: Policy) -> tuple[str, ...]:
    """Every rule that can fail and is known before the data: gating, guardrails, must_pass, named slices."""
    named = policy.slices.named if policy.slices else {}
    slices = [slice_id(column, value) for column, values in named.items() for value in values]
    must_pass = [MUST_PASS] if policy.items.must_pass is not None else []
    return (gating_id(policy), *guardrail_ids(policy), *must_pass, *slices)


def _guardrail_id(rail: Guardrail, *, twice: bool) -> str:
    mode = f":{rail.mode}" if twice else ""
    return _with_set(f"guardrail:{rail.metric}{mode}", rail.set)


def _with_set(name: str, item_set: str | None) -> str:
    return f"{name}:{item_set}" if item_set is not None else name

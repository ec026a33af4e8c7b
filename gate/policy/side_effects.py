"""Effects that a key has on rules beside its own: families, levels, lineage.

A change that asks more by itself may let through what the old policy held back: then it is "different".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gate.policy.model import Guardrail, Policy

Effect = Callable[[Policy, Policy], str]
"""(new, old) -> how the change can let something through that the old policy held back, or ''."""

DILUTED = (
    "each veto of the family is corrected over more of them and sees less; correction: none keeps every veto "
    "at its own level, or judge the new ones as a separate set under a policy of their own"
)


def side_effect(key: str, new: Policy, old: Policy) -> str:
    """Why a key that asks more by itself may let something through, or an empty text."""
    if key in _EFFECTS:
        return _EFFECTS[key](new, old)
    if key.startswith("guardrail:"):
        return _guardrail(key, new, old)
    return ""


def rail_key(rail: Guardrail) -> str:
    """What makes a guardrail of two policies the same one."""
    item_set = f":{rail.set}" if rail.set is not None else ""
    return f"{rail.metric}:{rail.mode}{item_set}"


def _guardrail(key: str, new: Policy, old: Policy) -> str:
    before, after = ({f"guardrail:{rail_key(r)}": r for r in p.guardrails} for p in (old, new))
    if key.endswith(".tolerance"):
        name = key.removesuffix(".tolerance")
        return _to_zero(after[name].kind, after[name].tolerance)
    if key not in after or key in before:
        return ""
    added = after[key]
    vetoes = any(rail.mode == "no_regression" for rail in old.guardrails)
    if added.mode == "no_regression" and vetoes and new.correction != "none":
        return DILUTED
    if added.scale is not None and new.items.missing == "worst":
        return "its scale is also the worst value of the metric in other rules"
    return ""


def _to_zero(kind: str, tolerance: Any) -> str:
    """Against 0 a pass/fail metric is decided by another test."""
    zero = float(getattr(tolerance, "relative", tolerance) or 0) == 0
    return "against 0 another test decides" if kind == "binary" and zero else ""


def _slice_family(new: Policy, _old: Policy) -> str:
    vetoes = new.slices is not None and new.slices.mode == "no_regression"
    return DILUTED if vetoes and new.correction != "none" else ""


def _slice_tolerance(new: Policy, _old: Policy) -> str:
    assert new.slices is not None
    return _to_zero(new.gating.kind, new.slices.tolerance) if new.slices.mode == "non_inferior" else ""


def _looks(new: Policy, _old: Policy) -> str:
    """Looks are planned where none were: with one cycle required, one level becomes a smaller one."""
    return "some looks get a larger level than before" if new.cycles.required > 1 else ""


def _required(new: Policy, old: Policy) -> str:
    planned = new.cycles.looks is not None or old.cycles.looks is not None
    return "each cycle gets a larger level where looks are planned" if planned else ""


def _feedback(new: Policy, _old: Policy) -> str:
    planned = new.cycles.looks is not None
    return "looks that show no numbers do not wear the items" if planned else ""


def _always(why: str) -> Effect:
    return lambda _new, _old: why


_EFFECTS: dict[str, Effect] = {
    "slices.by": _slice_family,
    "slices.min_items": _slice_family,
    "slices.tolerance": _slice_tolerance,
    "items.cluster": _always("another test decides, and vetoes on few clusters see less"),
    "cycles.windows": _always("looks at other items no longer use up this one's level"),
    "cycles.looks": _looks,
    "cycles.required": _required,
    "cycles.feedback": _feedback,
}

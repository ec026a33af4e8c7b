"""``feedback: verdict``: on a re-used set every printed number teaches the next candidate about these items.

What is withheld is every number that depends on the scores; what was asked and who was compared stays. The
report's types say which field is which, and a field that says nothing is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from msgspec import NODEFAULT, structs

from gate.decide.verdict import Reason
from gate.report.model import Block, Comparison, Gating, NotAssessed
from gate.values import Caution, Role

WITHHELD = "numbers withheld (cycles.feedback: verdict); gate run --reveal prints them and wears the items"
VEILED_STEP = "look at this set of items as rarely as you can; a fresh set would allow full reports"
VEIL = Caution("numbers_withheld", WITHHELD)

B = TypeVar("B", bound=Block)
C = TypeVar("C", bound=Comparison)


def veiled_comparison(block: C) -> C:
    """What was asked of whom. A relative margin in the metric's unit would tell the baseline's mean."""
    found = _asked_only(block)
    if block.relative is None:
        return found
    margin = {"margin": None} if isinstance(block, Gating) else {}
    return structs.replace(found, null_value=0.0, bound=None, **margin)


def _asked_only(block: B) -> B:
    asked = _asked(type(block))
    return type(block)(
        **{
            field.name: _kept(getattr(block, field.name)) if field.name in asked else _nothing(block, field)
            for field in structs.fields(block)
        }
    )


@cache
def _asked(kind: type[Block]) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if "asked" in get_args(hint))


def _kept(value: Any) -> Any:
    return _asked_only(value) if isinstance(value, Block) else value


def _nothing(block: Block, field: structs.FieldInfo) -> Any:
    """What a field holds where nothing was found."""
    if field.default is not NODEFAULT:
        return field.default
    value = getattr(block, field.name)
    return type(value)() if isinstance(value, str | tuple) else None


def veiled_reason(reason: Reason, *, relative: bool) -> Reason:
    """The reason with its status and requirement, without what was observed."""
    if reason.rule.startswith("history:"):
        return reason
    return replace(
        reason,
        observed="withheld",
        required="withheld" if relative else reason.required,
        message=f"{reason.rule}: {reason.status}; {WITHHELD}",
    )


def veiled_entries(
    entries: Iterable[NotAssessed], comparisons: Iterable[Comparison]
) -> tuple[NotAssessed, ...]:
    """What could not be assessed, without the reason where that rests on a watched metric's scores."""
    measured = {block.rule for block in comparisons if block.role == Role.WATCH}
    return tuple(NotAssessed(e.rule, WITHHELD if e.rule in measured else e.reason) for e in entries)

"""``feedback: verdict``: on a re-used set every printed number teaches the next candidate about these items.

What is withheld is every number that depends on the scores; what was asked and who was compared stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gate.compare.model import Comparison
from gate.decide.verdict import Reason
from gate.values import Caution

WITHHELD = "numbers withheld (cycles.feedback: verdict); gate run --reveal prints them and wears the items"
VEILED_STEP = "look at this set of items as rarely as you can; a fresh set would allow full reports"


KEPT = (
    *("rule", "role", "mode", "metric", "kind", "direction", "method", "n", "set", "level", "estimand"),
    *(
        "relative",
        "upper_bound",
        "resamples",
        "proven",
        "first",
        "detect",
        "margin_rule",
        "suspect_gain",
        "max_flaky_share",
        "gated",
        "reading",
        "incomplete",
    ),
)
KEPT_IF_ABSOLUTE = ("null_value", "bound")
"""A relative margin or tolerance in the metric's unit tells the baseline's mean."""


def veiled_comparison(c: Comparison) -> Comparison:
    """What was asked of whom. Named are the fields that stay, so that a new one is withheld until it is."""
    kept = KEPT if c.relative is not None else (*KEPT, *KEPT_IF_ABSOLUTE)
    return Comparison(**{name: getattr(c, name) for name in kept})


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
    entries: Iterable[Mapping[str, str]], comparisons: Iterable[Comparison]
) -> tuple[Mapping[str, str], ...]:
    """What could not be assessed, without the reason where that rests on a watched metric's scores."""
    measured = {c.rule for c in comparisons if c.role == "watch"}
    return tuple({**entry, "reason": WITHHELD} if entry["rule"] in measured else entry for entry in entries)


def veil_caution() -> Caution:
    """Says that numbers were withheld, and how to see them."""
    return Caution("numbers_withheld", WITHHELD)

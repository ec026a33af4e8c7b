"""What the gating rule says of single items: changed, flaky, and how many keep it from turning."""

from __future__ import annotations

from typing import Any

from gate.compare.flagged import flagged_items
from gate.compare.flips import flips_to_turn
from gate.compare.measure import changes_of
from gate.compare.model import Comparison
from gate.compare.selection import Selection
from gate.compare.spread import distribution


def item_facts(selection: Selection, base: Comparison, flaky: dict[str, Any]) -> dict[str, Any]:
    """Fields of the gating comparison. With two readings of failed runs no count of flips holds for both."""
    return {
        "flaky": flaky,
        "flagged": flagged_items(selection) if flaky["status"] == "measured" else (),
        "distribution": distribution(selection.gains),
        "flips": flips_to_turn(base) if selection.metric.reading == "complete" else None,
        "changes": changes_of(selection),
    }

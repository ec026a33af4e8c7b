"""Preferences: which side judges prefer on each item, -1 to 1, as the difference of both sides' shares."""

from __future__ import annotations

from dataclasses import replace

from gate.estimands.graded import GRADED, default_test
from gate.estimands.selection import Selection
from gate.stats.pairs import Pairs
from gate.stats.preferences import Preferences


def _default_test(null_value: float, assurance: str) -> str:
    """On decided items exact McNemar is the exact sign test."""
    if assurance == "guaranteed":
        return default_test(null_value, assurance)
    return "mcnemar_exact" if null_value == 0 else "exact_unconditional"


def _sample(selection: Selection, _shift: float = 0.0) -> Pairs:
    """Wins and losses, where every item is one, the other or a tie; else the values."""
    return Preferences(selection.gains, None).pairs()


MEAN_PREFERENCE = replace(GRADED, sample=_sample, relative_by_item=False, ends=(0.0, 1.0))
"""Where votes are averaged an item may be half won."""
PREFERENCE = replace(MEAN_PREFERENCE, default_test=_default_test)

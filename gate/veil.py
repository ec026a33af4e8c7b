"""``feedback: verdict``: on a re-used set every printed number teaches the next candidate about these items.

What is withheld is every number that depends on the scores; what was asked and who was compared stays.
"""

from __future__ import annotations

from dataclasses import replace

from gate.compare.model import Comparison
from gate.decide import Reason
from gate.stats.results import Caution

WITHHELD = "numbers withheld (cycles.feedback: verdict); gate run --reveal prints them and wears the items"


def veiled_comparison(c: Comparison) -> Comparison:
    """The comparison without anything measured."""
    return replace(
        c,
        baseline=None,
        candidate=None,
        delta=None,
        share=None,
        null_value=0.0 if c.relative is not None else c.null_value,
        bound=None if c.relative is not None else c.bound,
        interval=None,
        interval_requested=None,
        p_value=None,
        p_two_sided=None,
        p_adjusted=None,
        clears_bound=None,
        worse=None,
        observed_rule=None,
        tested_rule=None,
        insufficient="",
        mde=None,
        items_needed=None,
        sd_difference=None,
        correlation=None,
        only_candidate=None,
        only_baseline=None,
        smallest_p=None,
        estimand_value=None,
        reference={},
        flaky={},
        seed_reading="",
        changes=None,
        cautions=(),
        other=None,
    )


def veiled_reason(reason: Reason) -> Reason:
    """The reason with its status and requirement, without what was observed."""
    if reason.rule.startswith("history:"):
        return reason
    return replace(reason, observed="withheld", message=f"{reason.rule}: {reason.status}; {WITHHELD}")


def veil_caution() -> Caution:
    """Says that numbers were withheld, and how to see them."""
    return Caution("numbers_withheld", WITHHELD)

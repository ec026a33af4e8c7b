"""The tests and intervals a policy can name: those of the method table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gate.policy.kinds import KINDS
from gate.stats.methods import SAMPLES, named_tests

IntervalMethod = Literal["fay_lumbard", "tango", "wald", "agresti_min", "bonett_price", "newcombe"]
if TYPE_CHECKING:
    Test = str
else:
    Test = Literal["auto", *(test.id for sample in SAMPLES for test in named_tests(sample))]


def takes_margin(kind: str) -> str:
    """The tests of a kind that can test a margin or tolerance, for a help line; made for pass/fail first."""
    facts = KINDS[kind]
    able = list(named_tests("pairs" if facts.by_item else "set", facts.tested_as, margin=True))
    if kind == "binary":
        able.sort(key=lambda test: ("graded" in test.kinds, not test.bounded))
    return ", ".join(["auto", *(test.id for test in able)])

"""Pass/fail metrics: the share of items that pass in one run each, or of runs where repeats are averaged."""

from __future__ import annotations

from dataclasses import replace

from gate.estimands.graded import GRADED
from gate.estimands.model import Scale
from gate.estimands.selection import OneSide
from gate.stats import single
from gate.stats.results import Interval


def _default_test(null_value: float, assurance: str) -> str:
    return "gaffke" if assurance == "guaranteed" else _exact_test(null_value)


def _exact_test(null_value: float) -> str:
    return "mcnemar_exact" if null_value == 0 else "exact_unconditional"


def _one_side(side: OneSide, level: float, _scale: Scale) -> tuple[Interval, str]:
    return single.proportion(side.values, level).interval, ""


AVERAGED = replace(GRADED, relative_by_item=False, ends=(0.0, 1.0), exact_test=_exact_test)
"""The mean over repeats is a number per item: graded, but a share of its baseline stays an amount."""
PASS_FAIL = replace(AVERAGED, default_test=_default_test, one_side=_one_side, pass_fail=True)

"""What a retrain adds to the noise of the items, from the cycles that a history holds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gate.cycles.record import Record
from gate.stats.heterogeneity import heterogeneity
from gate.values import GateError

FEWEST_CYCLES = 3


def retrain_sd(records: Sequence[Record], metric: str) -> float:
    """Standard deviation of the true deltas between cycles, in the metric's unit (DerSimonian & Laird 1986).

    metric: ``name:direction``. The last word on each cycle counts; numbers that were withheld are not used.
    Errors: fewer than three cycles with a delta and its standard error.
    """
    known: dict[str, tuple[float, float]] = {}
    for record in records:
        if record.kind != "outcome" or record.metric != metric or record.result.get("printed") is False:
            continue
        if record.state.get("continues"):  # a part of a cycle's items
            continue
        delta, sd, n = (record.result.get(key) for key in ("delta", "sd", "n"))
        if delta is not None and sd and n:
            known[record.cycle] = (float(delta), float(sd) / math.sqrt(float(n)))
    found = heterogeneity(*(list(column) for column in zip(*known.values(), strict=True))) if known else None
    if found is None or found.cycles < FEWEST_CYCLES:
        raise GateError(
            "too_few_cycles",
            f"the spread between retrains needs {FEWEST_CYCLES} cycles of {metric} (found {len(known)})",
            help="say it with --retrain-sd SD, or plan without it",
        )
    return found.tau

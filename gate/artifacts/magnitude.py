"""Where the values of a metric may lie: in its declared scale, and where squares stay finite and above 0."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import ItemTable
from gate.safe import quoted
from gate.values import LARGEST, GateError


def out_of_range(metric: str, *tables: ItemTable) -> GateError | None:
    """The fault of a metric whose values no test can weigh, naming file and item; None if there is none.

    A tiny value among ordinary ones is as good as 0; only a metric that holds nothing larger is refused.
    """
    sides = [(np.nan_to_num(np.abs(t.values[metric])), t) for t in tables if metric in t.values]
    sizes, table = max(sides, key=lambda side: float(side[0].max()), default=(np.zeros(1), None))
    largest = float(sizes.max())
    if table is None or largest == 0 or 1 / LARGEST <= largest <= LARGEST:
        return None
    return _refused(metric, table, int(np.argmax(sizes)))


def outside_scale(metric: str, scale: tuple[float, float], *tables: ItemTable) -> GateError | None:
    """The fault of a metric that leaves its declared scale, naming file and item; None if there is none."""
    slack = 1e-9 * max(abs(end) for end in scale)
    for table in tables:
        values = table.values.get(metric, np.zeros(0))
        beyond = np.flatnonzero((values < scale[0] - slack) | (values > scale[1] + slack))
        if beyond.size:
            row = int(beyond[0])
            text = f"{values[row]:g} lies outside the declared scale [{scale[0]:g}, {scale[1]:g}]"
            found = f"{text} (found {beyond.size} such values)"
            advice = "correct the scale in the policy or the scores in the file"
            return _fault("outside_scale", metric, table, row, found, advice)
    return None


def apart(metric: str, baseline: ItemTable, candidate: ItemTable) -> str | None:
    """What to say of a metric whose two sides have no range in common; None where they have."""
    sides = [t.values[metric] for t in (baseline, candidate) if metric in t.values]
    sides = [values[np.isfinite(values)] for values in sides]
    if len(sides) < 2 or min(map(len, sides)) < 2:
        return None
    (low, high), (other_low, other_high) = ((float(v.min()), float(v.max())) for v in sides)
    if high >= other_low and other_high >= low:
        return None
    one, other = f"{low:g} to {high:g}", f"{other_low:g} to {other_high:g}"
    return (
        f"the ranges of {quoted(metric)} do not overlap (baseline {one}, candidate {other}): "
        "is it one unit on both sides? declare its scale"
    )


def _refused(metric: str, table: ItemTable, row: int) -> GateError:
    value = float(table.values[metric][row])
    found = f"beyond {LARGEST:g}" if abs(value) > LARGEST else f"and no value is above {1 / LARGEST:g}"
    return _fault(
        "value_out_of_range",
        metric,
        table,
        row,
        f"a value whose square cannot be computed with (found {value:g}, {found})",
        "correct the value, or record the metric in another unit (its logarithm, for example)",
    )


def _fault(code: str, metric: str, table: ItemTable, row: int, text: str, advice: str) -> GateError:
    line = "" if table.lines is None else f":{table.lines[row]}"
    message = f"metric {quoted(metric)}, item {quoted(str(table.ids[row]))}: {text}"
    return GateError(code, message, where=f"{table.source.path}{line}", help=advice)

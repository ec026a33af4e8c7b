"""The range of numbers in which squares, cubes and their sums neither overflow nor vanish."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import ItemTable
from gate.errors import LARGEST, GateError, quoted


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


def _refused(metric: str, table: ItemTable, row: int) -> GateError:
    value = float(table.values[metric][row])
    found = f"beyond {LARGEST:g}" if abs(value) > LARGEST else f"and no value is above {1 / LARGEST:g}"
    line = "" if table.lines is None else f":{table.lines[row]}"
    return GateError(
        "value_out_of_range",
        f"metric {quoted(metric)}, item {quoted(str(table.ids[row]))}: a value whose square cannot be "
        f"computed with (found {value:g}, {found})",
        where=f"{table.source.path}{line}",
        help="correct the value, or record the metric in another unit (its logarithm, for example)",
    )

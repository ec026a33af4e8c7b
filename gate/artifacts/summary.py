"""Rows before or after the others that sum them up are no items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gate.artifacts.records import ABSENT
from gate.safe import quoted
from gate.values import GateError

WORDS = frozenset(
    {
        "total",
        "totals",
        "mean",
        "average",
        "avg",
        "all",
        "overall",
        "sum",
        "median",
        "std",
        "summary",
        "count",
    }
)


def is_summary(cell: Any) -> bool:
    """Whether an id is a word that names a summary, and not a row of the table."""
    return isinstance(cell, str) and cell.strip().lower().rstrip(":") in WORDS


def refuse(ids: Sequence[Any], where: Callable[[int], str]) -> None:
    """Refuse a file whose first or last rows, and no others, are named like summaries."""
    if not (is_summary(ids[0]) or is_summary(ids[-1])):
        return
    marks = [is_summary(cell) for cell in ids]
    if False not in marks:
        return
    first, last = marks.index(False), len(marks) - 1 - marks[::-1].index(False)
    if any(marks[first:last]):
        return
    row = len(ids) - 1 if last < len(ids) - 1 else 0
    raise GateError(
        "summary_row",
        f"the {'last' if row else 'first'} row looks like a summary of the others (id {quoted(ids[row])})",
        where=where(row),
        help="remove the summary row, or rename the item if it is one",
    )


def refuse_without_id(ids: Sequence[Any], where: Callable[[int], str]) -> None:
    """Refuse a first or last row that, unlike all others, has no id: it holds the counts or the averages."""
    if len(ids) < 3 or not (_is_nothing(ids[0]) or _is_nothing(ids[-1])):
        return
    without = [row for row, cell in enumerate(ids) if _is_nothing(cell)]
    if len(without) != 1:
        return
    raise GateError(
        "invalid_id",
        f"the {'last' if without[0] else 'first'} row has no id, unlike the {len(ids) - 1} others: "
        "it looks like a summary of them",
        where=where(without[0]),
        help="remove the summary row, or give the item its id",
    )


def _is_nothing(cell: Any) -> bool:
    return cell is None or cell is ABSENT or (isinstance(cell, str) and not cell.strip())

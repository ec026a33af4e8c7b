"""A last row that sums up the others is no item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gate.errors import GateError, quoted

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


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip().lower().rstrip(":") in WORDS


def refuse(ids: Sequence[Any], where: Callable[[int], str]) -> None:
    """Refuse a file whose last row, and no other, is named like a summary."""
    if len(ids) > 1 and _is_word(ids[-1]) and not any(map(_is_word, ids[:-1])):
        raise GateError(
            "summary_row",
            f"the last row looks like a summary of the others (id {quoted(ids[-1])})",
            where=where(len(ids) - 1),
            help="remove the summary row, or rename the item if it is one",
        )

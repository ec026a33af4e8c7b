"""Whether the run of a row completed: the columns ``error`` and ``status``, or those mapped to the names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gate.artifacts.records import ABSENT, Records
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import BoolArray
from gate.errors import examples

FAILED_STATUS = frozenset(
    {"error", "errored", "timeout", "timed_out", "timedout", "skipped", "cancelled", "canceled", "crashed"}
    | {"infra_error", "failed_to_run"}
)
RAN_STATUS = frozenset(
    {"", "ok", "okay", "ran", "done", "valid", "scored", "success", "successful", "succeeded", "complete"}
    | {
        "completed",
        "finished",
        "pass",
        "passed",
        "fail",
        "failed",
        "failure",
        "correct",
        "incorrect",
        "wrong",
    }
    | {"true", "false", "0", "1", "200"}
)
_NO_ERROR_TEXT = frozenset({"", "null", "none", "nan", "false", "0"})


def failed_runs(records: Records, error: str | None, status: str | None) -> BoolArray:
    """True where a run did not complete, by the format's own word or by a reserved column."""
    failed = np.zeros(records.count, dtype=np.bool_)
    if records.failed is not None:
        failed |= np.asarray(records.failed, dtype=np.bool_)
    errors = records.cells.get(error) if error is not None else None
    if errors is not None:
        failed |= _flags(errors, text=records.text)
    states = records.cells.get(status) if status is not None else None
    if states is not None:
        failed |= np.fromiter((_is_failed(cell) for cell in states), dtype=np.bool_, count=len(states))
    return failed


def _flags(cells: Sequence[Any], *, text: bool) -> BoolArray:
    return np.fromiter((_is_error(cell, text=text) for cell in cells), dtype=np.bool_, count=len(cells))


def _is_error(cell: Any, *, text: bool) -> bool:
    if cell is None or cell is ABSENT or cell is False:
        return False
    if isinstance(cell, str):
        return cell.strip().lower() not in _NO_ERROR_TEXT if text else bool(cell.strip())
    if isinstance(cell, NoNumber):
        return cell != NoNumber("NaN")
    if isinstance(cell, int | float):
        return not math.isnan(cell) and cell != 0
    return bool(cell)


def _is_failed(cell: Any) -> bool:
    return isinstance(cell, str) and _word(cell) in FAILED_STATUS


def _word(cell: Any) -> str:
    return str(cell).strip().lower().replace("-", "_").replace(" ", "_")


def _shown(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def odd_statuses(records: Records, status: str | None) -> list[tuple[str, str]]:
    """The caution for words in the reserved column that this gate knows neither as run nor as failed."""
    cells = [] if status is None else records.cells.get(status, [])
    texts = [_shown(cell) for cell in cells if cell is not None and cell is not ABSENT]
    odd = {text for text in set(texts) if _word(text) not in FAILED_STATUS | RAN_STATUS | _NO_ERROR_TEXT}
    if not odd:
        return []
    count = sum(text in odd for text in texts)
    text = f"runs with status {examples(sorted(odd))} count as completed ({count} of {len(cells)})"
    return [("status_unknown", text)]

"""Answers from a cache: their time and cost are those of a look-up, or of another day, and so are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gate.artifacts.id_columns import words_of
from gate.artifacts.records import Records, each
from gate.artifacts.run_words import cached_column
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import ReadRequest

CACHED = NoNumber("cached")
_SPENT = frozenset(
    {"latency", "duration", "elapsed", "time", "runtime", "walltime", "ttft", "ms", "seconds", "secs", "sec"}
    | {"cost", "costs", "price", "usd"}
)
_YES = frozenset({"true", "1", "yes", "hit"})


def without_cached(records: Records, request: ReadRequest | None) -> Records:
    """The records with ``cached`` in place of what cached rows spent."""
    said = [column for path, column in records.evidence.items() if cached_column(path)]
    cached = [any(row) for row in zip(*(each(_yes, column) for column in said), strict=True)]
    if not any(cached):
        return records
    renamed = {} if request is None else {path: name for name, path in request.mapping.items()}
    cells = {
        path: _gaps(column, cached) if _spent(path) or _spent(renamed.get(path, "")) else column
        for path, column in records.cells.items()
    }
    return replace(records, cells=cells)


def _spent(path: str) -> bool:
    """Whether a column of this name holds time or money."""
    return not _SPENT.isdisjoint(words_of(path.rpartition(".")[2]))


def _gaps(column: Sequence[Any], cached: Sequence[bool]) -> list[Any]:
    return [CACHED if hit else cell for cell, hit in zip(column, cached, strict=True)]


def _yes(cell: Any) -> bool:
    return str(cell).strip().lower() in _YES

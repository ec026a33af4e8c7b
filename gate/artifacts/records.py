"""What a format found in a file, before any rule about ids and values is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from gate.artifacts.table import LeftOut, ReadRequest, Stated


class _Absent:
    """The cell does not exist in its row."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
RESERVED: Final = ("error", "status")
"""Columns that say whether a run completed, whatever else names them; only a mapping moves the names."""


_APART = ({str, type(None), _Absent, bool}, {str, type(None), _Absent, int})
"""Types of which no two values are equal but those that are the same."""
Found = TypeVar("Found")


def each(convert: Callable[[Any], Found], cells: Sequence[Any]) -> list[Found]:
    """``convert`` of every cell, called once for all cells that are the same text."""
    kinds = set(map(type, cells))
    if not any(kinds <= apart for apart in _APART):
        return list(map(convert, cells))
    known = {cell: convert(cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """One entry per row everywhere.

    cells: path -> cells (str, int, float, bool, None, NoNumber, list, dict or ABSENT), only for paths
    that were asked for and occur. evidence: the same for columns that were not asked for and whose names say
    that they tell of runs. available: names for messages and the first look. text: every cell
    is text (CSV). lines: line of each row. place: how to name row i where there are no lines.
    metrics: those of the tool itself. ids, repeats, failed: the format's own.
    refused: metric -> why it has no value per item. directions: metric -> higher or lower, where the
    format knows. extra: digests per item, not asked for. noted: of which rows something is
    to be said (an empty answer), see :mod:`gate.artifacts.oddities`. stated: how the metrics were scored.
    absent: metric -> value of the items that the file does not list, where it lists only some;
    total: how many items it says there are.
    """

    format: str
    count: int
    cells: Mapping[str, Sequence[Any]]
    evidence: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    available: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    text: bool = False
    decimal_comma: bool = False
    lines: Sequence[int] | None = None
    place: Callable[[int], str] | None = None
    ids: Sequence[Any] | None = None
    repeats: Sequence[Any] | None = None
    failed: Sequence[bool] | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    directions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    noted: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    left_out: LeftOut | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()
    absent: Mapping[str, float] = field(default_factory=dict)
    total: int | None = None
    cautions: tuple[tuple[str, str], ...] = ()
    system: str | None = None


def paths_of(request: ReadRequest) -> dict[str, str]:
    """Name -> path in the file, for all the request names and for the columns that tell of runs."""
    names = [request.id, *request.metrics, *request.columns]
    names += [name for name in (request.repeat, request.cluster, *request.where) if name is not None]
    return {name: request.mapping.get(name, name) for name in names} | run_paths(request)


def deciding_metrics(request: ReadRequest) -> set[str]:
    """The paths of the metrics that decide: what only shows a column takes no meaning from it."""
    return {request.mapping.get(name, name) for name in request.metrics if name not in request.optional}


def deciding_paths(request: ReadRequest) -> set[str]:
    """The paths that a metric that decides, the id and the repeat take for themselves."""
    roles = {request.mapping.get(name, name) for name in (request.id, request.repeat) if name is not None}
    return deciding_metrics(request) | roles


def run_paths(request: ReadRequest) -> dict[str, str]:
    """Columns that tell of runs, with their paths: those the policy names, and the reserved ones.

    A reserved name is taken by a metric that decides, and by an id or repeat; by nothing else.
    """
    names = (*(m for m in request.metrics if m not in request.optional), request.id, request.repeat)
    taken = deciding_paths(request)
    reserved = [
        name for name in RESERVED if request.mapping.get(name, name) not in taken and name not in names
    ]
    return {
        name: request.mapping.get(name, name) for name in (*reserved, *request.failed, *request.completed)
    }


def place(records: Records, row: int) -> str:
    """``line 7``, or how the format names its rows."""
    if records.lines is not None:
        return f"line {records.lines[row]}"
    return records.place(row) if records.place is not None else f"item {row + 1}"

"""What a Spark worker does with a part of one side: the very readers of files, on the rows that it has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, NamedTuple

from gate.artifacts.build import build
from gate.artifacts.cached import without_cached
from gate.artifacts.digest import length_bytes, text_bytes, value_bytes
from gate.artifacts.records import Records
from gate.artifacts.table import ItemTable, ReadRequest, Source
from gate.values import GateError

AT_ONCE = 100_000
"""Rows that a worker holds as Python values."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of one side. columns: of the table, in the order of its rows; evidence: which of them
    tell of runs unasked. metrics, texts: the names of what comes back for each row, in this order."""

    path: str
    request: ReadRequest
    columns: tuple[str, ...]
    evidence: frozenset[str]
    available: tuple[str, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Ascending, as an identity has them."""
        return tuple(sorted(self.request.metrics))

    @property
    def texts(self) -> tuple[str, ...]:
        """The same of the columns."""
        return tuple(sorted(self.request.columns))


class Row(NamedTuple):
    """One run. facts: JSON of what a whole part says, in a row of its own without an id."""

    position: int
    id: str | None
    failed: bool | None
    values: list[float | None]
    cluster: str | None
    texts: list[str | None]
    facts: str | None


def read_part(wanted: Wanted, starts: Sequence[int]) -> Callable[[int, Iterable[Any]], Iterator[Row]]:
    """For ``mapPartitionsWithIndex``. starts: the position of the first row of each partition."""

    def read(part: int, rows: Iterable[Any]) -> Iterator[Row]:
        start, left = starts[part], iter(rows)
        while chunk := list(islice(left, AT_ONCE)):
            try:
                table = build(_records(wanted, chunk, start), wanted.request, _source(wanted.path))
            except GateError as error:
                told = {"error": [error.code, error.message, error.where, error.help]}
                yield _facts(start, told)
                return
            yield _facts(start, _told(table))
            yield from _rows(wanted, table, start)
            start += len(chunk)

    return read


def _records(wanted: Wanted, rows: Sequence[Any], start: int) -> Records:
    columns = dict(zip(wanted.columns, map(list, zip(*rows, strict=True)), strict=True))
    records = Records(
        format="parquet",
        count=len(rows),
        cells=columns,
        evidence={name: cells for name, cells in columns.items() if name in wanted.evidence},
        available=wanted.available,
        place=lambda row: f"row {start + row + 1}",
    )
    return without_cached(records, wanted.request)


def _source(path: str) -> Source:
    return Source(path, "parquet", "", 0)


def _facts(position: int, told: dict[str, Any]) -> Row:
    return Row(position, None, None, [], None, [], json.dumps(told))


def _told(table: ItemTable) -> dict[str, Any]:
    return {
        "values": list(table.values),
        "columns": list(table.columns),
        "missing": {name: asdict(gaps) for name, gaps in table.missing.items()},
        "failures_told": table.failures_told,
        "cautions": [list(one) for one in table.cautions],
        "unread": [asdict(one) | {"words": dict(one.words)} for one in table.unread],
        "runs": int((~table.failed).sum()),
        "plain": _plain(table),
    }


def _plain(table: ItemTable) -> bool:
    """No two ids of any part can be taken for one another, because nothing in them can be folded."""
    joined = "".join(table.ids.tolist())
    return joined.isascii() and joined.lower() == joined and " " not in joined


def _rows(wanted: Wanted, table: ItemTable, start: int) -> Iterator[Row]:
    nothing = [None] * len(table)
    values = [table.values[name].tolist() if name in table.values else nothing for name in wanted.metrics]
    texts = [table.columns[name].tolist() if name in table.columns else nothing for name in wanted.texts]
    clusters = nothing if table.clusters is None else table.clusters.tolist()
    columns = zip(
        table.ids.tolist(),
        table.failed.tolist(),
        zip(*values, strict=True) if values else ((),) * len(table),
        clusters,
        zip(*texts, strict=True) if texts else ((),) * len(table),
        strict=True,
    )
    for at, (item, failed, numbers, cluster, words) in enumerate(columns):
        yield Row(start + at, item, failed, list(numbers), cluster, list(words), None)


def parts_of_identity(wanted: Wanted, has: ItemTable) -> Iterator[tuple[str, Callable[[list[Any]], bytes]]]:
    """The columns of an identity in their order, each as (name, bytes of some rows that follow each other).

    A name is empty where the column is one of every identity. has: the columns that were found.
    """

    def numbers(at: int) -> Callable[[list[Any]], bytes]:
        import numpy as np  # noqa: PLC0415

        return lambda rows: value_bytes(np.array([row.values[at] for row in rows], dtype=np.float64))

    def texts(at: int, turn: Callable[[Sequence[Any]], bytes]) -> Callable[[list[Any]], bytes]:
        return lambda rows: turn([row.texts[at] for row in rows])

    yield "", lambda rows: "".join(f"{row.id}\n" for row in rows).encode("utf-8")
    if has.clusters is not None:
        yield "", lambda rows: length_bytes([row.cluster for row in rows])
        yield "", lambda rows: text_bytes([row.cluster for row in rows])
    for at, name in enumerate(wanted.texts):
        if name in has.columns:
            yield f"column {name}", texts(at, length_bytes)
            yield f"column {name}", texts(at, text_bytes)
    yield "", lambda rows: bytes(bytearray(row.failed for row in rows))
    for at, name in enumerate(wanted.metrics):
        if name in has.values:
            yield f"metric {name}", numbers(at)


def pieces(turn: Callable[[list[Any]], bytes]) -> Callable[[Iterable[Any]], Iterator[bytes]]:
    """For ``mapPartitions``: bytes of the rows, some at a time."""

    def cut(rows: Iterable[Any]) -> Iterator[bytes]:
        left = iter(rows)
        while chunk := list(islice(left, AT_ONCE)):
            yield turn(chunk)

    return cut

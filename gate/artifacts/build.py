"""Records to an ItemTable: every rule that holds for all formats, in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gate.artifacts import summary
from gate.artifacts.digest import Parts, digests
from gate.artifacts.ids import check_ids, content_id, id_texts, is_content, near_collisions, refuse_duplicates
from gate.artifacts.missing_columns import missing_column, no_ids, refuse_averages
from gate.artifacts.outcome import outcome_of
from gate.artifacts.records import ABSENT, Records, paths_of, place
from gate.artifacts.sort import sorted_rows
from gate.artifacts.table import Ascending, BoolArray, ItemTable, ObjectArray, ReadRequest, Source
from gate.artifacts.texts import objects, text_column
from gate.artifacts.values import Column, Rule, numbers
from gate.safe import examples, quoted
from gate.values import GateError

Caution = tuple[str, str]
OWN_REPEATS = frozenset({"repeat", "epoch"})
"""Names under which a policy may mean a format's own repeats."""


@dataclass(frozen=True)
class Job:
    """One file's records, what is wanted of them, and how to name a row in an error."""

    records: Records
    request: ReadRequest
    path: str

    @cached_property
    def paths(self) -> dict[str, str]:
        """Name -> path in the file."""
        return paths_of(self.request)

    def cells(self, name: str) -> Sequence[Any] | None:
        """The column of a name, None if the file has none."""
        path = self.paths.get(name)
        return None if path is None else self.records.cells.get(path)

    def needed(self, role: str, name: str) -> Sequence[Any]:
        """The column of a name, or the error for its absence."""
        cells = self.cells(name)
        if cells is None:
            raise missing_column(role, name, self.records, self.path)
        return cells

    def where(self, row: int) -> str:
        """``FILE:LINE``, or the file and the row's place in it."""
        if self.records.lines is not None:
            return f"{self.path}:{self.records.lines[row]}"
        return f"{self.path} ({self.place(row)})"

    def place(self, row: int) -> str:
        """The row's place in the file."""
        return place(self.records, row)


def build(records: Records, request: ReadRequest, source: Source) -> ItemTable:
    """The checked table, or the first GateError."""
    job = Job(records, request, source.path)
    if records.count == 0:
        raise GateError("no_items", "there are no items in it", where=source.path, help=NO_ITEMS)
    ids = _ids(job)
    repeats = _repeats(job)
    sort = sorted_rows(ids, repeats)
    refuse_duplicates(ids, repeats, sort, job.where)
    outcome = outcome_of(records, request)
    failed = outcome.failed
    metrics, metric_cautions = _metrics(job, failed, ids)
    columns, column_cautions = _columns(job)
    parts = Parts(
        ids=objects(ids),
        repeats=None if repeats is None else objects(repeats),
        clusters=_clusters(job),
        failed=failed,
        values={name: column for name, (column, _) in metrics.items()},
        columns=columns,
    )
    return ItemTable(
        source=source,
        ids=parts.ids,
        values=parts.values,
        missing={name: gaps for name, (_, gaps) in metrics.items()},
        failed=failed,
        failures_told=outcome.told,
        repeats=parts.repeats,
        clusters=parts.clusters,
        columns=_with_extra(records, columns),
        lines=None if records.lines is None else np.asarray(records.lines, dtype=np.int64),
        **digests(parts, request, sort),
        ascending=Ascending(sort.rows, hashlib.sha256(sort.lines).hexdigest()) if repeats is None else None,
        cautions=(
            *records.cautions,
            *_id_cautions(ids, repeats),
            *metric_cautions,
            *column_cautions,
            *outcome.cautions,
        ),
        unread=outcome.unread,
        stated=records.stated,
        directions={name: way for name, way in records.directions.items() if name in parts.values},
        left_out=records.left_out,
        offered=records.available,
        noted={what: int((np.asarray(flags) & ~failed).sum()) for what, flags in records.noted.items()},
    )


NO_ITEMS = "the run that wrote it may have failed; treat the comparison as undecided"


def _ids(job: Job) -> list[str]:
    """The format's own ids unless the policy names a column."""
    own = job.records.ids is not None and not job.request.id_declared
    cells = job.records.ids if own else job.cells(job.request.id)
    if cells is None:
        raise no_ids(job.request.id, job.records, job.path)
    what = "an id" if own else f"id column {quoted(job.request.id)}"
    if not own:
        refuse_averages(job.request.id, cells, job.records, job.path)
        summary.refuse(cells, job.where)
        summary.refuse_without_id(cells, job.where)
    ids = id_texts(cells, what, job.where, text=job.records.text)
    if job.request.id_declared:
        ids = [content_id(text) if is_content(text) else text for text in ids]
    check_ids(ids, what, job.where)
    return ids


def _repeats(job: Job) -> list[str] | None:
    numbered = _numbered(job)
    if not job.request.votes:
        return numbered
    parts = [cells for cells in map(job.cells, job.request.votes) if cells is not None]
    parts += [] if numbered is None else [numbered]
    rows = zip(*parts, strict=True) if parts else (() for _ in range(job.records.count))
    return [" | ".join("" if cell in (None, ABSENT) else str(cell) for cell in row) for row in rows]


def _numbered(job: Job) -> list[str] | None:
    name, own = job.request.repeat, job.records.repeats
    once = own is None and job.records.ids is not None and name in OWN_REPEATS and job.cells(name) is None
    if name is None or once or (own is not None and name in OWN_REPEATS):
        return None if own is None else [str(repeat) for repeat in own]
    what = f"repeat column {quoted(name)}"
    repeats = id_texts(job.needed("repeat", name), what, job.where, text=job.records.text)
    check_ids(repeats, what, job.where)
    return repeats


def _id_cautions(ids: Sequence[str], repeats: Sequence[str] | None) -> list[Caution]:
    """Ids that a person would take for one another."""
    near = near_collisions(ids if repeats is None else list(dict.fromkeys(ids)))
    return [similar_ids(near)] if near else []


def similar_ids(near: list[str]) -> Caution:
    """The caution for ids that differ in case, width or spaces only."""
    return (
        "similar_ids",
        f"{len(near)} ids differ from another only in case, width or spaces: {examples(near)}",
    )


def _metrics(job: Job, failed: BoolArray, ids: Sequence[str]) -> tuple[dict[str, Column], list[Caution]]:
    found: dict[str, Column] = {}
    cautions: list[Caution] = []
    for metric, kind in job.request.metrics.items():
        rule = Rule(metric, kind, job.request.words, job.records.text, job.records.decimal_comma)
        try:
            found[metric] = numbers(job.needed("metric", metric), rule, failed, ids, job)
        except GateError as error:
            if metric not in job.request.optional:
                raise
            if metric not in job.request.beside:
                cautions.append(("metric_not_read", f"{metric!a} was not read: {error.message}"))
    return found, cautions


def _columns(job: Job) -> tuple[dict[str, ObjectArray], list[Caution]]:
    found: dict[str, ObjectArray] = {}
    cautions: list[Caution] = []
    for name in job.request.columns:
        if job.cells(name) is None and name in job.request.votes:
            continue
        if job.cells(name) is None and name in job.request.optional:
            cautions.append(("column_not_read", f"there is no column {name!a}"))
        else:
            found[name] = text_column(job.needed("column", name), name, job.where)
    return found, cautions


def _with_extra(records: Records, columns: dict[str, ObjectArray]) -> dict[str, ObjectArray]:
    """Columns for the check of both files against each other; they are no part of the identity."""
    extra = {name: objects(cells) for name, cells in records.extra.items() if name not in columns}
    return {**columns, **extra}


def _clusters(job: Job) -> ObjectArray | None:
    name = job.request.cluster
    return None if name is None else text_column(job.needed("cluster", name), name, job.where)

"""Records to an ItemTable: every rule that holds for all formats, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gate.artifacts import summary
from gate.artifacts.absent import missing_column, no_ids
from gate.artifacts.digest import identity, sort_order
from gate.artifacts.ids import check_ids, id_texts, near_collisions, refuse_duplicates
from gate.artifacts.outcome import failed_runs
from gate.artifacts.records import ABSENT, RESERVED, Records, paths_of
from gate.artifacts.records import place as place_of
from gate.artifacts.table import BoolArray, ItemTable, ObjectArray, ReadRequest, Source
from gate.artifacts.texts import objects, text_column
from gate.artifacts.values import Column, Rule, numbers
from gate.errors import GateError, examples, quoted

Caution = tuple[str, str]
Where = Callable[[int], str]


def build(records: Records, request: ReadRequest, source: Source) -> ItemTable:
    """The checked table, or the first GateError."""
    if records.count == 0:
        raise GateError("no_items", "there are no items in it", where=source.path, help=_NO_ITEMS)
    where = _where(records, source.path)
    paths = paths_of(request)
    ids = _ids(records, request, paths, where, source.path)
    repeats = _repeats(records, request, paths, where, source.path)
    keys: Sequence[Any] = ids if repeats is None else list(zip(ids, repeats, strict=True))
    refuse_duplicates(keys, ids, where, repeat=repeats is not None)
    failed = failed_runs(records, paths.get(RESERVED[0]), paths.get(RESERVED[1]))
    metrics, cautions = _metrics(records, request, paths, failed, ids, where, source.path)
    columns, more = _columns(records, request, paths, where, source.path)
    clusters = _clusters(records, request, paths, where, source.path)
    id_array, repeat_array = objects(ids), None if repeats is None else objects(repeats)
    values = {name: column for name, (column, _) in metrics.items()}
    order = sort_order(ids, repeats)
    return ItemTable(
        source=source,
        ids=id_array,
        values=values,
        missing={name: gaps for name, (_, gaps) in metrics.items()},
        failed=failed,
        repeats=repeat_array,
        clusters=clusters,
        columns=columns,
        lines=None if records.lines is None else np.asarray(records.lines, dtype=np.int64),
        identity=identity(order, id_array, repeat_array, clusters, failed, values, columns),
        cautions=(*records.cautions, *id_cautions(ids, repeats), *cautions, *more),
    )


_NO_ITEMS = "the run that wrote it may have failed; treat the comparison as undecided"


def _where(records: Records, path: str) -> Where:
    if records.lines is not None:
        lines = records.lines
        return lambda row: f"{path}:{lines[row]}"
    return lambda row: f"{path} ({place_of(records, row)})"


def _ids(records: Records, request: ReadRequest, paths: dict[str, str], where: Where, path: str) -> list[str]:
    own = records.ids is not None and not request.id_declared
    cells = records.ids if own else records.cells.get(paths[request.id])
    if cells is None:
        raise no_ids(request.id, records, path)
    what = "an id" if own else f"id column {quoted(request.id)}"
    if not own:
        summary.refuse(cells, where)
    ids = id_texts(cells, what, where, text=records.text)
    check_ids(ids, what, where)
    return ids


def _repeats(
    records: Records, request: ReadRequest, paths: dict[str, str], where: Where, path: str
) -> list[str] | None:
    if request.repeat is None or (request.repeat in RESERVED_REPEATS and records.repeats is not None):
        return None if records.repeats is None else [str(repeat) for repeat in records.repeats]
    cells = records.cells.get(paths[request.repeat])
    if cells is None:
        raise missing_column("repeat", request.repeat, records, path)
    what = f"repeat column {quoted(request.repeat)}"
    repeats = id_texts(cells, what, where, text=records.text)
    check_ids(repeats, what, where)
    return repeats


RESERVED_REPEATS = frozenset({"repeat", "epoch"})
"""Names for a format's own repeats."""


def id_cautions(ids: Sequence[str], repeats: Sequence[str] | None) -> list[Caution]:
    """Ids that a person would take for one another."""
    distinct = ids if repeats is None else list(dict.fromkeys(ids))
    near = near_collisions(distinct)
    if not near:
        return []
    return [("similar_ids", f"ids differ from others only in case, width or spaces: {examples(near)}")]


def _metrics(
    records: Records,
    request: ReadRequest,
    paths: dict[str, str],
    failed: BoolArray,
    ids: Sequence[str],
    where: Where,
    path: str,
) -> tuple[dict[str, Column], list[Caution]]:
    found: dict[str, Column] = {}
    cautions: list[Caution] = []
    for metric, kind in request.metrics.items():
        rule = Rule(metric, kind, request.words, records.text, records.decimal_comma)
        cells = records.cells.get(paths[metric])
        try:
            if cells is None:
                raise missing_column("metric", metric, records, path)
            found[metric] = numbers(cells, rule, failed, ids, lambda row: place_of(records, row), where)
        except GateError as error:
            if metric not in request.optional:
                raise
            cautions.append(("metric_not_read", f"{metric!a} was not read: {error.message}"))
    return found, cautions


def _columns(
    records: Records, request: ReadRequest, paths: dict[str, str], where: Where, path: str
) -> tuple[dict[str, ObjectArray], list[Caution]]:
    found: dict[str, ObjectArray] = {}
    cautions: list[Caution] = []
    for name in request.columns:
        cells = records.cells.get(paths[name])
        if cells is not None:
            found[name] = text_column(cells, name, where)
        elif name in request.optional:
            cautions.append(("column_not_read", f"there is no column {name!a}"))
        else:
            raise missing_column("column", name, records, path)
    return found, cautions


def _clusters(
    records: Records, request: ReadRequest, paths: dict[str, str], where: Where, path: str
) -> ObjectArray | None:
    if request.cluster is None:
        return None
    cells = records.cells.get(paths[request.cluster])
    if cells is None:
        raise missing_column("cluster", request.cluster, records, path)
    return text_column(cells, request.cluster, where)


__all__ = ["ABSENT", "build", "id_cautions"]

"""Gold labels in a file of their own, joined to the results by the items' ids (``--labels``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gate.artifacts.ids import content_id, id_texts, is_content
from gate.artifacts.missing_columns import no_ids
from gate.artifacts.records import ABSENT, Records, place
from gate.artifacts.table import ItemTable, ObjectArray, ReadRequest
from gate.artifacts.texts import text_column
from gate.safe import examples, quoted
from gate.values import GateError


def of_labels(request: ReadRequest) -> ReadRequest:
    """What is read of the labels: the columns that the policy names, as far as they are there."""
    columns = tuple(dict.fromkeys([*request.columns, *([request.cluster] if request.cluster else [])]))
    return ReadRequest(
        metrics={},
        id=request.id,
        id_declared=request.id_declared,
        columns=columns,
        optional=frozenset(columns),
        mapping=request.mapping,
    )


def with_absent(records: Records, request: ReadRequest, labels: ItemTable | None, path: str) -> Records:
    """The items that the labels name and a file that lists only some of its items does not."""
    if not records.absent:
        return records
    if labels is None:
        raise GateError(
            "no_universe",
            f"a {records.format} file lists only some of its items, and not which there were",
            where=path,
            help="give a file with the ids of all items: --labels ITEMS",
        )
    known = set(_ids(records, request, path)) if records.count else set()
    more = [item for item in labels.ids.tolist() if item not in known]
    if records.total is not None and records.total != records.count + len(more):
        raise GateError(
            "contradiction",
            f"the file says {records.total} items; with --labels there are {records.count + len(more)}",
            where=path,
            help="give the ids of the items that were scored",
        )
    count = records.count + len(more)
    gap: list[Any] = [ABSENT] * len(more)
    cells = {name: [*column, *gap] for name, column in records.cells.items()}
    for name, value in records.absent.items():
        cells[name] = [*cells.get(name, [ABSENT] * records.count)[: records.count], *([value] * len(more))]
    ids_at = request.mapping.get(request.id, request.id)
    if ids_at in cells:
        cells[ids_at] = [*cells[ids_at][: records.count], *more]
    return replace(
        records,
        count=count,
        cells=cells,
        evidence={name: [*column, *gap] for name, column in records.evidence.items()},
        ids=None if records.ids is None else [*records.ids, *more],
        failed=None if records.failed is None else [*records.failed, *([False] * len(more))],
        repeats=None if records.repeats is None else [*records.repeats, *(["1"] * len(more))],
        extra={name: [*column, *([None] * len(more))] for name, column in records.extra.items()},
        noted={name: [*flags, *([False] * len(more))] for name, flags in records.noted.items()},
        lines=None,
    )


def joined(records: Records, request: ReadRequest, labels: ItemTable, path: str) -> Records:
    """The results with the columns that only the labels have.

    Errors: an item without a label; a column of both files that says something else in each.
    """
    ids = _ids(records, request, path)
    rows = {item: row for row, item in enumerate(labels.ids.tolist())}
    lacking = sorted(set(ids) - rows.keys())
    if lacking:
        raise GateError(
            "label_missing",
            f"{len(lacking)} items have no row in the labels ({examples(lacking)})",
            where=labels.source.path,
            help="label every item that was scored, or leave the item out of both files of results",
        )
    places = [rows[item] for item in ids]
    added: dict[str, Sequence[Any]] = {}
    for name, column in labels.columns.items():
        if name not in of_labels(request).columns:
            continue
        there = request.mapping.get(name, name)
        if there in records.cells:
            _refuse_other(name, records.cells[there], column[places], ids, path)
        else:
            added[there] = column[places].tolist()
    unused = len(rows.keys() - set(ids))
    told = ("labels_unused", f"{unused} labelled items have no result in {quoted(path)}")
    return replace(
        records,
        cells={**records.cells, **added},
        cautions=(*records.cautions, *([told] if unused else [])),
    )


def _ids(records: Records, request: ReadRequest, path: str) -> list[str]:
    own = records.ids is not None and not request.id_declared
    cells = records.ids if own else records.cells.get(request.mapping.get(request.id, request.id))
    if cells is None:
        raise no_ids(request.id, records, path)
    ids = id_texts(cells, "an id", lambda row: f"{path} ({place(records, row)})", text=records.text)
    return [content_id(text) if is_content(text) else text for text in ids]


def _refuse_other(name: str, here: Sequence[Any], there: ObjectArray, ids: list[str], path: str) -> None:
    own = text_column(here, name, lambda row: f"{path} (item {quoted(ids[row])})")
    other = [item for item, a, b in zip(ids, own, there, strict=True) if a != b]
    if other:
        raise GateError(
            "labels_disagree",
            f"{quoted(name)} is another one in the labels for {len(other)} items ({examples(other)})",
            where=path,
            help="leave the column out of the results, or mend the file that is wrong",
        )

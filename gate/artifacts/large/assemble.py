"""Pulled columns to an ItemTable sorted by id, by the same rules as the plain way, or None."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gate.artifacts import summary
from gate.artifacts.bars import bar_columns, bars
from gate.artifacts.build import Caution, Job, similar_ids
from gate.artifacts.cached import reads_cached
from gate.artifacts.digest import Parts, digests
from gate.artifacts.ids import check_ids, id_texts, near_collisions, refuse_duplicates
from gate.artifacts.large.bytesort import Order, Rows, Sorted, all_plain, rows_of, sort_rows
from gate.artifacts.large.pulled import Pulled
from gate.artifacts.large.shared import shared_ids
from gate.artifacts.outcome import outcome_of
from gate.artifacts.records import Records
from gate.artifacts.run_words import is_evidence
from gate.artifacts.table import (
    BoolArray,
    FloatArray,
    ItemTable,
    Missing,
    ObjectArray,
    ReadRequest,
    Source,
    Stated,
)
from gate.artifacts.texts import objects, text_column
from gate.artifacts.values import why_missing
from gate.values import GateError

Any_ = TypeVar("Any_", bound=np.generic)


@dataclass(frozen=True, slots=True)
class _Work:
    """One pulled file, what is wanted of it, and the order of its ids (None: sorted as it is)."""

    pulled: Pulled
    job: Job
    rows: Rows
    repeats: list[str] | None
    order: Order | None

    def ordered(self, column: NDArray[Any_]) -> NDArray[Any_]:
        """A column in the order of the ids."""
        return column if self.order is None else column[self.order]

    def text(self, role: str, name: str) -> ObjectArray:
        """A text column in the order of the ids."""
        return self.ordered(text_column(self.job.needed(role, name), name, self.job.where))


def assemble(pulled: Pulled, request: ReadRequest, source: Source) -> ItemTable | None:
    """The table, or None where the plain way has to look (and to refuse, with the right words)."""
    try:
        work = _work(pulled, request, source)
        return None if work is None else _table(work, source)
    except GateError:
        return None


def _work(pulled: Pulled, request: ReadRequest, source: Source) -> _Work | None:
    records = Records(
        format=pulled.format,
        count=pulled.count,
        cells=pulled.texts,
        evidence={path: cells for path, cells in pulled.texts.items() if is_evidence(path)},
        available=pulled.available,
        text=pulled.text,
    )
    if reads_cached(records.evidence, request):
        return None
    job = Job(records, request, source.path)
    rows = rows_of(pulled.ids, pulled.count)
    if rows is None or (pulled.text and pulled.ids.partition(b"\n")[0].endswith(b".0")):
        return None
    ends = (pulled.ids.partition(b"\n")[0], b"", pulled.ids[:-1].rpartition(b"\n")[2])
    summary.refuse([end.decode("utf-8") for end in ends], job.where)
    repeats = _repeats(job)
    found = sort_rows(rows)
    if repeats is None:
        return None if found.same.any() else _Work(pulled, job, rows, None, found.order)
    return _Work(pulled, job, rows, repeats, _order_with(found, repeats))


def _repeats(job: Job) -> list[str] | None:
    name = job.request.repeat
    if name is None:
        return None
    repeats = id_texts(job.needed("repeat", name), "", job.where, text=job.records.text)
    check_ids(repeats, "", job.where)
    return repeats


def _order_with(found: Sorted, repeats: list[str]) -> Order:
    """By id, then by repeat. There are few distinct repeats, so their ranks are sorted, not their texts."""
    rank = {text: number for number, text in enumerate(sorted(set(repeats)))}
    ranks = np.fromiter((rank[text] for text in repeats), dtype=np.int64, count=len(repeats))
    return np.lexsort((ranks, found.ranks()))


def _table(work: _Work, source: Source) -> ItemTable | None:
    request, pulled = work.job.request, work.pulled
    joined = work.rows.joined(work.order)
    ids, digest = shared_ids(joined, pulled.count)
    repeats = None if work.repeats is None else work.ordered(objects(work.repeats))
    similar = list(_similar(work, ids, repeats))
    outcome = outcome_of(work.job.records, request)
    failed = outcome.failed
    found = {name: pulled.numbers.get(request.mapping.get(name, name)) for name in request.metrics}
    numbers = {name: column for name, column in found.items() if column is not None}
    if not all(_fits(column, request.metrics[name], failed) for name, column in numbers.items()):
        return None
    columns, cautions = _columns(work)
    parts = Parts(
        ids=ids,
        repeats=repeats,
        clusters=None if request.cluster is None else work.text("cluster", request.cluster),
        failed=work.ordered(failed),
        values={name: work.ordered(_clean(column, failed)) for name, column in numbers.items()},
        columns=columns,
    )
    cautions = [*similar, *(absent for name in found if (absent := _absent(work, name))), *cautions]
    cautions += outcome.cautions
    return ItemTable(
        source=source,
        ids=ids,
        values=parts.values,
        missing={name: _missing(work, name, column, failed) for name, column in numbers.items()},
        failed=parts.failed,
        repeats=repeats,
        clusters=parts.clusters,
        columns=columns,
        lines=None if pulled.lines is None else work.ordered(pulled.lines),
        **digests(parts, request, None, joined),
        cautions=tuple(cautions),
        ids_digest=digest if repeats is None else "",
        unread=outcome.unread,
        stated=_stated(work),
    )


def _stated(work: _Work) -> tuple[Stated, ...]:
    """What the columns say of how the scores were made, in the order of the ids."""
    request, texts = work.job.request, work.pulled.texts
    told = bars(texts, bar_columns(list(texts), request), request)
    return tuple(
        one if isinstance(one.value, str) else replace(one, value=tuple(work.ordered(objects(one.value))))
        for one in told
    )


def _similar(work: _Work, ids: ObjectArray, repeats: ObjectArray | None) -> Iterator[Caution]:
    """The checks of ids one by one, where their bytes are not plain."""
    if repeats is None and all_plain(work.pulled.ids):
        return
    listed: Sequence[str] = ids.tolist()
    check_ids(listed, "", work.job.where)
    keys: Sequence[Any] = listed if repeats is None else list(zip(listed, repeats.tolist(), strict=True))
    refuse_duplicates(keys, listed, work.job.where, repeat=repeats is not None)
    near = near_collisions(listed if repeats is None else list(dict.fromkeys(listed)))
    if near:
        yield similar_ids(near)


def _fits(column: FloatArray, kind: str, failed: BoolArray) -> bool:
    """Whether a binary metric holds nothing but 0, 1 and gaps."""
    if kind != "binary":
        return True
    return bool(((column == 0.0) | (column == 1.0) | ~np.isfinite(column) | failed).all())


def _clean(column: FloatArray, failed: BoolArray) -> FloatArray:
    return np.where(np.isfinite(column) & ~failed, column, np.nan)


def _missing(work: _Work, name: str, column: FloatArray, failed: BoolArray) -> Missing:
    """Counted in file order, so that the examples are those of the plain way."""
    gaps = np.flatnonzero(~np.isfinite(column) & ~failed)
    ids = work.pulled.ids.decode("utf-8").split("\n") if gaps.size else []
    path = work.job.paths[name]
    shown = [
        (ids[row], _place(work.pulled, row), why_missing(work.pulled.cell(path, row), text=work.pulled.text))
        for row in gaps[:5].tolist()
    ]
    return Missing(int(gaps.size), tuple(shown))


def _place(pulled: Pulled, row: int) -> str:
    return f"row {row + 1}" if pulled.lines is None else f"line {pulled.lines[row]}"


def _columns(work: _Work) -> tuple[dict[str, ObjectArray], list[Caution]]:
    found: dict[str, ObjectArray] = {}
    cautions: list[Caution] = []
    for name in work.job.request.columns:
        if work.job.cells(name) is None and name in work.job.request.optional:
            cautions.append(("column_not_read", f"there is no column {name!a}"))
        else:
            found[name] = work.text("column", name)
    return found, cautions


def _absent(work: _Work, name: str) -> Caution | None:
    """The caution for an optional metric that is not in the file, in the words of the plain way."""
    if work.job.paths[name] in work.pulled.numbers or name in work.job.request.beside:
        return None
    try:
        work.job.needed("metric", name)
    except GateError as error:
        return "metric_not_read", f"{name!a} was not read: {error.message}"
    return None

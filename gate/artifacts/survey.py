"""A first look without a policy: what a file is, which column names the items, what could be a metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gate.artifacts.content import Content, open_content
from gate.artifacts.directions import direction_by_name
from gate.artifacts.id_columns import id_columns, words_of
from gate.artifacts.opening import InMemory
from gate.artifacts.reading import chosen_format, load
from gate.artifacts.records import ABSENT, RESERVED, Records
from gate.artifacts.rows import chosen_rows
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import ReadRequest
from gate.artifacts.values import NO_VALUE, Rule, parsed

SAMPLE_BYTES = 8 << 20
"""Of larger mapped text files only the beginning is looked at."""
_REPEAT_NAMES = frozenset(
    {"run", "repeat", "epoch", "seed", "trial", "attempt", "sample", "run_id", "replicate", "k"}
)
_CLUSTER_NAMES = (
    "conversation",
    "document",
    "doc",
    "session",
    "user",
    "group",
    "cluster",
    "topic",
    "passage",
    "source",
)
FEWEST_GROUPS = 6
"""As many as a test of clusters needs."""
_COUNTERS = frozenset({"index", "idx", "number", "trial", "line", "row", "rank", "seed", "epoch", "id"})
_PLAIN = Rule("", "graded", {}, text=True)


@dataclass(frozen=True, slots=True)
class Metric:
    """A column that could be a metric. direction: None where neither format nor name tells.

    known: the format tells the direction. counts: it numbers rows or items. constant: one value in all rows.
    """

    name: str
    kind: str
    direction: str | None
    values: int
    known: bool = False
    counts: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """id: the column of the items, None if the format has ids of its own or none was found (see ``own_ids``).

    rows: None if only the beginning was looked at. repeat, clusters, columns: columns that look like it.
    """

    path: str
    format: str
    rows: int | None
    own_ids: bool
    id: str | None
    repeat: str | None
    own_repeats: bool
    clusters: tuple[str, ...]
    columns: tuple[str, ...]
    metrics: tuple[Metric, ...]
    systems: tuple[str, ...]
    cautions: tuple[tuple[str, str], ...]
    keys: Mapping[str, frozenset[str]]
    cells: Mapping[str, Sequence[Any]]


def survey(
    path: str,
    format: str = "auto",  # noqa: A002
    system: str | None = None,
    metric: str | None = None,
    id_name: str | None = None,
    where: Mapping[str, tuple[str, ...]] | None = None,
) -> Survey:
    """What a file holds, or a GateError. metric: a path, however deep. id_name: no guess. where: rows."""
    content = open_content(path)
    try:
        chosen = chosen_format(content, format)
        whole = bool(where) or content.size <= SAMPLE_BYTES or chosen.name not in {"csv", "tsv", "jsonl"}
        looked = content if whole or system is not None else _beginning(content)
        records = load(chosen, looked, None)
        if system is not None or (metric is not None and metric not in records.cells):
            looked = content if whole or system is not None else _beginning(content)
            records = load(chosen, looked, _named(records, format, system, metric))
        if where:
            records = chosen_rows(records, ReadRequest(metrics={}, where=where), path)
        return _survey(records, path, metric, id_name, whole=whole)
    finally:
        content.close()


def _named(first: Records, format_name: str, system: str | None, metric: str | None) -> ReadRequest:
    metrics = dict.fromkeys([*first.cells, *([] if metric is None else [metric])], "graded")
    return ReadRequest(metrics=metrics, optional=frozenset(metrics), format=format_name, system=system)


def _beginning(content: Content) -> Content:
    """The first lines of a large file, as a file of its own."""
    import io  # noqa: PLC0415

    content.file.seek(0)
    start = content.file.read(SAMPLE_BYTES)
    start = start[: start.rfind(b"\n") + 1] or start
    return Content(content.path, io.BytesIO(start), "", len(start), len(start), None, content.head)


def _survey(records: Records, path: str, wanted: str | None, id_name: str | None, *, whole: bool) -> Survey:
    columns = {name: cells for name, cells in records.cells.items() if name not in RESERVED}
    own = records.ids is not None
    keys = {} if own else id_columns(columns)
    id_name = None if own else id_name or next(iter(keys), None)
    repeat = None if own else _repeat_column(columns, id_name)
    taken = {id_name, repeat}
    possible = (
        _without_aliases(records.metrics, columns) if own else [name for name in columns if name not in taken]
    )
    if wanted is not None and wanted not in possible:
        possible.append(wanted)
    ids = records.ids if own else columns.get(id_name or "", ())
    metrics = [
        metric
        for name in possible
        if (metric := _metric(name, columns.get(name, ()), records, ids or ())) is not None
    ]
    other = taken | {metric.name for metric in metrics} | set(records.metrics)
    texts = [name for name in columns if name not in other]
    groups = tuple(name for name in texts if _is_group(columns[name]))
    clusters = tuple(
        name
        for name, cells in columns.items()
        if name not in taken
        and (name in groups or name.lower().endswith("id"))
        and looks_like_cluster(name)
        and _is_group(cells)
    )
    shown = (*(metric.name for metric in metrics), *groups, *clusters)
    systems = records.facts.get("systems")
    return Survey(
        path=path,
        format=records.format,
        rows=records.count if whole else None,
        own_ids=own,
        id=id_name,
        repeat=repeat,
        own_repeats=records.repeats is not None,
        clusters=clusters,
        columns=groups,
        metrics=tuple(metrics),
        systems=tuple(systems) if isinstance(systems, list) else (),
        cautions=records.cautions,
        keys=keys,
        cells={name: columns.get(name, ()) for name in shown} | {"": ids or ()},
    )


def _without_aliases(names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Of names for one metric, the one that the tool's own report has. Other values are another metric."""

    def is_alias(name: str, other: str) -> bool:
        if name in columns and other in columns and list(columns[name]) != list(columns[other]):
            return False
        longer = other.startswith(f"{name},") or (
            other.endswith(f".{name}") and not other.startswith("named")
        )
        return longer or name in {f"namedScores.{other}", f"named:{other}", f"property:{other}"}

    return [name for name in names if not any(is_alias(name, other) for other in names if other != name)]


def _repeat_column(columns: Mapping[str, Sequence[Any]], id_name: str | None) -> str | None:
    """A column that makes ids that occur several times distinct."""
    if id_name is None or len(set(map(str, columns[id_name]))) == len(columns[id_name]):
        return None
    for name, cells in columns.items():
        pairs = set(zip(map(str, columns[id_name]), map(str, cells), strict=True))
        if name.rpartition(".")[2].lower() in _REPEAT_NAMES and len(pairs) == len(cells):
            return name
    return None


def _metric(name: str, cells: Sequence[Any], records: Records, ids: Sequence[Any]) -> Metric | None:
    """A metric if all that stands there is a number; binary if it is always 0, 1 or a boolean."""
    present = [cell for cell in cells if not _is_gap(cell)]
    rule = Rule(name, "graded", {}, records.text, records.decimal_comma)
    if all(
        type(cell) is bool or (records.text and str(cell).strip().lower() in {"true", "false"})
        for cell in present
    ):
        found = [0.0]
    else:
        found = [value for cell in present if (value := parsed(cell, rule)) is not None]
        if len(found) != len(present):
            return None
    if not present:
        return None
    kind = "binary" if set(found) <= {0.0, 1.0} else "graded"
    known = records.directions.get(name)
    return Metric(
        name,
        kind,
        known or direction_by_name(name),
        len(present),
        known=known is not None,
        counts=known is None and _counts(name, cells, ids),
        constant=len(set(map(str, present))) == 1,
    )


def _counts(name: str, cells: Sequence[Any], ids: Sequence[Any]) -> bool:
    """A column called a counter, or one that repeats the ids or the numbers of the rows."""
    if words_of(name)[-1:] and words_of(name)[-1] in _COUNTERS:
        return True
    texts = list(map(str, cells))
    rows = range(len(texts))
    copies = (list(map(str, ids)), [str(row) for row in rows], [str(row + 1) for row in rows])
    return len(texts) > 2 and texts in copies


def _is_gap(cell: Any) -> bool:
    if isinstance(cell, float):
        return not math.isfinite(cell)
    blank = isinstance(cell, str) and cell.strip().lower() in NO_VALUE
    return cell is None or cell is ABSENT or isinstance(cell, NoNumber) or blank


def looks_like_cluster(name: str) -> bool:
    """Whether a column's name says what items belong to."""
    return name.rpartition(".")[2].lower().startswith(_CLUSTER_NAMES)


def undeclared_cluster(path: str, system: str | None) -> tuple[str, int, int] | None:
    """A column by which items seem to belong together, how many groups it has, and how many items.

    None where there is none, where its groups are hardly larger than an item, or where the file is too large
    to be looked at twice.
    """
    if not isinstance(path, InMemory) and Path(path).stat().st_size > SAMPLE_BYTES:
        return None
    found = survey(path, system=system)
    for name in found.clusters:
        cells = found.cells.get(name) or ()
        group_of = dict(zip(map(str, found.cells[""]), map(str, cells), strict=False))
        groups = len(set(group_of.values()))
        if FEWEST_GROUPS <= groups <= len(group_of) / 2:
            return name, groups, len(group_of)
    return None


def _is_group(cells: Sequence[Any]) -> bool:
    """Short text with few distinct values, each of several rows."""
    texts = [cell for cell in islice(cells, 20_000) if type(cell) in {str, bool, int}]
    distinct = len(set(map(str, texts)))
    return (
        bool(texts)
        and 2 <= distinct <= max(2, len(texts) // 2)
        and all(len(str(text)) <= 100 for text in texts)
    )

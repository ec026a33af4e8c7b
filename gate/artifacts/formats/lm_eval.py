"""lm-evaluation-harness samples: one row per document and filter.

Filters are metrics, not repeats: they are named as in the tool's results, ``exact_match,flexible-extract``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.json_lines import json_lines
from gate.artifacts.oddities import EMPTY, blank
from gate.artifacts.records import Records
from gate.artifacts.strict_json import refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.artifacts.texts import canonical
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, records
from gate.safe import examples, quoted
from gate.values import GateError

_FIXED = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "repeats",
        "task_name",
    }
    | {"doc_hash", "prompt_hash", "target_hash", "schema_version"}
)
_DIGESTS = ("doc_hash", "target_hash", "prompt_hash")
_DATED = re.compile(r"^samples_.*_(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
Row = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """All documents, with the metrics of all filters beside each other."""
    rows = list(_rows(content))
    filters = list(dict.fromkeys(name for _, row in rows if isinstance(name := row.get("filter"), str)))
    documents: dict[Any, tuple[int | None, Row, dict[str, Any]]] = {}
    corpus: dict[str, str] = {}
    for line, row in rows:
        key = _key(row.get("doc_id"))
        _, _, metrics = documents.setdefault(key, (line, row, {}))
        for name, value in _metrics(row, filters):
            if name in metrics:
                raise _twice(row, name, content.where(line), unnamed=not filters)
            metrics[name] = value
            if isinstance(value, list | dict):
                corpus[name] = "a corpus metric: the file holds the texts it is computed from, and no score"
    runs = [
        Run(
            row.get("doc_id"),
            {name: value for name, value in metrics.items() if name not in corpus},
            row,
            line=line,
        )
        for line, row, metrics in documents.values()
    ]
    context = Context(
        format="lm_eval",
        path=content.path,
        facts=time_fact(_dates(content.path)),
        refused={**corpus, **_bare_names(rows, filters)},
        extra=_digests(documents.values()),
        noted={EMPTY: [_is_empty(row) for _, row, _ in documents.values()]},
    )
    return records(runs, request, context)


def _rows(content: Content) -> Iterator[tuple[int | None, Row]]:
    """JSON Lines, or the one JSON array that versions up to 0.4.1 write into a file of that name."""
    if not content.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from json_lines(content)
        return
    for index, row in enumerate(content.document()):
        where = f"{content.path} (entry {index + 1})"
        refuse_doubled(row, where, None)
        if not isinstance(row, dict):
            raise GateError("invalid_json", "an entry of the list is no object", where=where)
        yield None, row


def _dates(path: str) -> Iterator[str]:
    """The tool says only in the name of a file when it ran, with - for the colons."""
    for day, clock in _DATED.findall(path.replace("\\", "/").rpartition("/")[2]):
        yield f"{day}T{clock.replace('-', ':')}"


def _key(doc_id: Any) -> Any:
    return (type(doc_id).__name__, canonical(doc_id))


def _metrics(row: Row, filters: list[str]) -> Iterator[tuple[str, Any]]:
    """(name, value) of a row: ``metric,filter``, and the bare name where there is one filter."""
    listed = row.get("metrics")
    names = listed if isinstance(listed, list) else [name for name in row if name not in _FIXED]
    chosen = row.get("filter")
    for name in dict.fromkeys(names):
        if not isinstance(name, str) or name not in row:
            continue
        if not isinstance(listed, list) and not _scored(row[name]):
            continue
        if isinstance(chosen, str) and "," not in name:
            yield f"{name},{chosen}", row[name]
            if len(filters) > 1:
                continue
        yield name, row[name]


def _scored(value: Any) -> bool:
    """In layouts that do not list their metrics: numbers, and pairs of texts for corpus metrics."""
    return isinstance(value, int | float | list) or value is None


def _bare_names(rows: list[tuple[int | None, Row]], filters: list[str]) -> dict[str, str]:
    if len(filters) < 2:
        return {}
    names = {name.partition(",")[0] for _, row in rows for name, _ in _metrics(row, filters)}
    return {
        name: f"it has {len(filters)} filters: {examples([f'{name},{one}' for one in filters])}"
        for name in names
    }


def _twice(row: Row, name: str, where: str, *, unnamed: bool) -> GateError:
    reason = (
        "this version does not write which filter a row belongs to" if unnamed else f"metric {quoted(name)}"
    )
    return GateError(
        "duplicate_ids",
        f"document {quoted(str(row.get('doc_id')))} occurs more than once ({reason})",
        where=where,
        help="score again with lm-eval 0.4.3 or later" if unnamed else "give each task its own file",
    )


def _is_empty(row: Row) -> bool:
    """Nothing generated, or nothing of it left by the filter."""
    return any(name in row and blank(row[name]) for name in ("resps", "filtered_resps"))


def _digests(documents: Any) -> dict[str, list[Any]]:
    rows: list[Mapping[str, Any]] = [row for _, row, _ in documents]
    return {name: [row.get(name) for row in rows] for name in _DIGESTS if any(row.get(name) for row in rows)}

"""Columns of tables that say how the scores beside them were made: unit, threshold, judge, revision."""

from __future__ import annotations

from collections.abc import Iterator

from gate.artifacts.records import ABSENT, Records
from gate.artifacts.run_words import plain
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.texts import canonical

_UNIT = frozenset({"unit", "time_unit"})
_THRESHOLD = frozenset({"threshold", "pass_threshold", "pass_mark", "cutoff", "strict_mode"})
_JUDGE = frozenset(
    {"judge", "judge_model", "grader", "grader_model", "annotator", "rubric", "evaluation_model"}
)
_DATA = frozenset({"dataset_revision", "dataset_version", "dataset_digest", "dataset_sha", "task_version"})
_MEASURED = ("time", "latency", "duration", "cost", "price", "tokens", "seconds", "ms")


def bar_columns(names: tuple[str, ...], request: ReadRequest) -> list[str]:
    """Those of the columns in a table that say so; a metric, an id, a repeat or a cluster is itself."""
    roles = (*request.metrics, request.id, request.repeat, request.cluster)
    asked = {request.mapping.get(name, name) for name in roles if name is not None}
    known = _UNIT | _THRESHOLD | _JUDGE | _DATA
    return [name for name in names if name not in asked and plain(name.rpartition(".")[2]) in known]


def bars(records: Records, columns: list[str], request: ReadRequest) -> Iterator[Stated]:
    """What they say of each row, and of which metrics."""
    for column in columns:
        cells = records.cells.get(column)
        if cells is not None:
            texts = tuple(None if c is None or c is ABSENT or c == "" else canonical(c) for c in cells)
            yield Stated(f"the column {column!a}", texts, _decided(plain(column.rpartition(".")[2]), request))


def _decided(word: str, request: ReadRequest) -> frozenset[str] | None:
    """A threshold decides pass/fail, a unit what is measured, a judge what is not; a revision everything."""
    names = {metric: request.mapping.get(metric, metric) for metric in request.metrics}
    measured = {m for m in names if any(part in _MEASURED for part in plain(names[m]).split("_"))}
    passed = {m for m, kind in request.metrics.items() if kind == "binary"}
    chosen = set(names)
    if word in _UNIT:
        chosen = measured if word == "time_unit" else chosen
    elif word in _THRESHOLD:
        chosen = passed
    elif word in _JUDGE:
        chosen = chosen - measured
    return None if word in _DATA else frozenset(names[m] for m in chosen)

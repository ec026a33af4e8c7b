"""Columns of tables that say how the scores beside them were made: unit, threshold, judge, revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from gate.artifacts.records import ABSENT, each
from gate.artifacts.run_words import plain
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.values import NUMBER

_JUDGES = frozenset(
    {"judge", "grader", "annotator", "rater", "autorater", "evaluator", "scorer", "rubric", "verifier"}
)
_JUDGED_BY = frozenset({"criteria", "criterion", "evaluation_model", "scoring_model", "grading_model"}) | {
    "judging_model",
    "reference_model",
}
_OF_A_JUDGE = frozenset(
    {"model", "llm", "name", "id", "version", "revision", "prompt", "template", "hash", "digest", "config"}
)
_BARS = frozenset({"threshold", "thresholds", "cutoff"})
_CLEARED = frozenset({"above", "below", "over", "under", "met", "meets", "passes", "exceeds", "within"})
"""Words of a result: ``above_threshold`` is no threshold."""
_PASS = frozenset({"pass_mark", "passing_score", "threshold_value", "strict_mode", "strictness", "tolerance"})
_SETS = frozenset({"dataset", "benchmark", "testset", "evalset"})
_OF_A_SET = frozenset({"name", "id", "version", "revision", "digest", "hash", "sha", "split"})
_DATA = frozenset({"task_version", "split", "data_version", "data_revision"})
_MEASURED = ("time", "latency", "duration", "cost", "price", "tokens", "seconds", "ms")
_UNITS = frozenset({"unit", "units", "currency"})
Family = Literal["unit", "threshold", "judge", "data"]


def bar_columns(names: Sequence[str], request: ReadRequest) -> list[str]:
    """Those of the columns in a table that say so; a metric that decides and an id are themselves."""
    roles = [name for name in request.metrics if name not in request.optional]
    asked = {request.mapping.get(name, name) for name in (*roles, request.id)}
    return [name for name in names if name not in asked and _family(name) is not None]


@lru_cache(maxsize=4096)
def _family(path: str) -> Family | None:
    """By the last part of a dotted name, or the last two: ``judge.model`` is ``judge_model``."""
    parts = path.split(".")
    return _named(plain(parts[-1])) or (_named(plain("_".join(parts[-2:]))) if parts[1:] else None)


def _named(word: str) -> Family | None:
    first, *rest = word.split("_")
    last = rest[-1] if rest else first
    if last in _UNITS:
        return "unit"
    if word in _PASS or (last in _BARS and first not in _CLEARED):
        return "threshold"
    if word in _JUDGED_BY or (first in _JUDGES and _OF_A_JUDGE.issuperset(rest)):
        return "judge"
    return "data" if word in _DATA or (first in _SETS and _OF_A_SET.issuperset(rest)) else None


def bars(cells_of: Mapping[str, Sequence[Any]], columns: list[str], request: ReadRequest) -> Iterator[Stated]:
    """What they say of each row, and of which metrics. Of a column that numbers the runs: all its words."""
    repeat = None if request.repeat is None else request.mapping.get(request.repeat, request.repeat)
    for column in columns:
        cells = cells_of.get(column)
        if not cells:
            continue
        texts = tuple(each(_text, cells))
        words = set(texts)
        value = texts if len(words) > 1 or None in words else texts[0]
        if column == repeat:
            value = ", ".join(sorted(word for word in words if word is not None))
        if value is not None:
            yield Stated(f"the column {column!a}", value, _decided(column, request))


def _text(cell: Any) -> str | None:
    """A cell as it is compared: 1, 1.0 and the text 1 are one, in whichever format they stand."""
    if cell is None or cell is ABSENT or isinstance(cell, NoNumber | dict | list):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    text = str(cell).strip()
    return f"{float(text):.15g}" if NUMBER.fullmatch(text) else text or None


def _decided(column: str, request: ReadRequest) -> frozenset[str] | None:
    """A threshold decides pass/fail, a unit what is measured, a judge what is not; a revision everything."""
    family = _family(column)
    if family == "data":
        return None
    names = {metric: request.mapping.get(metric, metric) for metric in request.metrics}
    if family == "threshold":
        return frozenset(names[metric] for metric, kind in request.metrics.items() if kind == "binary")
    words = {name: set(plain(name).split("_")) for name in names.values()}
    measured = {name for name in words if not words[name].isdisjoint(_MEASURED)}
    if family == "judge":
        return frozenset(words.keys() - measured)
    of = set(plain(column).split("_")) - _UNITS
    same = {name for name in words if words[name] & of}
    whose = measured if of & {*_MEASURED} or column.lower().endswith("currency") else set()
    alone = plain(column.rpartition(".")[2]) in {"unit", "units"}
    return frozenset(same | whose or (words if alone else ()))

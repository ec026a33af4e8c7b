"""What to say when a column that the policy names is not in the file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from gate.artifacts.records import Records
from gate.safe import examples, quoted
from gate.values import GateError

AVERAGES_HELP = (
    "write one row an item and score both systems on the same items; treat the comparison as undecided"
)
_ID_NAMES = frozenset(
    {"id", "ids", "sample_id", "item_id", "example_id", "task_id", "doc_id", "question_id", "instance_id"}
    | {"case_id", "test_id", "uid", "uuid", "key", "name", "index", "item", "sample", "example", "task"}
    | {"question", "input", "prompt", "nodeid", "user_input", "inputs", "instruction", "classname"}
)
_AGGREGATE_NAMES = frozenset({"metric", "metrics", "metric_name"})
_AGGREGATE_VALUES = frozenset({"score", "value", "mean", "average", "result"})


def missing_column(role: str, name: str, records: Records, where: str) -> GateError:
    """The error for an absent column, with up to five names that are near or present."""
    if role == "metric" and name in records.refused:
        return GateError(
            "no_item_scores",
            f"metric {quoted(name)} has no value per item ({records.refused[name]})",
            where=where,
            help="gate on a metric that is scored item by item",
        )
    near = difflib.get_close_matches(name, records.available, n=5, cutoff=0.6)
    listed = near or list(records.available[:5])
    found = examples(listed, None if near else len(records.available)) if listed else "no columns at all"
    hint = f"did you mean {quoted(near[0])}? " if near else ""
    return GateError(
        f"missing_{role}",
        f"there is no {_ROLES[role]} {quoted(name)} ({'near' if near else 'found'}: {found})",
        where=where,
        help=f"{hint}name it as the file does, or map it: artifacts: {{mapping: {{{name}: path.in.file}}}}",
    )


_ROLES = {"metric": "metric", "id": "id column", "repeat": "repeat column", "cluster": "cluster column"}
_ROLES |= {"column": "column"}


def averages_only(found: str, where: str) -> GateError:
    """The error for a file of aggregates."""
    return GateError(
        "averages_only",
        f"per-item results are needed, but this file holds only averages ({found})",
        where=where,
        help=AVERAGES_HELP,
    )


def no_ids(name: str, records: Records, where: str) -> GateError:
    """The error for a file without the id column: averages, or another name."""
    lower = {column.lower() for column in records.available}
    aggregates = bool(lower & _AGGREGATE_NAMES) and bool(lower & _AGGREGATE_VALUES)
    few = records.count <= 3 and not lower & _ID_NAMES
    if few or aggregates or _pairs_of_name_and_number(records.available, records.count):
        return averages_only(f"{records.count} rows, columns {examples(list(records.available[:5]))}", where)
    return missing_column("id", name, records, where)


_STATISTICS = frozenset(
    {"count", "mean", "std", "min", "max", "25%", "50%", "75%", "median", "sum", "stderr"}
)


def refuse_averages(name: str, cells: Sequence[Any], records: Records, where: str) -> None:
    """Refuse a table whose rows are metrics, or statistics of the items, and no items."""
    lower = {column.lower() for column in records.available}
    by_metric = name.lower() in _AGGREGATE_NAMES and bool(lower & _AGGREGATE_VALUES) and len(cells) <= 100
    words = {cell.strip().lower() for cell in cells if isinstance(cell, str)} if len(cells) <= 20 else set()
    if by_metric or (len(words) == len(cells) > 2 and words <= _STATISTICS):
        raise averages_only(f"{len(cells)} rows: {examples([str(cell) for cell in cells])}", where)


def _pairs_of_name_and_number(available: Sequence[str], rows: int) -> bool:
    return len(available) == 2 and rows <= 20 and "value" in {name.lower() for name in available}

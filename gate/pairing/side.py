"""One artifact's runs become items: no duplicates, runs grouped, the same text on all runs of an item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.artifacts.table import BoolArray, ItemTable, ObjectArray
from gate.pairing.model import IndexArray
from gate.safe import examples
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class Side:
    """Items of one artifact. groups: for each row of the table, the position of its item in ``ids``."""

    name: str
    table: ItemTable
    ids: ObjectArray
    groups: IndexArray
    runs: IndexArray

    @property
    def path(self) -> str:
        """The file, for error texts."""
        return self.table.source.path

    @property
    def repeats(self) -> int:
        """Runs per item: the largest number that any item has."""
        return int(self.runs.max())


def side_of(table: ItemTable, name: str) -> Side:
    """Group the rows of a table into items. Errors: no rows; an id (or id and repeat) that occurs twice."""
    if not len(table):
        raise GateError(
            "no_items",
            f"the {name} file holds no items",
            where=table.source.path,
            help="score the items and write one row for each",
        )
    if table.repeats is None:
        if table.ascending is None:
            _refuse_duplicates(table, table.ids.tolist(), name)
        rows = np.arange(len(table), dtype=np.int64)
        return Side(name, table, table.ids, rows, np.ones(len(table), dtype=np.int64))
    _refuse_missing_repeat(table, name)
    _refuse_duplicates(table, list(zip(table.ids, table.repeats, strict=True)), name)
    index: dict[str, int] = {}
    groups = np.fromiter((index.setdefault(item, len(index)) for item in table.ids), np.int64, len(table))
    ids = np.empty(len(index), dtype=object)
    ids[:] = list(index)
    return Side(name, table, ids, groups, np.bincount(groups, minlength=len(ids)).astype(np.int64))


def absent(values: ObjectArray) -> BoolArray:
    """True where a text column has no value."""
    return np.fromiter((value is None for value in values), bool, len(values))


def _refuse_missing_repeat(table: ItemTable, name: str) -> None:
    assert table.repeats is not None
    without = absent(table.repeats)
    if bool(without.any()):
        raise GateError(
            "repeat_missing",
            f"{name} rows without a repeat number ({examples(list(table.ids[without]))})",
            where=table.source.path,
            help="write the run of each row in the column that items.repeat names",
        )


def _refuse_duplicates(table: ItemTable, keys: list[str] | list[tuple[str, str]], name: str) -> None:
    if len(set(keys)) == len(keys):
        return
    seen: set[object] = set()
    twice: dict[str, int] = {}
    for row, key in enumerate(keys):
        if key in seen:
            twice.setdefault(str(table.ids[row]), row)
        seen.add(key)
    first = next(iter(twice.values()))
    line = f":{table.lines[first]}" if table.lines is not None else ""
    declared = table.repeats is not None
    raise GateError(
        "duplicate_ids",
        f"{len(twice)} item ids occur more than once in the {name} file"
        f"{' with the same repeat' if declared else ''} ({examples(list(twice))})",
        where=f"{table.source.path}{line}",
        help="keep one row for each item and repeat"
        if declared
        else "keep one row for each item, or name the column that numbers the repeats in items.repeat",
    )


def text_per_item(side: Side, column: str, values: ObjectArray) -> ObjectArray:
    """One text per item from a column that has one per run. Errors: the runs of an item disagree."""
    first = np.full(len(side.ids), None, dtype=object)
    first[side.groups[::-1]] = values[::-1]
    different: BoolArray = np.asarray(values != first[side.groups], dtype=bool)
    if bool(different.any()):
        names = list(dict.fromkeys(side.ids[side.groups[different]].tolist()))
        raise GateError(
            "column_inconsistent",
            f"{column} is not the same on all runs of an item ({examples(names)})",
            where=side.path,
            help=f"{column} belongs to the item: write the same text on each of its runs",
        )
    return first

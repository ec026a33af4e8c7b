"""Text that belongs to an item: clusters, slices, labels, what must be equal on both sides."""

from __future__ import annotations

import numpy as np

from gate.artifacts.table import BoolArray, ObjectArray
from gate.pairing.model import IndexArray
from gate.pairing.side import Side, absent, text_per_item
from gate.safe import examples
from gate.values import GateError


def refuse_unequal(
    column: str,
    sides: tuple[Side, Side],
    rows: tuple[IndexArray, IndexArray],
    ids: ObjectArray,
    both: BoolArray,
) -> None:
    """A gold label or an input's digest must be the same in both files, else nothing can be compared."""
    per_side = []
    for side, row in zip(sides, rows, strict=True):
        values = side.table.columns.get(column)
        if values is None:
            raise _absent(column, side.path, f"the {side.name} file")
        per_side.append(text_per_item(side, column, values)[row[both]])
    different = np.asarray(per_side[0] != per_side[1], dtype=bool)
    if bool(different.any()):
        names = list(ids[both][different])
        raise GateError(
            "not_comparable",
            f"{column} differs between the two files on {len(names)} items ({examples(names)}): "
            "they were not scored on the same thing",
            where=sides[1].path,
            help="score both systems on the same inputs and labels",
        )


def merged_column(
    column: str, sides: tuple[Side, Side], rows: tuple[IndexArray, IndexArray], ids: ObjectArray
) -> ObjectArray:
    """A column from whichever side has it, None where no side does; where both have it they must agree."""
    values = [side.table.columns.get(column) for side in sides]
    if values[0] is None and values[1] is None:
        raise _absent(column, sides[1].path, "either file")
    return _merge(column, values, sides, rows, ids)


def shown_columns(
    names: tuple[str, ...], sides: tuple[Side, Side], rows: tuple[IndexArray, IndexArray]
) -> dict[str, ObjectArray]:
    """Text to print with an item: one column where the sides agree, else one a side. The first run speaks."""
    shown: dict[str, ObjectArray] = {}
    for name in names:
        texts = {
            side.name: _first_run(side, row, side.table.columns[name])
            for side, row in zip(sides, rows, strict=True)
            if name in side.table.columns
        }
        if len(texts) == 2 and bool(np.asarray(texts["baseline"] != texts["candidate"], dtype=bool).any()):
            shown.update({f"{name} ({side})": text for side, text in texts.items()})
        elif texts:
            shown[name] = next(iter(texts.values()))
    return shown


def _first_run(side: Side, row: IndexArray, values: ObjectArray) -> ObjectArray:
    first = np.full(len(side.ids), None, dtype=object)
    first[side.groups[::-1]] = values[::-1]
    text = np.full(len(row), None, dtype=object)
    text[row >= 0] = first[row[row >= 0]]
    return text


def cluster_codes(
    sides: tuple[Side, Side], rows: tuple[IndexArray, IndexArray], ids: ObjectArray
) -> tuple[IndexArray | None, int | None]:
    """0-based cluster of every item and the number of clusters; None when the policy names no cluster."""
    values = [side.table.clusters for side in sides]
    if values[0] is None and values[1] is None:
        return None, None
    names = _merge("the cluster", values, sides, rows, ids)
    without = absent(names)
    if bool(without.any()):
        raise GateError(
            "cluster_missing",
            f"{int(without.sum())} items have no cluster ({examples(list(ids[without]))})",
            where=sides[1].path,
            help="give every item its cluster; an item that stands alone gets one of its own",
        )
    codes = {name: code for code, name in enumerate(sorted(set(names)))}
    return np.fromiter((codes[name] for name in names), np.int64, len(names)), len(codes)


def _merge(
    column: str,
    values: list[ObjectArray | None],
    sides: tuple[Side, Side],
    rows: tuple[IndexArray, IndexArray],
    ids: ObjectArray,
) -> ObjectArray:
    merged = np.full(len(ids), None, dtype=object)
    for side, row, found in zip(sides, rows, values, strict=True):
        if found is None:
            continue
        here = row >= 0
        text = np.full(len(ids), None, dtype=object)
        text[here] = text_per_item(side, column, found)[row[here]]
        known = ~absent(text)
        clash = known & ~absent(merged) & np.asarray(merged != text, dtype=bool)
        if bool(clash.any()):
            raise GateError(
                "column_inconsistent",
                f"{column} differs between the two files ({examples(list(ids[clash]))})",
                where=side.path,
                help=f"{column} belongs to the item: write the same text in both files",
            )
        merged[known] = text[known]
    return merged


def _absent(column: str, path: str, place: str) -> GateError:
    return GateError(
        "column_missing",
        f"the policy names the column {column!r}, which is not in {place}",
        where=path,
        help="add the column to the file, or take its name out of the policy",
    )

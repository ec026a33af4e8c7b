"""Results as Python holds them -> the JSON Lines that a file of them would hold: one reader reads all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from numbers import Real
from os import PathLike, fspath
from typing import Any
from uuid import UUID

from gate.artifacts.opening import InMemory
from gate.safe import quoted
from gate.values import GateError

Results = str | PathLike[str] | Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | Any
"""A path, a list of dicts, a dict of columns, or a frame of pandas, polars or pyarrow."""

HELP = "give a path, a list of dicts, a dict of columns, or a pandas, polars or pyarrow table"


def named(results: Results, name: str) -> str:
    """What a request takes in the place of a path. name: as errors and the report call it.

    Errors: GateError for what is no table of rows with named columns.
    """
    if isinstance(results, str | PathLike):
        return fspath(results)
    rows = _rows(results, name)
    try:
        lines = [json.dumps(row, default=_plain, ensure_ascii=False) for row in rows]
        data = "\n".join([*lines, ""]).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise GateError(
            "invalid_results", f"a value cannot be read ({error})", where=name, help=HELP
        ) from None
    return InMemory(name, data)


def _rows(results: Any, name: str) -> list[Mapping[str, Any]]:
    columns = _columns(results)
    if columns is None and isinstance(results, Iterable):
        rows = list(results)
        if all(isinstance(row, Mapping) for row in rows):
            _check_names({key for row in rows for key in row}, name)
            return [{key: _cell(cell) for key, cell in row.items()} for row in rows]
    if columns is None:
        raise GateError("invalid_results", f"no results ({type(results).__name__})", where=name, help=HELP)
    names = [key for key, _ in columns]
    _check_names(names, name)
    if len(set(names)) < len(names):
        raise GateError(
            "duplicate_column", "two columns have one name", where=name, help="rename one of them"
        )
    cells = [[_cell(cell) for cell in column] for _, column in columns]
    if len(set(map(len, cells))) > 1:
        raise GateError("ragged_row", "the columns have different lengths", where=name, help=HELP)
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _columns(results: Any) -> list[tuple[Any, Iterable[Any]]] | None:
    """Name and values of each column, in the words of the table's own library; None of what is no table."""
    if isinstance(results, Mapping):
        return [(name, _values(column)) for name, column in results.items()]
    if hasattr(results, "to_pydict"):  # pyarrow
        return list(zip(results.column_names, map(_values, results.columns), strict=True))
    if hasattr(results, "iter_columns"):  # polars
        return [(column.name, _values(column)) for column in results.iter_columns()]
    if hasattr(results, "iloc") and hasattr(results, "columns"):  # pandas
        return [(name, _values(results.iloc[:, at])) for at, name in enumerate(results.columns)]
    return None


def _values(column: Any) -> Iterable[Any]:
    """The values of one column as Python's own."""
    for convert in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, convert):
            found: Iterable[Any] = getattr(column, convert)()
            return found
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise GateError("invalid_results", f"a column is no list ({type(column).__name__})", help=HELP)
    return column


def _check_names(names: Iterable[Any], where: str) -> None:
    bad = next((name for name in names if not isinstance(name, str)), None)
    if bad is not None:
        raise GateError(
            "invalid_results",
            f"the column {quoted(str(bad))} has no text as its name",
            where=where,
            help=HELP,
        )


def _cell(value: Any) -> Any:
    """Frames write NaN where there is no value; an infinite number stays one, which no metric accepts."""
    return None if isinstance(value, float) and math.isnan(value) else value


_TEXT: tuple[type, ...] = (date, UUID)


def _plain(value: Any) -> Any:
    """A value that JSON has no word for: numpy's numbers and arrays, decimals, dates."""
    convert: Callable[[], Any] | None = getattr(value, "tolist", None)
    if convert is not None:
        return convert()
    if isinstance(value, Decimal | Real):
        return float(value)
    if isinstance(value, _TEXT):
        return str(value)
    if type(value).__name__ in {"NAType", "NaTType"}:  # pandas' own words for "no value"
        return None
    raise TypeError(f"no number, text or truth value: {type(value).__name__}")

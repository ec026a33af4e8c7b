"""DuckDB as a reader: no network, no extensions, no globbing, errors as GateErrors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from gate.artifacts import limits
from gate.artifacts.unpack import budget, refuse_hollow
from gate.values import GateError

if TYPE_CHECKING:
    import duckdb

    from gate.artifacts.content import Content

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
    "preserve_insertion_order": "true",
    # One thread keeps aggregates in the order of the file; two files are read side by side instead.
    "threads": 1,
}


class Selected(NamedTuple):
    """SQL of a column, and DuckDB's name of its type."""

    sql: str
    kind: str


_PLAIN = frozenset({"varchar", "boolean", "double", "float", "tinyint", "smallint", "integer", "bigint"})
_PLAIN |= {"utinyint", "usmallint", "uinteger", "ubigint"}
"""Types whose columns numpy holds as they are."""


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of the caller's own; every thread needs one.

    All that are open share one empty database in memory, because starting one takes as long as a small query.
    The last one to be closed ends it, and gives back the memory that queries leave behind.
    """
    import duckdb  # noqa: PLC0415

    connection = duckdb.connect(":memory:gate", config=_CONFIG)
    try:
        connection.execute("SET enable_progress_bar = false")
        yield connection
    finally:
        connection.close()


@contextmanager
def readable(content: Content) -> Iterator[str]:
    """A name under which DuckDB opens exactly the file that was checked, whatever its path looks like."""
    descriptor = content.file.fileno()
    for place in (f"/proc/self/fd/{descriptor}", f"/dev/fd/{descriptor}"):
        if os.path.exists(place):  # noqa: PTH110 - the link itself is what is asked for
            yield place
            return
    if set(content.path) & set("*?[") or content.packed:
        raise GateError("artifact_unreadable", "the path holds a wildcard character", where=content.path)
    yield content.path


def refuse_bomb(
    connection: duckdb.DuckDBPyConnection, file: str, content: Content, names: Sequence[str]
) -> None:
    """Refuse a Parquet file that unpacks to far more than it is, before a row of it is read.

    A run of equal values takes no bytes however long it is, and a long text may be there once for all rows.
    """
    import duckdb  # noqa: PLC0415

    known = "SELECT sum(num_rows) FROM parquet_file_metadata(?)"
    held = (
        "SELECT coalesce(sum(row_group_num_rows) FILTER (WHERE column_id = 0), 0), coalesce(sum("
        "total_uncompressed_size) FILTER (WHERE list_contains(?, split_part(path_in_schema, ', ', 1))), 0) "
        "FROM parquet_metadata(?)"
    )
    try:
        told = connection.execute(known, [file]).fetchone()
        found = connection.execute(held, [list(names), file]).fetchone()
    except duckdb.Error as error:
        raise broken(error, content.path) from None
    rows, size = (int(value or 0) for value in found or (0, 0))
    rows = max(rows, int(told[0] or 0) if told else 0)
    free = (most for below, most in limits.FREE_TABLE_ROWS if content.bytes_on_disk < below)
    most = next(free, limits.TABLE_ROWS_A_BYTE * content.bytes_on_disk)
    refuse_hollow(rows, content.bytes_on_disk, content.path, most)
    if size > limits.HOLLOW_BYTES:
        budget(size, content.bytes_on_disk, content.path, most=limits.TABLE_BYTES)


def refuse_long_texts(
    connection: duckdb.DuckDBPyConnection, file: str, content: Content, selected: Sequence[Selected]
) -> None:
    """Refuse columns whose cells, each written out, are more than memory should hold."""
    import duckdb  # noqa: PLC0415

    texts = [one.sql for one in selected if one.kind not in _PLAIN or one.kind == "varchar"]
    if not texts:
        return
    listed = " + ".join(f"coalesce(sum(strlen(CAST({sql} AS VARCHAR))), 0)" for sql in texts)
    try:
        found = connection.execute(f"SELECT {listed} FROM read_parquet(?)", [file]).fetchone()  # noqa: S608
    except duckdb.Error as error:
        raise broken(error, content.path) from None
    size = int(found[0]) if found else 0
    if size > limits.HOLLOW_BYTES:
        budget(size, content.bytes_on_disk, content.path)


def quote(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def schema(connection: duckdb.DuckDBPyConnection, reader: str, file: str, path: str) -> dict[str, Any]:
    """Column name -> DuckDB type."""
    import duckdb  # noqa: PLC0415

    try:
        relation = connection.sql(f"SELECT * FROM {reader}(?)", params=[file])  # noqa: S608
        return dict(zip(relation.columns, relation.types, strict=True))
    except duckdb.Error as error:
        raise broken(error, path) from None


def select(path: str, schema: Mapping[str, Any], prefix: str = "") -> Selected | None:
    """The literal column, else a field inside a struct; None if there is none. prefix: SQL of the struct."""
    if path in schema:
        return _as_plain(f"{prefix}{quote(path)}", schema[path])
    for cut in [position for position, letter in enumerate(path) if letter == "."]:
        kind = schema.get(path[:cut])
        if kind is not None and kind.id == "struct":
            inner = select(path[cut + 1 :], dict(kind.children), f"{prefix}{quote(path[:cut])}.")
            if inner is not None:
                return inner
    return None


_AS_TEXT = frozenset({"date", "time", "uuid", "enum", "interval", "time with time zone"})


def _as_plain(sql: str, kind: Any) -> Selected:
    """Types that are neither text nor numbers as text; decimals as whole numbers or floats."""
    name = str(kind.id)
    if name in _AS_TEXT or name.startswith("timestamp"):
        return Selected(f"CAST({sql} AS VARCHAR)", "varchar")
    if name == "decimal":
        as_kind = "hugeint" if dict(kind.children).get("scale", 0) == 0 else "double"
        return Selected(f"CAST({sql} AS {as_kind})", as_kind)
    return Selected(sql, name)


def flat_names(schema: Mapping[str, Any], depth: int = 3) -> list[str]:
    """Dotted names of all columns and struct fields that are no lists."""
    names: list[str] = []
    for name, kind in schema.items():
        if kind.id == "struct" and depth > 1:
            names += [f"{name}.{inner}" for inner in flat_names(dict(kind.children), depth - 1)]
        elif kind.id not in {"list", "array", "map", "union"}:
            names.append(name)
    return names


def fetch(
    connection: duckdb.DuckDBPyConnection, reader: str, file: str, selected: Sequence[Selected], path: str
) -> tuple[int, list[list[Any]]]:
    """(rows, columns as Python values)."""
    import duckdb  # noqa: PLC0415

    listed = ", ".join([*(f"{one.sql} AS c{index}" for index, one in enumerate(selected)), "1 AS one"])
    try:
        found = connection.execute(f"SELECT {listed} FROM {reader}(?)", [file])  # noqa: S608
        if all(one.kind in _PLAIN for one in selected):
            columns = found.fetchnumpy()
            return len(columns["one"]), [columns[f"c{index}"].tolist() for index in range(len(selected))]
        rows = found.fetchall()
    except duckdb.Error as error:
        raise broken(error, path) from None
    return len(rows), [[row[index] for row in rows] for index in range(len(selected))]


def broken(error: Exception, path: str) -> GateError:
    """DuckDB's refusal, cut to its first line and without paths."""
    text = str(error).split("\n", 1)[0]
    for place in ("/proc/self/fd/", "/dev/fd/"):
        text = text.replace(place, "file ")
    return GateError(
        "broken_file",
        f"not a readable Parquet file ({text.encode('unicode_escape').decode('ascii')[:160]})",
        where=path,
        help="write the file again; was it cut short?",
    )

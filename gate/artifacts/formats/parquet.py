"""Parquet, through DuckDB: only the named columns are read."""

from __future__ import annotations

from typing import Any

from gate.artifacts import engine
from gate.artifacts.content import Content
from gate.artifacts.records import Records, paths_of
from gate.artifacts.table import ReadRequest


def load(content: Content, request: ReadRequest | None) -> Records:
    """The columns as Python values. Large files take another way (``gate.artifacts.large``)."""
    with engine.connect() as connection, engine.readable(content) as file:
        schema = engine.schema(connection, "read_parquet", file, content.path)
        paths = engine.flat_names(schema) if request is None else list(paths_of(request).values())
        selected = {path: engine.select(path, schema) for path in dict.fromkeys(paths)}
        present = {path: sql for path, sql in selected.items() if sql is not None}
        count, found = engine.fetch(connection, "read_parquet", file, list(present.values()), content.path)
    cells: dict[str, list[Any]] = dict(zip(present, found, strict=True))
    return Records(
        format="parquet",
        count=count,
        cells=cells,
        available=tuple(engine.flat_names(schema)),
        place=lambda row: f"row {row + 1}",
    )

"""Parquet, through DuckDB: only the named columns are read."""

from __future__ import annotations

from typing import Any

from gate.artifacts import engine
from gate.artifacts.content import Content
from gate.artifacts.records import Records, paths_of
from gate.artifacts.run_words import DEEPEST, is_evidence
from gate.artifacts.table import ReadRequest


def load(content: Content, request: ReadRequest | None) -> Records:
    """The columns as Python values."""
    with engine.connect() as connection, engine.readable(content) as file:
        schema = engine.schema(connection, "read_parquet", file, content.path)
        paths = engine.flat_names(schema) if request is None else list(paths_of(request).values())
        telling = [name for name in engine.flat_names(schema, DEEPEST) if is_evidence(name)]
        selected = {path: engine.select(path, schema) for path in dict.fromkeys([*paths, *telling])}
        present = {path: one for path, one in selected.items() if one is not None}
        names = [name for name in schema if any(p == name or p.startswith(f"{name}.") for p in selected)]
        engine.refuse_bomb(connection, file, content, names)
        engine.refuse_long_texts(connection, file, content, list(present.values()))
        count, found = engine.fetch(connection, "read_parquet", file, list(present.values()), content.path)
    cells: dict[str, list[Any]] = dict(zip(present, found, strict=True))
    return Records(
        format="parquet",
        count=count,
        cells={path: cells[path] for path in paths if path in cells},
        evidence={path: cells[path] for path in telling if path in cells},
        available=tuple(engine.flat_names(schema)),
        place=lambda row: f"row {row + 1}",
    )

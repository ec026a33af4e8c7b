"""Large Parquet through DuckDB."""

from __future__ import annotations

from typing import Any

from gate.artifacts import engine
from gate.artifacts.bars import bar_columns
from gate.artifacts.content import Content
from gate.artifacts.large.pulled import Pulled, Query, lines_of, wanted
from gate.artifacts.records import run_paths
from gate.artifacts.run_words import DEEPEST, is_evidence
from gate.artifacts.table import ReadRequest

_INTEGERS = frozenset(
    {"tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint"}
)
_TEXTS = frozenset({"varchar", "enum", "uuid"})
_FLOATS = frozenset({"double", "float"})


def pull(content: Content, request: ReadRequest) -> Pulled | None:
    """The named columns, or None where the plain way has to look."""
    with engine.connect() as connection, engine.readable(content) as file:
        schema = engine.schema(connection, "read_parquet", file, content.path)
        engine.refuse_bomb(connection, file, content, ())
        return _pull(content, request, schema)


def _pull(content: Content, request: ReadRequest, schema: dict[str, Any]) -> Pulled | None:
    kinds = {name: str(kind.id) for name, kind in schema.items()}
    nested = [name for name in engine.flat_names(schema, DEEPEST) if name not in kinds]
    telling = any(map(is_evidence, nested)) or bar_columns(nested, request)
    want = None if telling else wanted(request, list(kinds))
    if want is None or not _fits(request, kinds, want.id, (*want.texts,), want.metrics):
        return None

    def text(path: str) -> str:
        return f"coalesce(CAST({engine.quote(path)} AS VARCHAR), '')"

    def number(path: str, _: str) -> str:
        return f"coalesce(CAST({engine.quote(path)} AS DOUBLE), 'nan'::DOUBLE)"

    result = Query(table="read_parquet(?)", text=text, number=number).run(content, want)
    if result is None:
        return None
    count, (ids, *joined), numbers = result
    texts = [cells for column in joined if (cells := lines_of(column, count)) is not None]
    if len(texts) < len(joined):
        return None  # cells of several lines
    return Pulled(
        format="parquet",
        count=count,
        ids=ids.encode("utf-8") + b"\n",
        texts={
            path: [int(cell) if cell else None for cell in cells] if kinds[path] in _INTEGERS else cells
            for path, cells in zip(want.texts, texts, strict=True)
        },
        numbers=dict(zip(want.metrics, numbers, strict=True)),
        cell=lambda path, row: _cell(content, path, row),
        available=tuple(schema),
        text=False,
        lines=None,
    )


def _fits(
    request: ReadRequest, kinds: dict[str, str], id_path: str, texts: tuple[str, ...], metrics: Any
) -> bool:
    """Whether text is text and numbers are numbers; booleans only for metrics that are pass/fail.

    A run's error may be text only: as a number, 0 says that there was none.
    """
    if not all(kinds.get(path, "varchar") in _TEXTS for path in run_paths(request).values()):
        return False
    if kinds[id_path] not in _TEXTS | _INTEGERS or not all(
        kinds[path] in _TEXTS | _INTEGERS for path in texts
    ):
        return False
    binary = {path for path, kind in metrics.items() if kind == "binary"}
    return not request.words and all(
        kinds[path] in _INTEGERS | _FLOATS or (kinds[path] == "boolean" and path in binary)
        for path in metrics
    )


def _cell(content: Content, path: str, row: int) -> Any:
    with engine.connect() as connection, engine.readable(content) as file:
        sql = f"SELECT {engine.quote(path)} FROM read_parquet(?) LIMIT 1 OFFSET {row}"  # noqa: S608
        found = connection.execute(sql, [file]).fetchone()
    return None if found is None else found[0]

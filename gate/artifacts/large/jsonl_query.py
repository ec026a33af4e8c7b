"""Large JSON Lines through DuckDB: cells as JSON text, so that 1, 1.0, "1" and true stay apart."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gate.artifacts.content import Content
from gate.artifacts.large.bytesort import count_byte
from gate.artifacts.large.json_lines import flat_lines, key_bytes
from gate.artifacts.large.pulled import Pulled, Query, literal, wanted
from gate.artifacts.limits import LINE_BYTES
from gate.artifacts.lookup import names_in
from gate.artifacts.strict_json import parse_line
from gate.artifacts.table import ReadRequest
from gate.values import GateError


def pull(content: Content, request: ReadRequest) -> Pulled | None:
    """The named columns, or None where the plain way has to look."""
    rows = _first_rows(content)
    if rows is None:
        return None
    names = list(rows[0])
    keys = key_bytes(names, ascii_only=content.head.partition(b"\n")[0].isascii())
    want = wanted(request, names)
    if want is None or keys is None or not all(_is_flat(row, names) for row in rows):
        return None
    result = _query([want.id, *want.texts, *want.metrics], request).run(content, want)
    if result is None:
        return None
    count, (ids, *joined), numbers = result
    if flat_lines(content, keys) != count:
        return None
    plain_ids = _plain_ids(ids.encode("utf-8") + b"\n", count)
    if plain_ids is None:
        return None
    return Pulled(
        format="jsonl",
        count=count,
        ids=plain_ids,
        texts={path: _cells(cells) for path, cells in zip(want.texts, joined, strict=True)},
        numbers=dict(zip(want.metrics, numbers, strict=True)),
        cell=lambda path, row: parse_line(content.line_at(row + 1).decode("utf-8"), "", row + 1)[path],
        available=names_in(rows),
        text=False,
        lines=np.arange(count, dtype=np.int64) + 1,
    )


def _first_rows(content: Content) -> list[dict[str, Any]] | None:
    """The first rows; the scan tells whether all others are like them."""
    lines = content.head.split(b"\n")[:-1][:50]
    try:
        rows = [parse_line(line.decode("utf-8"), content.path, 1) for line in lines]
    except (GateError, UnicodeDecodeError):
        return None
    return rows if rows and all(type(row) is dict for row in rows) else None


def _is_flat(row: dict[str, Any], names: list[str]) -> bool:
    return list(row) == names and {dict, list}.isdisjoint(map(type, row.values()))


def _query(paths: list[str], request: ReadRequest) -> Query:
    columns = {path: f"{literal(path)}: 'JSON'" for path in paths}
    words = " ".join(
        f"WHEN {literal(json.dumps(word, ensure_ascii=False))} THEN {value!r}"
        for word, value in request.words.items()
    )

    def text(path: str) -> str:
        return f"coalesce({_token(path)}, 'null')"

    def number(path: str, kind: str) -> str:
        token = _token(path)
        booleans = "WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0" if kind == "binary" else ""
        plain = f"CASE WHEN {token} IS NULL THEN 'nan'::DOUBLE ELSE TRY_CAST({token} AS DOUBLE) END"
        return f"CASE {token} {words} {booleans} ELSE {plain} END" if words or booleans else plain

    return Query(
        table=(
            f"read_json(?, format='newline_delimited', columns={{{', '.join(columns.values())}}}, "
            f"maximum_object_size={LINE_BYTES}, compression='none', ignore_errors=false)"
        ),
        text=text,
        number=number,
    )


def _token(path: str) -> str:
    from gate.artifacts.engine import quote  # noqa: PLC0415

    return f"{quote(path)}::VARCHAR"


def _plain_ids(joined: bytes, count: int) -> bytes | None:
    """Ids of one type, each line ended: all text without escapes, or all whole numbers."""
    quotes = count_byte(joined, '"')
    if quotes == 2 * count and b"\\" not in joined and joined.startswith(b'"'):
        bare = joined.translate(None, b'"')
        return bare if count_byte(bare, "\n") == count else None
    if quotes == 0 and not joined.translate(None, b"0123456789\n"):
        return joined
    return None


def _cells(joined: str) -> list[Any]:
    """JSON texts as values; most columns hold few distinct ones."""
    known: dict[str, Any] = {}
    tokens = joined.split("\n")
    for token in set(tokens):
        known[token] = parse_line(token, "", 1)
    return [known[token] for token in tokens]

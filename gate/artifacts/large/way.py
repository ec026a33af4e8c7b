"""Whether a file takes the fast way, and the way itself."""

from __future__ import annotations

import importlib
from typing import cast

from gate.artifacts.content import Content
from gate.artifacts.large.pulled import Pulled
from gate.artifacts.table import ItemTable, ReadRequest, Source

BYTES = 8 << 20
"""Text files above this size; near 100,000 rows both ways take the same time."""
PARQUET_BYTES = 1 << 18
QUERIES = {"csv": "csv_query", "tsv": "csv_query", "jsonl": "jsonl_query", "parquet": "parquet_query"}


def read_large(
    content: Content, name: str, request: ReadRequest, least: int | None = None
) -> ItemTable | None:
    """The table of a file of at least ``least`` bytes, or None where the plain way has to read it."""
    if least is None:
        least = PARQUET_BYTES if name == "parquet" else BYTES
    if name not in QUERIES or content.size < least:
        return None
    from gate.artifacts.large.assemble import assemble  # noqa: PLC0415

    module = importlib.import_module(f"gate.artifacts.large.{QUERIES[name]}")
    pulled = cast("Pulled | None", module.pull(content, request))
    if pulled is None:
        return None
    source = Source(content.path, pulled.format, content.sha256, content.bytes_on_disk)
    return assemble(pulled, request, source)

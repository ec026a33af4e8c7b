"""The way of a file: open, detect, load, check."""

from __future__ import annotations

from gate.artifacts.build import build
from gate.artifacts.content import Content, open_content
from gate.artifacts.detect import detect_content
from gate.artifacts.registry import named
from gate.artifacts.table import ItemTable, ReadRequest, Source
from gate.errors import GateError, quoted


def read(path: str, request: ReadRequest) -> ItemTable:
    """One artifact as a checked table of the columns that ``request`` names, or a GateError."""
    content = open_content(path)
    try:
        name = detect_content(content) if request.format == "auto" else named(request.format).name
        chosen = named(name)
        if request.system is not None and not chosen.systems:
            raise GateError(
                "no_systems",
                f"a {name} file holds one system, but the policy asks for {quoted(request.system)}",
                where=path,
                help="leave out artifacts.system, or give each system its own file",
            )
        records = chosen.load()(content, request)
        source = _source(content, records.format, records.system, dict(records.facts))
        return build(records, request, source)
    finally:
        content.close()


def detect(path: str) -> str:
    """The name of the format of a file, from its bytes."""
    content = open_content(path)
    try:
        return detect_content(content)
    finally:
        content.close()


def _source(content: Content, name: str, system: str | None, facts: dict[str, object]) -> Source:
    return Source(content.path, name, content.sha256, content.bytes_on_disk, system, facts)

"""What the queries pull out of a large file, in file order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.artifacts import engine
from gate.artifacts.bars import bar_columns
from gate.artifacts.content import Content
from gate.artifacts.large.scan import Places
from gate.artifacts.records import deciding_metrics, paths_of, run_paths
from gate.artifacts.run_words import is_evidence
from gate.artifacts.table import FloatArray, ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """ids: UTF-8, one a line, each ended.

    texts: path -> cells, for repeats, clusters, text columns and run status. numbers: path -> values, not
    finite where there is no number. cell: what stands there, as Python value. lines: 1-based line of each
    row, where the format has lines.
    """

    format: str
    count: int
    ids: bytes
    texts: Mapping[str, list[Any]]
    numbers: Mapping[str, FloatArray]
    cell: Callable[[str, int], Any]
    available: tuple[str, ...]
    text: bool
    lines: Places | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The paths of a request that a file has. texts and metrics in a fixed order."""

    id: str
    texts: tuple[str, ...]
    metrics: Mapping[str, str]


def wanted(request: ReadRequest, names: Sequence[str]) -> Wanted | None:
    """What to pull, or None if a column that must be there is not, is doubled or may be inside another."""

    def path(name: str) -> str:
        return request.mapping.get(name, name)

    def has(path: str) -> bool:
        return path in names

    if any(
        names.count(path) > 1 or (not {".", "["}.isdisjoint(path) and not has(path))
        for path in paths_of(request).values()
    ):
        return None
    needed = [request.id, *(name for name in (request.repeat, request.cluster) if name is not None)]
    needed += [name for name in (*request.columns, *request.metrics) if name not in request.optional]
    if not all(has(path(name)) for name in needed):
        return None
    metrics = {path(name): kind for name, kind in request.metrics.items() if has(path(name))}
    texts = [request.repeat, request.cluster, *request.columns]
    paths = [path(name) for name in texts if name is not None] + list(run_paths(request).values())
    paths += [name for name in names if is_evidence(name) and name not in deciding_metrics(request)]
    paths += bar_columns(names, request)
    return Wanted(path(request.id), tuple(dict.fromkeys(filter(has, paths))), metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A table function and the SQL of every column."""

    table: str
    text: Callable[[str], str]
    number: Callable[[str, str], str]

    def run(self, content: Content, want: Wanted) -> tuple[int, list[str], list[FloatArray]] | None:
        """(rows, ids and texts each joined by line ends, numbers); None where the plain way has to look.

        To be run before anything that needs the interpreter's lock: two queries and an import fill two cores.
        """
        texts = [self.text(path) for path in (want.id, *want.texts)]
        numbers = [self.number(path, kind) for path, kind in want.metrics.items()]
        with engine.connect() as connection, engine.readable(content) as file:
            found = engine.gathered(connection, texts, numbers, self.table, file)
        return None if found is None or found[0] == 0 else found


def lines_of(joined: str, count: int) -> list[str] | None:
    """The cells of a joined column; None if cells hold line ends themselves."""
    cells = joined.split("\n")
    if len(cells) != count:
        return None
    known: dict[str, str] = {}  # most text columns hold few distinct texts: keep one of each
    return [known.setdefault(cell, cell) for cell in cells]


def literal(text: str) -> str:
    """An SQL text."""
    return "'" + text.replace("'", "''") + "'"

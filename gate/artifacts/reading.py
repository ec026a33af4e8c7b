"""The way of a file: open, detect, load, check."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

from gate.artifacts.build import build
from gate.artifacts.cached import without_cached
from gate.artifacts.content import Content, open_content
from gate.artifacts.detect import detect_content
from gate.artifacts.labels import joined, of_labels, with_absent
from gate.artifacts.records import Records
from gate.artifacts.registry import Format, named
from gate.artifacts.rows import by_name, chosen_rows, refuse_telling_selectors
from gate.artifacts.scoring_columns import bar_columns, bars
from gate.artifacts.table import ItemTable, ReadRequest, Source
from gate.safe import quoted
from gate.values import GateError


def read(path: str, request: ReadRequest) -> ItemTable:
    """One artifact as a checked table of the columns that ``request`` names, or a GateError.

    What is only to be shown must not be what a file fails by.
    """
    if request.beside:
        try:
            return _read(path, request)
        except GateError:
            metrics = {name: kind for name, kind in request.metrics.items() if name not in request.beside}
            request = replace(request, metrics=metrics, beside=frozenset())
    return _read(path, request)


def _read(path: str, request: ReadRequest) -> ItemTable:
    content = open_content(path)
    try:
        chosen = chosen_format(content, request.format)
        name = chosen.name
        refuse_telling_selectors(request, path)
        if request.system is not None and not chosen.systems:
            raise _no_systems(name, request.system, path)
        try:
            return _table(content, chosen, request)
        except GateError as error:
            if error.code != "duplicate_ids":
                raise
            raise by_name(error, load(chosen, content, None), request) from error
    finally:
        content.close()


def _table(content: Content, chosen: Format, request: ReadRequest) -> ItemTable:
    records = chosen_rows(_loaded(chosen, content, request), request, content.path)
    labels = None if request.labels is None else read(request.labels, of_labels(request))
    records = with_absent(records, request, labels, content.path)
    if labels is not None:
        records = joined(records, request, labels, content.path)
    source = _source(content, records.format, records.system, dict(records.facts))
    return build(records, request, source)


def _loaded(chosen: Format, content: Content, request: ReadRequest) -> Records:
    """The records, and of a table what its columns say of how the scores were made."""
    records = load(chosen, content, request)
    columns = [] if chosen.own_items else bar_columns(records.available, request)
    if not columns:
        return records
    told = load(chosen, content, replace(request, columns=(*request.columns, *columns)))
    return replace(records, stated=(*records.stated, *bars(told.cells, columns, request)))


def chosen_format(content: Content, declared: str) -> Format:
    """The declared format, or the one that is detected. A tool's format has to be what the file is."""
    if declared == "auto":
        return named(detect_content(content))
    chosen = named(declared)
    if chosen.own_items or chosen.name == "npz":
        found = detect_content(content, chosen.name)
        if found != chosen.name:
            raise GateError(
                "wrong_format",
                f"the file is no {chosen.name} (it looks like {found})",
                where=content.path,
                help="leave out artifacts.format to have it detected from the file's bytes",
            )
    return chosen


LARGE_BYTES = 8 << 20
"""Two files from this size on are read side by side."""

_UNFIT = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def load(chosen: Format, content: Content, request: ReadRequest | None) -> Records:
    """The records. A tool's file whose parts have other types than the tool writes is refused as a whole."""
    reader = chosen.load()
    try:
        return without_cached(reader(content, request), request)
    except _UNFIT as error:
        if not chosen.own_items:
            raise
        raise GateError(
            "invalid_report",
            f"its parts are not as {chosen.name} writes them ({type(error).__name__})",
            where=content.path,
            help="give the file as the tool wrote it, or map its rows: artifacts: {format: json}",
        ) from error


def _no_systems(name: str, system: str, path: str) -> GateError:
    return GateError(
        "no_systems",
        f"a {name} file holds one system, but the policy asks for {quoted(system)}",
        where=path,
        help="leave out artifacts.system, or give each system its own file",
    )


def read_pair(
    baseline: str, candidate: str, baseline_request: ReadRequest, candidate_request: ReadRequest
) -> tuple[ItemTable, ItemTable]:
    """Both artifacts of a comparison; two large files are read side by side."""
    work = ((baseline, baseline_request), (candidate, candidate_request))
    if not all(_is_large(path) for path, _ in work):
        first, second = (read(path, request) for path, request in work)
        return first, second
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    importlib.import_module("duckdb")  # what both threads would wait for
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(read, path, request) for path, request in work]
        importlib.import_module("scipy.special")  # every test needs it next; here its import is no wait
        return futures[0].result(), futures[1].result()


def _is_large(path: str) -> bool:
    try:
        return Path(path).stat().st_size >= LARGE_BYTES
    except (OSError, ValueError):
        return False


def detect(path: str) -> str:
    """The name of the format of a file, from its bytes."""
    content = open_content(path)
    try:
        return detect_content(content)
    finally:
        content.close()


def _source(content: Content, name: str, system: str | None, facts: dict[str, object]) -> Source:
    return Source(str(content.path), name, content.sha256, content.bytes_on_disk, system, facts)

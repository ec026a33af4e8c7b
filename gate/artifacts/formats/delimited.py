"""CSV and TSV: delimiter from the header, cells are text, strict quoting, no ragged rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from gate.artifacts import limits
from gate.artifacts.content import Content
from gate.artifacts.records import Records, paths_of
from gate.artifacts.run_words import is_evidence
from gate.artifacts.table import ReadRequest
from gate.safe import examples, quoted
from gate.values import GateError

DELIMITERS = (",", "\t", ";", "|")
csv.field_size_limit(limits.LINE_BYTES)


def load(content: Content, request: ReadRequest | None) -> Records:
    """All rows of the columns that are wanted (all columns without a request)."""
    header, rows, delimiter = open_table(content, request.format if request else "auto")
    wanted = _wanted(header, request, content)
    telling = {name: header.index(name) for name in header if is_evidence(name)}
    cells: dict[str, list[str]] = {name: [] for name in {**telling, **wanted}}
    appends = [(cells[name].append, index) for name, index in {**telling, **wanted}.items()]
    lines: list[int] = []
    for line, row in rows:
        if len(row) != len(header):
            raise _ragged(content.where(line), len(row), len(header))
        for append, index in appends:
            append(row[index])
        lines.append(line)
    return Records(
        format="tsv" if delimiter == "\t" else "csv",
        count=len(lines),
        cells={name: cells[name] for name in wanted},
        evidence={name: cells[name] for name in telling},
        available=tuple(name for name in header if name),
        text=True,
        decimal_comma=delimiter == ";" and _decimal_commas(cells, request, content),
        lines=lines,
    )


Rows = Iterator[tuple[int, list[str]]]


def open_table(content: Content, format_name: str = "auto") -> tuple[list[str], Rows, str]:
    """(header names, rows with their lines, delimiter)."""
    old_mac = b"\n" not in content.head and b"\r" in content.head
    lines = content.lines(b"\r" if old_mac else b"\n")
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        raise GateError("no_items", "the file holds no rows", where=content.path)
    number, line = first
    delimiter = "\t" if format_name == "tsv" else sniff(line)
    rows = _parsed(_chain(line, lines), delimiter, content, number - 1)
    _, header = next(rows)
    names = [name.strip() for name in header]
    if names and not names[0] and "index" not in names:
        names[0] = "index"  # pandas writes its index without a name
    if len(names) > limits.COLUMNS:
        raise GateError("too_many_columns", f"{len(names):,} columns", where=content.where(number))
    return names, rows, delimiter


def sniff(header: str) -> str:
    """The delimiter that occurs most in the header, outside quotes."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _chain(first: str, rest: Iterable[tuple[int, str]]) -> Iterator[str]:
    yield first
    for _, line in rest:
        yield line


def _parsed(lines: Iterator[str], delimiter: str, content: Content, before: int) -> Rows:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    start = before
    try:
        for row in reader:
            if row:
                yield start + 1, row
            start = before + reader.line_num
    except csv.Error as error:
        raise GateError(
            "invalid_csv",
            f"not valid CSV: {error}",
            where=content.where(start + 1),
            help="quote fields that hold quotes, delimiters or line breaks; was the file cut short?",
        ) from None


def _wanted(header: Sequence[str], request: ReadRequest | None, content: Content) -> dict[str, int]:
    paths = list(header) if request is None else list(paths_of(request).values())
    wanted = {path: header.index(path) for path in paths if path in header and path}
    doubled = [path for path in wanted if header.count(path) > 1]
    if doubled and request is not None:
        raise GateError(
            "duplicate_column",
            f"the header names a column more than once ({examples(doubled)})",
            where=content.where(1),
            help="rename one of the columns",
        )
    return wanted


def _ragged(where: str, found: int, expected: int) -> GateError:
    return GateError(
        "ragged_row",
        f"the row has {found} fields, the header {expected}",
        where=where,
        help="quote fields that hold the delimiter; was the file cut short?",
    )


def _decimal_commas(cells: dict[str, list[str]], request: ReadRequest | None, content: Content) -> bool:
    """Whether numbers are written 0,5; a file that mixes it with 0.5 is refused."""
    metrics = cells if request is None else [request.mapping.get(name, name) for name in request.metrics]
    used = [cell for name in metrics for cell in cells.get(name, ())]
    commas = next((cell for cell in used if _number_with(cell, ",")), None)
    points = next((cell for cell in used if _number_with(cell, ".")), None)
    if commas is not None and points is not None and request is not None:
        raise GateError(
            "mixed_decimals",
            f"decimal commas and decimal points in one file ({quoted(commas)}, {quoted(points)})",
            where=content.path,
            help="write all numbers with a decimal point",
        )
    return commas is not None


def _number_with(cell: str, mark: str) -> bool:
    whole, found, part = cell.strip().lstrip("+-").partition(mark)
    return bool(found) and (whole + part).isdigit() and (whole + part).isascii()

"""CSV and TSV: delimiter from the header, cells are text, strict quoting, no ragged rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gate.artifacts import limits
from gate.artifacts.content import Content
from gate.artifacts.encoding import BOM
from gate.artifacts.records import Records, paths_of
from gate.artifacts.run_words import is_evidence
from gate.artifacts.table import ReadRequest
from gate.safe import examples, quoted
from gate.values import GateError

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = (",", "\t", ";", "|")
BLOCK_ROWS = 512
"""Few enough to stay in the processor's cache."""


def load(content: Content, request: ReadRequest | None) -> Records:
    """All rows of the columns that are wanted (all columns without a request)."""
    table = open_table(content, request.format if request else "auto")
    wanted = _wanted(table.header, request, content)
    telling = {name: table.header.index(name) for name in table.header if is_evidence(name)}
    cells, lines = _columns(content, table, {**telling, **wanted})
    return Records(
        format="tsv" if table.delimiter == "\t" else "csv",
        count=len(lines),
        cells={name: cells[name] for name in wanted},
        evidence={name: cells[name] for name in telling},
        available=tuple(name for name in table.header if name),
        text=True,
        decimal_comma=table.delimiter == ";" and _decimal_commas(cells, request, content),
        lines=lines,
    )


class Table(NamedTuple):
    """header: names of the columns. line: of the header. end: of lines."""

    header: list[str]
    line: int
    delimiter: str
    end: bytes


def open_table(content: Content, format_name: str = "auto") -> Table:
    """How the file is laid out, by its first line that is not blank."""
    old_mac = b"\n" not in content.head and b"\r" in content.head
    end = b"\r" if old_mac else b"\n"
    first = next(((number, line) for number, line in content.lines(end) if line.strip()), None)
    if first is None:
        raise GateError("no_items", "the file holds no rows", where=content.path)
    number, line = first
    layout = Table([], number, "\t" if format_name == "tsv" else sniff(line), end)
    _, header = next(_rows(content, layout))
    names = [name.strip() for name in header]
    if names and not names[0] and "index" not in names:
        names[0] = "index"  # pandas writes its index without a name
    if len(names) > limits.COLUMNS:
        raise GateError("too_many_columns", f"{len(names):,} columns", where=content.where(number))
    return layout._replace(header=names)


def _reader(lines: Iterable[str], delimiter: str) -> Reader:
    """The library has one bound for the cells of all its readers; ours is that of a line."""
    csv.field_size_limit(limits.LINE_BYTES)
    return csv.reader(lines, delimiter=delimiter, strict=True)


Cells = dict[str, list[str]]
Block = tuple[Sequence[int], list[list[str]]]
"""The lines on which rows begin, and the wanted columns of these rows."""


def _columns(content: Content, table: Table, wanted: Mapping[str, int]) -> tuple[Cells, Sequence[int]]:
    """(name -> cells, the line on which each row begins)."""
    try:
        return _by_blocks(content, table, wanted)
    except (csv.Error, UnicodeDecodeError):
        return _row_by_row(content, table, wanted)  # which finds the place of the first fault


def _by_blocks(content: Content, table: Table, wanted: Mapping[str, int]) -> tuple[Cells, Sequence[int]]:
    """Errors: csv.Error and UnicodeDecodeError, somewhere behind the first fault."""
    columns: list[list[str]] = [[] for _ in wanted]
    lines: list[int] = []
    for starts, cells in _blocks(content, table, list(wanted.values())):
        lines += starts
        for column, more in zip(columns, cells, strict=True):
            column.extend(more)
    return {name: column[1:] for name, column in zip(wanted, columns, strict=True)}, lines[1:]


def _blocks(content: Content, table: Table, indexes: Sequence[int]) -> Iterator[Block]:
    """The header and all rows. Where the first quote stands, the csv module takes over."""
    if table.end != b"\n":
        raise csv.Error("other line ends")
    width, line = len(table.header), 1
    pieces = _pieces(content)
    for piece in pieces:
        cells = _plain_cells(piece, table)
        if cells is None:
            yield from _quoted_blocks(chain([piece], pieces), line, table, indexes)
            return
        rows = len(cells) // width
        yield range(line, line + rows), [cells[index::width] for index in indexes]
        line += rows


def _pieces(content: Content) -> Iterator[bytes]:
    """Pieces of whole lines that are text, without a byte order mark."""
    for number, raw in enumerate(content.pieces()):
        piece = raw if number else raw.removeprefix(BOM)
        if b"\x00" in piece or len(piece) > limits.LINE_BYTES:
            raise csv.Error("no text, or a long line")
        yield piece if piece.endswith(b"\n") else piece + b"\n"


def _plain_cells(piece: bytes, table: Table) -> list[str] | None:
    """All cells one behind the other, where no quote can make delimiters and line ends mean something else.

    None unless in every row as many delimiters stand as in the header.
    """
    piece = piece.replace(b"\r\n", b"\n") if b"\r" in piece else piece
    width = len(table.header)
    if b'"' in piece or b"\r" in piece or width == 1:
        return None
    codes = np.frombuffer(piece, dtype=np.uint8)
    end, delimiter = ord("\n"), ord(table.delimiter)
    marks = codes[(codes == end) | (codes == delimiter)]
    ends = np.flatnonzero(marks == end)
    if len(ends) * width != len(marks) or (ends % width != width - 1).any():
        return None
    return piece.decode("utf-8").replace("\n", table.delimiter).split(table.delimiter)[:-1]


def _quoted_blocks(
    pieces: Iterable[bytes], first: int, table: Table, indexes: Sequence[int]
) -> Iterator[Block]:
    """By the csv module. first: line on which the pieces begin."""
    texts = (io.StringIO(piece.decode("utf-8"), newline="\n") for piece in pieces)
    start = table.line if first == 1 else first
    reader = _reader(islice(chain.from_iterable(texts), start - first, None), table.delimiter)
    end = start - 1
    while block := list(islice(reader, BLOCK_ROWS)):
        begin, end = end + 1, start - 1 + reader.line_num
        rows = block if all(block) else list(filter(None, block))
        if set(map(len, rows)) - {len(table.header)}:
            raise csv.Error("a ragged row")
        whole = len(rows) == end - begin + 1
        lines = range(begin, end + 1) if whole else _starts(block, begin)
        yield lines, [list(map(itemgetter(index), rows)) for index in indexes]


def _starts(rows: Sequence[Sequence[str]], first: int) -> list[int]:
    """The lines on which rows begin: cells may hold line ends, and a blank line is a row of no cells."""
    steps = [1 + sum(cell.count("\n") for cell in row) for row in rows]
    return [start for start, row in zip(accumulate(steps, initial=first), rows, strict=False) if row]


def _row_by_row(content: Content, table: Table, wanted: Mapping[str, int]) -> tuple[Cells, Sequence[int]]:
    """The same in steps of one row, for an error at its place."""
    cells: Cells = {name: [] for name in wanted}
    lines: list[int] = []
    for line, row in islice(_rows(content, table), 1, None):
        if len(row) != len(table.header):
            raise _ragged(content.where(line), len(row), len(table.header))
        for name, index in wanted.items():
            cells[name].append(row[index])
        lines.append(line)
    return cells, lines


def _rows(content: Content, table: Table) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row, of the header first."""
    start = before = table.line - 1
    lines = (line for number, line in content.lines(table.end) if number > before)
    reader = _reader(lines, table.delimiter)
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


def sniff(header: str) -> str:
    """The delimiter that occurs most in the header, outside quotes."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


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

"""How the rows of a CSV file are made, by its bytes alone: what stands in quotes ends no row and no cell."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.content import Content
from gate.artifacts.large.scan import OddBytesError, Places, line_blocks


@dataclass(slots=True)
class _Marks:
    """Counts so far. lines: line ends. rows: which of those stand outside quotes. returns: carriage returns.

    crlf: rows that end in a carriage return and a line end. in_quotes: 1 after an odd number of quotes.
    odd: a quote that neither opens nor closes a whole cell.
    """

    lines: int = 0
    rows: list[Places] = field(default_factory=list)
    delimiters: int = 0
    returns: int = 0
    crlf: int = 0
    in_quotes: int = 0
    odd: bool = False


def row_lines(content: Content, delimiter: str, rows: int, columns: int) -> Places | None:
    """The 1-based line on which each row after the header begins.

    None unless there are ``rows`` rows of ``columns`` cells, quotes stand around whole cells and all rows end
    alike: an engine forgives a delimiter too many, or a blank after a quote.
    """
    marks = _Marks()
    try:
        for data, ends in line_blocks(content):
            _count(data, ends, delimiter, marks)
    except OddBytesError:
        return None
    found = np.concatenate(marks.rows)
    same_ends = marks.returns == marks.crlf and marks.crlf in {0, found.size}
    if marks.odd or marks.in_quotes or not same_ends or found.size != rows + 1:
        return None
    return found[:-1] + 2 if marks.delimiters == found.size * (columns - 1) else None


def _count(data: bytes, ends: Places, delimiter: str, marks: _Marks) -> None:
    codes: NDArray[np.uint8] = np.frombuffer(data, dtype=np.uint8)
    delimiters = codes == ord(delimiter)
    rows = np.arange(marks.lines, marks.lines + ends.size)
    marks.lines += ends.size
    if marks.in_quotes or b'"' in data:
        # A byte wraps around at 256, which leaves odd and even as they are.
        inside = (np.cumsum(codes == ord('"'), dtype=np.uint8) + np.uint8(marks.in_quotes)) & np.uint8(1)
        marks.odd |= not _around_cells(codes, inside, delimiter)
        marks.in_quotes = int(inside[-1])
        outside = inside[ends] == 0
        rows, ends = rows[outside], ends[outside]
        delimiters &= inside == 0
    marks.rows.append(rows)
    marks.delimiters += int(np.count_nonzero(delimiters))
    if b"\r" in data:
        marks.returns += int(np.count_nonzero(codes == ord("\r")))
        marks.crlf += int(np.count_nonzero(codes[ends - 1] == ord("\r")))


def _around_cells(codes: NDArray[np.uint8], inside: NDArray[np.uint8], delimiter: str) -> bool:
    """Whether each quote opens or closes a cell or is half of a doubled one. ``codes`` end in a line end."""
    quotes = np.flatnonzero(codes == ord('"'))
    opening = inside[quotes] == 1
    before = codes[quotes[opening] - 1]  # of the first byte: the line end that is the last
    behind = codes[quotes[~opening] + 1]
    starts = np.isin(before, np.frombuffer(f'{delimiter}\n"'.encode(), dtype=np.uint8))
    stops = np.isin(behind, np.frombuffer(f'{delimiter}\r\n"'.encode(), dtype=np.uint8))
    return bool(starts.all() and stops.all())

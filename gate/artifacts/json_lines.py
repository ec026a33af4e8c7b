"""JSON Lines: one object a line, read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gate.artifacts import limits
from gate.artifacts.content import Content, line_too_long
from gate.artifacts.encoding import decode
from gate.artifacts.strict_json import parse_line, refuse_doubled
from gate.values import GateError

QUICK_BYTES = 1 << 18
"""From here on msgspec saves more time than its import takes."""
Row = dict[str, Any]


class Block(NamedTuple):
    """Rows one behind the other, and the 1-based line of each."""

    lines: Sequence[int]
    rows: list[Row]


class FlatBlock(NamedTuple):
    """The same by columns: all rows have these keys and no others, and neither lists nor objects in them."""

    lines: Sequence[int]
    columns: Mapping[str, list[Any]]


def json_lines(content: Content) -> Iterator[tuple[int, Row]]:
    """(line, object) of every line that is not blank."""
    for block in row_blocks(content):
        yield from zip(block.lines, block.rows, strict=True)


def row_blocks(content: Content) -> Iterator[Block]:
    """The same in blocks."""
    first = 1
    for piece in content.pieces():
        yield _block(piece, first, content)
        first += _count(piece)


def blocks(content: Content) -> Iterator[Block | FlatBlock]:
    """The same, the first ones as rows, then by columns where that is possible."""
    first, failed = 1, 0
    read: FlatReader | None = None
    for piece in content.pieces():
        columns = None if read is None else read(piece)
        end = first + _count(piece)
        if columns is not None:
            yield FlatBlock(range(first, end), columns)
        else:
            block = _block(piece, first, content)
            yield block
            failed += first > 1
            read = _flat_reader(block.rows) if _is_large(content) and block.rows and failed < _TRIES else None
        first = end


_TRIES = 8
FlatReader = Callable[[bytes], Mapping[str, list[Any]] | None]


def _flat_reader(rows: Sequence[Row]) -> FlatReader | None:
    from gate.artifacts.quick_json import flat_reader  # noqa: PLC0415

    return flat_reader(rows)


def _is_large(content: Content) -> bool:
    return content.size >= QUICK_BYTES


def _count(piece: bytes) -> int:
    return piece.count(b"\n") + (not piece.endswith(b"\n"))


def _block(piece: bytes, first: int, content: Content) -> Block:
    """The objects of the lines that are not blank. first: number of the first line."""
    lines = piece.split(b"\n")
    if not lines[-1]:
        lines.pop()
    known: list[Any] | None = None
    if _is_large(content) and len(piece) <= limits.LINE_BYTES:
        from gate.artifacts.quick_json import quick_rows  # noqa: PLC0415

        known = quick_rows(piece, lines)
        if known is not None and set(map(type, known)) == {dict}:
            return Block(range(first, first + len(lines)), known)
    rows = {
        number: row
        for number, (line, value) in enumerate(zip(lines, known or [None] * len(lines), strict=True), first)
        if (row := _row(line, value, content.path, number)) is not None
    }
    return Block(list(rows), list(rows.values()))


def _row(line: bytes, value: Any, path: str, number: int) -> Row | None:
    """The object of one line, None of a blank one. value: as it is known to be, or None."""
    if value is None:
        if len(line) >= limits.LINE_BYTES:
            raise line_too_long(f"{path}:{number}")
        text = decode(line, path, number)
        if not text.strip():
            return None
        value = parse_line(text, path, number)
    if not isinstance(value, dict):
        raise GateError(
            "invalid_json",
            f"each line must be one object (found {kind_of(value)})",
            where=f"{path}:{number}",
            help="write one JSON object a line",
        )
    refuse_doubled(value, path, number)
    return value


def kind_of(value: Any) -> str:
    """What a JSON value is, for people."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}
    kinds |= {int: "a number", float: "a number"}
    return kinds.get(type(value), "null" if value is None else "no number")

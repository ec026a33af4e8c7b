"""From the bytes of a history to a verified :class:`History`. What is doubtful is an error, never "empty"."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NoReturn

from gate.cycles.chain import ChainError, History, ordered
from gate.cycles.record import SCHEMA, BadRecordError, Record, line_matches, record_of
from gate.errors import GateError
from gate.stats.results import Caution

_RESTORE = "restore the file from its last good copy (the branch or the artifact it was saved to)"


def parse(data: bytes, where: str) -> History:
    """Verify the bytes of a history. ``where`` names the file in messages."""
    lines = data.split(b"\n")
    unterminated = lines[-1] != b""
    if not unterminated:
        lines.pop()
    with uncollected():
        read = _read_lines(lines, where)
    if not read.records:
        raise GateError(
            "history_empty",
            f"the history holds no record ({len(data)} bytes)",
            where=where,
            help=f"{_RESTORE}; a new one is started by: gate history init",
        )
    try:
        records, heads = ordered(read.records)
    except ChainError as error:
        place = f"{where}:{read.line_of(error.digest)}"
        raise GateError(error.code, str(error), where=place, help=_RESTORE) from None
    torn = _torn_tail(read, records, where)
    cautions = tuple(_torn_caution(where, number, line) for number, line in torn)
    named = tuple(sorted({sha256(line).hexdigest() for _, line in torn}))
    return History(records, heads, where, named, unterminated, cautions)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector: records are many and no garbage; looking for some costs a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(slots=True)
class _Lines:
    """What the lines turned out to be: records with their line numbers, and lines that are no JSON."""

    records: list[Record] = field(default_factory=list)
    number_of: list[int] = field(default_factory=list)
    bad: list[tuple[int, bytes]] = field(default_factory=list)

    def line_of(self, digest: str) -> int:
        """Where the record with this digest stands."""
        pairs = zip(self.records, self.number_of, strict=True)
        return next(number for record, number in pairs if record.digest == digest)


def _read_lines(lines: list[bytes], where: str) -> _Lines:
    read = _Lines()
    number = 0
    try:
        for number, (line, parsed) in enumerate(zip(lines, _parsed(lines), strict=True), start=1):
            if parsed is _BAD:
                read.bad.append((number, line))
            elif parsed is not _BLANK:
                record = record_of(parsed)
                if not line_matches(line.rstrip(b"\r"), record.digest):
                    raise _edited(f"{where}:{number}")
                read.records.append(record)
                read.number_of.append(number)
    except BadRecordError as error:
        place, text = f"{where}:{number}", f"this gate reads {SCHEMA}; {_RESTORE}"
        raise GateError("history_bad_record", str(error), where=place, help=text) from None
    return read


def _edited(where: str) -> GateError:
    text = "the record was changed after it was written (its digest does not match)"
    return GateError("history_edited", text, where=where, help=_RESTORE)


_BAD, _BLANK = object(), object()
_AT_ONCE = 64


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _parsed(lines: list[bytes]) -> Iterator[Any]:
    """Each line's value. Some at once: fewer calls, and what they make stays in the processor's cache."""
    for start in range(0, len(lines), _AT_ONCE):
        part = lines[start : start + _AT_ONCE]
        try:
            values = _DECODER.decode("[" + b",".join(part).decode() + "]")
        except (ValueError, RecursionError):
            values = []
        yield from values if len(values) == len(part) else map(_parsed_line, part)


def _parsed_line(line: bytes) -> Any:
    if not line.strip():
        return _BLANK
    try:
        return _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return _BAD


def _torn_tail(read: _Lines, records: tuple[Record, ...], where: str) -> list[tuple[int, bytes]]:
    """Lines that are no JSON and stand after the last record: writes that were cut off. Elsewhere: an error,
    unless a record names them as isolated."""
    named = {digest for record in records for digest in record.isolated}
    unnamed = [(number, line) for number, line in read.bad if sha256(line).hexdigest() not in named]
    for number, line in unnamed:
        if number < read.number_of[-1]:
            raise GateError(
                "history_bad_line",
                f"the line is no JSON and no later record names it as cut off ({len(line)} bytes)",
                where=f"{where}:{number}",
                help=_RESTORE,
            )
    return unnamed


def _torn_caution(where: str, number: int, line: bytes) -> Caution:
    what = f"{where}:{number}: the last write was cut off ({len(line)} bytes)"
    text = f"{what}; it is set aside, nothing else is lost"
    return Caution("history_torn_tail", text)

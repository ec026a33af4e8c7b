"""From the bytes of a history to a verified :class:`History`. What is doubtful is an error, never "empty"."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from pydantic_core import from_json

from gate.cycles.chain import ChainError, History, ordered
from gate.cycles.record import SCHEMA, BadRecordError, Record, line_matches, record_of
from gate.values import Caution, GateError

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
    torn = _torn_tail(read, len(lines) - unterminated, where)
    try:
        records, heads = ordered(read.records)
    except ChainError as error:
        place = f"{where}:{read.line_of(error.digest)}"
        raise GateError(error.code, str(error), where=place, help=_RESTORE) from None
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
        for number, line in enumerate(lines, start=1):
            parsed = _parsed(line)
            if parsed is _BAD:
                read.bad.append((number, line.rstrip(b"\r")))
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


def _parsed(line: bytes) -> Any:
    """The line's value. pydantic's parser takes 40 % of the time that ``json`` takes."""
    try:
        return from_json(line, allow_inf_nan=False, cache_strings="all")
    except ValueError:
        return _BAD if line.strip() else _BLANK


_BEGINNING: Final = b'{"alarms":['
_WHOLE: Final = re.compile(rb',"verdict":"[^"]*"}')


def _torn_tail(read: _Lines, lines: int, where: str) -> list[tuple[int, bytes]]:
    """Lines that are no JSON and stand after the last record: writes that were cut off. Elsewhere, or where
    they are no beginning of a record: an error, unless a record names them as isolated."""
    named = {digest for record in read.records for digest in record.isolated}
    unnamed = [(number, line) for number, line in read.bad if sha256(line).hexdigest() not in named]
    for number, line in unnamed:
        if number < read.number_of[-1] or not _may_be_cut_off(line, ended=number <= lines):
            raise GateError(
                "history_bad_line",
                f"the line is no JSON, and it is no write that was cut off ({len(line)} bytes)",
                where=f"{where}:{number}",
                help=_RESTORE,
            )
    return unnamed


def _may_be_cut_off(line: bytes, *, ended: bool) -> bool:
    """Whether a write that was cut off may have left this, and not a change of a record that was whole.

    A cut leaves the beginning of a record, and a crash may leave anything there, but no line end: a newline
    follows only if the next write was cut off right after it. Two signs of the end are looked for: one
    changed byte can spoil only one of them.
    """
    if not ended:
        return _WHOLE.search(line) is None
    at_end = b',"verdict":"' in line or (b',"tool":"' in line and line.endswith(b'"}'))
    return line.startswith(_BEGINNING[: len(line)]) and not at_end


def _torn_caution(where: str, number: int, line: bytes) -> Caution:
    what = f"{where}:{number}: the last write was cut off ({len(line)} bytes)"
    text = f"{what}; it is set aside, nothing else is lost"
    return Caution("history_torn_tail", text)

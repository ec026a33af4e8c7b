"""One pass over the bytes of a text file: what has to hold if an engine's reading of it is to be used."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.content import Content

_BLOCK = 256 << 10  # stays in the cache
_LONGEST = 4 << 20


@dataclass(slots=True)
class Scan:
    """lines: line ends, counting an end that the last line lacks. keys: how often ``":`` occurs.

    delimiters: how often the delimiter of a CSV file occurs.
    """

    lines: int = 0
    quotes: bool = False
    carriage_returns: bool = False
    keys: int = 0
    delimiters: int = 0
    odd_ends: bool = False


def scan(content: Content, delimiter: bytes | None) -> Scan | None:
    """The counts, or None where the bytes are not plain: not UTF-8, a NUL, an endless or blank last line.

    delimiter: of a CSV file; None for JSON Lines.
    """
    found = Scan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    content.file.seek(0)
    last = b"\n\n\n"
    unended = 0
    while block := content.file.read(_BLOCK):
        codes = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(codes == ord("\n"))
        unended = 0 if ends.size else unended + len(block)
        if unended >= _LONGEST or b"\x00" in block:
            return None
        if not block.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                return None
        found.lines += ends.size
        found.carriage_returns |= b"\r" in block
        if delimiter is None:
            _scan_json(last + block, ends + len(last), found)
        else:
            found.quotes |= b'"' in block
            found.delimiters += int(np.count_nonzero(codes == ord(delimiter)))
        last = (last + block[-3:])[-3:]
    if decoder.getstate()[0] or last.endswith(b"\n\n"):
        return None
    found.lines += not last.endswith(b"\n")
    return found


def _scan_json(block: bytes, ends: NDArray[np.int64], found: Scan) -> None:
    """Count keys, and notice ends of lines other than ``value}``. The first three bytes were seen before."""
    found.keys += _count_pair(block, b'":', 2)
    codes: NDArray[np.uint8] = np.frombuffer(block, dtype=np.uint8)
    before = codes[ends - 2]
    plain = (
        (codes[ends - 1] == ord("}")) & (before != ord(",")) & (before != ord(" ")) & (before != ord("\t"))
    )
    found.odd_ends |= not bool(plain.all())


def _count_pair(data: bytes, pair: bytes, start: int) -> int:
    """How often two bytes stand side by side: as 16-bit numbers, at even places and at odd ones."""
    number = int.from_bytes(pair, "little")
    words = (np.frombuffer(data, "<u2", (len(data) - at) // 2, at) for at in (start, start + 1))
    return sum(int(np.count_nonzero(part == number)) for part in words)

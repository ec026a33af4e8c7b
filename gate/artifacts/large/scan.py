"""One pass over the bytes of a text file: what has to hold before an engine may read it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.content import Content

_BLOCK = 256 << 10


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
    while block := content.file.read(_BLOCK):
        ends = block.count(b"\n")
        if (ends == 0 and len(block) == _BLOCK) or b"\x00" in block:
            return None
        if not block.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                return None
        found.lines += ends
        found.carriage_returns |= b"\r" in block
        if delimiter is None:
            _scan_json(last + block, found)
        else:
            found.quotes |= b'"' in block
            found.delimiters += block.count(delimiter)
        last = block[-3:]
    if decoder.getstate()[0] or last.endswith(b"\n\n"):
        return None
    found.lines += not last.endswith(b"\n")
    return found


def _scan_json(block: bytes, found: Scan) -> None:
    """Count keys, and notice ends of lines other than ``value}``. The first three bytes were seen before."""
    codes: NDArray[np.uint8] = np.frombuffer(block, dtype=np.uint8)
    quotes = codes[2:-1] == ord('"')
    found.keys += int(np.count_nonzero(quotes & (codes[3:] == ord(":"))))
    ends = np.flatnonzero(codes[3:] == ord("\n")) + 3
    before = codes[ends - 2]
    plain = (
        (codes[ends - 1] == ord("}")) & (before != ord(",")) & (before != ord(" ")) & (before != ord("\t"))
    )
    found.odd_ends |= not bool(plain.all())

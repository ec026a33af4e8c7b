"""One pass over the bytes of a text file: what has to hold if an engine's reading of it is to be used."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.artifacts.content import Content
from gate.artifacts.large.json_lines import all_flat

_BLOCK = 128 << 10  # stays in the cache
_LONGEST = 4 << 20


@dataclass(slots=True)
class Scan:
    """lines: line ends, counting an end that the last line lacks. delimiters: how often it occurs (CSV)."""

    lines: int = 0
    quotes: bool = False
    carriage_returns: bool = False
    delimiters: int = 0


def scan(content: Content, delimiter: bytes | None, keys: Sequence[bytes] = ()) -> Scan | None:
    """The counts, or None where the bytes are not plain: not UTF-8, a NUL, an endless or blank last line.

    delimiter: of a CSV file; None for JSON Lines, all of which have to be flat objects with these keys.
    """
    found = Scan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    content.file.seek(0)
    last = b"\n\n"
    unended = 0
    begun = b""  # the line that no block so far has ended
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
        last = (last + block[-2:])[-2:]
        if delimiter is not None:
            found.quotes |= b'"' in block
            found.delimiters += int(np.count_nonzero(codes == ord(delimiter)))
        elif not ends.size:
            begun += block
        else:
            cut = int(ends[-1]) + 1
            if not all_flat(begun + block[:cut], ends + len(begun), keys):
                return None
            begun = block[cut:]
    if decoder.getstate()[0] or last == b"\n\n":
        return None
    found.lines += not last.endswith(b"\n")
    return None if begun and not all_flat(begun + b"\n", np.array([len(begun)]), keys) else found

"""One pass over the bytes of a text file: what has to hold if an engine's reading of it is to be used."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.content import Content

Places = NDArray[np.int64]
_BLOCK = 128 << 10  # stays in the cache
_LONGEST = 4 << 20


class OddBytesError(ValueError):
    """The bytes are not plain: not UTF-8, a NUL, an endless line, or a blank one at the end."""


def line_blocks(content: Content) -> Iterator[tuple[bytes, Places]]:
    """The file in pieces of whole lines, and where these end; a line end that the last one lacks is added."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    content.file.seek(0)
    last = b"\n\n"
    begun = b""  # the line that no block so far has ended
    while block := content.file.read(_BLOCK):
        if b"\x00" in block or len(begun) > _LONGEST:
            raise OddBytesError
        if not block.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                raise OddBytesError from None
        last = (last + block[-2:])[-2:]
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
        if not ends.size:
            begun += block
            continue
        cut = int(ends[-1]) + 1
        yield begun + memoryview(block)[:cut], ends + len(begun)
        begun = block[cut:]
    if decoder.getstate()[0] or last == b"\n\n":
        raise OddBytesError
    if begun:
        yield begun + b"\n", np.array([len(begun)])

"""Whether two files are one run: copies that differ in blanks, line ends, quotes or the order of lines."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from gate.artifacts import limits
from gate.artifacts.content import open_content

_BLANKS = b' \t\r\n\v\f"'
_BINARY = (b"PAR1", b"PK")


class Mark(NamedTuple):
    """What a copy keeps. whole: of the text without blanks; lines: of its lines in any order."""

    whole: str
    lines: str

    def same(self, other: Mark) -> bool:
        """One file is a copy of the other."""
        return self.whole == other.whole or self.lines == other.lines


def mark_of(path: str) -> Mark:
    """The mark of a file, unpacked; of a binary file its bytes."""
    content = open_content(path)
    try:
        if content.head.startswith(_BINARY):
            return Mark(content.sha256, content.sha256)
        whole, lines, count = hashlib.sha256(), 0, 0
        content.file.seek(0)
        while line := content.file.readline(limits.LINE_BYTES):
            bare = line.translate(None, _BLANKS)
            if bare:
                whole.update(bare)
                lines += int.from_bytes(hashlib.sha256(bare).digest(), "big")
                count += 1
        return Mark(whole.hexdigest(), f"{count}:{lines}")
    finally:
        content.close()

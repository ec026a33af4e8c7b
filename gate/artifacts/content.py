"""The bytes of one artifact, unpacked and bounded, read as lines, as text or as a JSON document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from gate.artifacts import limits
from gate.artifacts.encoding import BOM, decode, first_bytes
from gate.artifacts.opening import open_artifact, sha256_of
from gate.values import GateError

PIECE_BYTES = 64 << 10
"""What is read at a time: the rows of a block are then few enough to stay in the processor's cache."""


@dataclass(slots=True)
class Content:
    """path: for messages. file: unpacked bytes, seekable. packed: how the file was compressed, if it was."""

    path: str
    file: BinaryIO
    digest: str | None
    bytes_on_disk: int
    size: int
    packed: str | None
    head: bytes
    _parsed: list[Any] = field(default_factory=list)

    @property
    def sha256(self) -> str:
        """Digest of the file as it lies on disk; taken once the format is known to be one that is read."""
        if self.digest is None:
            self.digest = sha256_of(self.file)
        return self.digest

    def close(self) -> None:
        """Release the file."""
        self.file.close()

    def where(self, line: int | None = None) -> str:
        """``FILE`` or ``FILE:LINE``."""
        return self.path if line is None else f"{self.path}:{line}"

    def lines(self, separator: bytes = b"\n") -> Iterator[tuple[int, str]]:
        """(number, text without its end) of every line; only ``separator`` ends a line."""
        source = _long_lines(self.file, separator) if separator != b"\n" else _lines(self.file)
        self.file.seek(0)
        for number, raw in enumerate(source, 1):
            if len(raw) > limits.LINE_BYTES:
                raise line_too_long(self.where(number))
            yield number, decode(raw, self.path, number)

    def pieces(self) -> Iterator[bytes]:
        """The file in pieces of whole lines; one beyond the bound of a line ends it, and is refused by it."""
        self.file.seek(0)
        begun: list[bytes] = []
        while block := self.file.read(PIECE_BYTES):
            whole, end, rest = block.rpartition(b"\n")
            begun.append(whole + end if end else rest)
            if end or sum(map(len, begun)) > limits.LINE_BYTES:
                yield b"".join(begun)
                if not end:
                    return
                begun = [rest]
        if last := b"".join(begun):
            yield last

    def text(self) -> str:
        """The whole file as text; bounded."""
        return decode(self.whole(), self.path, None)

    def whole(self) -> bytes:
        """The whole file; bounded."""
        if self.size > limits.DOCUMENT_BYTES:
            raise GateError(
                "document_too_large",
                f"one document of {self.size:,} bytes (at most {limits.DOCUMENT_BYTES:,})",
                where=self.path,
                help="write JSON Lines or Parquet, which are read in pieces",
            )
        self.file.seek(0)
        return self.file.read(limits.DOCUMENT_BYTES + 1)

    def document(self) -> Any:
        """The file as one JSON value, parsed once."""
        if not self._parsed:
            from gate.artifacts.strict_json import parse_document  # noqa: PLC0415

            self._parsed.append(parse_document(self.text(), self.path))
        return self._parsed[0]


def line_too_long(where: str) -> GateError:
    """The error for a line beyond the bound."""
    return GateError(
        "line_too_long",
        f"a line is longer than {limits.LINE_BYTES // limits.MIB} MiB",
        where=where,
        help="write one item a line, without its full transcript",
    )


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while raw := file.readline(limits.LINE_BYTES + 2):
        yield raw


def _long_lines(file: BinaryIO, separator: bytes) -> Iterator[bytes]:
    rest = b""
    while block := file.read(limits.MIB):
        *whole, rest = (rest + block).split(separator)
        yield from (line + b"\n" for line in whole)
        if len(rest) > limits.LINE_BYTES:
            break
    if rest:
        yield rest


def open_content(path: str) -> Content:
    """Open, hash, unpack and look at the first bytes. The caller closes it."""
    raw = open_artifact(path)
    try:
        content = _opened(raw, path)
    except BaseException:
        raw.close()
        raise
    if content.file is not raw:
        raw.close()
    return content


def _opened(raw: BinaryIO, path: str) -> Content:
    size = raw.seek(0, os.SEEK_END)
    raw.seek(0)
    if size == 0:
        raise GateError("no_items", "the file is empty (0 bytes)", where=path, help=_EMPTY)
    head = raw.read(8)
    _bound(path, size, head)
    packed = _packing(head)
    if packed is None:
        return Content(path, raw, None, size, size, None, _head(raw, path))
    from gate.artifacts.unpack import unpack  # noqa: PLC0415

    digest = sha256_of(raw)
    plain, plain_size = unpack(raw, packed, path)
    try:
        return Content(path, plain, digest, size, plain_size, packed, _head(plain, path))
    except GateError:
        plain.close()
        raise


_POINTERS = (
    (
        b"version https://git-lfs.github.com/spec/",
        "Git LFS",
        "git lfs pull, or lfs: true in actions/checkout",
    ),
    (b"version https://hawser.github.com/spec/", "Git LFS", "git lfs pull, or lfs: true in actions/checkout"),
    (b"/annex/objects/", "git-annex", "git annex get FILE"),
)


def _head(file: BinaryIO, path: str) -> bytes:
    """The first bytes, which must be those of the file itself and not of what stands for it in git."""
    head = first_bytes(file)
    for start, name, advice in _POINTERS:
        if head.removeprefix(BOM).lstrip(b" \t\r\n").startswith(start):
            raise GateError(
                "file_pointer",
                f"a {name} pointer, not the file (its content was never fetched)",
                where=path,
                help=advice,
            )
    return head


_EMPTY = "the run that wrote it may have failed; treat the comparison as undecided"


def _bound(path: str, size: int, head: bytes) -> None:
    most = limits.TABLE_BYTES if head.startswith(b"PAR1") else limits.PLAIN_BYTES
    if size > most:
        raise GateError(
            "artifact_too_large",
            f"{size:,} bytes (at most {most:,})",
            where=path,
            help="write Parquet with the needed columns only",
        )


def _packing(head: bytes) -> str | None:
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return None

"""Strict UTF-8. Another encoding is named and refused, never guessed and never repaired."""

from __future__ import annotations

from typing import BinaryIO

from gate.values import GateError

HEAD_BYTES = 65_536
BOM = b"\xef\xbb\xbf"
_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def first_bytes(file: BinaryIO) -> bytes:
    """The first 64 KiB, without moving the position for others."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    return head


def decode(raw: bytes, path: str, line: int | None) -> str:
    """Text of a line (``line`` counts from 1) or of a whole file (``line`` None); a BOM opens a file once."""
    if line in {None, 1}:
        refuse_wide(raw, path)
        raw = raw.removeprefix(BOM)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line if line is not None else raw.count(b"\n", 0, error.start) + 1
        raise not_utf8(path, number, raw[error.start]) from None
    if "\x00" in text:
        number = line if line is not None else text.count("\n", 0, text.index("\x00")) + 1
        raise GateError(
            "not_text",
            "the file holds NUL characters (binary data, or UTF-16 without a mark)",
            where=f"{path}:{number}",
            help="convert it: iconv -f UTF-16 -t UTF-8 IN > OUT",
        )
    return text


def refuse_wide(raw: bytes, path: str) -> None:
    """Name UTF-16 and UTF-32 by their byte order marks."""
    for mark, name in _WIDE:
        if raw.startswith(mark):
            raise GateError(
                "not_utf8",
                f"the file is {name}; only UTF-8 is read",
                where=path,
                help=f"convert it: iconv -f {name} -t UTF-8 IN > OUT",
            )


def not_utf8(path: str, line: int, byte: int) -> GateError:
    """The error for a byte that UTF-8 does not allow there."""
    return GateError(
        "not_utf8",
        f"the file is not UTF-8 (byte 0x{byte:02x}); it looks like latin-1 or cp1252, or mixed encodings",
        where=f"{path}:{line}",
        help="convert it: iconv -f CP1252 -t UTF-8 IN > OUT",
    )

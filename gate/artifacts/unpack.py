"""Unpack gzip and zstd into an unlinked temporary file, within a budget of bytes and of ratio."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from gate.artifacts import limits
from gate.values import GateError


def unpack(raw: BinaryIO, packing: str, path: str) -> tuple[BinaryIO, int]:
    """(unpacked file at position 0, its size). Nothing beyond the budget is ever produced."""
    out = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
    size = lines = 0
    try:
        for block in _blocks(raw, packing, path):
            size += len(block)
            lines += block.count(b"\n")
            budget(size, raw.tell(), path)
            _bound("lines", lines, limits.PACKED_LINES, path)
            refuse_hollow(lines, raw.tell(), path)
            out.write(block)
    except BaseException:
        out.close()
        raise
    out.seek(0)
    if size == 0:
        out.close()
        raise GateError("no_items", "the file is empty once unpacked", where=path)
    return out, size


def budget(unpacked: int, packed: int, where: str, *, most: int = limits.UNPACKED_BYTES) -> None:
    """Refuse a bomb: too many bytes, or too many for what was packed."""
    if unpacked > most:
        raise GateError(
            "unpacks_too_large",
            f"it unpacks to more than {most // limits.MIB} MiB",
            where=where,
            help="unpack it yourself if you trust it, or write Parquet with the needed columns only",
        )
    if unpacked > limits.MIB and unpacked > limits.RATIO * max(packed, 1):
        raise GateError(
            "unpacks_too_large",
            f"it unpacks to more than {limits.RATIO} times its size (a decompression bomb?)",
            where=where,
            help="unpack it yourself if you trust it",
        )


def refuse_hollow(rows: int, packed: int, where: str, most: float | None = None) -> None:
    """Refuse rows that hold next to nothing: a short file must not hold the machine.

    packed: bytes of the file as it lies on disk; a row of packed results takes more than one, for its id
    alone. most: another bound.
    """
    if rows > (max(limits.FREE_ROWS, packed) if most is None else most):
        raise GateError(
            "too_many_rows",
            f"{rows:,} rows in {packed:,} bytes, so that most of them must be alike",
            where=where,
            help="write each item once, with an id of its own",
        )


def _blocks(raw: BinaryIO, packing: str, path: str) -> Iterator[bytes]:
    raw.seek(0)
    try:
        if packing == "gzip":
            yield from _gzip_blocks(raw, path)
        else:
            yield from _zstd_blocks(raw, path)
    except (OSError, EOFError, zlib.error) as error:
        raise _broken(packing, path, error) from None


def _gzip_blocks(raw: BinaryIO, path: str) -> Iterator[bytes]:
    """Part by part; zlib checks headers and checksums. Zeros behind a part are padding, nothing else is."""
    stream, parts = zlib.decompressobj(zlib.MAX_WBITS + 16), 1
    while packed := raw.read(limits.GZIP_READ):
        while packed:
            if stream.eof:
                packed = packed.lstrip(b"\0")
                if not packed:
                    break
                parts += 1
                _bound("parts", parts, limits.MEMBERS, path)
                stream = zlib.decompressobj(zlib.MAX_WBITS + 16)
            yield stream.decompress(packed, limits.MIB)
            packed = stream.unused_data if stream.eof else stream.unconsumed_tail
    yield stream.flush()
    if not stream.eof:
        raise EOFError("the last part does not end")


def _bound(what: str, found: int, most: int, path: str) -> None:
    if found > most:
        raise GateError(
            "unpacks_too_large",
            f"it has more than {most:,} {what}",
            where=path,
            help="unpack it yourself if you trust it, or write Parquet",
        )


def _zstd_blocks(raw: BinaryIO, path: str) -> Iterator[bytes]:
    """Frame by frame; a frame that does not end is an error (the library's own reader keeps quiet)."""
    import zstandard  # noqa: PLC0415

    decompressor = zstandard.ZstdDecompressor(max_window_size=limits.WINDOW_BYTES)
    frame, parts = decompressor.decompressobj(), 1
    try:
        while packed := raw.read(limits.ZSTD_READ):
            while packed:
                if frame.eof:
                    parts += 1
                    _bound("parts", parts, limits.MEMBERS, path)
                    frame = decompressor.decompressobj()
                yield frame.decompress(packed)
                packed = frame.unused_data if frame.eof else b""
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from None
    if not frame.eof:
        raise EOFError("the last frame does not end")


def _broken(packing: str, path: str, error: Exception) -> GateError:
    return GateError(
        "broken_archive",
        f"the {packing} data is broken or cut short ({str(error)[:60]})",
        where=path,
        help="transfer or write the file again",
    )

"""Zip archives of others: members are read by name, within a budget. Nothing is ever extracted."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from gate.artifacts import limits
from gate.artifacts.content import Content
from gate.artifacts.unpack import budget
from gate.safe import escaped
from gate.values import GateError

STORED, DEFLATED, ZSTD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s5HLLLHH")


class Archive:
    """The members of one archive, checked before any is read."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.unpacked = 0
        self._refuse_many()
        try:
            with zipfile.ZipFile(cast("IO[bytes]", _Directory(content))) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error) as error:
            raise self._broken(str(error)) from None
        for member in members:
            self._check(member)
        self._members = {member.filename: member for member in members}
        if len(self._members) != len(members):
            raise GateError("unsafe_archive", "two members have one name", where=content.path, help=_HELP)

    @property
    def names(self) -> list[str]:
        """Names of all members, in the order of the archive's directory."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """One member, whatever the archive claims about its size; bounded."""
        member = self._members[name]
        found = io.BytesIO()
        size = 0
        try:
            for block in self._blocks(member):
                size += len(block)
                self.unpacked += len(block)
                budget(size, member.compress_size, f"{self.content.path}!{_shown(name)}")
                budget(self.unpacked, self.content.size, self.content.path)
                found.write(block)
        except (zlib.error, EOFError, OSError, ValueError, OverflowError) as error:
            raise self._broken(str(error), name) from None
        data = found.getvalue()
        if zlib.crc32(data) != member.CRC:
            raise self._broken("its checksum does not fit", name)
        return data

    def _refuse_many(self) -> None:
        """Count members from the end record, before a directory of any size is parsed."""
        file = self.content.file
        file.seek(max(0, self.content.size - 66_000))
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        count = struct.unpack_from("<H", tail, at + 10)[0] if 0 <= at <= len(tail) - 22 else 0
        wide = tail.rfind(b"PK\x06\x06")
        if 0 <= wide <= len(tail) - 40:
            count = max(count, struct.unpack_from("<Q", tail, wide + 32)[0])
        file.seek(0)
        if count > limits.MEMBERS:
            raise _too_many(f"{count:,}", self.content.path)

    def _check(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        parts = name.replace("\\", "/").split("/")
        kind = (member.external_attr >> 16) & 0o170000
        if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0] or "\x00" in name:
            reason = "a name that leaves the archive"
        elif kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
            reason = "a link or a special file"
        elif member.flag_bits & 0x1:
            reason = "an encrypted member"
        else:
            return
        raise GateError(
            "unsafe_archive",
            f"the archive holds {reason}",
            where=f"{self.content.path}!{_shown(name)}",
            help=_HELP,
        )

    def _blocks(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        packed = self._packed(member)
        if member.compress_type == STORED:
            return packed
        if member.compress_type == DEFLATED:
            return _inflated(packed)
        if member.compress_type == ZSTD:
            return _zstd(packed)
        raise self._broken(f"compression method {member.compress_type} is not read", member.filename)

    def _packed(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        file = self.content.file
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise self._broken("a member is not where the directory says", member.filename)
        *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        file.seek(name_length + extra_length, 1)
        left = member.compress_size
        step = limits.ZSTD_READ if member.compress_type == ZSTD else 64 * limits.KIB
        while left > 0:
            block = file.read(min(step, left))
            if not block:
                raise EOFError("it is cut short")
            left -= len(block)
            yield block

    def _broken(self, reason: str, name: str | None = None) -> GateError:
        where = self.content.path if name is None else f"{self.content.path}!{_shown(name)}"
        return GateError(
            "broken_archive",
            f"the zip data is broken ({reason[:80]})",
            where=where,
            help="write the file again",
        )


_HELP = "give the log as the tool wrote it"


class _Directory:
    """The archive as ``zipfile`` may see it: it never parses a longer list, whatever the end record says."""

    def __init__(self, content: Content) -> None:
        self.path, self._read = content.path, content.file.read
        self.seek, self.tell = content.file.seek, content.file.tell

    def read(self, size: int = -1) -> bytes:
        data = self._read(size) if size <= limits.DIRECTORY_BYTES else b""
        if size <= limits.DIRECTORY_BYTES and data.count(b"PK\x01\x02") <= limits.MEMBERS:
            return data
        raise _too_many(f"more than {limits.MEMBERS:,}", self.path)


def _too_many(found: str, path: str) -> GateError:
    return GateError(
        "archive_too_large",
        f"the archive has {found} members (at most {limits.MEMBERS:,})",
        where=path,
        help="split the log",
    )


def _shown(name: str) -> str:
    return escaped(name)


def _inflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(-15)
    for block in packed:
        rest = block
        while rest:
            yield stream.decompress(rest, limits.MIB)
            rest = stream.unconsumed_tail
    yield stream.flush()
    if not stream.eof:
        raise EOFError("it is cut short")


def _zstd(packed: Iterator[bytes]) -> Iterator[bytes]:
    import zstandard  # noqa: PLC0415

    frame = zstandard.ZstdDecompressor(max_window_size=limits.WINDOW_BYTES).decompressobj()
    try:
        for block in packed:
            if not frame.eof:
                yield frame.decompress(block)
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from None
    if not frame.eof:
        raise EOFError("it is cut short")

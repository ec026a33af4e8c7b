"""Open a result file, and say what it is instead where it is no regular file."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tempfile
from typing import BinaryIO, cast

from gate.safe import NotRegularError, open_regular
from gate.values import GateError

_REASONS = {
    errno.ENOENT: ("artifact_not_found", "there is no such file"),
    errno.EACCES: ("artifact_unreadable", "the file may not be read (permission denied)"),
    errno.ELOOP: ("not_a_regular_file", "it is a symbolic link"),
    errno.ENOTDIR: ("artifact_not_found", "a part of the path is not a directory"),
    errno.ENAMETOOLONG: ("artifact_not_found", "the path is too long"),
    errno.ENXIO: ("not_a_regular_file", "it is a socket or a device"),
}
_HELP = "give the path of a result file itself (not a link, pipe, device or directory)"


class InMemory(str):
    """In the place of a path, for results that are no file: what they are called, and their bytes."""

    __slots__ = ("data",)
    data: bytes

    def __new__(cls, name: str, data: bytes) -> InMemory:
        """Results of this name, in a format that files have."""
        made = super().__new__(cls, name)
        made.data = data
        return made


def open_artifact(path: str) -> BinaryIO:
    """The file, opened for reading, or a GateError."""
    if isinstance(path, InMemory):
        return _held(path.data)
    try:
        return os.fdopen(open_regular(path), "rb")
    except NotRegularError as error:
        raise GateError("not_a_regular_file", str(error), where=path, help=_HELP) from None
    except ValueError:
        raise GateError("artifact_not_found", "the path holds a NUL character", help=_HELP) from None
    except OSError as error:
        code, reason = _REASONS.get(error.errno or 0, ("artifact_unreadable", error.strerror or "unreadable"))
        raise GateError(code, reason, where=path, help=_HELP) from None


def _held(data: bytes) -> BinaryIO:
    """The bytes as a file; Parquet as a real one without a name, which DuckDB can open."""
    if not data.startswith(b"PAR1"):
        return io.BytesIO(data)
    file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file


def sha256_of(file: BinaryIO) -> str:
    """Digest of the whole file as it lies on disk; the position is set back to the start."""
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    file.seek(0)
    return digest.hexdigest()


def found_here(path: str) -> tuple[str, bool] | None:
    """The absolute path and whether it is a folder; None where nothing of that name is on this machine."""
    return (os.path.abspath(path), os.path.isdir(path)) if os.path.exists(path) else None  # noqa: PTH100, PTH110, PTH112

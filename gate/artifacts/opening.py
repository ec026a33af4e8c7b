"""Open a file that somebody else wrote: regular files only, never following a link, never waiting."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import BinaryIO

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


def open_regular(path: str) -> BinaryIO:
    """The file, opened for reading, or a GateError. A FIFO does not block and a link is not followed."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError:
        raise GateError("artifact_not_found", "the path holds a NUL character", help=_HELP) from None
    except OSError as error:
        code, reason = _REASONS.get(error.errno or 0, ("artifact_unreadable", error.strerror or "unreadable"))
        raise GateError(code, reason, where=path, help=_HELP) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise GateError("not_a_regular_file", f"it is {_kind(mode)}", where=path, help=_HELP)
    return os.fdopen(descriptor, "rb")


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe (FIFO)"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def sha256_of(file: BinaryIO) -> str:
    """Digest of the whole file as it lies on disk; the position is set back to the start."""
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    file.seek(0)
    return digest.hexdigest()

"""The history as a local file: create, read, append under a lock. Every write is one checked, synced call."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gate.cycles.chain import History
from gate.cycles.record import Record, seal
from gate.history.reading import parse
from gate.safe import NotRegularError, open_regular
from gate.values import GateError

LOCK_SECONDS = 60.0
MOST_BYTES = 256 << 20
"""A history is read as a whole."""
_INIT_HELP = "start one with: gate history init"


def init(path: str | Path, *, now: str = "", tool: str = "") -> Record:
    """Start a history: one ``init`` record in a new file. A file that exists is never touched.

    The file appears under its name whole or not at all: a crash cannot leave an empty history.
    """
    record, data = first_record(now=now, tool=tool)
    create(Path(path), data)
    return record


def first_record(*, now: str, tool: str) -> tuple[Record, bytes]:
    """The ``init`` record of a new history, with a random identity, and its line."""
    record, line = seal(Record(kind="init", id=secrets.token_hex(16), time=now, tool=tool), ())
    return record, line + b"\n"


def create(target: Path, data: bytes) -> None:
    """A new file that appears under its name whole or not at all."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            _write(descriptor, data, str(target))
        finally:
            os.close(descriptor)
        os.link(draft, target, follow_symlinks=False)  # fails if the name is taken, unlike rename
        _sync_directory(target.parent)
    except FileExistsError:
        raise GateError(
            "history_exists",
            "there is already a file of this name",
            where=str(target),
            help="to look at it: gate history show; a new history needs a new name",
        ) from None
    except OSError as error:
        raise _os_error("created", target, error) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load(path: str | Path) -> History:
    """Read and verify a history. Anything doubtful is a :class:`GateError` with file and line."""
    descriptor = _open(Path(path), os.O_RDONLY)
    try:
        _lock(descriptor, fcntl.LOCK_SH, str(path))
        return parse(_read(descriptor, Path(path)), str(path))
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class LockedHistory:
    """A history that no one else can write to until the ``with`` block ends."""

    history: History
    path: Path
    descriptor: int

    def append(self, *records: Record) -> tuple[Record, ...]:
        """Link the records to the heads and write them in one call."""
        if not records:
            return ()
        sealed, data = link(self.history, records)
        _write(self.descriptor, data, str(self.path))
        history = self.history
        self.history = History(history.records + sealed, (sealed[-1].digest,), history.where)
        return sealed


def link(history: History, records: Sequence[Record]) -> tuple[tuple[Record, ...], bytes]:
    """The records sealed one after the other behind the heads, and the bytes to append."""
    prev, isolated = history.heads, history.torn
    sealed: list[Record] = []
    lines = [b"\n"] if history.unterminated else []
    for record in records:
        done, line = seal(record, prev, isolated)
        prev, isolated = (done.digest,), ()
        sealed.append(done)
        lines.append(line + b"\n")
    return tuple(sealed), b"".join(lines)


@contextlib.contextmanager
def locked(path: str | Path) -> Iterator[LockedHistory]:
    """Open, lock and read the history; ``.append`` writes to it. Released on exit and by a dying process."""
    target = Path(path)
    descriptor = _open_locked(target)
    try:
        yield LockedHistory(parse(_read(descriptor, target), str(target)), target, descriptor)
    finally:
        os.close(descriptor)


def _open_locked(target: Path) -> int:
    while True:
        descriptor = _open(target, os.O_RDWR | os.O_APPEND)
        try:
            _lock(descriptor, fcntl.LOCK_EX, str(target))
            if _is_still(target, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the file was replaced while we waited: take the new one


def _is_still(target: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(target.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        raise _missing(target) from None


def _open(target: Path, mode: int) -> int:
    try:
        return open_regular(target, mode)
    except FileNotFoundError:
        raise _missing(target) from None
    except NotRegularError:
        raise GateError("history_not_a_file", "a history must be a regular file", where=str(target)) from None
    except OSError as error:
        raise _os_error("opened", target, error) from None


def _missing(target: Path) -> GateError:
    return GateError("history_missing", "there is no history here", where=str(target), help=_INIT_HELP)


def _os_error(what: str, target: Path, error: OSError) -> GateError:
    reason = error.strerror or type(error).__name__
    if target.is_symlink():
        reason = "it is a symbolic link, which is not followed"
    return GateError(
        "history_io",
        f"the history could not be {what} ({reason})",
        where=str(target),
        help="check path and rights",
    )


def _lock(descriptor: int, kind: int, where: str) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise GateError(
                    "history_locked",
                    f"another process holds the history for more than {LOCK_SECONDS:.0f} s",
                    where=where,
                    help="end that process; its lock goes with it",
                ) from None
            time.sleep(0.005)
        else:
            return


def _read(descriptor: int, target: Path) -> bytes:
    try:
        size = os.fstat(descriptor).st_size
        _bound(size, target)
        parts: list[bytes] = []
        position = 0
        while position < size:
            part = os.pread(descriptor, size - position, position)
            if not part:
                break
            parts.append(part)
            position += len(part)
    except OSError as error:
        raise _os_error("read", target, error) from None
    return b"".join(parts)


def _bound(size: int, target: Path) -> None:
    if size > MOST_BYTES:
        raise GateError(
            "history_too_large",
            f"the history is larger than {MOST_BYTES >> 20} MiB ({size:,} bytes)",
            where=str(target),
            help="is this the right file? a history holds a few records a cycle",
        )


def _write(descriptor: int, data: bytes, where: str) -> None:
    """One write, its length checked, then synced.

    A short write stays as a torn tail: cutting it off could fail as well, and the reader sets it aside.
    """
    try:
        written = os.write(descriptor, data)
        os.fsync(descriptor)
    except OSError as error:
        raise _not_written(where, error.strerror or type(error).__name__) from None
    if written != len(data):
        raise _not_written(where, f"{written} of {len(data)} bytes: is the disk full?")


def _not_written(where: str, reason: str) -> GateError:
    return GateError(
        "history_not_written",
        f"the record could not be written ({reason})",
        where=where,
        help="earlier records are intact; make room and run again",
    )

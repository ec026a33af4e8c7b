"""Where a store's few files lie: a directory under a lock, or a git branch."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from gate.history.branch import SCHEME, Branch, Fetched, git_place
from gate.safe import NotRegularError, open_regular
from gate.values import GateError

T = TypeVar("T")


class Reader(Protocol):
    """The files as they are now."""

    def file(self, path: str) -> bytes | None:
        """Its content, None if there is none."""
        ...

    def sizes(self) -> Mapping[str, int]:
        """Bytes of every blob by its path."""
        ...


Step = Callable[[Reader], tuple[Mapping[str, bytes | None], T]]
"""Answers the files as they are with those to write (None: to remove) and a value; may be called again."""


class Shelf(Protocol):
    """A place for files that several jobs may change at once."""

    @property
    def where(self) -> str:
        """The place, for messages."""
        ...

    def reader(self) -> AbstractContextManager[Reader]:
        """The files to look at."""
        ...

    def change(self, step: Step[T]) -> T:
        """Write what the step answers, all of it or, after a crash, a beginning in the order given."""
        ...


def shelf_at(place: str) -> Shelf:
    """The store that ``--store`` names: a directory, or ``git:REMOTE#BRANCH``."""
    if place.startswith(SCHEME):
        return BranchShelf(Branch.at(git_place(place, "store of baselines", "")))
    return FolderShelf(Path(place))


@dataclass(frozen=True, slots=True)
class FolderShelf:
    """A directory, which the first writer makes."""

    root: Path

    @property
    def where(self) -> str:
        """The path."""
        return str(self.root)

    def file(self, path: str) -> bytes | None:
        """A regular file of the directory; a link in its place is refused."""
        try:
            descriptor = open_regular(str(self.root / path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (NotRegularError, OSError) as error:
            raise GateError("baseline_unreadable", str(error), where=f"{self.root}/{path}") from None
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def sizes(self) -> Mapping[str, int]:
        """Of ``blobs/``."""
        found = (self.root / "blobs").glob("*.zst")
        return {f"blobs/{path.name}": path.lstat().st_size for path in found}

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Files are only ever replaced whole, so reading takes no lock."""
        yield self

    def change(self, step: Step[T]) -> T:
        """Under a lock; each file appears whole, in the order given."""
        try:
            with self._locked():
                files, value = step(self)
                for path, data in files.items():
                    self._put(self.root / path, data)
        except OSError as error:
            raise GateError(
                "baseline_not_written",
                f"the store could not be changed ({error.strerror or type(error).__name__})",
                where=self.where,
                help="earlier baselines are intact; make room or give the right to write, and run again",
            ) from None
        return value

    @contextmanager
    def _locked(self) -> Iterator[None]:
        (self.root / "blobs").mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _put(self, target: Path, data: bytes | None) -> None:
        if data is None:
            target.unlink(missing_ok=True)
            return
        draft = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.new")
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class BranchShelf:
    """A git branch that nothing else is in; every change is one commit."""

    branch: Branch

    @property
    def where(self) -> str:
        """The place without secrets."""
        return str(self.branch.place)

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """The branch's last commit."""
        with self.branch.fetched() as fetched:
            yield _Commit(fetched)

    def change(self, step: Step[T]) -> T:
        """Fetch, ask, push; again from the start while others are faster."""
        for fetched in self.branch.tries():
            files, value = step(_Commit(fetched))
            if not files or fetched.push(files, "Baselines"):
                return value
        raise AssertionError("tries() ends with an error")


@dataclass(frozen=True, slots=True)
class _Commit:
    fetched: Fetched

    def file(self, path: str) -> bytes | None:
        return self.fetched.file(path)

    def sizes(self) -> Mapping[str, int]:
        return self.fetched.sizes("blobs")

"""A history in a git branch that nothing else is in. A rejected push is the signal to decide again.

Each step fetches the branch's last commit into a repository of its own, verifies the history in it, decides
on what was fetched, commits the longer file and pushes it without force. If someone was faster, the server
refuses, and all of it begins again after a random pause. Nothing is ever merged or overwritten.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gate.cycles.chain import History
from gate.history.files import first_record, link
from gate.history.git_place import Git, GitPlace, resolved
from gate.history.reading import parse
from gate.history.store import Step, T
from gate.values import GateError

ATTEMPTS = 40
LONGEST_PAUSE = 2.0
_OLD, _NEW = "refs/gate/old", "refs/gate/new"
_LOST_RACE = ("[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "fetch first")


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The branch as it was fetched. branch: whether there is one. data: None without the file."""

    git: Git
    branch: bool
    data: bytes | None


@dataclass(frozen=True, slots=True)
class GitStore:
    """The history at ``git:REMOTE#BRANCH:PATH``. url, config: what that means in the current directory."""

    place: GitPlace
    url: str
    config: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, place: GitPlace) -> GitStore:
        """The store that the place names here and now."""
        return cls(place, *resolved(place, str(place)))

    @property
    def where(self) -> str:
        """The place without secrets."""
        return str(self.place)

    def create(self, *, now: str, tool: str) -> None:
        """The first commit of the branch, or the file in a branch that has others."""
        with self._fetched() as fetched:
            _, data = first_record(now=now, tool=tool)
            if fetched.data is not None or not self._push(fetched, data, "Start the history"):
                raise GateError("history_exists", "there is already a history here", where=self.where)

    def read(self) -> History:
        """The verified history."""
        with self._fetched() as fetched:
            return self._history(fetched)

    def transact(self, step: Step[T]) -> T:
        """Fetch, decide, push; again from the start while others are faster."""
        for attempt in range(ATTEMPTS):
            with self._fetched() as fetched:
                history = self._history(fetched)
                records, value = step(history)
                if not records:
                    return value
                _, data = link(history, records)
                subject = ", ".join(f"{record.kind} {record.cycle}" for record in records)[:200]
                if self._push(fetched, (fetched.data or b"") + data, subject):
                    return value
            time.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.05 * 1.5**attempt)))  # noqa: S311 - no secret
        raise GateError(
            "history_contended",
            f"other writers were faster {ATTEMPTS} times in a row; nothing was recorded",
            where=self.where,
            help="run again when fewer jobs write to this branch",
        )

    @contextmanager
    def _fetched(self) -> Iterator[_Fetched]:
        with tempfile.TemporaryDirectory(prefix="gate-") as directory:
            git = Git(Path(directory), self.where, self.config)
            git.read("init", "--quiet", "--bare", "--template=", ".")
            branch = self._fetch(git)
            yield _Fetched(git, branch, self._file(git) if branch else None)

    def _fetch(self, git: Git) -> bool:
        ref = f"refs/heads/{self.place.branch}"
        done = git.run("fetch", "--quiet", "--no-tags", "--depth=1", "--", self.url, f"+{ref}:{_OLD}")
        if done.returncode and b"couldn't find remote ref" not in done.stderr:
            raise git.error("fetch", done)
        return done.returncode == 0

    def _file(self, git: Git) -> bytes | None:
        listed = git.read("ls-tree", "-z", _OLD, "--", self.place.path).rstrip(b"\0")
        if not listed:
            return None
        mode, _, blob = listed.split(b"\t")[0].split(b" ")
        if mode not in {b"100644", b"100755"}:
            raise GateError("history_not_a_file", "a history must be a regular file", where=self.where)
        return git.read("cat-file", "blob", blob.decode())

    def _history(self, fetched: _Fetched) -> History:
        if fetched.data is None:
            what = "this file is not in the branch" if fetched.branch else "there is no such branch"
            help_text = "start one with: gate history init"
            raise GateError("history_missing", what, where=self.where, help=help_text)
        return parse(fetched.data, self.where)

    def _push(self, fetched: _Fetched, data: bytes, subject: str) -> bool:
        """Whether the server took the new commit. False: someone else was faster."""
        git = fetched.git
        commit = _commit(self.place.path, data, subject, follows=fetched.branch)
        git.read("fast-import", "--quiet", "--date-format=now", data=commit)
        target = f"{_NEW}:refs/heads/{self.place.branch}"
        done = git.run("push", "--porcelain", "--no-verify", "--", self.url, target)
        if done.returncode == 0:
            return True
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if any(sign in said for sign in _LOST_RACE):
            return False
        raise git.error("push", done)


def _commit(path: str, data: bytes, subject: str, *, follows: bool) -> bytes:
    """The new commit as a stream for git fast-import: the old tree with one file replaced."""
    message = subject.encode("unicode_escape")
    head = f"commit {_NEW}\ncommitter gate <gate@localhost> now\ndata {len(message)}\n".encode()
    parent = f"from {_OLD}^0\n".encode() if follows else b""
    body = f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data
    return head + message + b"\n" + parent + body + b"\n"

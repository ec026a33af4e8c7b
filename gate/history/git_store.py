"""A history in a git branch that nothing else is in. A rejected push is the signal to decide again.

Each step fetches the branch's last commit into a repository of its own, verifies the history in it, decides
on what was fetched, commits the longer file and pushes it without force. If someone was faster, the server
refuses, and all of it begins again after a random pause. Nothing is ever merged or overwritten.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gate.cycles.chain import History
from gate.errors import GateError
from gate.history.files import first_record, link
from gate.history.git_place import Git, GitPlace, resolved
from gate.history.reading import parse
from gate.history.store import Step, T

ATTEMPTS = 40
LONGEST_PAUSE = 2.0
_LOST_RACE = ("[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "fetch first")


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The branch as it was fetched. commit: empty without a branch; data: None without the file."""

    git: Git
    url: str
    commit: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class GitStore:
    """The history at ``git:REMOTE#BRANCH:PATH``."""

    place: GitPlace

    @property
    def where(self) -> str:
        """The place without secrets."""
        return str(self.place)

    def exists(self) -> bool:
        """Whether the branch holds the file."""
        with self._fetched() as fetched:
            return fetched.data is not None

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
        url, config = resolved(self.place, self.where)
        with tempfile.TemporaryDirectory(prefix="gate-") as directory:
            git = Git(Path(directory), self.where, config)
            git.read("init", "--quiet", "--bare", "--template=", ".")
            commit = self._fetch(git, url)
            yield _Fetched(git, url, commit, self._file(git, commit) if commit else None)

    def _fetch(self, git: Git, url: str) -> str:
        ref = f"refs/heads/{self.place.branch}"
        listed = git.read("ls-remote", "--", url, ref).decode().split()
        if not listed:
            return ""
        git.read("fetch", "--quiet", "--no-tags", "--depth=1", "--", url, f"+{ref}:refs/gate")
        return git.read("rev-parse", "refs/gate^{commit}").decode().strip()

    def _file(self, git: Git, commit: str) -> bytes | None:
        listed = git.read("ls-tree", "-z", commit, "--", self.place.path).rstrip(b"\0")
        if not listed:
            return None
        mode, _, blob = listed.split(b"\t")[0].split(b" ")
        if mode != b"100644":
            raise GateError("history_not_a_file", "a history must be a regular file", where=self.where)
        return git.read("cat-file", "blob", blob.decode())

    def _history(self, fetched: _Fetched) -> History:
        if fetched.data is None:
            what = "this file is not in the branch" if fetched.commit else "there is no such branch"
            help_text = "start one with: gate history init"
            raise GateError("history_missing", what, where=self.where, help=help_text)
        return parse(fetched.data, self.where)

    def _push(self, fetched: _Fetched, data: bytes, subject: str) -> bool:
        """Whether the server took the new commit. False: someone else was faster."""
        commit = self._commit(fetched, data, subject)
        target = f"{commit}:refs/heads/{self.place.branch}"
        done = fetched.git.run("push", "--porcelain", "--no-verify", "--", fetched.url, target)
        if done.returncode == 0:
            return True
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if any(sign in said for sign in _LOST_RACE):
            return False
        raise fetched.git.error("push", done)

    def _commit(self, fetched: _Fetched, data: bytes, subject: str) -> str:
        git, index = fetched.git, fetched.git.directory / "gate-index"
        blob = git.read("hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()
        git.read("read-tree", fetched.commit or "--empty", index=index)
        git.read("update-index", "--add", "--cacheinfo", f"100644,{blob},{self.place.path}", index=index)
        tree = git.read("write-tree", index=index).decode().strip()
        parents = ["-p", fetched.commit] if fetched.commit else []
        message = subject.encode("unicode_escape").decode("ascii")
        return git.read("commit-tree", tree, *parents, "-m", message).decode().strip()

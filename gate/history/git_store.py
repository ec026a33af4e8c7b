"""``git:REMOTE#BRANCH[:PATH]``: a history in a git branch that nothing else is in.

A rejected push is the signal to decide again.

Each step fetches the branch's last commit into a repository of its own, verifies the history in it, decides
on what was fetched, commits the longer file and pushes it without force. If someone was faster, the server
refuses, and all of it begins again after a random pause. Nothing is ever merged or overwritten.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gate.cycles.chain import History
from gate.git.inert import ACCESS, SECONDS, git, settings_of
from gate.history.files import first_record, link
from gate.history.reading import parse
from gate.history.store import Step, T
from gate.safe import quoted
from gate.values import GateError

SCHEME: Final = "git:"
_HELP: Final = "write git:REMOTE#BRANCH or git:REMOTE#BRANCH:PATH, e.g. git:origin#gate-history:history.jsonl"
_BRANCH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
_PATH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/ -]*")
_CARRIED: Final = r"^(http\..*\.extraheader|core\.sshcommand)$"
ATTEMPTS = 40
LONGEST_PAUSE = 2.0
_OLD, _NEW = "refs/gate/old", "refs/gate/new"
_LOST_RACE = ("[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value", "fetch first")


@dataclass(frozen=True, slots=True)
class GitPlace:
    """remote: a URL, a path, or the name of a remote of the repository in the current directory."""

    remote: str
    branch: str
    path: str = "history.jsonl"

    def __str__(self) -> str:
        return f"{SCHEME}{without_secrets(self.remote)}#{self.branch}:{self.path}"


def git_place(text: str) -> GitPlace:
    """Read ``git:REMOTE#BRANCH[:PATH]``. The branch begins after the last ``#``."""
    remote, mark, rest = text.removeprefix(SCHEME).rpartition("#")
    branch, _, path = rest.partition(":")
    path = path or "history.jsonl"
    good = mark and remote and not remote.startswith("-") and "\n" not in remote
    if not good or not _BRANCH.fullmatch(branch) or not _PATH.fullmatch(path) or ".." in branch + path:
        raise GateError("usage", f"not a place for a history (found {quoted(text)})", help=_HELP)
    return GitPlace(remote, branch, path)


def without_secrets(url: str) -> str:
    """The text without what stands before ``@`` in its URLs."""
    return re.sub(r"(?<=://)[^/@\s]+@", "", url)


@dataclass(frozen=True, slots=True)
class _Git:
    """git in one directory, with errors that name the place. settings: with which it may reach the remote."""

    folder: Path
    where: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def run(self, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """The finished command, whatever its exit code."""
        try:
            return git(self.folder, *arguments, settings=self.settings, kept=ACCESS, data=data)
        except FileNotFoundError:
            raise GateError("history_git", "git is not installed", where=self.where) from None
        except subprocess.TimeoutExpired:
            raise GateError("history_git", f"git took more than {SECONDS} s", where=self.where) from None

    def read(self, *arguments: str, data: bytes = b"") -> bytes:
        """The output of a command that must succeed."""
        done = self.run(*arguments, data=data)
        if done.returncode:
            raise self.error(arguments[0], done)
        return done.stdout

    def error(self, what: str, done: subprocess.CompletedProcess[bytes]) -> GateError:
        """What git said, in one line without secrets."""
        lines = without_secrets(done.stderr.decode("utf-8", "replace")).strip().splitlines()
        said = next((line for line in lines if line.startswith(("fatal", "error", "remote"))), "no message")
        return GateError(
            "history_git",
            f"git {what} failed ({quoted(said, 200)})",
            where=self.where,
            help="check the remote's name, the network and the right to push to the branch",
        )


def _resolved(place: GitPlace) -> tuple[str, dict[str, str]]:
    """The remote's URL, and the settings of the current repository that authenticate.

    CI checkouts leave them there. Everything else runs in a repository of our own.
    """
    found = _Git(Path.cwd(), str(place)).run("remote", "get-url", "--", place.remote)
    url = found.stdout.decode("utf-8", "replace").strip() if found.returncode == 0 else place.remote
    if "://" not in url and Path(url).exists():
        url = str(Path(url).resolve())
    return url, settings_of(Path.cwd(), _CARRIED, ACCESS)


@dataclass(frozen=True, slots=True)
class _Fetched:
    """The branch as it was fetched. branch: whether there is one. data: None without the file."""

    git: _Git
    branch: bool
    data: bytes | None


@dataclass(frozen=True, slots=True)
class GitStore:
    """The history at ``git:REMOTE#BRANCH:PATH``. url, settings: what that means in the current directory."""

    place: GitPlace
    url: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, place: GitPlace) -> GitStore:
        """The store that the place names here and now."""
        return cls(place, *_resolved(place))

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
            own = _Git(Path(directory), self.where, self.settings)
            own.read("init", "--quiet", "--bare", "--template=", ".")
            branch = self._fetch(own)
            yield _Fetched(own, branch, self._file(own) if branch else None)

    def _fetch(self, own: _Git) -> bool:
        ref = f"refs/heads/{self.place.branch}"
        done = own.run("fetch", "--quiet", "--no-tags", "--depth=1", "--", self.url, f"+{ref}:{_OLD}")
        if done.returncode and b"couldn't find remote ref" not in done.stderr:
            raise own.error("fetch", done)
        return done.returncode == 0

    def _file(self, own: _Git) -> bytes | None:
        listed = own.read("ls-tree", "-z", _OLD, "--", self.place.path).rstrip(b"\0")
        if not listed:
            return None
        mode, _, blob = listed.split(b"\t")[0].split(b" ")
        if mode not in {b"100644", b"100755"}:
            raise GateError("history_not_a_file", "a history must be a regular file", where=self.where)
        return own.read("cat-file", "blob", blob.decode())

    def _history(self, fetched: _Fetched) -> History:
        if fetched.data is None:
            what = "this file is not in the branch" if fetched.branch else "there is no such branch"
            help_text = "start one with: gate history init"
            raise GateError("history_missing", what, where=self.where, help=help_text)
        return parse(fetched.data, self.where)

    def _push(self, fetched: _Fetched, data: bytes, subject: str) -> bool:
        """Whether the server took the new commit. False: someone else was faster."""
        own = fetched.git
        commit = _commit(self.place.path, data, subject, follows=fetched.branch)
        own.read("fast-import", "--quiet", "--date-format=now", data=commit)
        target = f"{_NEW}:refs/heads/{self.place.branch}"
        done = own.run("push", "--porcelain", "--no-verify", "--", self.url, target)
        if done.returncode == 0:
            return True
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if any(sign in said for sign in _LOST_RACE):
            return False
        raise own.error("push", done)


def _commit(path: str, data: bytes, subject: str, *, follows: bool) -> bytes:
    """The new commit as a stream for git fast-import: the old tree with one file replaced."""
    message = subject.encode("unicode_escape")
    head = f"commit {_NEW}\ncommitter gate <gate@localhost> now\ndata {len(message)}\n".encode()
    parent = f"from {_OLD}^0\n".encode() if follows else b""
    body = f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data
    return head + message + b"\n" + parent + body + b"\n"

"""A git branch that nothing else is in, as a place for files: fetched, looked at, pushed without force.

A rejected push is the signal to look again: nothing is ever merged or overwritten.
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

from gate.git.inert import ACCESS, SECONDS, git, settings_of
from gate.safe import quoted
from gate.values import GateError

SCHEME: Final = "git:"
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
    path: str

    def __str__(self) -> str:
        return f"{SCHEME}{without_secrets(self.remote)}#{self.branch}{self.path and ':'}{self.path}"


def git_place(text: str, what: str = "history", path: str = "history.jsonl") -> GitPlace:
    """Read ``git:REMOTE#BRANCH[:PATH]``. The branch begins after the last ``#``. path: the default."""
    remote, mark, rest = text.removeprefix(SCHEME).rpartition("#")
    branch, _, named = rest.partition(":")
    chosen = named or path
    good = mark and remote and not remote.startswith("-") and "\n" not in remote
    fits = _BRANCH.fullmatch(branch) and (_PATH.fullmatch(chosen) if path else not named)
    if not good or not fits or ".." in branch + chosen:
        form = f"git:REMOTE#BRANCH or git:REMOTE#BRANCH:PATH, e.g. git:origin#gate-history:{path}"
        help_text = form if path else "git:REMOTE#BRANCH, e.g. git:origin#gate-baselines"
        raise GateError(
            "usage", f"not a place for a {what} (found {quoted(text)})", help=f"write {help_text}"
        )
    return GitPlace(remote, branch, chosen)


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
class Fetched:
    """The branch as it was fetched, and its next commit. exists: whether there is such a branch."""

    git: _Git
    place: GitPlace
    url: str
    exists: bool

    def file(self, path: str) -> bytes | None:
        """The content of a regular file, None without it."""
        listed = self._listed(path)
        if not listed:
            return None
        mode, _, blob, _ = listed[0].partition("\t")[0].split()
        if mode not in {"100644", "100755"}:
            raise GateError(
                "history_not_a_file", f"{quoted(path)} must be a regular file", where=self.git.where
            )
        return self.git.read("cat-file", "blob", blob)

    def sizes(self, folder: str) -> dict[str, int]:
        """Bytes of each file in a folder, by its path."""
        entries = (entry.partition("\t") for entry in self._listed(f"{folder}/"))
        return {path: int(facts.split()[3]) for facts, _, path in entries if facts.split()[1] == "blob"}

    def _listed(self, path: str) -> list[str]:
        if not self.exists:
            return []
        found = self.git.read("ls-tree", "-z", "--long", _OLD, "--", path)
        return [entry for entry in found.decode("utf-8", "replace").split("\0") if entry]

    def push(self, files: Mapping[str, bytes | None], subject: str) -> bool:
        """Whether the server took a commit with these files (None: removes); else another was faster."""
        commit = _commit(files, subject, follows=self.exists)
        self.git.read("fast-import", "--quiet", "--date-format=now", data=commit)
        target = f"{_NEW}:refs/heads/{self.place.branch}"
        done = self.git.run("push", "--porcelain", "--no-verify", "--", self.url, target)
        if done.returncode == 0:
            return True
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if any(sign in said for sign in _LOST_RACE):
            return False
        raise self.git.error("push", done)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a remote. url, settings: what the place means in the current directory."""

    place: GitPlace
    url: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, place: GitPlace) -> Branch:
        """The branch that the place names here and now."""
        return cls(place, *_resolved(place))

    @contextmanager
    def fetched(self) -> Iterator[Fetched]:
        """Its last commit, in a repository of our own."""
        with tempfile.TemporaryDirectory(prefix="gate-") as directory:
            own = _Git(Path(directory), str(self.place), self.settings)
            own.read("init", "--quiet", "--bare", "--template=", ".")
            ref = f"refs/heads/{self.place.branch}"
            done = own.run("fetch", "--quiet", "--no-tags", "--depth=1", "--", self.url, f"+{ref}:{_OLD}")
            if done.returncode and b"couldn't find remote ref" not in done.stderr:
                raise own.error("fetch", done)
            yield Fetched(own, self.place, self.url, exists=done.returncode == 0)

    def tries(self) -> Iterator[Fetched]:
        """The newest state, again while others are faster; the caller leaves when its push was taken."""
        for attempt in range(ATTEMPTS):
            with self.fetched() as fetched:
                yield fetched
            time.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.05 * 1.5**attempt)))  # noqa: S311 - no secret
        raise GateError(
            "history_contended",
            f"other writers were faster {ATTEMPTS} times in a row; nothing was recorded",
            where=str(self.place),
            help="run again when fewer jobs write to this branch",
        )


def _commit(files: Mapping[str, bytes | None], subject: str, *, follows: bool) -> bytes:
    """The new commit as a stream for git fast-import: the old tree with these files replaced."""
    message = subject.encode("unicode_escape")
    parts = [
        f"commit {_NEW}\ncommitter gate <gate@localhost> now\ndata {len(message)}\n".encode(),
        message,
        b"\n",
    ]
    parts += [f"from {_OLD}^0\n".encode()] if follows else []
    for path, data in files.items():
        if data is None:
            parts.append(f"D {path}\n".encode())
        else:
            parts += [f"M 100644 inline {path}\ndata {len(data)}\n".encode(), data, b"\n"]
    return b"".join(parts)

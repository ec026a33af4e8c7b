"""Files of a commit, read so that nothing in the checkout can act or lie.

An object's id is the hash of its content, so every object on the way from a commit to a file is hashed again
here: replace refs, grafts, alternates or a doctored object store cannot put another file in its place.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from gate.git.inert import SECONDS, git, settings_of
from gate.safe import escaped
from gate.values import GateError

SECONDS_OF_HISTORY: Final = 20
"""For looking through the history of a file, which may be that of a very large repository."""
REGULAR: Final = frozenset({b"100644", b"100755"})
_HEADER: Final = r"^http\..*\.extraheader$"
"""With which a checkout that kept its credentials may fetch."""
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_object_id(text: str) -> bool:
    """A full commit id. Short ones and names can be made to mean something else."""
    return _OBJECT_ID.fullmatch(text) is not None


@dataclass
class Repository:
    """The repository of a checkout. url: where to fetch what a shallow clone lacks.

    Empty is where the checkout came from, None is nowhere: the checkout of a change may come from a fork.

    What is fetched goes into a repository of our own, so the checkout's configuration has no part in it.
    """

    root: Path
    url: str | None = ""
    _own: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.cleanup()
            self._own = None

    def head(self) -> str:
        """The id of the checked-out commit; empty outside a repository."""
        done = self._here("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD")
        found = done.stdout.decode("ascii", "replace").strip()
        return found if done.returncode == 0 and is_object_id(found) else ""

    def parents(self, commit: str) -> tuple[str, ...]:
        """A commit's parents as its content names them, also where a shallow clone hides them."""
        head, _, _ = (self.content(commit, "commit") or b"").partition(b"\n\n")
        lines = head.decode("utf-8", "replace").splitlines()
        return tuple(line.removeprefix("parent ") for line in lines if line.startswith("parent "))

    def has(self, commit: str) -> bool:
        """Whether the commit can be read, after a fetch if that is what it takes."""
        if self.content(commit, "commit") is not None:
            return True
        return self._fetch(commit) and self.content(commit, "commit") is not None

    def tip(self, branch: str) -> str:
        """The id of a branch's newest commit on the server; empty where it cannot be had."""
        if not self._fetch(f"refs/heads/{branch}"):
            return ""
        done = self._run(self._store(), "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
        return done.stdout.decode("ascii", "replace").strip() if done.returncode == 0 else ""

    def file(self, commit: str, path: str) -> bytes | None:
        """The content of a regular file, None where there is no such path."""
        tree = (
            self._need(commit, "commit").split(b"\n", 1)[0].removeprefix(b"tree ").decode("ascii", "replace")
        )
        *folders, name = path.split("/")
        for folder in folders:
            mode, tree = _entries(self._need(tree, "tree"), len(tree)).get(folder.encode(), (b"", ""))
            if mode not in {b"40000", b""}:
                raise _not_a_file(path)
            if not tree:
                return None
        mode, blob = _entries(self._need(tree, "tree"), len(tree)).get(name.encode(), (b"", ""))
        if not blob:
            return None
        if mode not in REGULAR:
            raise _not_a_file(path)
        return self._need(blob, "blob")

    def is_shallow(self) -> bool:
        """Whether the clone lacks history, or cannot tell."""
        return self._here("rev-parse", "--is-shallow-repository").stdout.strip() != b"false"

    def touching(self, commit: str, path: str, most: int) -> list[str]:
        """The newest ``most`` ancestors, this one included, that changed the path; the oldest first."""
        options = ("--full-history", "--date-order", "--reverse", f"--max-count={most}")
        words = ("--literal-pathspecs", "rev-list", *options, "--end-of-options", commit, "--", path)
        return self._history(*words).decode("ascii", "replace").split()

    def renamed_from(self, commit: str, path: str) -> tuple[str, str]:
        """The parent and the name from which this commit moved the file as it was; empty texts if none."""
        words = ("diff-tree", "-r", "-z", "-M100%", "--diff-filter=R", "--name-status", "--no-commit-id")
        moved = self._history(*words, commit).decode("utf-8", "surrogateescape").split("\0")
        pairs = zip(moved[1::3], moved[2::3], strict=False)
        old = next((old for old, new in pairs if new == path), "")
        return (self.parents(commit)[0], old) if old else ("", "")

    def blobs(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """Id and size of each ``COMMIT:PATH``, ("", 0) where it is no file; not hashed again here."""
        data = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        wanted = "--batch-check=%(objecttype) %(objectname) %(objectsize)"
        lines = self._history("cat-file", wanted, data=data)
        found = [line.split() for line in lines.split(b"\n")[:-1]]
        return [(w[1].decode(), int(w[2])) if w[:1] == [b"blob"] and len(w) == 3 else ("", 0) for w in found]

    def _history(self, *arguments: str, data: bytes = b"") -> bytes:
        done = self._run(self.root, *arguments, data=data, seconds=SECONDS_OF_HISTORY)
        if done.returncode:
            raise GateError("ci_git", f"git {arguments[0]} failed", help="check out with fetch-depth: 0")
        return done.stdout

    def content(self, name: str, kind: str) -> bytes | None:
        """A raw object whose hash is its name; None where it is not there."""
        if not is_object_id(name):
            return None
        for folder in [self.root, *([Path(self._own.name)] if self._own else [])]:
            done = self._run(folder, "cat-file", kind, name)
            if done.returncode == 0:
                return _checked(done.stdout, kind, name)
        return None

    def _need(self, name: str, kind: str) -> bytes:
        found = self.content(name, kind)
        if found is None and self._fetch(name):
            found = self.content(name, kind)
        if found is None:
            raise GateError(
                "ci_object_missing",
                f"the {kind} {name[:12]} is not in this clone and cannot be fetched",
                help="check out with fetch-depth: 0",
            )
        return found

    def _fetch(self, what: str) -> bool:
        url = self._origin() if self.url == "" else self.url
        if not url or "\n" in url or url.startswith("-"):
            return False
        options = ("--quiet", "--no-tags", "--depth=1", "--no-write-commit-graph")
        return self._run(self._store(), "fetch", *options, "--", url, what).returncode == 0

    def _origin(self) -> str:
        done = self._here("config", "--local", "--get", "remote.origin.url")
        return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""

    def _store(self) -> Path:
        if self._own is None:
            self._own = tempfile.TemporaryDirectory(prefix="gate-base-")
            self._run(Path(self._own.name), "init", "--quiet", "--bare", "--template=", ".")
        return Path(self._own.name)

    def _here(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return self._run(self.root, *arguments)

    def _run(
        self, folder: Path, *arguments: str, data: bytes = b"", seconds: int = SECONDS
    ) -> subprocess.CompletedProcess[bytes]:
        # Only our own repository may go to the network: a partial clone would by the rules of the checkout.
        inside = folder == self.root
        settings = {"protocol.allow": "never"} if inside else settings_of(self.root, _HEADER)
        try:
            return git(folder, *arguments, settings=settings, data=data, seconds=seconds)
        except (FileNotFoundError, NotADirectoryError):
            raise GateError("ci_git", "git or the workspace is missing", help="install git") from None
        except subprocess.TimeoutExpired:
            raise GateError("ci_git", f"git {arguments[0]} took more than {seconds} s") from None


def _checked(data: bytes, kind: str, name: str) -> bytes:
    hashed = hashlib.sha1(usedforsecurity=False) if len(name) == 40 else hashlib.sha256()
    hashed.update(f"{kind} {len(data)}\0".encode() + data)
    if hashed.hexdigest() != name:
        raise GateError(
            "ci_object_forged",
            f"the {kind} that the repository keeps as {name[:12]} has another content",
            help="use a fresh checkout on a fresh runner",
        )
    return data


def _entries(tree: bytes, width: int) -> dict[bytes, tuple[bytes, str]]:
    """name -> (mode, id) of a raw tree object."""
    found: dict[bytes, tuple[bytes, str]] = {}
    size, position = width // 2, 0
    while position < len(tree):
        space, end = tree.find(b" ", position), tree.find(b"\0", position)
        if not position < space < end:
            raise GateError("ci_object_forged", "a tree of this commit is malformed")
        name = tree[space + 1 : end]
        found[name] = (tree[position:space], tree[end + 1 : end + 1 + size].hex())
        position = end + 1 + size
    return found


def _not_a_file(path: str) -> GateError:
    return GateError(
        "policy_is_a_link",
        "in that commit this path is a link, a submodule or a folder, not a regular file",
        where=escaped(path),
        help="name the file itself",
    )

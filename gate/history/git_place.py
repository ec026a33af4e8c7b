"""``git:REMOTE#BRANCH[:PATH]``: a history in a git branch, and git called so that nothing else acts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gate.safe import quoted
from gate.values import GateError

SCHEME: Final = "git:"
SECONDS: Final = 120
_HELP: Final = "write git:REMOTE#BRANCH or git:REMOTE#BRANCH:PATH, e.g. git:origin#gate-history:history.jsonl"
_BRANCH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
_PATH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/ -]*")

# What a repository or a user may have configured to run by itself, or to bend what git sees, is switched off.
_INERT: Final = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.useReplaceRefs": "false",
    "core.autocrlf": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "push.gpgSign": "false",
    "protocol.ext.allow": "never",
    "safe.directory": "*",
}
_CARRIED: Final = r"^(http\..*\.extraheader|core\.sshcommand)$"


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


class Git:
    """git in one directory, with inert configuration and no shell."""

    def __init__(self, directory: Path, where: str, config: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.where = where
        self.environment = _environment(_INERT | dict(config or {}))

    def run(self, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """The finished command, whatever its exit code."""
        try:
            return subprocess.run(  # noqa: S603 - a list of arguments, no shell
                ["git", *arguments],  # noqa: S607 - the machine's git, found like every tool of a pipeline
                cwd=self.directory,
                env=self.environment,
                input=data,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
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


def _environment(config: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _KEPT}
    settings: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    author = {
        f"GIT_{who}_{what}": text
        for who in ("AUTHOR", "COMMITTER")
        for what, text in (("NAME", "gate"), ("EMAIL", "gate@localhost"))
    }
    return kept | settings | author | _FIXED


_KEPT: Final = {"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY"}
_FIXED: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


def resolved(place: GitPlace, where: str) -> tuple[str, dict[str, str]]:
    """The remote's URL, and the settings of the current repository that authenticate.

    CI checkouts leave them there. Everything else runs in a repository of our own.
    """
    here = Git(Path.cwd(), where)
    found = here.run("remote", "get-url", "--", place.remote)
    url = found.stdout.decode("utf-8", "replace").strip() if found.returncode == 0 else place.remote
    if "://" not in url and Path(url).exists():
        url = str(Path(url).resolve())
    carried = here.run("config", "--local", "--includes", "--null", "--get-regexp", _CARRIED).stdout
    pairs = (entry.partition("\n") for entry in carried.decode("utf-8", "replace").split("\0") if entry)
    return url, {key: value for key, _, value in pairs}

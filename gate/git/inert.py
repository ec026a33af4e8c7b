"""The one place that starts git: no shell, no prompt, no hook, no configuration but ours."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SECONDS: Final = 120

# What a repository or a user may have configured to run by itself, or to bend what git sees, is switched off.
_SETTINGS: Final = {
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.commitGraph": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.useReplaceRefs": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "safe.directory": "*",
}
_ENVIRONMENT: Final = {
    "GIT_AUTHOR_NAME": "gate",
    "GIT_AUTHOR_EMAIL": "gate@localhost",
    "GIT_COMMITTER_NAME": "gate",
    "GIT_COMMITTER_EMAIL": "gate@localhost",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
ACCESS: Final = frozenset(
    {"GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY"}
)
"""Variables with which whoever starts the gate says how to reach a server."""


def git(
    folder: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    kept: frozenset[str] = frozenset(),
    data: bytes = b"",
    seconds: int = SECONDS,
) -> subprocess.CompletedProcess[bytes]:
    """The finished command, whatever its exit code. kept: variables ``GIT_...`` that it may see.

    Raises FileNotFoundError or NotADirectoryError without git or the folder, and subprocess.TimeoutExpired.
    """
    return subprocess.run(  # noqa: S603 - a list of arguments, no shell
        ["git", *arguments],  # noqa: S607 - the machine's git, found like every tool of a pipeline
        cwd=folder,
        env=_environment(_SETTINGS | dict(settings or {}), kept),
        input=data,
        capture_output=True,
        timeout=seconds,
        check=False,
    )


def _environment(settings: Mapping[str, str], kept: frozenset[str]) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key[:4] != "GIT_" or key in kept}
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        numbered |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return inherited | numbered | _ENVIRONMENT


def settings_of(folder: Path, pattern: str, kept: frozenset[str] = frozenset()) -> dict[str, str]:
    """Settings of the folder's own repository whose key matches: where a checkout keeps its credentials."""
    done = git(folder, "config", "--local", "--includes", "--null", "--get-regexp", pattern, kept=kept)
    pairs = (entry.partition("\n") for entry in done.stdout.decode("utf-8", "replace").split("\0") if entry)
    return {key: value for key, _, value in pairs}

"""A system or scorer of the suite as something that can be asked, and the digest of its version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from gate.artifacts.opening import open_artifact, sha256_of
from gate.replay.children import OneShot, Server
from gate.replay.faults import Reply
from gate.replay.suite import Program, Suite, System
from gate.replay.web import Endpoint
from gate.values import GateError


class Asked(Protocol):
    """Whoever answers questions."""

    async def ask(self, question: bytes, key: str) -> Reply:
        """The answer, or a FaultError. question: one line of JSON; key: its id."""
        ...

    async def close(self) -> None:
        """End what is open."""
        ...


def opened(
    program: Program, kind: str, what: str, suite: Suite, folder: Path, environ: Mapping[str, str]
) -> Asked:
    """The program, ready to be asked. kind: system or scorer; what: for messages."""
    http = program.http if isinstance(program, System) else None
    if http is not None:
        return Endpoint(http, what, suite.timeout, environ, suite.concurrency)
    if program.callable is not None:
        return Server.of_callable(program.callable, kind, folder, what, suite.timeout)
    if program.server is not None:
        return Server(program.server, folder, what, suite.timeout)
    return OneShot(program.command or (), folder, what, suite.timeout)


def version_of(program: Program, folder: Path) -> str:
    """SHA-256 over how it is called and the bytes of the files that this names.

    Files are those of ``files``, the words of a command that are files, and a callable's module beside the
    suite. What is installed elsewhere, or lies behind an address, is known by its name only.
    """
    files = {name: _file_digest(folder / name) for name in program.files}
    files |= {name: sha256_of_path(folder / name) for name in _named(program) if (folder / name).is_file()}
    said = {"program": program.model_dump(mode="json", exclude_defaults=True), "files": files}
    return digest_of(said)


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON value in its one spelling."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _named(program: Program) -> Iterator[str]:
    yield from program.command or ()
    yield from program.server or ()
    if program.callable is not None:
        module = program.callable.partition(":")[0].replace(".", "/")
        yield from (f"{module}.py", f"{module}/__init__.py")


def _file_digest(path: Path) -> str:
    if not path.is_file():
        help_text = "files are named as they lie beside the suite"
        raise GateError("file_missing", "a file of the suite is not there", where=str(path), help=help_text)
    return sha256_of_path(path)


def sha256_of_path(path: Path) -> str:
    """Digest of a file, also of one behind a link (interpreters are)."""
    with open_artifact(str(path.resolve())) as file:
        return sha256_of(file)

"""How errors reach a person, and with ``--json`` a program."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from gate.cli.streams import Streams
from gate.report.fault import bug_text, error_text
from gate.values import GateError


def report_error(error: GateError, argv: Sequence[str], streams: Streams) -> None:
    """Two lines on stderr; with ``--json`` also a ``gate.error/1`` document where the report would be.

    A stream that cannot be written to is given up: the exit code still tells.
    """
    with contextlib.suppress(OSError, ValueError):
        command = argv[0] if argv and argv[0].isalpha() else ""
        streams.complain(error_text(error, command))
    with contextlib.suppress(OSError, ValueError, GateError):
        _write_document(error, argv, streams)


def _write_document(error: GateError, argv: Sequence[str], streams: Streams) -> None:
    target = _json_target(argv)
    if target is None:
        return
    from gate.report.model import error_json, error_report  # costs more than most errors need

    text = error_json(error_report(error))
    if target == "-":
        streams.print(text)
    elif _may_replace(Path(target)):
        from gate.report.files import write_text

        write_text(Path(target), text)


def _may_replace(target: Path) -> bool:
    """An error may have come from a slip in the file names: only a document of ours is replaced by one."""
    if not target.is_file():
        return not target.is_dir()
    with target.open("rb") as stream:
        start = stream.read(65536)
    return not start or b'"schema": "gate.' in start or stream_end(target, b'"schema": "gate.')


def stream_end(target: Path, wanted: bytes) -> bool:
    """Whether the last part of the file holds a text (a report names its schema near its end)."""
    with target.open("rb") as stream:
        stream.seek(max(0, target.stat().st_size - 65536))
        return wanted in stream.read()


def _json_target(argv: Sequence[str]) -> str | None:
    """The value of ``--json`` even where the command line itself was the mistake."""
    for position, word in enumerate(argv):
        if word == "--json" and position + 1 < len(argv):
            return argv[position + 1]
        if word.startswith("--json="):
            return word.removeprefix("--json=")
    return None


def report_bug(error: BaseException, streams: Streams) -> None:
    """A fault of the program itself, told where it can be."""
    with contextlib.suppress(OSError, ValueError):
        streams.complain(bug_text(error))

"""What a decided run leaves behind: text on the terminal, JSON, a report directory."""

from __future__ import annotations

import argparse
import errno
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gate.cli.streams import Streams
from gate.cli.targets import cannot_write
from gate.errors import GateError
from gate.outcome import Decided
from gate.report.document import document, several


def report_of(found: Sequence[Decided]) -> dict[str, Any]:
    """``gate.report/1`` for one candidate, ``gate.reports/1`` for several."""
    documents = [document(decided) for decided in found]
    if len(documents) == 1:
        return documents[0]
    words = {decided.verdict for decided in found}
    verdict = next(word for word in ("promote", "hold", "inconclusive", "block") if word in words)
    return several(documents, _winner(found), verdict)


def _winner(found: Sequence[Decided]) -> str | None:
    """The promoted candidate file with the largest delta; the first of equals."""
    promoted = [k for k, decided in enumerate(found) if decided.verdict == "promote"]
    if not promoted:
        return None
    best = max(promoted, key=lambda k: (found[k].comparisons[0].delta or 0.0, -k))
    return str(found[best].provenance["candidate"]["path"])


def to_json(report: Mapping[str, Any]) -> str:
    """Canonical JSON with a newline: the same report gives the same bytes everywhere."""
    return json.dumps(report, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False) + "\n"


def deliver(report: dict[str, Any], args: argparse.Namespace, streams: Streams) -> None:
    """Write every output that was asked for. Files first: the verdict is printed when it can be read."""
    if args.report_dir:
        _write_directory(report, Path(args.report_dir))
    if args.json and args.json != "-":
        write_text(Path(args.json), to_json(report))
    if args.json == "-":
        streams.print(to_json(report))
        return
    from gate.cli.render import colours
    from gate.report.text import text

    streams.print(text(report, colour=colours(streams.out, os.environ)))


def deliver_error(error: GateError, args: argparse.Namespace) -> None:
    """The report directory of a run that could not decide."""
    if args.report_dir:
        from gate.cli.failures import error_document

        _write_directory(error_document(error), Path(args.report_dir))


def _write_directory(report: Mapping[str, Any], directory: Path) -> None:
    from gate.report.bundle import bundle

    write_text(directory / "report.json", to_json(report))
    for name, text in bundle(report).items():
        write_text(directory / name, text)


def write_text(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader sees the old text or the new one; no link is followed."""
    try:
        if path.parent == Path("/dev") or (path.exists() and not path.is_file()):
            # A device or a pipe is written to. Replacing it would take /dev/null from the whole machine.
            _write_through(path, text)
            return
        _replace(path, text.encode("utf-8"))
    except OSError as error:
        unread = error.errno == errno.ENXIO and path.is_fifo()
        reason = "nobody reads from this pipe" if unread else error.strerror or str(error)
        raise cannot_write(path, reason) from error


def _replace(path: Path, data: bytes) -> None:
    """By way of a file without a name, where there are such files: a killed run leaves nothing behind."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        if not _written_unnamed(draft, data):
            with draft.open("xb") as stream:
                stream.write(data)
        draft.chmod(0o644)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _written_unnamed(draft: Path, data: bytes) -> bool:
    """Write the whole file before it gets its name; False where the system cannot."""
    try:
        handle = os.open(draft.parent, os.O_WRONLY | os.O_TMPFILE, 0o600)
    except (AttributeError, OSError):
        return False
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        try:
            os.link(f"/proc/self/fd/{handle}", draft, follow_symlinks=True)
        except OSError:
            return False
    return True


def _write_through(path: Path, text: str) -> None:
    """To a device, or to a pipe that somebody reads: opening one that nobody reads would wait for ever."""
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_TRUNC)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)

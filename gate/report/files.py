"""Where a run will write, checked before anything is computed: a verdict that cannot be told is none."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from gate.report.model import Document, to_json
from gate.values import GateError

REPORT_FILES = ("report.json", "summary.md", "report.html", "junit.xml", "flips.csv", "flagged.csv")
"""What --report-dir writes."""

OURS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "report.json": (b'"schema": "gate.',),
    "summary.md": (b"\n**Why:** ",),
    "report.html": (b'<a class="skip" href="#main">Skip to the report</a>',),
    "junit.xml": (b'<testsuites name="gate"',),
    "flips.csv": (b"id,change,baseline,candidate,delta",),
    "flagged.csv": (b"id,baseline_passes,baseline_runs,",),
    "attestation.intoto.json": (
        b"https://in-toto.io/attestation/test-result/",
        b"https://in-toto.io/Statement/",
    ),
    "outputs.env": (b"GATE_VERDICT=", b"GATE_POLICY_DIGEST="),
    "judging-policy.yaml": (),
    "judging-history.jsonl": (b"gate.history/",),
}
"""What a CI job writes into its report folder, with texts that every such file of the gate holds."""


def check_outputs(targets: Iterable[Path], given: Iterable[Path]) -> None:
    """Refuse outputs that cannot be written, and outputs that would replace what the run was given."""
    paths = list(targets)
    refuse_inputs(paths, given)
    for target in paths:
        _refuse_unwritable(target)


def report_files(directory: Path) -> list[Path]:
    """The files of a report directory, which is made here."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(directory, error.strerror or str(error)) from error
    return [directory / name for name in REPORT_FILES]


def write_reports(document: Document, directory: Path) -> dict[str, str]:
    """Write the whole report directory; file name -> text."""
    from gate.report.bundle import bundle  # noqa: PLC0415 - only pages pay for it

    texts = {"report.json": to_json(document), **bundle(document)}
    for name, text in texts.items():
        write_text(directory / name, text)
    return texts


def refuse_inputs(targets: Iterable[Path], given: Iterable[Path]) -> None:
    """An output that is an input by any name: another spelling, a link to it, a second name of the file."""
    paths = list(given)
    for target in targets:
        if any(_same(target, path) for path in paths):
            raise GateError(
                "output_is_input",
                "the report would replace a file that this run was given",
                where=str(target),
                help="write the report to another name or directory",
            )


def claim(directory: Path, given: Iterable[Path]) -> None:
    """Clear a job's report folder of an earlier run's reports: a stale one must never be read as this run's.

    Checked before anything is removed: no file is one that the job was given, and each is the gate's own.
    """
    targets = [directory / name for name in OURS]
    refuse_inputs(targets, given)
    for target in targets:
        if not _ours(target):
            raise GateError(
                "report_dir_taken",
                "the report folder holds a file of this name that the gate did not write",
                where=str(target),
                help="give the reports a folder of their own",
            )
    for target in targets:
        target.unlink(missing_ok=True)


def _ours(target: Path) -> bool:
    """Also a link: to remove it takes nothing away."""
    if target.is_symlink() or not os.path.lexists(target):
        return True
    if not target.is_file():
        return False
    data = target.read_bytes()
    return not data or all(text in data for text in OURS[target.name])


def _same(target: Path, path: Path) -> bool:
    if os.path.realpath(target) == os.path.realpath(path):  # resolve() raises on a loop of links
        return True
    return os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path)  # noqa: PTH110, PTH121


def _refuse_unwritable(target: Path) -> None:
    if target.is_dir():
        raise cannot_write(target, "it is a directory")
    if not target.parent.is_dir():
        raise cannot_write(target, "there is no such directory")
    if not os.access(target.parent, os.W_OK) and not (target.exists() and os.access(target, os.W_OK)):
        raise cannot_write(target, "permission denied")


def cannot_write(path: Path, reason: str) -> GateError:
    """The report has no place to go."""
    return GateError(
        "cannot_write",
        f"the report cannot be written ({reason})",
        where=str(path),
        help="check the path, the rights and the free space",
    )


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

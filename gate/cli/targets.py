"""Where a run will write, checked before anything is computed: a verdict that cannot be told is none."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from gate.errors import GateError

REPORT_FILES = ("report.json", "summary.md", "report.html", "junit.xml", "flips.csv", "flagged.csv")
"""What --report-dir writes."""


def check_targets(args: argparse.Namespace) -> None:
    """Refuse outputs that cannot be written, and outputs that would replace what the run was given.

    The report directory is made here.
    """
    given = list(_given(args))
    for target in _targets(args):
        _refuse_input(target, given)
        _refuse_unwritable(target)


def _targets(args: argparse.Namespace) -> Iterator[Path]:
    if args.json and args.json != "-":
        yield Path(args.json)
    if args.report_dir:
        directory = Path(args.report_dir)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(directory, error.strerror or str(error)) from error
        yield from (directory / name for name in REPORT_FILES)


def _given(args: argparse.Namespace) -> Iterator[Path]:
    yield Path(args.policy)
    yield Path(args.baseline)
    yield from map(Path, args.candidate)
    for _, baseline, candidate in args.set:
        yield from (Path(path) for path in (baseline, candidate) if path != "-")
    if args.history:
        yield Path(args.history)


def _refuse_input(target: Path, given: list[Path]) -> None:
    for path in given:
        same = os.path.realpath(target) == os.path.realpath(path)  # resolve() raises on a loop of links
        if same or (target.exists() and path.exists() and target.samefile(path)):
            raise GateError(
                "output_is_input",
                "the report would replace a file that this run was given",
                where=str(target),
                help="write the report to another name or directory",
            )


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

"""What a decided run leaves behind: text on the terminal, JSON, a report directory."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gate.cli.streams import Streams, colours
from gate.cli.targets import write_text
from gate.report.model import Document, Report, Reports, error_report, to_json
from gate.values import GateError


def deliver(report: Report | Reports, args: argparse.Namespace, streams: Streams) -> None:
    """Write every output that was asked for. Files first: the verdict is printed when it can be read."""
    if args.report_dir:
        _write_directory(report, Path(args.report_dir))
    if args.json and args.json != "-":
        write_text(Path(args.json), to_json(report))
    if args.json == "-":
        streams.print(to_json(report))
        return
    from gate.report.text import text

    streams.print(text(report, colour=colours(streams.out, os.environ)))


def deliver_error(error: GateError, args: argparse.Namespace) -> None:
    """The report directory of a run that could not decide."""
    if args.report_dir:
        _write_directory(error_report(error), Path(args.report_dir))


def _write_directory(document: Document, directory: Path) -> None:
    from gate.report.bundle import bundle

    write_text(directory / "report.json", to_json(document))
    for name, text in bundle(document).items():
        write_text(directory / name, text)

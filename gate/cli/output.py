"""What a decided run leaves behind: text on the terminal, JSON, a report directory."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gate.cli.streams import Streams, colours
from gate.cli.targets import write_text
from gate.report.document import document, error_document, several, to_json
from gate.run.decided import Decided
from gate.values import GateError


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


def deliver(report: dict[str, Any], args: argparse.Namespace, streams: Streams) -> None:
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
        _write_directory(error_document(error), Path(args.report_dir))


def _write_directory(report: Mapping[str, Any], directory: Path) -> None:
    from gate.report.bundle import bundle

    write_text(directory / "report.json", to_json(report))
    for name, text in bundle(report).items():
        write_text(directory / name, text)

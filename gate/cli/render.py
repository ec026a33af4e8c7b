"""``gate render``: a saved report in another format."""

from __future__ import annotations

import argparse
import os

from gate.cli.streams import Streams, colours
from gate.report.model import Document, to_json

EPILOG = """\
examples:
  gate render report.json --format markdown >> "$GITHUB_STEP_SUMMARY"
  gate render report.json --format html > report.html
  gate render report.json --format intoto > statement.json

The report is read with suspicion: a file that gate did not write is exit 2. The exit code is 0 whatever the
verdict in the report is; gate run is what decides."""

FORMATS = {
    "text": "for a terminal",
    "markdown": "the summary of a CI job, at most 512 KiB",
    "comment": "a pull request comment of at most 60,000 characters, with a marker of its policy",
    "html": "one self-contained page",
    "junit": "one test case a rule",
    "intoto": "an unsigned in-toto test-result statement about the candidate",
    "slack": "the body of a Slack message",
    "webhook": "a few fields as JSON, for any webhook",
    "badge": "the JSON of an endpoint badge",
    "json": "the report itself, in its canonical form",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate render``."""
    parser.add_argument("report", metavar="REPORT", help="a report.json of gate run")
    described = "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", metavar="FORMAT", help=described)


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the report in the format that was asked for."""
    from gate.report.saved import read_report

    document = read_report(args.report)
    streams.print(rendered(document, args.format, colour=colours(streams.out, os.environ)))
    return 0


def rendered(document: Document, form: str, *, colour: bool = False) -> str:
    """One format. Each is imported only when it is asked for."""
    if form == "text":
        from gate.report.text import text

        return text(document, colour=colour)
    if form in {"markdown", "comment"}:
        from gate.report import markdown

        return markdown.markdown(document) if form == "markdown" else markdown.comment(document)
    if form == "json":
        return to_json(document)
    if form in {"slack", "webhook", "badge"}:
        from gate.report import messages

        return str(getattr(messages, form)(document))
    from importlib import import_module

    return str(getattr(import_module(f"gate.report.{form}"), form)(document))

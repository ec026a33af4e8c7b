"""``gate render``: a saved report in another format."""

from __future__ import annotations

import argparse
import os

from gate.cli.streams import Streams, colours
from gate.report.model import Document, to_json

TYPE_CHECKING = False  # the renderers are loaded when they are asked for
if TYPE_CHECKING:
    from gate.report.text import Form

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
    "brief": "one line of JSON of at most 1 KB, for coding agents and chats",
    "badge": "the JSON of an endpoint badge",
    "json": "the report itself, in its canonical form",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate render``."""
    parser.add_argument("report", metavar="REPORT", help="a report.json of gate run")
    described = "; ".join(f"{name}: {text}" for name, text in FORMATS.items())
    lengths(parser)
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", metavar="FORMAT", help=described)


def lengths(parser: argparse.ArgumentParser) -> None:
    """How much of a report is printed; ``run`` and ``render`` share it."""
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--quiet", action="store_true", help="one line")
    one.add_argument(
        "--explain", action="store_true", help="everything: every rule, every caution, every number"
    )


def length(args: argparse.Namespace) -> Form:
    """The form that was asked for."""
    return "quiet" if args.quiet else "explain" if args.explain else "short"


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the report in the format that was asked for."""
    from gate.report.saved import read_report

    document = read_report(args.report)
    streams.print(rendered(document, args.format, colour=colours(streams.out, os.environ), form=length(args)))
    return 0


def rendered(document: Document, name: str, *, colour: bool = False, form: Form = "short") -> str:
    """One format. Each is imported only when it is asked for."""
    if name == "text":
        from gate.report.text import text

        return text(document, colour=colour, form=form)
    if name in {"markdown", "comment"}:
        from gate.report import markdown

        return markdown.markdown(document) if name == "markdown" else markdown.comment(document)
    if name == "json":
        return to_json(document)
    if name in {"slack", "webhook", "badge"}:
        from gate.report import messages

        return str(getattr(messages, name)(document))
    from importlib import import_module

    return str(getattr(import_module(f"gate.report.{name}"), name)(document))

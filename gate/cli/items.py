"""``gate items``: which items of past results still decide."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from gate.cli.streams import Streams
from gate.cycles.attempt import rules_of
from gate.planning.item_review import review, review_document, review_lines
from gate.planning.past_cycles import read_cycles
from gate.policy.load import load
from gate.report.files import refuse_inputs, write_text
from gate.report.model import to_json
from gate.run.request import Request
from gate.safe import terminal_line

EPILOG = """\
examples:
  gate items --policy gate.yaml --artifacts nights
  gate items --policy gate.yaml --artifacts nights --json items.json

DIR holds cycles as for gate backtest. It proposes and never edits; exit 0 whatever is found."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate items``."""
    add = parser.add_argument
    add("--policy", required=True, metavar="FILE", help="the policy that says how results are read")
    add("--artifacts", required=True, metavar="DIR", help="the cycles' result files")
    add("--json", metavar="FILE", help="write all of it as JSON there; - for standard output")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print which items are dead, flaky or backwards, and what the set is worth."""
    loaded = load(args.policy)
    request = Request(loaded, "", (), now=datetime.now(UTC).isoformat(timespec="seconds"))
    past = read_cycles(request, args.artifacts)
    inputs = [Path(p) for one in past for p in (one.files.baseline, one.files.candidate)]
    if args.json and args.json != "-":
        refuse_inputs([Path(args.json)], [Path(args.policy), *inputs])
    found = review(loaded.policy, past, rules_of(loaded.policy).level)
    if args.json == "-":
        streams.print(to_json(review_document(found)))
        return 0
    if args.json:
        write_text(Path(args.json), to_json(review_document(found)))
    streams.print("\n".join(terminal_line(line) for line in review_lines(found)))
    return 0

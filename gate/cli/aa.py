"""``gate aa``: two runs of one system, and how far apart they come by themselves."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from gate.cli.progress import Progress
from gate.cli.streams import Streams
from gate.planning.re_runs import rerun_document, rerun_lines, rerun_of
from gate.policy.load import load
from gate.report.files import refuse_inputs, write_text
from gate.report.model import to_json
from gate.run.request import Request
from gate.safe import terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate aa --policy gate.yaml monday.jsonl monday-again.jsonl
  gate aa --policy gate.yaml monday.jsonl monday-again.jsonl --json aa.json
  gate check gate.yaml --noise-floor 0.012

Exit 0 whatever is found: nothing is decided and no history is written."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate aa``."""
    add = parser.add_argument
    add("first", metavar="RUN1", help="per-item results of one run")
    add("second", metavar="RUN2", help="per-item results of another run of the same system")
    add("--policy", required=True, metavar="FILE", help="the policy whose rules are tried")
    add("--replays", type=int, default=2000, metavar="N", help="re-runs to decide (default 2000)")
    add("--json", metavar="FILE", help="write the figures as JSON there; - for standard output")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the noise floor, the flipped share, and how often the policy passes a re-run."""
    if not 100 <= args.replays <= 1_000_000:
        raise GateError("usage", f"--replays is 100 to 1,000,000 (found {args.replays})")
    if args.json and args.json != "-":
        refuse_inputs([Path(args.json)], [Path(p) for p in (args.policy, args.first, args.second)])
    progress = Progress(streams.err, "aa", args.replays)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    asked = Request(load(args.policy), args.first, (args.second,), now=now)
    found = rerun_of(asked, args.replays, progress)
    progress.done()
    if args.json == "-":
        streams.print(to_json(rerun_document(found)))
        return 0
    if args.json:
        write_text(Path(args.json), to_json(rerun_document(found)))
    streams.print("\n".join(terminal_line(line) for line in rerun_lines(found)))
    return 0

"""``gate verify``: was this candidate promoted?"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from gate.cli.streams import Streams
from gate.cycles.promoted import was_promoted
from gate.errors import EXIT_BLOCK, GateError
from gate.history.session import store_for

EPILOG = """\
example, in a deployment:
  gate verify --promoted 9f2c41d07ab3 --history history.jsonl --max-age 30

exits 0 only if the history verifies and holds the promotion of that candidate; 1 if it does not."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate verify``."""
    parser.add_argument("--promoted", required=True, metavar="DIGEST", help="the candidate's digest")
    parser.add_argument("--history", required=True, metavar="FILE", help="the record of past decisions")
    parser.add_argument("--max-age", type=float, metavar="DAYS", help="the promotion may not be older")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """0 promoted, 1 not promoted."""
    if args.max_age is not None and not args.max_age >= 0:
        raise GateError("usage", f"--max-age is a number of days, 0 or more (found {args.max_age:g})")
    history = store_for(args.history).read()
    answer = was_promoted(history, args.promoted, args.max_age, datetime.now(UTC))
    streams.print(answer.reason)
    return 0 if answer.promoted else EXIT_BLOCK

"""``gate init``: propose a commented policy from two result files."""

from __future__ import annotations

import argparse
from pathlib import Path

from gate.cli.compare import looked, two_files
from gate.cli.streams import Streams
from gate.planning.policy_text import policy_text
from gate.report.files import write_text
from gate.safe import terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate init baseline.jsonl candidate.jsonl                    print a policy
  gate init baseline.jsonl candidate.jsonl -o gate.yaml       write it; a file that exists is never replaced
  gate init big.jsonl small.jsonl --metric correct --replace cost_usd   cheaper, and correct not worse by much

The margin is left empty, and so is a direction that neither the format nor the name tells: `gate check`
refuses the policy until a person has filled them in."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate init``."""
    two_files(parser)
    parser.add_argument(
        "--replace",
        metavar="GAIN",
        help="the candidate may replace the baseline for being better in GAIN (a cost, a latency), if what "
        "--metric names does not get worse by more than a tolerance",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the policy there instead of printing it"
    )


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Write or print the proposal."""
    text = policy_text(looked(args, args.replace))
    if args.output is None:
        streams.print(text)
        return 0
    path = Path(args.output)
    if path.exists() or path.is_symlink():
        raise GateError(
            "file_exists",
            "there is such a file already, and a policy is never replaced",
            where=args.output,
            help="choose another name, or move the old policy away",
        )
    write_text(path, text)
    name = terminal_line(args.output)
    empty = "gating.margin" if args.replace is None else "gating.margin and the tolerance"
    streams.print(f"wrote {name}: set {empty}, then: gate check {name}")
    return 0

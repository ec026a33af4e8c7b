"""``gate pull``: the results of a tracked run, as a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from gate.cli.streams import Streams
from gate.replay.pull import pull
from gate.safe import terminal_line

EPILOG = """\
examples:
  gate pull mlflow:4f1c02d9e8 --out candidate.jsonl
  gate pull mlflow:4f1c02d9e8 --artifact eval/items.parquet --tracking sqlite:///mlflow.db --out new.parquet

For the job that scored: deciding needs no tracker. Without --tracking, MLFLOW_TRACKING_URI is heeded."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate pull``."""
    add = parser.add_argument
    add("run", metavar="RUN", help="mlflow:RUN_ID")
    add("--artifact", metavar="PATH", help="the file's path in the run, where it has several")
    add("--tracking", metavar="PLACE", help="a URL, a folder mlruns, or sqlite:///FILE")
    add("--out", required=True, metavar="FILE", help="the new file; it must not exist")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Write the file, and say what it is."""
    found = pull(args.run, args.artifact, Path(args.out), args.tracking)
    name = f" {found.name}" if found.name else ""
    what = f"{found.format}, {found.bytes:,} bytes; {found.artifact} of run {found.run}{name}"
    streams.print(terminal_line(f"written: {args.out} ({what})"))
    return 0

"""``gate history``: start, show, verify and merge the record of past decisions."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from gate.cli.streams import Streams
from gate.cycles.chart import draw
from gate.history.checks import head_line, join, require_head
from gate.history.session import store_for
from gate.values import GateError, __version__

EPILOG = """\
examples:
  gate history init history.jsonl
  gate history show history.jsonl
  gate history verify history.jsonl --expect-head 3f2a9c01d4e7
  gate history merge ours.jsonl theirs.jsonl --out history.jsonl"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate history``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("init", help="start a history").add_argument("file", metavar="FILE")
    actions.add_parser("show", help="draw the run of cycles").add_argument("file", metavar="FILE")
    check = actions.add_parser("verify", help="check that nothing was changed or lost")
    check.add_argument("file", metavar="FILE")
    check.add_argument("--expect-head", metavar="DIGEST", help="a record that must still be there")
    union = actions.add_parser("merge", help="join copies of one history that grew apart")
    union.add_argument("files", metavar="FILE", nargs="+")
    union.add_argument("--out", required=True, metavar="FILE", help="the new file; it must not exist")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Do it; every fault is an error of exit 2."""
    if args.action == "init":
        now = datetime.now(UTC).isoformat(timespec="seconds")
        store = store_for(args.file)
        store.create(now=now, tool=__version__)
        streams.print(f"started: {head_line(store.read())}")
    elif args.action == "show":
        streams.print(draw(store_for(args.file).read()))
    elif args.action == "verify":
        found = store_for(args.file).read()
        if args.expect_head:
            require_head(found, args.expect_head)
        for caution in found.cautions:
            streams.complain(f"caution: {caution.message}")
        streams.print(f"verified: {head_line(found)}")
    else:
        _refuse_store(args.out)
        streams.print(f"merged: {head_line(join([store_for(file).read() for file in args.files], args.out))}")
    return 0


def _refuse_store(out: str) -> None:
    if out.startswith("git:"):
        raise GateError(
            "usage",
            f"--out is a new file, not a branch (found {out!a})",
            help="merge into a file, look at it, and commit it to the branch",
        )

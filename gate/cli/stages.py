"""``gate stages``: the items to score before the first look, in the order that the policy fixes."""

from __future__ import annotations

import argparse

from msgspec.structs import asdict

from gate.cli.streams import Streams
from gate.policy.load import load
from gate.report.model import to_json
from gate.run.intake import baseline_ids
from gate.run.stages import first_items

EPILOG = """\
example:
  gate stages --policy gate.yaml --baseline baseline.jsonl > score-these.txt

The order follows from the policy's digest: whoever scores the items cannot choose it. After a stage that
continues, gate run --next FILE writes the items of the next one."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate stages``."""
    add = parser.add_argument
    add("--policy", required=True, metavar="FILE", help="the policy, with items.stages")
    add("--baseline", required=True, metavar="FILE", help="results of what runs today: its ids are the items")
    add("--json", action="store_true", help="n, ids and the digest of the list as JSON")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the ids, one a line."""
    loaded = load(args.policy)
    found = first_items(loaded, lambda: baseline_ids(loaded.policy, args.baseline))
    streams.print(to_json(asdict(found)) if args.json else "\n".join(found.ids))
    return 0

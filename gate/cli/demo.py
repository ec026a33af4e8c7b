"""``gate demo``: why two means decide nothing. Needs no file."""

from __future__ import annotations

import argparse

from gate.cli.streams import Streams

EPILOG = """\
example:
  gate demo"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """``gate demo`` has no options."""
    del parser


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the lesson."""
    from gate.planning.two_means import demo_lines

    del args
    streams.print("\n".join(demo_lines()))
    return 0

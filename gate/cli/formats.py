"""``gate formats``: which result files can be read."""

from __future__ import annotations

import argparse

from gate.cli.streams import Streams

EPILOG = """\
The format is found from the content of a file; artifacts.format in the policy names it to be sure."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """No options."""


def execute(args: argparse.Namespace, streams: Streams) -> int:  # noqa: ARG001
    """One line a format."""
    from gate.artifacts import describe_formats

    formats = describe_formats()
    width = max(len(form.name) for form in formats)
    streams.print("\n".join(f"{form.name:{width}}  {form.reads}" for form in formats))
    return 0

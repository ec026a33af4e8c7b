"""``gate explain``: what a caution, a term or a test means."""

from __future__ import annotations

import argparse

from gate.cli.streams import Streams
from gate.safe import quoted, terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate explain gain_on_flaky_items
  gate explain margin
  gate explain                       lists everything that can be explained"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate explain``."""
    parser.add_argument(
        "name", metavar="CODE", nargs="?", help="a caution, a term or a test; none: all of them"
    )


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the explanation."""
    found = explanations()
    if args.name is None:
        width = max(map(len, found))
        streams.print("\n".join(f"{name:{width}}  {text}" for name, text in sorted(found.items())))
        return 0
    if args.name not in found:
        from difflib import get_close_matches

        near = get_close_matches(args.name, found, n=1)
        hint = f"did you mean {near[0]}?" if near else "gate explain lists everything that can be explained"
        raise GateError("usage", f"there is nothing called {quoted(args.name)}", help=hint)
    streams.print(terminal_line(f"{args.name}: {found[args.name]}"))
    return 0


def explanations() -> dict[str, str]:
    """Name -> what it means: cautions, terms, and the tests of the method table."""
    from gate.report.terms import GRAVITY, terms
    from gate.stats.methods import METHODS

    found = {
        method.id: f"a test of {' and '.join(sorted(method.kinds))} metrics; "
        + (
            f"what breaks its level: {method.breaks}"
            if method.breaks
            else "a false pass is never likelier than the level"
        )
        for method in METHODS.values()
    }
    for section, names in terms().items():
        kind = f"{section}: " if section in GRAVITY else ""
        found |= {name: f"{kind}{text}" for name, text in names.items()}
    return found

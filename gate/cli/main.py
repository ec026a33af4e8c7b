"""The ``gate`` command: finds the subcommand, runs it, turns errors into two lines and an exit code."""

from __future__ import annotations

import argparse
import gc
import os
import sys

from gate.cli.commands import COMMANDS, Parser
from gate.values import EXIT_BUG, EXIT_CANNOT_DECIDE, GateError, __version__

TYPE_CHECKING = False  # typing itself would cost more than all of --version
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from gate.cli.streams import Streams


def console() -> None:
    """Entry point of the installed command."""
    gc.disable()  # a run is short and leaves no cycles; looking for some took 7 % of a cold one
    _fill_closed_streams()
    code = main(sys.argv[1:], sys.stdout, sys.stderr)
    # All is written and closed: taking millions of ids apart one by one would only cost time.
    os._exit(code if _delivered() else EXIT_CANNOT_DECIDE)


def _fill_closed_streams() -> None:
    """Else the first file that is opened would become the standard output that a caller has closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _delivered() -> bool:
    """Whether all that was printed got out; the interpreter must not find a full disk after the exit code."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        return False
    return True


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run one command line and return its exit code. Nothing a user does ends in a traceback."""
    if list(argv) in (["--version"], ["-V"]):
        out.write(f"gate {__version__}\n")
        return 0
    from gate.cli.streams import Streams

    streams = Streams(out, err)
    # No foreign code in validation, and a faster start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    return guarded(lambda: _dispatch(list(argv), streams), argv, streams)


def guarded(work: Callable[[], int], argv: Sequence[str], streams: Streams) -> int:
    """The exit code of ``work``; what it raises is told in the one error form, with argv's ``--json``."""
    from gate.cli.failures import report_bug, report_error
    from gate.report.fault import fault_of

    try:
        return work()
    except BrokenPipeError:
        return _quiet_end(streams.out)
    except (Exception, KeyboardInterrupt) as error:  # the last line of defence: say that it is ours
        fault = fault_of(error)
        if fault is not None:
            report_error(fault, argv, streams)
            return EXIT_CANNOT_DECIDE
        report_bug(error, streams)
        return EXIT_BUG


def _quiet_end(out: TextIO) -> int:
    """The reader of a pipe went away: nobody is left to tell, and the verdict was not delivered."""
    import contextlib

    with contextlib.suppress(OSError):
        out.close()
    return EXIT_CANNOT_DECIDE


def _dispatch(argv: list[str], streams: Streams) -> int:
    if not argv or argv[0] in {"--help", "-h", "help"}:
        streams.print(overview())
        return 0 if argv else EXIT_CANNOT_DECIDE
    command = argv[0]
    if command not in COMMANDS:
        raise _unknown(command)
    from importlib import import_module

    module = import_module(f"gate.cli.{command}")
    parser = Parser(
        prog=f"gate {command}", description=COMMANDS[command], formatter_class=_Help, allow_abbrev=False
    )
    parser.epilog = module.EPILOG
    module.arguments(parser)
    return int(module.execute(_parsed(parser, argv[1:]), streams))


class _Help(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples of the epilog as they are written."""


def _parsed(parser: Parser, argv: list[str]) -> argparse.Namespace:
    try:
        return parser.parse_args(argv)
    except SystemExit as stop:  # --help has printed its text
        raise _Printed(int(stop.code or 0)) from None


class _Printed(SystemExit):
    """Help was printed and nothing is left to do."""


def _unknown(command: str) -> GateError:
    import difflib

    near = difflib.get_close_matches(command, COMMANDS, n=1)
    hint = f"did you mean gate {near[0]}?" if near else f"commands: {', '.join(COMMANDS)}"
    return GateError("usage", f"there is no command {command[:80]!a}", help=hint)


def overview() -> str:
    """The text of ``gate --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: gate COMMAND [OPTIONS]    (gate COMMAND --help explains one)",
            "",
            "The release gate for anything that is scored item by item.",
            "",
            *lines,
            "",
            "exit codes: 0 promote, 1 block, 2 cannot decide, 3 inconclusive, 4 hold, 70 a bug in gate",
        ]
    )

"""What is said where nothing could be decided: any exception as an error of ours, and its two lines."""

from __future__ import annotations

import traceback

from gate.safe import terminal_line
from gate.values import GateError


def fault_of(error: BaseException) -> GateError | None:
    """The error in the one form; None for a fault of the program itself."""
    if isinstance(error, GateError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return GateError("interrupted", "stopped before a verdict was reached")
    if isinstance(error, MemoryError):
        return GateError("out_of_memory", "not enough memory for these files", help="use a larger machine")
    if isinstance(error, OSError):
        where = str(error.filename) if error.filename else ""
        return GateError("system", f"the system refused ({error.strerror or error})", where=where)
    return None


def error_text(error: GateError, command: str = "") -> str:
    """Two lines: what is wrong, and what to do."""
    place = f"{terminal_line(error.where)}: " if error.where else ""
    advice = terminal_line(error.help or f"see gate {command} --help".replace("  ", " "))
    return f"gate: {place}{terminal_line(error.message)}\nhelp: {advice}"


BUG = "this is a bug in gate, not in your files; please report it with the text above"


def bug_text(error: BaseException) -> str:
    """A fault of the program itself: everything needed to report it."""
    return f"{''.join(traceback.format_exception(error))}gate: {BUG}"

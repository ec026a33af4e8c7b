"""The values that every room shares: the one error a user can cause, cautions, exit codes."""

from __future__ import annotations

from dataclasses import dataclass

EXIT_PROMOTE = 0
EXIT_BLOCK = 1
EXIT_CANNOT_DECIDE = 2
EXIT_INCONCLUSIVE = 3
EXIT_HOLD = 4
EXIT_BUG = 70

LARGEST = 1e50
"""Numbers of files and policies lie between 1 / LARGEST and LARGEST (or are 0): more than single precision
holds, and little enough that squares, cubes and products of two of them stay finite and above 0."""


class GateError(Exception):
    """The gate cannot decide (exit 2): a usage, policy, artifact or history fault.

    code: stable machine name, e.g. ``duplicate_ids``. message: what is wrong and, in parentheses, what
    was found. where: ``FILE``, ``FILE:LINE`` or ``ARCHIVE!MEMBER``, empty if there is no place.
    help: what to do.
    """

    def __init__(self, code: str, message: str, *, where: str = "", help: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.help = help

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning that is a value: a stable code and one sentence for a person."""

    code: str
    message: str


def examples(values: list[str] | tuple[str, ...], count: int | None = None) -> str:
    """Up to five values for an error text, ASCII-escaped and cut, with the number that was left out."""
    total = len(values) if count is None else count
    shown = ", ".join(quoted(value) for value in values[:5])
    rest = total - min(len(values), 5)
    return f"{shown} and {rest} more" if rest > 0 else shown


def quoted(value: str, width: int = 80) -> str:
    """A value from a file, made harmless for terminals and logs: ASCII only, cut, in single quotes."""
    text = value if len(value) <= width else value[: width - 1] + "\u2026"
    return "'" + text.encode("unicode_escape").decode("ascii").replace("##[", "#\\#[") + "'"

"""What a person or a pipeline asks of a history: is it whole, is it the one I saw, make one of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gate.cycles.chain import ChainError, History, ordered
from gate.cycles.record import body, canonical
from gate.history.files import create, load
from gate.values import GateError

SHORTEST_HEAD = 12


def require_head(history: History, expect_head: str) -> None:
    """Every expected head (``+`` joins several) must be in the history; its first 12 hex digits are enough.

    Hash links cannot show that the last records were cut off; a head noted elsewhere can.
    """
    for wanted in expect_head.lower().split("+"):
        if len(wanted) < SHORTEST_HEAD or set(wanted) - set("0123456789abcdef"):
            raise GateError(
                "usage",
                f"an expected head is at least {SHORTEST_HEAD} hex digits (found {wanted[:80]!a})",
                help="take it from the last line of: gate history show",
            )
        if not any(record.digest.startswith(wanted) for record in history.records):
            raise GateError(
                "history_head_missing",
                f"the expected head {wanted[:SHORTEST_HEAD]} is not among the {history.count} records: "
                "the last records were removed, or this is another history",
                where=history.where,
                help="restore the file from its last good copy",
            )


def head_line(history: History) -> str:
    """``head digest, record count``: what a report prints so that a later run can expect it."""
    return f"{history.head}, {history.count} records"


def join(histories: Sequence[History], out: str | Path) -> History:
    """The union of histories that began as one, in a new file. The next append joins their heads."""
    if not histories:
        raise GateError("usage", "nothing to merge: no history was given")
    for history in histories[1:]:
        if history.root != histories[0].root:
            raise GateError(
                "history_two_roots",
                f"it did not begin as the same history as {histories[0].where}",
                where=history.where,
                help="only copies and branches of one history can be merged",
            )
    try:
        records, _ = ordered(record for history in histories for record in history.records)
    except ChainError as error:
        raise GateError(error.code, str(error), where=str(out)) from None
    create(Path(out), b"".join(canonical(body(record)) + b"\n" for record in records))
    return load(out)

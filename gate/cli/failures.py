"""How errors reach a person, and with ``--json`` a program."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from pathlib import Path

from gate.cli.streams import Streams, one_line
from gate.errors import GateError

SCHEMA = "gate.error/1"


def report_error(error: GateError, argv: Sequence[str], streams: Streams) -> None:
    """Two lines on stderr; with ``--json`` also a ``gate.error/1`` document where the report would be."""
    place = f"{one_line(error.where)}: " if error.where else ""
    streams.complain(f"gate: {place}{one_line(error.message)}")
    if error.help:
        streams.complain(f"help: {one_line(error.help)}")
    target = _json_target(argv)
    if target is None:
        return
    text = json.dumps(error_document(error), ensure_ascii=True, sort_keys=True) + "\n"
    if target == "-":
        streams.print(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as problem:
        streams.complain(f"gate: {one_line(target)}: the error could not be written ({problem.strerror})")


def error_document(error: GateError) -> dict[str, object]:
    """The error as programs read it."""
    fields = {"code": error.code, "message": error.message, "where": error.where, "help": error.help}
    return {"schema": SCHEMA, "error": fields}


def _json_target(argv: Sequence[str]) -> str | None:
    """The value of ``--json`` even where the command line itself was the mistake."""
    for position, word in enumerate(argv):
        if word == "--json" and position + 1 < len(argv):
            return argv[position + 1]
        if word.startswith("--json="):
            return word.removeprefix("--json=")
    return None


def report_bug(error: Exception, streams: Streams) -> None:
    """A fault of the program itself: everything needed to report it."""
    streams.complain("".join(traceback.format_exception(error)))
    streams.complain("gate: this is a bug in gate, not in your files; please report it with the text above")

"""The job summary within GitHub's limit. A step's summary above 1 MiB is dropped as a whole, not cut."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gate.ci.policy_change import PolicyChange
from gate.ci.results import Result
from gate.safe import markdown_prose

LIMIT: Final = 1 << 20
BUDGET: Final = 512 << 10
_CUT: Final = (
    "\n\n*Cut here to stay within the size of a job summary; the whole report is in the report directory.*\n"
)
_SLACK: Final = 1024


def notes_block(notes: Sequence[str], change: PolicyChange | None) -> str:
    """What the CI side adds to a report: who judged, what was mapped, what the change does to the policy."""
    lines = [f"> {markdown_prose(note)}" for note in notes]
    if change is not None:
        lines.append(f"> **{markdown_prose(change.headline)}**")
        lines += [f"> - {markdown_prose(detail)}" for detail in change.details]
    return "\n>\n".join(lines[: len(notes) + 1]) + "".join("\n" + line for line in lines[len(notes) + 1 :])


def compose(result: Result, report: str, notes: str, length: str) -> str:
    """The summary's text: the verdict first, then the notes, then the rest of the report."""
    body = report if report.strip() else _plain(result)
    first, _, rest = body.partition("\n\n")
    if length == "short":
        rest = ""
    return "\n\n".join(part.strip("\n") for part in (first, notes, rest) if part.strip()) + "\n"


def _plain(result: Result) -> str:
    text = f"## gate: {markdown_prose(result.verdict)}\n{markdown_prose(result.reason)}\n"
    return text + (f"\nWhat to do: {markdown_prose(result.help)}\n" if result.help else "")


def append(path: str, text: str) -> bool:
    """Add to the runner's summary file what still fits, counted in bytes. False: there was no room at all."""
    file = Path(path)
    used = file.stat().st_size if file.exists() else 0
    room = max(BUDGET - used, min(_SLACK * 4, LIMIT - used - _SLACK))
    fitted = fit(("\n" if used else "") + text, room)
    if not fitted:
        return False
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(fitted)
    return True


def fit(text: str, room: int) -> bytes:
    """The text as UTF-8, cut after a whole line where it is longer than ``room`` bytes, and said so."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= room:
        return data
    ending = _CUT.encode()
    kept: list[bytes] = []
    left = room - len(ending) - _SLACK  # what open blocks may need to be closed
    for line in data.splitlines(keepends=True):
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    return _closed(b"".join(kept)) + ending if kept else b""


def _closed(text: bytes) -> bytes:
    """Close what the cut left open, or the note would disappear inside it."""
    if (b"\n" + text).count(b"\n```") % 2:
        text += b"```\n"
    return text + b"\n</details>" * min(text.count(b"<details") - text.count(b"</details>"), 50)

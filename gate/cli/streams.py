"""Where a command writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Streams:
    """Standard output and standard error of one command."""

    out: TextIO
    err: TextIO

    def print(self, text: str) -> None:
        """Text for the user, one newline at its end."""
        _write(self.out, text)

    def complain(self, text: str) -> None:
        """Text about what went wrong."""
        _write(self.err, text)


def _write(stream: TextIO, text: str) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    safe = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(safe if safe.endswith("\n") else safe + "\n")
    stream.flush()


def colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether this stream is a terminal that shows colours, and nobody asked for none (no-color.org)."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

"""Long work shows that it goes on: a bar on a terminal, a line every 30 seconds in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

EVERY_ON_TERMINAL = 0.1
EVERY_IN_LOG = 30.0
WIDTH = 24


class Progress:
    """Call it once a step with what is being worked on; ``done`` clears the bar.

    total: the number of steps, None where it is not known beforehand. Nothing is written about work that
    is over before the first interval ends. steps: how many were done before.
    """

    def __init__(
        self,
        stream: TextIO,
        what: str,
        total: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        steps: int = 0,
    ) -> None:
        self._stream, self._what, self._total, self._clock = stream, what, total, clock
        self._terminal = stream.isatty()
        self._steps = steps
        self._last = clock()
        self._drawn = 0

    def __call__(self, label: str = "") -> None:
        """One step is done."""
        self._steps += 1
        now = self._clock()
        if now - self._last < (EVERY_ON_TERMINAL if self._terminal else EVERY_IN_LOG):
            return
        self._last = now
        self._write(self._line(label))

    def done(self) -> None:
        """Leave a clean line behind."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def _line(self, label: str) -> str:
        tail = f"  {label[:40]}" if label else ""
        if self._total is None:
            return f"{self._what}: {self._steps} steps{tail}"
        share = min(1.0, self._steps / self._total)
        bar = "#" * round(share * WIDTH)
        shown = f"[{bar:{WIDTH}}] " if self._terminal else ""
        return f"{self._what}: {shown}{share:.0%}{tail}"

    def _write(self, line: str) -> None:
        safe = line.encode("ascii", "replace").decode("ascii")
        if self._terminal:
            self._stream.write("\r" + safe.ljust(self._drawn))
            self._drawn = max(self._drawn, len(safe))
        else:
            self._stream.write(f"gate: {safe}\n")
        self._stream.flush()

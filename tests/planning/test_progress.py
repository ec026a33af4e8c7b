"""A bar on a terminal, a line every 30 seconds in a log, nothing for short work."""

from __future__ import annotations

import io

from gate.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ticking(stream: io.StringIO, seconds: float, steps: int, total: int | None = 10) -> Progress:
    now = iter(k * seconds for k in range(steps + 1))
    progress = Progress(stream, "work", total, clock=lambda: next(now))
    for _ in range(steps):
        progress("part")
    return progress


def test_a_log_gets_a_line_every_thirty_seconds() -> None:
    stream = io.StringIO()
    ticking(stream, 10, 7).done()
    assert stream.getvalue() == "gate: work: 30%  part\ngate: work: 60%  part\n"


def test_short_work_is_silent() -> None:
    stream = io.StringIO()
    ticking(stream, 1, 7).done()
    assert stream.getvalue() == ""


def test_a_terminal_gets_one_line_that_is_wiped() -> None:
    stream = Terminal()
    ticking(stream, 1, 5).done()
    text = stream.getvalue()
    assert "\n" not in text
    assert "[############            ] 50%" in text
    assert text.endswith("\r")


def test_work_of_unknown_length_counts_its_steps() -> None:
    stream = io.StringIO()
    ticking(stream, 40, 2, total=None).done()
    assert stream.getvalue().splitlines() == ["gate: work: 1 steps  part", "gate: work: 2 steps  part"]

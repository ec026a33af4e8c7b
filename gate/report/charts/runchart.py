"""The cycles in a row: delta with interval, the margin, the noise band and the streak."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from gate.report.charts.canvas import Canvas
from gate.report.charts.scale import Scale, around, label
from gate.report.figures import difference
from gate.report.model import Band, Cycles, Point
from gate.values import Verdict

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 900.0, 260.0, 60.0, 780.0, 24.0, 214.0
MOST_POINTS = 60


def run_chart(cycles: Cycles, margin: float | None, name: str) -> Markup:
    """The last cycles of a report, oldest first; empty before there are two."""
    return points_chart(points_of(cycles), cycles.band or Band(), margin, cycles.passed, name)


def points_chart(points: Sequence[Point], band: Band, margin: float | None, passed: int, name: str) -> Markup:
    """These cycles, oldest first; empty before there are two. passed: cycles of the streak."""
    if len(points) < 2:
        return Markup("")
    values = [end for point in points for end in (point.delta, point.low, point.high)]
    up = around([0.0, margin, band.low, band.high, *values], FLOOR, TOP)
    along = Scale(-0.5, len(points) - 0.5, LEFT, RIGHT)
    canvas = Canvas(WIDTH, HEIGHT)
    _ground(canvas, up, band, margin)
    _streak(canvas, along, len(points), passed)
    for k, point in enumerate(points):
        _point(canvas, along.at(k), up, point)
        if k % max(1, len(points) // 12) == 0:
            canvas.text((along.at(k), FLOOR + 18), point.cycle, "tick middle", 10)
    said = [f"{p.cycle}: {p.verdict} {difference(p.delta, '')}" for p in points]
    return canvas.svg(name, f"The last {len(points)} cycles", "; ".join(said))


def _ground(canvas: Canvas, up: Scale, band: Band, margin: float | None) -> None:
    low, high = band.low, band.high
    if low is not None and high is not None:
        top, bottom = up.at(high), up.at(low)
        canvas.box((LEFT, top), (RIGHT - LEFT, bottom - top), "band", "noise band of earlier cycles")
        canvas.text((RIGHT + 8, (top + bottom) / 2 + 4), "noise band", "tick")
    for tick in up.ticks(5):
        canvas.line((LEFT, up.at(tick), RIGHT, up.at(tick)), "zero" if tick == 0 else "grid")
        canvas.text((LEFT - 8, up.at(tick) + 4), label(tick), "tick end")
    if margin:
        canvas.line((LEFT, up.at(margin), RIGHT, up.at(margin)), "bound")
        canvas.text((RIGHT + 8, up.at(margin) + 4), "margin", "tick")


def _streak(canvas: Canvas, along: Scale, points: int, passed: int) -> None:
    length = min(passed, points)
    if length:
        left = along.at(points - length - 0.4)
        canvas.line((left, FLOOR + 28, along.at(points - 0.6), FLOOR + 28), "streak")
        canvas.text(((left + RIGHT) / 2, FLOOR + 43), f"streak of {passed}", "tick middle")


def _point(canvas: Canvas, x: float, up: Scale, point: Point) -> None:
    verdict = point.verdict
    delta, low, high = point.delta, point.low, point.high
    if low is not None and high is not None:
        canvas.line((x, up.at(low), x, up.at(high)), f"whisker {_kind(verdict)}")
    y = up.at(0.0 if delta is None else delta)
    canvas.mark(x, y, _kind(verdict), f"{point.cycle}: {verdict} {difference(delta, '')}")


def _kind(verdict: str) -> str:
    return verdict if verdict in list(Verdict) else "reported"


def points_of(cycles: Cycles) -> Sequence[Point]:
    """The same points for the table beside the drawing."""
    return (cycles.series or ())[-MOST_POINTS:]

"""Effects with their intervals: the gating metric and its slices on one axis, each guardrail on its own."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from gate.measure.words import number
from gate.report.charts.canvas import Canvas
from gate.report.charts.scale import Scale, around, label
from gate.report.figures import difference, span
from gate.report.model import Comparison, Interval, Report
from gate.report.rows import rank
from gate.report.sentences import said
from gate.values import Mode

WIDTH, LEFT, RIGHT = 900.0, 250.0, 640.0
MOST_ROWS = 60
_TALL, _ROW = 62.0, 38.0


def effects(report: Report, name: str) -> Markup:
    """Gating metric and slices against 0, the margin and the slices' tolerance."""
    gating = report.gating
    slices = sorted(report.slices, key=lambda block: rank(block.status))[: MOST_ROWS - 1]
    blocks = [gating, *slices]
    scale = around([0.0, gating.margin, *_ends(blocks)], LEFT, RIGHT)
    canvas = Canvas(WIDTH, 58 + _ROW * len(blocks) + 26)
    top, bottom = 34.0, 46 + _ROW * len(blocks)
    _axis(canvas, scale, top, bottom)
    if gating.margin:
        _bound(canvas, scale.at(gating.margin), top, bottom, f"margin {number(gating.margin)}")
    for k, block in enumerate(blocks):
        y = 58 + _ROW * k
        shown = gating.metric if k == 0 else block.rule.removeprefix("slice:")
        _label(canvas, y, shown, f"{block.n:,} items, {said(block.status)}")
        if k and block.bound is not None:
            _tick(canvas, scale.at(-block.bound), y)
        _effect(canvas, scale, y, block)
    text = f"{len(blocks)} rows; the dashed line is the margin. The table of all rules has the same numbers."
    return canvas.svg(name, f"Gain in {gating.metric} with intervals, all items and slices", text)


def guardrails(report: Report, name: str) -> Markup:
    """Each guardrail against its own bound; empty where there is none to draw."""
    found = [b for b in report.guardrails if b.delta is not None or b.candidate is not None]
    blocks = sorted(found, key=lambda block: rank(block.status))[:MOST_ROWS]
    if not blocks:
        return Markup("")
    canvas = Canvas(WIDTH, 12 + _TALL * len(blocks))
    for k, block in enumerate(blocks):
        y = 30 + _TALL * k
        if k:
            canvas.line((0, y - 32, WIDTH, y - 32), "rule")
        _label(
            canvas,
            y,
            block.rule.removeprefix("guardrail:"),
            f"{said(block.mode)}, {said(block.status)}",
        )
        if block.mode in {Mode.LIMIT, Mode.CHURN}:
            _limit(canvas, y, block)
        else:
            _paired(canvas, y, block)
    text = f"{len(blocks)} guardrails, each on its own axis. The table of all rules has the same numbers."
    return canvas.svg(name, "Guardrails with their intervals and bounds", text)


def _paired(canvas: Canvas, y: float, block: Comparison) -> None:
    tolerance = block.bound
    scale = around([0.0, None if tolerance is None else -tolerance, *_ends([block])], LEFT, RIGHT)
    canvas.line((LEFT, y + 14, RIGHT, y + 14), "axis")
    _reference(canvas, scale, y, 0.0, "0", "zero")
    if tolerance:
        _reference(canvas, scale, y, -tolerance, f"tolerance \u2212{number(tolerance)}", "bound")
    _effect(canvas, scale, y, block)


def _limit(canvas: Canvas, y: float, block: Comparison) -> None:
    value = block.share if block.mode == Mode.CHURN else block.candidate
    low, high = block.bound, block.upper_bound
    scale = around([0.0, low, high, value, *_ends([block])[1:]], LEFT, RIGHT)
    canvas.line((LEFT, y + 14, RIGHT, y + 14), "axis")
    _reference(canvas, scale, y, 0.0, "0", "zero")
    for bound, words in ((low, "at least"), (high, "at most")):
        if bound is not None:
            _reference(canvas, scale, y, bound, f"{words} {number(bound)}", "bound")
    if value is None:
        return
    if block.interval is not None:
        _whisker(canvas, scale, y, block.interval, block.status)
    canvas.mark(scale.at(value), y, block.status, f"{block.rule}: {number(value)}")
    canvas.text((RIGHT + 18, y + 4), number(value), "figure")


def _ends(blocks: Sequence[Comparison]) -> list[float | None]:
    found: list[float | None] = [block.delta for block in blocks]
    for block in blocks:
        if block.interval is not None:
            found += [block.interval.low, block.interval.high]
    return found


def _effect(canvas: Canvas, scale: Scale, y: float, block: Comparison) -> None:
    if block.delta is None:
        canvas.text((RIGHT + 18, y + 4), "not measured", "note")
        return
    shown = difference(block.delta, "")
    if block.interval is not None:
        _whisker(canvas, scale, y, block.interval, block.status)
        shown = f"{shown}  {span(block.interval)}"
    canvas.mark(scale.at(block.delta), y, block.status, f"{block.rule}: {shown}")
    canvas.text((RIGHT + 18, y + 4), shown, "figure")


def _whisker(canvas: Canvas, scale: Scale, y: float, interval: Interval, status: str) -> None:
    """The interval; an end that the data cannot bound runs to the edge of the plot without a stop."""
    low, high = (None if end is None else scale.at(end) for end in (interval.low, interval.high))
    start, stop = scale.start if low is None else low, scale.end if high is None else high
    canvas.line((start, y, stop, y), f"whisker {status}")
    for x in (low, high):
        if x is not None:
            canvas.line((x, y - 4, x, y + 4), f"whisker {status}")


def _axis(canvas: Canvas, scale: Scale, top: float, bottom: float) -> None:
    for tick in scale.ticks():
        x = scale.at(tick)
        canvas.line((x, top, x, bottom), "zero" if tick == 0 else "grid")
        canvas.text((x, bottom + 18), label(tick), "tick middle")
    canvas.text((scale.at(0.0), top - 18), "no change", "tick middle")


def _bound(canvas: Canvas, x: float, top: float, bottom: float, words: str) -> None:
    canvas.line((x, top, x, bottom), "bound")
    canvas.text((x + 5, top - 4), words, "tick")


def _tick(canvas: Canvas, x: float, y: float) -> None:
    canvas.line((x, y - 9, x, y + 9), "bound")


def _reference(canvas: Canvas, scale: Scale, y: float, value: float, words: str, kind: str) -> None:
    x = scale.at(value)
    canvas.line((x, y - 12, x, y + 14), kind)
    canvas.text((x, y + 27), words, "tick middle")


def _label(canvas: Canvas, y: float, words: str, below: str) -> None:
    canvas.text((0, y), words, "name", 30)
    canvas.text((0, y + 14), below, "note", 42)

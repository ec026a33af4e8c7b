"""How the items' differences are spread: losses left of zero, gains right of it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from gate.measure.words import count
from gate.report.charts.canvas import Canvas
from gate.report.charts.scale import Scale, around, label
from gate.report.model import Distribution, Gating

WIDTH, HEIGHT, LEFT, RIGHT, FLOOR, TOP = 900.0, 230.0, 20.0, 880.0, 186.0, 30.0


@dataclass(frozen=True, slots=True)
class Bar:
    """Differences from low to high (equal for a single value) and how many items have them."""

    low: float
    high: float
    items: int

    @property
    def kind(self) -> str:
        """What the bar's items are: losses, gains or unchanged."""
        if self.low == self.high == 0:
            return "same"
        return "loss" if self.low < 0 else "gain"

    @property
    def words(self) -> str:
        """The differences as text."""
        return f"{self.low:+g}" if self.low == self.high else f"{self.low:+g} to {self.high:+g}"


def bars(distribution: Distribution | None) -> list[Bar]:
    """The bars of a distribution block, from the largest loss to the largest gain."""
    if distribution is None:
        return []
    counts, edges = distribution.counts or (), distribution.edges or ()
    if distribution.values is not None:
        return [Bar(v, v, n) for v, n in zip(distribution.values, counts, strict=False)]
    return [Bar(*ends) for ends in zip(edges, edges[1:], counts, strict=False)]


def spread(gating: Gating, name: str) -> Markup:
    """The histogram; empty where nothing was measured. Unchanged items never flatten the others."""
    found = bars(gating.distribution)
    if not found:
        return Markup("")
    scale = around([end for bar in found for end in (bar.low, bar.high)], LEFT, RIGHT)
    tallest = max([bar.items for bar in found if bar.kind != "same"] + [1])
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.line((LEFT, FLOOR, RIGHT, FLOOR), "axis")
    few = len(found) <= 24
    for bar in found:
        _draw(canvas, scale, bar, tallest, few)
    for tick in [bar.low for bar in found] if few and found[0].low == found[0].high else scale.ticks(10):
        canvas.text((scale.at(tick), FLOOR + 18), label(tick), "tick middle")
    canvas.text(
        ((LEFT + RIGHT) / 2, FLOOR + 38),
        f"difference in {gating.metric}, positive is better",
        "note middle",
    )
    changed = [f"{bar.words}: {count(bar.items, 'item')}" for bar in found if bar.items][:40]
    return canvas.svg(name, f"Differences of the items in {gating.metric}", "; ".join(changed))


def _draw(canvas: Canvas, scale: Scale, bar: Bar, tallest: int, few: bool) -> None:
    if bar.low == bar.high:
        left, right = scale.at(bar.low) - 14, scale.at(bar.low) + 14
    else:
        left, right = scale.at(bar.low) + 0.75, scale.at(bar.high) - 0.75
    clipped = bar.items > tallest
    height = (FLOOR - TOP) * min(bar.items, tallest) / tallest
    canvas.box(
        (left, FLOOR - height), (right - left, height), f"bar {bar.kind}", f"{bar.words}: {bar.items:,}"
    )
    if clipped:
        middle = FLOOR - height / 2
        canvas.line((left - 4, middle + 5, right + 4, middle - 3), "break")
    if few and bar.items:
        canvas.text(((left + right) / 2, FLOOR - height - 7), f"{bar.items:,}", "figure middle")

"""How much of the set, of the noise and of the gain lies on flaky items."""

from __future__ import annotations

from markupsafe import Markup

from gate.report.charts.canvas import Canvas
from gate.report.figures import percent, whole
from gate.report.model import Flaky

LEFT, WIDTH, ROW = 150.0, 900.0, 34.0


def strata(flaky: Flaky, name: str) -> Markup:
    """One bar each for the items, the variance and the delta; empty where nothing was measured."""
    if flaky.status != "measured" or not flaky.items:
        return Markup("")
    flagged = flaky.flagged or 0
    items = f"{whole(flagged)} of {whole(flaky.items)} items are flaky"
    found = [
        ("items", flagged / flaky.items, items),
        ("variance", flaky.variance_share, _on_flaky(flaky.variance_share)),
        ("delta", flaky.delta_share, _on_flaky(flaky.delta_share)),
    ]
    known = [(words, share, text) for words, share, text in found if share is not None]
    canvas = Canvas(WIDTH, ROW * len(known) + 8)
    for k, (words, share, text) in enumerate(known):
        _row(canvas, 6 + ROW * k, words, share, text)
    description = "; ".join(f"{words}: {text}" for words, _, text in known)
    return canvas.svg(name, "Share of items, variance and delta on flaky items", description)


def _on_flaky(share: float | None) -> str:
    return f"{percent(share)} on flaky items"


def _row(canvas: Canvas, y: float, words: str, share: float, text: str) -> None:
    paper = WIDTH - LEFT - 230
    part = paper * min(max(share, 0.0), 1.0)
    canvas.text((0, y + 15), f"of the {words}", "name")
    canvas.box((LEFT, y), (paper, 20), "bar same")
    canvas.box((LEFT, y), (part, 20), "bar flaky", text)
    canvas.text((LEFT + paper + 14, y + 15), text, "figure")

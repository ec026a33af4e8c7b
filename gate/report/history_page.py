"""A history as one self-contained page: no network, no script, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gate.cycles.chain import History
from gate.cycles.chart import Row, rows_of, run_chart_points
from gate.report.charts.runchart import points_chart
from gate.report.environment import html_environment, source
from gate.report.figures import difference, ends
from gate.report.html import style_hash
from gate.report.model import Band, Point
from gate.stats.control import prediction_limits


@dataclass(frozen=True, slots=True)
class _Part:
    metric: str
    said: str
    chart: Markup
    rows: Sequence[Row]


def history_page(history: History, health: Sequence[str] = ()) -> str:
    """The page. health: what is known of the items, a sentence a line."""
    style = source("report.css")
    return (
        html_environment()
        .get_template("history.html.j2")
        .render(
            history=history,
            parts=list(_parts(history)),
            health=health,
            style=Markup(style),  # noqa: S704 - our own file
            hash=style_hash(style),
            difference=difference,
            ends=ends,
        )
    )


def _parts(history: History) -> Iterator[_Part]:
    metrics = sorted({record.metric for record in history.records if record.metric})
    for number, metric in enumerate(metrics):
        outcomes = [r for r in history.records if r.metric == metric and r.kind == "outcome"]
        points = [Point(**point) for point in run_chart_points(history, metric)]
        limits = prediction_limits([point.delta for point in points if point.delta is not None])
        band = Band() if limits is None else Band(low=limits.low, high=limits.high, centre=limits.centre)
        margin = points[-1].margin if points else None
        passed = outcomes[-1].streak if outcomes else 0
        chart = points_chart(points, band, margin, passed, f"plot{number}")
        yield _Part(metric, _said(history, metric), chart, rows_of(history, metric)[::-1])


def _said(history: History, metric: str) -> str:
    looks = {r.id for r in history.records if r.metric == metric and r.kind in {"intent", "outcome"}}
    promoted = {r.id for r in history.records if r.metric == metric and r.kind == "promotion"}
    return (
        f"Looks spent: {len(looks)}. Promotions: {len(promoted)}. The newest cycle comes first in the table."
    )

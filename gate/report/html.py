"""The report as one self-contained page: no network, readable without script, light and dark, printable."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from gate.report import rows, sentences
from gate.report.charts.forest import effects, guardrails
from gate.report.charts.histogram import bars, spread
from gate.report.charts.runchart import points_of, run_chart
from gate.report.charts.strata import strata
from gate.report.environment import html_environment, source
from gate.report.figures import difference, ends
from gate.report.model import Document, Report, reports_of
from gate.safe import cut, visible

LARGEST_PAGE = 3_000_000
"""Bytes. Larger pages are slow to open and refused as attachments."""
_WIDEST_ID = 200


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is written out: the bytes for changed items of each report, and rows of everything else."""

    items: int
    rows: int


_LADDER = (
    Detail(2_400_000, 300),
    Detail(1_600_000, 100),
    Detail(200_000, 40),
    Detail(20_000, 10),
    Detail(0, 2),
)


def html(document: Document) -> str:
    """The page, at most 3 MB: changed items are left out from the smallest change on, and counted."""
    pages = (_page(document, detail) for detail in _LADDER)
    return next((page for page in pages if len(page.encode()) <= LARGEST_PAGE), _page(document, None))


def _page(document: Document, detail: Detail | None) -> str:
    """detail: None for verdict and why alone, where texts are so long that nothing else fits."""
    reports = reports_of(document)
    style, script = source("report.css"), source("report.js")
    most = detail or Detail(0, 0)
    return (
        html_environment()
        .get_template("report.html.j2")
        .render(
            document=document,
            reports=[(f"r{k}", one) for k, one in enumerate(reports)],
            detail=Detail(most.items // max(len(reports), 1), most.rows),
            short=detail is None,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            hashes={"style": style_hash(style), "script": style_hash(script)},
            say=sentences,
            rows=rows,
            plot=_PLOTS,
            change_rows=change_rows,
            difference=difference,
            ends=ends,
        )
    )


_PLOTS = {
    "effects": effects,
    "guardrails": guardrails,
    "spread": spread,
    "bars": bars,
    "run_chart": run_chart,
    "points": points_of,
    "strata": strata,
}


def style_hash(text: str) -> str:
    """What the page's content security policy lets through: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def change_rows(report: Report, names: list[str], budget: int) -> tuple[Markup, int]:
    """Table rows of changed items, the largest change first, and how many there are."""
    found: list[Markup] = []
    left = budget
    for row in _changes(report, names):
        left -= len(row.encode())
        if left < 0:
            break
        found.append(row)
    return Markup("").join(found), len(found)


def _changes(report: Report, names: list[str]) -> Iterator[Markup]:
    """Both lists at once, by size of the change, so that a cut leaves out the smallest on both sides."""
    both = [("worse", change) for change in report.changes.lost]
    both += [("better", change) for change in report.changes.gained]
    both.sort(key=lambda entry: -abs(entry[1].delta))
    for word, change in both:
        row = rows.change_row(change)
        shown = Markup("").join(Markup("<td>{}</td>").format(_short(row.text(name))) for name in names)
        yield Markup(
            '<tr class="{}"><td class="id">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>\n'
        ).format(word, _short(row.id), word, row.baseline, row.candidate, row.delta, shown)


def _short(text: str) -> str:
    return cut(visible(text), _WIDEST_ID)

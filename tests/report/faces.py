"""Every format of a document that is checked as one from a file is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gate.cli import render
from gate.report import brief as briefs
from gate.report import bundle as bundles
from gate.report import html as pages
from gate.report import intoto as statements
from gate.report import junit as cases
from gate.report import markdown as summaries
from gate.report import messages, tables
from gate.report import text as terminal
from gate.report.model import Document, Report, to_json
from gate.report.saved import checked

T = Callable[..., Any]


def _of(render_it: T) -> T:
    def rendered(document: dict[str, Any], *more: Any, **options: Any) -> Any:
        return render_it(checked(document), *more, **options)

    return rendered


def statement(document: dict[str, Any]) -> dict[str, Any]:
    made: Document = checked(document)
    assert isinstance(made, Report)
    return statements.statement(made)


def again(document: dict[str, Any]) -> dict[str, Any]:
    """The document after it was read and written."""
    return dict(json.loads(to_json(checked(document))))


text = _of(terminal.text)
markdown = _of(summaries.markdown)
comment = _of(summaries.comment)
marker = _of(summaries.marker)
html = _of(pages.html)
junit = _of(cases.junit)
intoto = _of(statements.intoto)
bundle = _of(bundles.bundle)
slack = _of(messages.slack)
webhook = _of(messages.webhook)
badge = _of(messages.badge)
brief = _of(briefs.brief)
flips_csv = _of(tables.flips_csv)
flagged_csv = _of(tables.flagged_csv)
rendered = _of(render.rendered)

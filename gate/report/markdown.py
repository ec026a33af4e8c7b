"""The report as Markdown: the summary of a CI job, and a comment small enough for a pull request."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gate.report import rows, sentences
from gate.report.environment import markdown_environment
from gate.report.model import Document, ErrorReport, Report, Reports, reports_of

LARGEST_SUMMARY = 512 * 1024
"""Bytes. A CI summary above 1 MiB is dropped as a whole, verdict and all."""
LARGEST_COMMENT = 60_000
"""Characters. A comment above 65,536 is refused."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is written out. The first of a ladder that fits is taken; the counts are always complete."""

    changes: int
    rules: int
    notes: int


_SUMMARY = (Detail(25, 200, 60), Detail(20, 60, 30), Detail(5, 20, 10), Detail(0, 5, 3))
_COMMENT = (Detail(10, 40, 15), Detail(3, 12, 6), Detail(0, 5, 3))
_NOTHING = Detail(0, 0, 0)


def markdown(document: Document) -> str:
    """The summary, at most 512 KiB. The first two lines are the verdict and why."""
    found = (_rendered(document, detail) for detail in _SUMMARY)
    return next((text for text in found if len(text.encode()) <= LARGEST_SUMMARY), _shortest(document))


def comment(document: Document) -> str:
    """The same for a pull request: at most 60,000 characters, with the marker of its policy at the end."""
    end = f"\n{marker(document)}\n"
    found = (_rendered(document, detail) + end for detail in _COMMENT)
    return next((text for text in found if len(text) <= LARGEST_COMMENT), _shortest(document) + end)


def marker(document: Document) -> str:
    """An invisible line by which the next run finds the comment of this policy and replaces it."""
    name = "".join(sentences.name(report) for report in reports_of(document)[:1])
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"<!-- paired-gate:{digest[:16]} -->"


def _rendered(document: Document, detail: Detail) -> str:
    return _template(_TEMPLATES[type(document)], report=document, detail=detail, rows=rows, first=_first)


_TEMPLATES = {ErrorReport: "error", Reports: "reports", Report: "summary"}


def _shortest(document: Document) -> str:
    """Verdict and why alone, where texts are so long that nothing else fits."""
    if isinstance(document, ErrorReport):
        return _rendered(document, _NOTHING)
    first = reports_of(document)[0]
    return _template("short", verdict=document.verdict, why=sentences.why(document), report=first)


def _template(name: str, **values: Any) -> str:
    return markdown_environment().get_template(f"{name}.md.j2").render(say=sentences, **values)


def _first(found: Sequence[Any], most: int) -> list[Any]:
    return list(found[:most])

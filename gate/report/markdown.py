"""The report as Markdown: the summary of a CI job, and a comment small enough for a pull request."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.report import rows, sentences
from gate.report.environment import markdown_environment

Report = Mapping[str, Any]

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


def markdown(report: Report) -> str:
    """The summary, at most 512 KiB. The first two lines are the verdict and why."""
    found = (_rendered(report, detail) for detail in _SUMMARY)
    return next((text for text in found if len(text.encode()) <= LARGEST_SUMMARY), _shortest(report))


def comment(report: Report) -> str:
    """The same for a pull request: at most 60,000 characters, with the marker of its policy at the end."""
    end = f"\n{marker(report)}\n"
    found = (_rendered(report, detail) + end for detail in _COMMENT)
    return next((text for text in found if len(text) <= LARGEST_COMMENT), _shortest(report) + end)


def marker(report: Report) -> str:
    """An invisible line by which the next run finds the comment of this policy and replaces it."""
    first = report["reports"][0] if "reports" in report else report
    name = "" if "error" in first else sentences.name(first)
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"<!-- paired-gate:{digest[:16]} -->"


def _rendered(report: Report, detail: Detail) -> str:
    name = "error" if "error" in report else "reports" if "reports" in report else "summary"
    return _template(name, report=report, detail=detail, rows=rows, first=_first)


def _shortest(report: Report) -> str:
    """Verdict and why alone, where texts are so long that nothing else fits."""
    if "error" in report:
        return _rendered(report, _NOTHING)
    first = report["reports"][0] if "reports" in report else report
    why = sentences.why_several(report) if "reports" in report else sentences.why(report)
    return _template("short", verdict=report["verdict"], why=why, report=first)


def _template(name: str, **values: Any) -> str:
    return markdown_environment().get_template(f"{name}.md.j2").render(say=sentences, **values)


def _first(found: Sequence[Any], most: int) -> list[Any]:
    return list(found[:most])

"""Everything that a report directory holds beside the JSON report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.report.html import html
from gate.report.junit import junit
from gate.report.markdown import markdown
from gate.report.tables import flagged_csv, flips_csv


def bundle(report: Mapping[str, Any]) -> dict[str, str]:
    """File name -> text. The same report gives the same bytes."""
    return {
        "summary.md": markdown(report),
        "report.html": html(report),
        "junit.xml": junit(report),
        "flips.csv": flips_csv(report),
        "flagged.csv": flagged_csv(report),
    }

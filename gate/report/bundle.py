"""Everything that a report directory holds beside the JSON report."""

from __future__ import annotations

from gate.report.html import html
from gate.report.junit import junit
from gate.report.markdown import markdown
from gate.report.model import Document
from gate.report.tables import flagged_csv, flips_csv


def bundle(document: Document) -> dict[str, str]:
    """File name -> text. The same report gives the same bytes."""
    return {
        "summary.md": markdown(document),
        "report.html": html(document),
        "junit.xml": junit(document),
        "flips.csv": flips_csv(document),
        "flagged.csv": flagged_csv(document),
    }

"""The report as Markdown."""

from __future__ import annotations

from typing import Any


def markdown(report: dict[str, Any]) -> str:
    """The verdict."""
    return str(report["verdict"])

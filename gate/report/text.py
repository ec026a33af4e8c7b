"""The report for a terminal."""

from __future__ import annotations

from typing import Any


def text(report: dict[str, Any]) -> str:
    """The verdict."""
    return str(report["verdict"])

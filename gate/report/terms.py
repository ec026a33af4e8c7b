"""Everything that a report or an error calls by a name, explained: one table for every reader.

``gate explain``, the glossary in ``docs/`` and the order of cautions are made from ``terms.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

GRAVITY = {"alarm": 0, "warn": 1, "detail": 2}
"""Sections of cautions, the gravest first."""
SECTIONS = (*GRAVITY, "error", "term")


@cache
def terms() -> Mapping[str, Mapping[str, str]]:
    """Section -> name -> what it means."""
    return tomllib.loads((Path(__file__).parent / "terms.toml").read_text(encoding="utf-8"))


def gravity(code: str) -> str:
    """The section of a caution; one that nobody has written down is a warning."""
    return next((name for name in GRAVITY if code in terms()[name]), "warn")

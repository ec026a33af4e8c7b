"""What JUnit XML and json-report share: recorded properties are measurements where they are numbers."""

from __future__ import annotations

from typing import Any

from gate.artifacts.values import BOOLS, NUMBER

METRIC_PREFIX = "property:"


def measured(value: Any) -> Any:
    """A recorded property: text that is a number is one, since XML has no types."""
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if NUMBER.fullmatch(bare):
        return float(bare)
    return bool(BOOLS[bare.lower()]) if bare.lower() in BOOLS else value

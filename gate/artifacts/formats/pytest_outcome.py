"""What JUnit XML and json-report share: recorded properties are measurements where they are numbers."""

from __future__ import annotations

from typing import Any

from gate.artifacts.values import BOOLS, NUMBER

METRIC_PREFIX = "property:"


def rerun_caution(attempts: int) -> tuple[tuple[str, str], ...]:
    """That tests were run again after a failure: the last attempt counts, as in the tool's own report."""
    if not attempts:
        return ()
    text = f"{attempts} failed attempts were run again; of each such test the last attempt counts"
    return (("tests_rerun", text),)


def measured(value: Any) -> Any:
    """A recorded property: text that is a number is one, since XML has no types."""
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if NUMBER.fullmatch(bare):
        return float(bare)
    return bool(BOOLS[bare.lower()]) if bare.lower() in BOOLS else value

"""Result files as tools write them -> :class:`ItemTable`: bounded, strict, nothing in them is ever run."""

from __future__ import annotations

from gate.artifacts.compatibility import comparable
from gate.artifacts.reading import detect, read, read_pair
from gate.artifacts.registry import FORMATS, Format
from gate.artifacts.survey import Metric, Survey, survey
from gate.artifacts.table import ItemTable, Missing, ReadRequest, Source


def describe_formats() -> tuple[Format, ...]:
    """Every format that is read."""
    return FORMATS


__all__ = [
    "Format",
    "ItemTable",
    "Metric",
    "Missing",
    "ReadRequest",
    "Source",
    "Survey",
    "comparable",
    "describe_formats",
    "detect",
    "read",
    "read_pair",
    "survey",
]

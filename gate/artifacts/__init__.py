"""Result files as tools write them -> :class:`ItemTable`: bounded, strict, nothing in them is ever run."""

from __future__ import annotations

from gate.artifacts.reading import detect, read, read_pair
from gate.artifacts.registry import FORMATS, Format
from gate.artifacts.table import ItemTable, Missing, ReadRequest, Source


def describe_formats() -> tuple[Format, ...]:
    """Every format that is read, in the order of detection."""
    return FORMATS


__all__ = [
    "Format",
    "ItemTable",
    "Missing",
    "ReadRequest",
    "Source",
    "describe_formats",
    "detect",
    "read",
    "read_pair",
]

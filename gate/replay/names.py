"""The columns that the harness itself writes, and what names of others may look like."""

from __future__ import annotations

import re

from gate.artifacts.formats.replayed import MEASURED

SIDES = ("baseline", "candidate")
RESERVED = frozenset(
    {"id", "case", "turn", "repeat", "window", "status", "error", "output", "output_digest", "case_digest"}
    | {"schema", *MEASURED}
)
_WINDOW = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_METRIC = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")


def is_window(text: str) -> bool:
    """Whether a window can be the name of a folder, everywhere and without surprise."""
    return _WINDOW.fullmatch(text) is not None


def is_metric(text: str) -> bool:
    """Whether a scorer may call a score so."""
    return _METRIC.fullmatch(text) is not None and text not in RESERVED

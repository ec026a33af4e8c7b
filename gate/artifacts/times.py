"""When a run took place, as its file says. What the file system says is no statement of the tool."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

_MILLISECONDS = 1e11
"""A larger number of seconds since 1970 lies beyond the year 5000: such a number counts milliseconds."""


def time_fact(stated: Iterable[Any]) -> dict[str, str]:
    """``{"time": ...}`` with the earliest of the times, as ISO text in UTC; empty where none can be read."""
    known = [when for when in map(_moment, stated) if when is not None]
    return {"time": min(known).isoformat()} if known else {}


def _moment(found: Any) -> datetime | None:
    """An ISO text, in UTC where it names no zone, or a number of (milli)seconds since 1970."""
    try:
        if isinstance(found, str):
            time = datetime.fromisoformat(found.strip())
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return datetime.fromtimestamp(found / 1000 if abs(found) > _MILLISECONDS else found, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None

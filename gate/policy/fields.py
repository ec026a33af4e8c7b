"""The few types that keys of a policy have, and what a name may look like: the same to a reader as to us."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

# Letters and marks that Unicode calls printable and that no screen shows.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def hidden_character(text: str) -> str | None:
    """The first control, bidirectional, zero-width or other invisible character, as ``U+XXXX``."""
    if text.isprintable() and not _INVISIBLE.search(text):
        return None
    found = next(c for c in text if not c.isprintable() or _INVISIBLE.match(c))
    return f"U+{ord(found):04X}"


def visible_name(text: str) -> str:
    """Accept a name of a metric, a column or a set; for pydantic, hence ValueError."""
    hidden = hidden_character(text)
    if hidden:
        raise ValueError(f"holds the invisible character {hidden}")
    if text != text.strip():
        raise ValueError("begins or ends with a space")
    return text


def iso_date(text: str) -> str:
    """Accept a calendar date as YYYY-MM-DD; for pydantic, hence ValueError."""
    from datetime import date  # noqa: PLC0415 - only a policy with waivers pays for it

    try:
        if _ISO_DATE.fullmatch(text):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError("is not a date of the calendar, written YYYY-MM-DD")


Text = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(visible_name)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


def shape(value: Any) -> str:
    """Which form of a key with several forms was written, so that one mistake is one error."""
    if isinstance(value, dict | BaseModel):
        return "mapping"
    return "list" if isinstance(value, list) else "plain"

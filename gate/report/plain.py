"""Making a text harmless where it is read as plain text: a terminal, a CI log, a spreadsheet."""

from __future__ import annotations

import re
import unicodedata

_COMMAND = re.compile(r"^(\s*):(?=:)")


def visible(text: str) -> str:
    """Control, format and surrogate characters written out, so that nothing obeys or hides."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "\u2026"


def line(value: object) -> str:
    """One line for a terminal or a log: no escape sequence and no CI command survives."""
    return _COMMAND.sub("\\1:\\\\", visible(str(value)).replace("##[", "#\\#["))


def csv_cell(value: object) -> str:
    """A value for a CSV file: a spreadsheet must not take it for a formula."""
    if isinstance(value, int | float):
        return repr(value)
    text = visible(str(value))
    first = unicodedata.normalize("NFKC", text).lstrip()[:1]  # a full-width sign is read as the plain one
    return f"'{text}" if first in set("=+-@\u2212") else text

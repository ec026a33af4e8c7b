"""A value of the wrong kind: what is wanted, what was found and how to write it."""

from __future__ import annotations

import difflib
import re
from typing import Any

from gate.safe import quoted

_WANTED = {
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list of two numbers",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
    "union_tag_invalid": "has the wrong form",
    "finite_number": "must be a finite number",
}
_LIMITS = {
    "greater_than": ("must be above", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be below", "lt"),
    "less_than_equal": ("must be at most", "le"),
}
_NUMBER = re.compile(r"([-+]?[0-9]{1,12})(?:([.,])([0-9]{1,12}))?( ?%)?")


def wrong_value(kind: str, value: Any, context: dict[str, Any], message: str) -> tuple[str, str]:
    """The message (after the key's name) and the help line for one of pydantic's errors."""
    shown = found(value)
    if kind in {"literal_error", "enum"}:
        return f"must be {context['expected']} (found {shown})", _nearest_word(value, context["expected"])
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"{words} {context[key]:g} (found {shown})", ""
    if kind in _WANTED:
        return f"{_WANTED[kind]} (found {shown})", _how_to_write(kind, value)
    if kind in {"too_short", "string_too_short"}:
        return "must not be empty", "leave the key out, or name one"
    if kind == "string_too_long":
        return f"is longer than {context['max_length']} characters", ""
    if kind == "value_error":
        return f"{context['error']} (found {shown})", ""
    return f"is not what is wanted: {message} (found {shown})", ""


def found(value: Any) -> str:
    """What stood there, short and harmless."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value, 60)
    if isinstance(value, int | float):
        return f"the number {value!r}"
    return "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"


def _nearest_word(value: Any, expected: str) -> str:
    words = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
    near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    return f"did you mean {near[0]}?" if near else ""


def _how_to_write(kind: str, value: Any) -> str:
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f'if it is text, quote it: "{str(value).lower()}"'
    if kind in {"float_type", "int_type"} and isinstance(value, str):
        return _as_number(value)
    if kind == "list_type":
        return "write [one, two]"
    return ""


def _as_number(text: str) -> str:
    """The number somebody meant by ``5%``, ``0,05`` or ``"0.05"``."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return ""
    whole, _, rest, percent = match.groups()
    value = float(f"{whole}.{rest or 0}") / (100 if percent else 1)
    return f"write {value:.10g} without quotes"

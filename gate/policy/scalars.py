"""What a plain YAML scalar is: only what every YAML reader agrees on; the rest is asked back.

YAML 1.1 and 1.2 read ``012``, ``1:30``, ``no`` or ``5e-2`` differently. A policy that means one thing to its
author and another to the gate is the worst kind, so such a scalar is refused with the form to write instead.
"""

from __future__ import annotations

import math
import re

from gate.policy.findings import Finding
from gate.safe import escaped, quoted
from gate.values import LARGEST

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"(?:[-+]?(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_LIKE_NUMBER = re.compile(
    r"[-+]?(?:0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+"
    r"|[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|\.[0-9][0-9_]*(?:e[-+]?[0-9]+)?"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)",
    re.IGNORECASE,
)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_OLD_BOOLS = {"yes": "true", "no": "false", "on": "true", "off": "false"}
_NULLS = {"", "~", "null", "Null", "NULL"}


class Date(str):
    """A date written without quotes: text where a date is wanted, a mistake elsewhere."""

    __slots__ = ()


def plain(text: str, subject: str) -> object:
    """The value of an unquoted scalar, or the Finding that refuses it; subject: whose value."""
    if text in _WORDS:
        return _WORDS[text]
    if _DATE.fullmatch(text):
        return Date(text)
    if text[:1].isdigit() or text[:1] in {"+", "-", "."}:
        return _number(text, subject)
    if text in _NULLS:
        return Finding(
            "empty_value", f"{subject} is empty", "write a value here; a key that you do not need is left out"
        )
    if text.lower() in _OLD_BOOLS:
        return _ask(text, _OLD_BOOLS[text.lower()], subject)
    return text


def _number(text: str, subject: str) -> object:
    if _INT.fullmatch(text):
        if len(text) > 18:
            return Finding("number_too_large", f"{subject} is a number of {len(text)} digits", _quote(text))
        return int(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            return _infinite(text, subject)
        return _out_of_range(text, subject) if value and not 1 / LARGEST <= abs(value) <= LARGEST else value
    if _NOT_FINITE.fullmatch(text):
        return _infinite(text, subject)
    if _LIKE_NUMBER.fullmatch(text):
        return _ask(text, _usual_form(text), subject)
    return text


def _infinite(text: str, subject: str) -> Finding:
    return Finding("not_finite", f"{subject} is not a finite number (found {quoted(text, 40)})")


def _out_of_range(text: str, subject: str) -> Finding:
    message = f"{subject} must be 0 or lie between {1 / LARGEST:g} and {LARGEST:g} (found {quoted(text, 40)})"
    return Finding("number_out_of_range", message, "write a number that the metric can take")


def _ask(text: str, usual: str | None, subject: str) -> Finding:
    message = f"{subject} is ambiguous: YAML readers differ about {quoted(text, 40)} without quotes"
    advice = f"write {usual}; if it is text, quote it" if usual else _quote(text)
    return Finding("ambiguous_scalar", message, advice)


def _quote(text: str) -> str:
    return f'if it is text, quote it: "{escaped(text, 60)}"'


def _usual_form(text: str) -> str | None:
    """The same number as every reader reads it, where that is short; None for 1:30 and the like."""
    bare = text.replace("_", "").lower()
    try:
        if bare.lstrip("+-")[:2] in {"0x", "0o", "0b"}:
            return str(int(bare, 0))
        value = float(bare)
    except ValueError:
        return None
    if value and not 1e-12 <= abs(value) <= 1e15:
        return None
    return str(int(value)) if value.is_integer() else _decimal(value)


def _decimal(value: float) -> str:
    """Shortest decimal form without an exponent."""
    from decimal import Decimal  # noqa: PLC0415 - only an error text needs it

    return format(Decimal(repr(value)), "f")

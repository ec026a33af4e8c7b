"""What may come of one question: an answer, or the reason why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

ANSWER_BYTES = 4 << 20
"""The longest answer: a row with it stays within what the gate reads as one line."""
Status = Literal["timeout", "throttled", "unreachable", "killed", "error", "scorer_error"]


class FaultError(Exception):
    """No answer. again: the infrastructure was at fault, so that another attempt hides nothing.

    wait: seconds that the other side asks for before it, None if it names none.
    """

    def __init__(self, status: Status, text: str, *, again: bool = False, wait: float | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = " ".join(text.split())[:300]
        self.again = again
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as JSON. seconds: from the question to the answer."""

    value: Mapping[str, Any]
    seconds: float


def object_of(raw: bytes) -> dict[str, Any]:
    """One JSON object; whatever else came back is the error of whoever sent it."""
    try:
        found = json.loads(raw, parse_constant=_no_constant)
    except RecursionError:
        raise FaultError("error", "the answer is nested too deeply") from None
    except ValueError as error:
        kind = str(error) if isinstance(error, _NoNumberError) else "the answer is no JSON"
        raise FaultError("error", f"{kind} (found {start_of(raw)})") from None
    if not isinstance(found, dict):
        raise FaultError("error", f"the answer is no JSON object (found {start_of(raw)})")
    return found


def start_of(raw: bytes) -> str:
    """The first characters of an answer, for a person."""
    text = raw[:200].decode("utf-8", "replace").strip()
    return ascii(text[:60]) if text else "nothing"


class _NoNumberError(ValueError):
    """NaN or Infinity in a number's place."""


def _no_constant(token: str) -> NoReturn:
    raise _NoNumberError(f"{token} is no number")

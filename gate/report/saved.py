"""A report that was saved earlier, read back with suspicion: it may come from anywhere."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from gate.artifacts.content import open_content
from gate.report.model import Document
from gate.safe import quoted
from gate.values import GateError

NAMES = ("gate.report/1", "gate.reports/1", "gate.error/1")
_LARGEST = 2**63


def read_report(path: str) -> Document:
    """The document in ``path``: one report, several challengers or an error.

    Errors: ``not_a_report`` for anything else, with what is wrong; ``report_version`` for a schema of this
    family that this version does not know.
    """
    content = open_content(path)
    try:
        document = _parsed(content.text(), path)
    finally:
        content.close()
    return checked(document, path)


def checked(document: Any, path: str = "") -> Document:
    """The document as a value, if it is one of ours."""
    name = document.get("schema") if isinstance(document, dict) else None
    if name not in NAMES:
        raise _unknown(name, path)
    try:
        found: Document = msgspec.convert(document, Document)
    except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
        text = str(error).replace("`", "").replace("$.", "")
        raise _bad(f"not a valid {name} document: {quoted(text, 200)[1:-1]}", path) from None
    return found


def _unknown(name: Any, path: str) -> GateError:
    if isinstance(name, str) and name.startswith("gate."):
        return GateError(
            "report_version",
            f"this version of gate reads {', '.join(NAMES)} (found {quoted(name)})",
            where=path,
            help="render it with the version of gate that wrote it",
        )
    found = "no schema" if name is None else quoted(str(name))
    return _bad(f"not a report of gate run ({found})", path)


def _parsed(text: str, path: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise _bad(f"not valid JSON: {error.msg.lower()}", f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _bad(f"not valid JSON: {text}", path) from None


def _bad(message: str, where: str) -> GateError:
    return GateError(
        "not_a_report", message, where=where, help="gate run --json FILE writes the report that is read here"
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _no_number(token: str) -> Any:
    raise ValueError(f"{token} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _LARGEST:
        raise ValueError("an integer is too large")
    return int(text)

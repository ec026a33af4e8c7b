"""JSON as RFC 8259 has it, bounded: no comments, no trailing commas, no depth beyond 64, no endless integers.

``NaN`` and ``Infinity`` are read as :class:`NoNumber`, so that a reader can say what stood there. An object
with a key twice is read as :class:`Doubled`, which is an error once something in it is needed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.artifacts import limits
from gate.safe import quoted
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class NoNumber:
    """A token in a number's place that is no number: ``NaN``, ``Infinity``, ``-Infinity``."""

    token: str


class Doubled(dict[str, Any]):
    """An object in which a key occurs twice; ``key`` is the first such key."""

    key: str = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    doubled = Doubled(found)
    doubled.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return doubled


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=NoNumber)
_BACKSLASHES = re.compile(r"\\*")
_SLICE = 4 * limits.MIB
_NO_STRUCTURE = bytes(set(range(256)) - set(b'[]{},"'))
_LONG_INTEGER = re.compile(rf"\d{{{limits.DIGITS + 1}}}")


def parse_document(text: str, path: str) -> Any:
    """A whole file. Errors name the line."""
    return _parse(text, path, None)


def parse_line(text: str, path: str, line: int) -> Any:
    """One line of a JSON Lines file."""
    return _parse(text, path, line)


def _parse(text: str, path: str, line: int | None) -> Any:
    _refuse_large(text, path, line)
    if not 0 < sys.get_int_max_str_digits() <= limits.DIGITS and _LONG_INTEGER.search(text):
        raise _too_long(path, line)
    try:
        value, end = _DECODER.raw_decode(text, _start(text))
    except json.JSONDecodeError as error:
        raise _invalid(error.msg, text, error.pos, path, line) from None
    except ValueError:
        raise _too_long(path, line) from None
    except RecursionError:
        raise _too_deep(path, line) from None
    if text[end:].strip(" \t\r\n"):
        raise _invalid("Extra data", text, end, path, line)
    return value


def _start(text: str) -> int:
    return len(text) - len(text.lstrip(" \t\r\n"))


def _refuse_large(text: str, path: str, line: int | None) -> None:
    if text.count("{") + text.count("[") <= limits.DEPTH and len(text) < _SLICE:
        return
    depth = containers = values = 0
    inside = False
    for signs in _structure(text):
        marks = signs == ord('"')
        within = np.logical_xor.accumulate(np.concatenate(([inside], marks)))
        inside = bool(within[-1])
        plain = signs[~within[1:] & ~marks]
        opened = (plain == ord("{")) | (plain == ord("["))
        commas = plain == ord(",")
        steps = np.where(opened, 1, np.where(commas, 0, -1))
        if steps.size:
            if depth + int(np.cumsum(steps).max()) > limits.DEPTH:
                raise _too_deep(path, line)
            depth += int(steps.sum())
        containers += int(opened.sum())
        values += int(commas.sum())
        if containers > limits.CONTAINERS or values + containers > limits.JSON_VALUES:
            raise _too_many(path, line)


def _structure(text: str) -> Iterator[NDArray[np.uint8]]:
    """Quotes, brackets and commas of the text in pieces, those that a backslash escapes left out."""
    start = 0
    while start < len(text):
        found = _BACKSLASHES.match(text, min(start + _SLICE, len(text)))
        end = found.end() + 1 if found else len(text)  # behind a run of backslashes and what it escapes
        piece = text[start:end].encode("utf-8", "surrogatepass")
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        yield np.frombuffer(piece.translate(None, _NO_STRUCTURE), dtype=np.uint8)
        start = end


def _invalid(message: str, text: str, position: int, path: str, line: int | None) -> GateError:
    number = line if line is not None else text.count("\n", 0, position) + 1
    near = text[position : position + 20].strip()
    found = f"found {quoted(near)}" if near else "the text ends there; was it cut short?"
    return GateError(
        "invalid_json",
        f"not valid JSON: {message.lower()} ({found})",
        where=f"{path}:{number}",
        help="comments, trailing commas and cut-off lines are not JSON; write the file again",
    )


def _too_long(path: str, line: int | None) -> GateError:
    where = path if line is None else f"{path}:{line}"
    return GateError("invalid_json", f"an integer of more than {limits.DIGITS} digits", where=where)


def _too_deep(path: str, line: int | None) -> GateError:
    where = path if line is None else f"{path}:{line}"
    return GateError("too_deep", f"nested deeper than {limits.DEPTH} levels", where=where)


def _too_many(path: str, line: int | None) -> GateError:
    return GateError(
        "document_too_large",
        f"one document of more than {limits.CONTAINERS:,} objects or {limits.JSON_VALUES:,} values",
        where=path if line is None else f"{path}:{line}",
        help="write JSON Lines or Parquet, which are read in pieces",
    )


def refuse_doubled(value: Any, path: str, line: int | None) -> None:
    """An error if ``value`` is an object with a key twice: no reader can know which one was meant."""
    if isinstance(value, Doubled):
        raise GateError(
            "duplicate_key",
            f"the key {quoted(value.key)} occurs twice in one object",
            where=path if line is None else f"{path}:{line}",
            help="write each key once; which of the two values counts is not knowable",
        )

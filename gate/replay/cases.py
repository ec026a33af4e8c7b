"""The recorded cases: checked once from end to end, then read one by one where they lie."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from gate.artifacts import limits
from gate.artifacts.content import line_too_long
from gate.artifacts.encoding import BOM, decode
from gate.artifacts.ids import check_ids
from gate.artifacts.opening import open_artifact
from gate.artifacts.strict_json import Doubled, NoNumber, parse_line
from gate.replay.names import RESERVED, is_window
from gate.safe import quoted
from gate.values import GateError

_CASE = {"id", "input", "turns", "expected", "window", "fields"}
_TURN = {"input", "answer", "expected"}
_HELP = "a case is {id, input} or {id, turns: [{input, answer}, ...]}, with expected, window, fields at will"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One answer that is asked for. context: what either system is told, in bytes; turn: 0 without turns.

    expected: for the scorer alone.
    """

    id: str
    case: str
    turn: int
    context: bytes
    digest: str
    expected: Any
    window: str | None
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case lies. turns: 0 where it is one question."""

    offset: int
    size: int
    line: int
    turns: int
    window: str | None
    digest: bytes


class Cases:
    """The cases of a file, which stays open. sha256: of the whole file; windows: in order of appearance."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO = open_artifact(path)
        self.places: list[Place] = []
        self.ids: list[str] = []
        try:
            self.sha256 = self._index()
        except BaseException:
            self._file.close()
            raise
        self.windows: tuple[str | None, ...] = tuple(dict.fromkeys(place.window for place in self.places))

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def exchanges(self, index: int) -> tuple[Exchange, ...]:
        """Every answer asked for of one case, in the order of its turns."""
        place = self.places[index]
        self._file.seek(place.offset)
        raw = self._file.read(place.size)
        if hashlib.sha256(raw).digest() != place.digest:
            raise self._fault("cases_changed", "the case changed while it was replayed", place.line)
        return tuple(_exchanges(self._parsed(raw, place.line)))

    def _index(self) -> str:
        """Check every line, note where it lies, and return the digest of the file."""
        whole = hashlib.sha256()
        seen: dict[str, int] = {}
        number, offset = 0, 0
        while raw := self._file.readline(limits.LINE_BYTES + 2):
            number += 1
            whole.update(raw)
            start, offset = offset, offset + len(raw)
            if len(raw) > limits.LINE_BYTES:
                raise line_too_long(f"{self.path}:{number}")
            if number == 1 and raw.startswith(BOM):
                raise self._fault("invalid_case", "the file begins with a byte order mark", 1)
            if raw.strip():
                self._take(raw, start, number, seen)
        if not self.places:
            raise GateError("no_cases", "there are no cases in it", where=self.path, help=_HELP)
        return whole.hexdigest()

    def _take(self, raw: bytes, start: int, number: int, seen: dict[str, int]) -> None:
        case = self._parsed(raw, number)
        for exchange in _exchanges(case):
            if exchange.id in seen:
                message = (
                    f"the id {quoted(exchange.id)} is there twice (lines {seen[exchange.id]} and {number})"
                )
                raise self._fault("duplicate_ids", message, number)
            seen[exchange.id] = number
        window = case.get("window")
        if self.places and (window is None) != (self.places[0].window is None):
            raise self._fault("missing_window", "some cases name a window and some do not", number)
        turns = len(case["turns"]) if "turns" in case else 0
        digest = hashlib.sha256(raw).digest()
        self.ids.append(str(case["id"]))
        self.places.append(Place(start, len(raw), number, turns, window, digest))

    def _parsed(self, raw: bytes, number: int) -> dict[str, Any]:
        where = f"{self.path}:{number}"
        case = parse_line(decode(raw, self.path, number), self.path, number)
        if not isinstance(case, dict):
            raise self._fault("invalid_case", "each line must be one object", number)
        found = next(_oddities(case), None) or next(_mistakes(case), None)
        if found:
            raise self._fault("invalid_case", found, number)
        check_ids([str(case["id"])], "the case's id", lambda _: where)
        return case

    def _fault(self, code: str, message: str, line: int) -> GateError:
        return GateError(code, message, where=f"{self.path}:{line}", help=_HELP)


def _oddities(value: Any) -> Iterator[str]:
    """What JSON readers do not agree on: a key twice, no numbers in the place of numbers."""
    if isinstance(value, Doubled):
        yield f"the key {quoted(value.key)} occurs twice in one object"
    if isinstance(value, NoNumber):
        yield f"{value.token} is no number"
    if isinstance(value, float) and not math.isfinite(value):
        yield "a number is too large"
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _oddities(inner)


def _mistakes(case: Mapping[str, Any]) -> Iterator[str]:
    unknown = sorted(set(case) - _CASE)
    if unknown:
        yield f"a case has no key {quoted(unknown[0])} (what is to stand in the artifacts goes into fields)"
    if not isinstance(case.get("id"), str | int) or isinstance(case.get("id"), bool) or case.get("id") == "":
        yield "the case has no id"
    if ("input" in case) == ("turns" in case):
        yield "a case has either an input or turns"
    if "turns" in case:
        yield from _turn_mistakes(case)
    window = case.get("window")
    if "window" in case and not (isinstance(window, str) and is_window(window)):
        yield "a window is a name that a folder can have: letters, digits, -, _ and ."
    fields = case.get("fields", {})
    if not isinstance(fields, Mapping):
        yield "fields is a mapping of names to values"
        return
    for name, value in fields.items():
        if name in RESERVED:
            yield f"the artifacts have a column {name} of their own: call the field otherwise"
        if not isinstance(value, str | bool | int | float):
            yield f"the field {quoted(name)} must be text, a number or true or false"


def _turn_mistakes(case: Mapping[str, Any]) -> Iterator[str]:
    turns = case["turns"]
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, Mapping) for turn in turns):
        yield "turns is a list of objects, at least one"
        return
    if "expected" in case:
        yield "with turns, each turn has its own expected"
    for number, turn in enumerate(turns, 1):
        unknown = sorted(set(turn) - _TURN)
        if unknown:
            yield f"turn {number} has an unknown key {quoted(unknown[0])}"
        if "input" not in turn:
            yield f"turn {number} has no input"
        if "answer" not in turn and number < len(turns):
            yield (
                f"turn {number} has no recorded answer, so the context of turn {number + 1} is not known "
                "(a system's own answer never becomes part of it)"
            )


def _exchanges(case: Mapping[str, Any]) -> Iterator[Exchange]:
    """The case's questions, each with the recorded context up to it."""
    key, fields, window = str(case["id"]), case.get("fields", {}), case.get("window")
    if "turns" not in case:
        context = _context(case["input"], [])
        yield Exchange(key, key, 0, context, _digest(context), case.get("expected"), window, fields)
        return
    history: list[dict[str, Any]] = []
    for number, turn in enumerate(case["turns"], 1):
        context = _context(turn["input"], history)
        name = f"{key}/{number}"
        yield Exchange(name, key, number, context, _digest(context), turn.get("expected"), window, fields)
        history.append({"input": turn["input"], "answer": turn.get("answer")})


def _context(asked: Any, history: list[dict[str, Any]]) -> bytes:
    return json.dumps({"history": history, "input": asked}, sort_keys=True, separators=(",", ":")).encode()


def _digest(context: bytes) -> str:
    return hashlib.sha256(context).hexdigest()

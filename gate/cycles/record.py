"""One line of the history as a frozen value, and the strict way from bytes to it and back.

The fields stand in alphabetical order because a canonical line has sorted keys: a parsed object whose keys
are exactly these, in this order, becomes a :class:`Record` without a look-up for each field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from math import isfinite
from typing import Any, Final

SCHEMA: Final = "gate.history/1"
KINDS: Final = frozenset({"init", "intent", "outcome", "void", "promotion", "waiver", "worn"})
STATUSES: Final = frozenset({"", "pass", "fail", "inconclusive"})
WINDOWS: Final = frozenset({"", "fresh", "reused", "overlap"})

Scalar = str | int | float | bool | None


def _no_side() -> dict[str, str]:
    return {"digest": "", "id": ""}


def _no_candidate() -> dict[str, str]:
    return {"digest": "", "id": "", "lineage": ""}


def _no_holdout() -> dict[str, Any]:
    return {"digest": "", "first": "", "kind": "", "last": "", "marks": "", "n": 0}


@dataclass(frozen=True, slots=True)
class Record:
    """One event. Every kind has every field; what does not apply is empty.

    id: identity of the look (one for all challengers of a run); of the history itself in the ``init`` record.
    look_no, level: place and one-sided level in the ledger. missed: earlier attempts of the same CI run that
    the history does not hold. holdout: the items (``gate.cycles.items``). result: the outcome, flat.
    note: why (void, worn, waiver). time: for people, never for an order. isolated: SHA-256 of torn lines
    that this record closes off. prev: digests of all heads that the writer saw, sorted.
    """

    alarms: tuple[str, ...] = ()
    baseline: Mapping[str, str] = field(default_factory=_no_side)
    candidate: Mapping[str, str] = field(default_factory=_no_candidate)
    ci: Mapping[str, str] = field(default_factory=dict)
    claim: str = ""
    cycle: str = ""
    decision_digest: str = ""
    digest: str = ""
    holdout: Mapping[str, Any] = field(default_factory=_no_holdout)
    id: str = ""
    isolated: tuple[str, ...] = ()
    kind: str = "void"
    level: float | None = None
    look_no: int = 0
    metric: str = ""
    missed: int = 0
    note: str = ""
    policy: str = ""
    policy_digest: str = ""
    prev: tuple[str, ...] = ()
    result: Mapping[str, Scalar] = field(default_factory=dict)
    schema: str = SCHEMA
    status: str = ""
    streak: int = 0
    time: str = ""
    tool: str = ""
    verdict: str = ""

    @property
    def lineage(self) -> str:
        """The line of candidates whose passes add up."""
        return self.candidate["lineage"]


KEYS: Final = tuple(part.name for part in fields(Record))
_TUPLES: Final = frozenset({"alarms", "isolated", "prev"})
_MAPS: Final[dict[str, dict[str, type]]] = {
    "baseline": {"digest": str, "id": str},
    "candidate": {"digest": str, "id": str, "lineage": str},
    "holdout": {"digest": str, "first": str, "kind": str, "last": str, "marks": str, "n": int},
}
_MAP_KEYS: Final = {name: tuple(shape) for name, shape in _MAPS.items()}
_MAP_TYPES: Final = {name: tuple(shape.values()) for name, shape in _MAPS.items()}
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TYPES: Final = tuple(
    list if key in _TUPLES else dict if key in _MAPS or key in {"ci", "result"} else int
    if key in {"look_no", "missed", "streak"} else str for key in KEYS
)  # fmt: skip
_LEVEL: Final = KEYS.index("level")
_LEVEL_TYPES: Final = frozenset(
    (*_TYPES[:_LEVEL], level, *_TYPES[_LEVEL + 1 :]) for level in (float, int, type(None))
)
_ALARMS, _ISOLATED, _PREV = (KEYS.index(key) for key in ("alarms", "isolated", "prev"))


class BadRecordError(ValueError):
    """A parsed line that is not a record of this schema; the text says why."""


def record_of(parsed: object) -> Record:
    """A parsed line as a record; :class:`BadRecordError` for anything that is not exactly one."""
    if type(parsed) is not dict or parsed.get("schema") != SCHEMA:
        found = parsed.get("schema") if isinstance(parsed, dict) else type(parsed).__name__
        raise BadRecordError(f"not a record of schema {SCHEMA} (found {str(found)[:60]!a})")
    if tuple(parsed) != KEYS:
        odd = sorted(set(KEYS) ^ set(parsed))
        raise BadRecordError(f"keys are not those of {SCHEMA}, sorted (differs in {str(odd[:5])[:200]!a})")
    values = list(parsed.values())
    if tuple(map(type, values)) not in _LEVEL_TYPES:
        raise BadRecordError(f"wrong type of {_wrong_type(values)}")
    for index in (_ALARMS, _ISOLATED, _PREV):
        values[index] = tuple(values[index])
    record = Record(*values)
    problem = _problem(record)
    if problem:
        raise BadRecordError(problem)
    return record


def _wrong_type(values: list[Any]) -> str:
    return next(
        key
        for key, value, wanted in zip(KEYS, values, _TYPES, strict=True)
        if type(value) is not wanted and not (key == "level" and type(value) in {float, int, type(None)})
    )


def _problem(record: Record) -> str:
    if record.kind not in KINDS:
        return f"unknown kind {record.kind[:60]!a}"
    if record.status not in STATUSES or record.holdout.get("kind") not in WINDOWS:
        return "unknown status or window kind"
    if record.look_no < 0 or record.missed < 0 or record.streak < 0:
        return "look_no, missed and streak are counts"
    if record.level is not None and not 0 < record.level < 1:
        return "level is not between 0 and 1"
    for name, value in (
        ("baseline", record.baseline),
        ("candidate", record.candidate),
        ("holdout", record.holdout),
    ):
        if tuple(value) != _MAP_KEYS[name] or tuple(map(type, value.values())) != _MAP_TYPES[name]:
            return f"{name} has not the keys and types of {SCHEMA}"
    if not all(type(value) is str for value in record.ci.values()):
        return "ci holds something that is not text"
    for number in record.result.values():
        if type(number) not in _SCALARS or (isinstance(number, float) and not isfinite(number)):
            return "result holds something that is not a text or a finite number"
    for texts in (record.alarms, record.isolated, record.prev):
        if not all(type(text) is str for text in texts):
            return "alarms, isolated and prev are lists of texts"
    return ""


def body(record: Record) -> dict[str, Any]:
    """The record as plain JSON values, keys sorted, nested keys sorted by the encoder."""
    return {key: getattr(record, key) for key in KEYS}


def canonical(value: Mapping[str, Any]) -> bytes:
    """Sorted keys, no spaces, UTF-8, no NaN: one value has one spelling."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def seal(record: Record, prev: tuple[str, ...], isolated: tuple[str, ...] = ()) -> tuple[Record, bytes]:
    """The record with its place in the chain and its digest, and its line without the newline."""
    value = body(replace(record, prev=tuple(sorted(prev)), isolated=isolated))
    del value["digest"]
    digest = sha256(canonical(value)).hexdigest()
    line = canonical(value | {"digest": digest})
    # Read back what is written: the writer accepts nothing that the reader would refuse.
    return record_of(json.loads(line)), line


def line_matches(line: bytes, digest: str) -> bool:
    """Whether ``digest`` is the SHA-256 of the line without it.

    The member is cut out of the bytes instead of encoding the object again: a line that is not canonical, or
    whose digest stands elsewhere first, cannot match, because that would take a preimage.
    """
    member = b'"digest":"' + digest.encode() + b'",'
    return sha256(line.replace(member, b"", 1)).hexdigest() == digest

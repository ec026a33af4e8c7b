"""One line of the history as a frozen value, and the strict way from bytes to it and back.

The fields stand in alphabetical order because a canonical line has sorted keys: a parsed object whose keys
are exactly these, in this order, becomes a :class:`Record` without a look-up for each field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from math import inf
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

FIRST_SCHEMA: Final = "gate.history/1"
SCHEMA: Final = "gate.history/2"
"""What is written. Records of the first schema lack ``state``; they keep their meaning and stay readable."""
KINDS: Final = frozenset({"init", "intent", "outcome", "void", "promotion", "waiver", "worn", "known"})
STATUSES: Final = frozenset({"", "pass", "fail", "inconclusive"})
WINDOWS: Final = frozenset({"", "fresh", "reused", "overlap"})

Scalar = str | int | float | bool | None


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NO_STATE: Final[dict[str, Any]] = {}
_NO_SIDE: Final[Mapping[str, str]] = MappingProxyType({"digest": "", "id": ""})
_NO_CANDIDATE: Final[Mapping[str, str]] = MappingProxyType({"digest": "", "id": "", "lineage": ""})
_NO_HOLDOUT: Final[Mapping[str, Any]] = MappingProxyType(
    {"digest": "", "first": "", "kind": "", "last": "", "marks": "", "n": 0}
)


class Record(NamedTuple):
    """One event. Every kind has every field; what does not apply is empty.

    A named tuple, not a dataclass: ten thousand of them are made for every run, at a tenth of the cost.

    id: identity of the look (one for all challengers of a run); of the history itself in the ``init`` record.
    look_no, level: place and one-sided level in the ledger. missed: earlier attempts of the same CI run that
    the history does not hold. holdout: the items (``gate.cycles.items``). result: the outcome, flat.
    state: what the rules of the second schema need; open, a reader leaves alone what it does not know.
    note: why (void, worn, waiver, known: what production said, whose state holds good or bad). time: for
    people, never for an order. isolated: SHA-256 of torn lines that this record closes off. prev: digests of
    all heads that the writer saw, sorted.
    """

    alarms: tuple[str, ...] = ()
    baseline: Mapping[str, str] = _NO_SIDE
    candidate: Mapping[str, str] = _NO_CANDIDATE
    ci: Mapping[str, str] = _NOTHING
    claim: str = ""
    cycle: str = ""
    decision_digest: str = ""
    digest: str = ""
    holdout: Mapping[str, Any] = _NO_HOLDOUT
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
    result: Mapping[str, Scalar] = _NOTHING
    schema: str = SCHEMA
    state: Mapping[str, Scalar] = _NOTHING
    status: str = ""
    streak: int = 0
    time: str = ""
    tool: str = ""
    verdict: str = ""

    @property
    def lineage(self) -> str:
        """The line of candidates whose passes add up."""
        return self.candidate["lineage"]

    @property
    def identities(self) -> dict[str, str]:
        """Each side's digest over the columns that decide; in the first schema over all that were read."""
        sides = {"baseline": self.baseline["digest"], "candidate": self.candidate["digest"]}
        return {side: str(self.state.get(side) or digest) for side, digest in sides.items()}

    @property
    def contender(self) -> tuple[str, str]:
        """The look and the candidate: what all words about one outcome share."""
        return (self.id, str(self.state.get("candidate") or self.candidate["digest"]))

    @property
    def is_first(self) -> bool:
        """Whether the record is of the first schema, so that its rules hold for it."""
        return self.schema == FIRST_SCHEMA


KEYS: Final = Record._fields
FIRST_KEYS: Final = tuple(key for key in KEYS if key != "state")
_STATE: Final = KEYS.index("state")
_TUPLES: Final = ("alarms", "isolated", "prev")
_COUNTS: Final = frozenset({"look_no", "missed", "streak"})
_MAPS: Final = frozenset({"baseline", "candidate", "holdout", "ci", "result", "state"})
_MAP_KEYS: Final = (*_NO_SIDE, *_NO_CANDIDATE, *_NO_HOLDOUT)
_TEXT: Final = frozenset({str})
_INFINITE: Final = frozenset({inf, -inf})
_MOST: Final = 2**128  # a whole number beyond it may be none that a float can hold
_LEVEL_TYPES: Final = frozenset({float, int, type(None)})


def _type_of(key: str) -> type:
    if key in _TUPLES:
        return list
    if key in _MAPS:
        return dict
    return int if key in _COUNTS else str


_SIGNATURES: Final = frozenset(
    tuple(level if key == "level" else _type_of(key) for key in KEYS) for level in _LEVEL_TYPES
)
_ALARMS, _ISOLATED, _PREV = (KEYS.index(key) for key in _TUPLES)


class BadRecordError(ValueError):
    """A parsed line that is not a record of this schema; the text says why."""


def record_of(parsed: object) -> Record:
    """A parsed line as a record; :class:`BadRecordError` for anything that is not exactly one.

    Whole tuples of keys and types are compared, because this runs for every line of every history.
    """
    schema = parsed.get("schema") if isinstance(parsed, dict) else type(parsed).__name__
    if not isinstance(parsed, dict) or schema not in (SCHEMA, FIRST_SCHEMA):
        raise BadRecordError(f"not a record of schema {SCHEMA} (found {str(schema)[:60]!a})")
    keys = FIRST_KEYS if schema == FIRST_SCHEMA else KEYS
    if tuple(parsed) != keys:
        odd = sorted(set(keys) ^ set(parsed))
        raise BadRecordError(f"keys are not those of {schema}, sorted (differs in {str(odd[:5])[:200]!a})")
    values = list(parsed.values())
    if schema == FIRST_SCHEMA:
        values.insert(_STATE, _NO_STATE)
    if tuple(map(type, values)) not in _SIGNATURES:
        raise BadRecordError(f"wrong type of {_wrong_type(values)}")
    values[_ALARMS] = tuple(values[_ALARMS])
    values[_ISOLATED] = tuple(values[_ISOLATED])
    values[_PREV] = tuple(values[_PREV])
    record = Record._make(values)
    problem = _problem(record)
    if problem:
        raise BadRecordError(problem)
    return record


def _wrong_type(values: list[Any]) -> str:
    def fits(key: str, value: object) -> bool:
        return type(value) in _LEVEL_TYPES if key == "level" else type(value) is _type_of(key)

    return next(key for key, value in zip(KEYS, values, strict=True) if not fits(key, value))


def _problem(record: Record) -> str:
    """What is wrong in the values, in a word; empty if nothing is."""
    base, candidate, holdout = record.baseline, record.candidate, record.holdout
    if (*base, *candidate, *holdout) != _MAP_KEYS:
        return f"baseline, candidate or holdout has not the keys of {SCHEMA}"
    *texts, count = holdout.values()
    texts += (*base.values(), *candidate.values(), *record.ci.values())
    texts += record.alarms + record.isolated + record.prev
    if type(count) is not int or not _TEXT.issuperset(map(type, texts)):
        return "a text is something else in alarms, baseline, candidate, ci, holdout, isolated or prev"
    if record.kind not in KINDS:
        return f"unknown kind {record.kind[:60]!a}"
    if record.status not in STATUSES or holdout["kind"] not in WINDOWS:
        return "unknown status or window kind"
    if not (0 <= record.look_no < _MOST and 0 <= record.missed < _MOST and 0 <= record.streak < _MOST):
        return "look_no, missed and streak are counts"
    if record.level is not None and not 0 < record.level < 1:
        return "level is not between 0 and 1"
    try:
        values = [*record.result.values(), *record.state.values()]
        whole = [value for value in values if type(value) is int]
        finite = _INFINITE.isdisjoint(values) and all(-_MOST < value < _MOST for value in whole)
    except TypeError:  # a list or an object: nothing else that JSON knows has no hash
        finite = False
    return "" if finite else "result or state holds something that is not a text or a finite number"


def body(record: Record) -> dict[str, Any]:
    """The record as plain JSON values, keys sorted, nested keys sorted by the encoder."""
    return {
        key: dict(value) if isinstance(value, Mapping) else value
        for key, value in zip(KEYS, record, strict=True)
        if not (key == "state" and record.is_first)
    }


def canonical(value: Mapping[str, Any]) -> bytes:
    """Sorted keys, no spaces, UTF-8, no NaN: one value has one spelling. A lone surrogate becomes ``?``."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


def seal(record: Record, prev: tuple[str, ...], isolated: tuple[str, ...] = ()) -> tuple[Record, bytes]:
    """The record with its place in the chain and its digest, and its line without the newline."""
    value = body(record._replace(prev=tuple(sorted(prev)), isolated=isolated))
    del value["digest"]
    digest = sha256(canonical(value)).hexdigest()
    line = canonical(value | {"digest": digest})
    # Read back what is written: the writer accepts nothing that the reader would refuse.
    return record_of(from_json(line, allow_inf_nan=False)), line


def line_matches(line: bytes, digest: str) -> bool:
    """Whether ``digest`` is the SHA-256 of the line without it.

    The member is cut out of the bytes instead of encoding the object again: a line that is not canonical, or
    whose digest stands elsewhere first, cannot match, because that would take a preimage.
    """
    member = b'"digest":"' + digest.encode() + b'",'
    return sha256(line.replace(member, b"", 1)).hexdigest() == digest

"""The JSON Schema of one line of the history."""

from __future__ import annotations

from typing import Any

from gate.cycles.record import FIRST_KEYS, FIRST_SCHEMA, KEYS, KINDS, SCHEMA, STATUSES, WINDOWS

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_COUNT = {"type": "integer", "minimum": 0}
_VALUE = {"type": ["string", "number", "boolean", "null"]}


def history_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a record. The digests and the links between lines are checked by the reader.

    Records of the first schema have no ``state``.
    """
    properties = {key: _SHAPES.get(key, _TEXT) for key in KEYS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:paired-gate:history:2",
        "title": "Paired Gate history record",
        **_exactly(properties),
        "required": list(FIRST_KEYS),
        "if": {"properties": {"schema": {"const": SCHEMA}}},
        "then": {"required": ["state"]},
        "else": {"properties": {"state": False}},
    }


def _exactly(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


_SHAPES: dict[str, Any] = {
    "alarms": _TEXTS,
    "baseline": _exactly(_texts("digest", "id")),
    "candidate": _exactly(_texts("digest", "id", "lineage")),
    "ci": {"type": "object", "additionalProperties": _TEXT},
    "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "holdout": _exactly(
        {
            **_texts("digest", "first"),
            "kind": {"enum": sorted(WINDOWS)},
            **_texts("last", "marks"),
            "n": _COUNT,
        }
    ),
    "isolated": _TEXTS,
    "kind": {"enum": sorted(KINDS)},
    "level": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "look_no": _COUNT,
    "missed": _COUNT,
    "prev": _TEXTS,
    "result": {"type": "object", "additionalProperties": _VALUE},
    "schema": {"enum": [FIRST_SCHEMA, SCHEMA]},
    "state": {"type": "object", "additionalProperties": _VALUE},
    "status": {"enum": sorted(STATUSES)},
    "streak": _COUNT,
}

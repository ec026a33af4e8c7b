"""The words our JSON Schemas are written in: the keywords that ``gate.report.conforms`` understands."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

VERDICTS = ("promote", "block", "inconclusive", "hold")
STATUSES = ("pass", "fail", "inconclusive", "waived", "not_decided", "not_gated", "reported", "error")
LARGEST_COUNT = 2**53

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": LARGEST_COUNT}
FLAG: Schema = {"type": "boolean"}


def one_of(*words: str) -> Schema:
    """One of these texts."""
    return {"type": "string", "enum": list(words)}


def maybe(schema: Schema) -> Schema:
    """The value or null: it could not be computed, or there is none."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": schema}


def by_name(schema: Schema) -> Schema:
    """An object whose keys are names."""
    return {"type": "object", "additionalProperties": schema}


def block(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with these keys; others may be added within a version of the schema."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def said(schema: Schema, description: str) -> Schema:
    """The schema with a sentence for a person."""
    return {**schema, "description": description}


def ref(name: str) -> Schema:
    """A definition of the same document."""
    return {"$ref": f"#/$defs/{name}"}

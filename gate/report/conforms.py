"""Whether a document is what its schema says, for the keywords that our own schemas use.

A full validator is a test dependency; the gate only has to tell a report of its own from something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def first_fault(document: Any, schema: Schema) -> str | None:
    """The first place where the document is not what the schema says, in words; None if it is."""
    return next(_faults(document, schema, schema.get("$defs", {}), ""), None)


def _faults(value: Any, schema: Schema, definitions: dict[str, Schema], at: str) -> Iterator[str]:
    name = schema.get("$ref")
    if name is not None:
        schema = definitions[name.removeprefix("#/$defs/")]
    if "anyOf" in schema:
        yield from _any(value, schema["anyOf"], definitions, at)
    wanted = schema.get("type")
    if wanted is not None and not _is(value, wanted):
        yield f"{at or 'the document'} is not {_article(wanted)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        yield from _object(value, schema, definitions, at)
    elif isinstance(value, list):
        yield from _list(value, schema, definitions, at)
    elif wanted in {"integer", "number"} and not _within(value, schema):
        yield f"{at} is out of range"


def _any(value: Any, options: list[Schema], definitions: dict[str, Schema], at: str) -> Iterator[str]:
    found = [next(_faults(value, option, definitions, at), None) for option in options]
    if None not in found:
        # The fault that lies deepest belongs to the option that was meant.
        yield max((text for text in found if text), key=lambda text: text.split(" ")[0].count("."))


def _object(value: Schema, schema: Schema, definitions: dict[str, Schema], at: str) -> Iterator[str]:
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{_step(at, key)} is missing"
    if len(value) > schema.get("maxProperties", len(value)):
        yield f"{at} has too many keys"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for key, found in value.items():
        known = properties.get(key, others)
        if known:
            yield from _faults(found, known, definitions, _step(at, key))


def _list(value: list[Any], schema: Schema, definitions: dict[str, Schema], at: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{at} is too short"
    items = schema.get("items")
    if items:
        for k, found in enumerate(value):
            yield from _faults(found, items, definitions, f"{at}[{k}]")


def _step(at: str, key: str) -> str:
    return f"{at}.{key[:80]}" if at else key[:80]


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES[wanted]) or (
        wanted == "integer" and isinstance(value, float) and value.is_integer()
    )


def _within(value: float, schema: Schema) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))


def _article(wanted: str) -> str:
    return f"an {wanted}" if wanted[0] in "aio" else f"a {wanted}"

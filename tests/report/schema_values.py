"""Any document that a schema of ours allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.report.poison import EVERY

TEXTS = st.one_of(st.sampled_from(EVERY), st.text(max_size=12))
SIZES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 1e15, -1e308, 1.7e308, 5e-324, 12345.678])


def values_of(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema allows, with the extremes that break careless code."""
    if "$ref" in schema:
        return values_of(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in schema:
        return st.one_of([values_of(option, definitions) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return _MAKERS[schema["type"]](schema, definitions)


def _object(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    properties = {key: values_of(value, definitions) for key, value in schema.get("properties", {}).items()}
    if properties:
        required = {key: properties[key] for key in schema.get("required", ())}
        return st.fixed_dictionaries(
            required, optional={k: v for k, v in properties.items() if k not in required}
        )
    others = schema.get("additionalProperties")
    return st.dictionaries(TEXTS, values_of(others, definitions), max_size=3) if others else st.just({})


def _array(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.lists(values_of(schema["items"], definitions), min_size=schema.get("minItems", 0), max_size=3)


def _number(schema: dict[str, Any], _: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "minimum" in schema:
        return st.floats(schema["minimum"], schema["maximum"])
    return st.one_of(SIZES, st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**63))


_MAKERS = {
    "object": _object,
    "array": _array,
    "number": _number,
    "string": lambda *_: TEXTS,
    "boolean": lambda *_: st.booleans(),
    "null": lambda *_: st.none(),
    "integer": lambda schema, _: st.integers(schema["minimum"], schema["maximum"]),
}

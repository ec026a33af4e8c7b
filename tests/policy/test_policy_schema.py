"""The JSON Schema says what the loader says, as far as a schema can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from one_key import KEYS, START
from policies import BASE, FULL, changed

from gate.policy.model import Policy
from gate.policy.schema import policy_schema

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("**/gate*.yaml"))


def check(value: Any) -> None:
    jsonschema.Draft202012Validator(policy_schema()).validate(value)


def nodes(schema: Any) -> list[dict[str, Any]]:
    children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) else []
    return own + [node for child in children for node in nodes(child)]


def test_it_is_a_2020_12_schema() -> None:
    schema = policy_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    json.dumps(schema, allow_nan=False)


def test_every_section_is_closed_and_every_key_is_described() -> None:
    sections = [node for node in nodes(policy_schema()) if isinstance(node.get("properties"), dict)]
    assert len(sections) == 16
    for section in sections:
        if "additionalProperties" in section:
            assert section["additionalProperties"] is False
            assert all("description" in key or "$ref" in key for key in section["properties"].values())


@pytest.mark.parametrize("text", [BASE, FULL], ids=["base", "full"])
def test_policies_validate(text: str) -> None:
    value = yaml.safe_load(text)
    for waiver in value.get("waivers", []):
        waiver["expires"] = str(waiver["expires"])
    check(value)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_validate(path: Path) -> None:
    check(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.name}={key.value}"[:60])
def test_what_the_model_accepts_the_schema_accepts(key: Any) -> None:
    if key.name == "Guardrail.mode":
        return
    for one in key.policies():
        check(json.loads(one.model_dump_json(exclude_none=True, by_alias=True)))
    assert Policy.model_validate(START)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("alhpa",), 0.1),
        (("alpha",), True),
        (("alpha",), 0),
        (("version",), 2),
        (("gating", "kind"), "ece"),
        (("gating", "scale"), [0, 1, 2]),
        (("gating", "margin"), -1),
        (("gating", "margin"), {"relative": 0.1, "x": 1}),
        (("slices",), None),
        (("watch",), [1]),
        (("items", "must_pass"), []),
        (("cycles", "looks"), 0),
    ],
)
def test_what_the_loader_refuses_the_schema_refuses(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check(changed(START, path, value))

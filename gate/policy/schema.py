"""The policy's JSON Schema, for editors and for checks before a run."""

from __future__ import annotations

from typing import Any

from gate.policy.base import Model
from gate.policy.model import Policy


def policy_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a policy file. What must hold between keys is checked by ``gate check`` only."""
    for section in Model.__subclasses__():
        section.model_rebuild()  # until 2.13 pydantic cannot write out the default of a section not yet built
    schema: dict[str, Any] = as_written(Policy.model_json_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:paired-gate:policy:1",
        **schema,
        "title": "Paired Gate policy",
    }


def as_written(value: Any) -> Any:
    """The schema of the file: a key is left out, never null."""
    if isinstance(value, list):
        return [as_written(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: as_written(item) for key, item in value.items() if item is not None}
    options = kept.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        left = [option for option in options if option != {"type": "null"}]
        kept.pop("anyOf")
        return {**left[0], **kept} if len(left) == 1 else {"anyOf": left, **kept}
    return kept

"""The few types that keys of a policy have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from gate.policy.names import visible

Text = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(visible)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


def shape(value: Any) -> str:
    """Which form of a key with several forms was written, so that one mistake is one error."""
    if isinstance(value, dict | BaseModel):
        return "mapping"
    return "list" if isinstance(value, list) else "plain"

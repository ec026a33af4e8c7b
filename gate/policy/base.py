"""What every section of the policy is: strict, closed, frozen."""

# No `from __future__ import annotations` here: pydantic would compile every annotation a second time.

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from gate.policy.findings import Finding


class Model(BaseModel):
    """Strict, closed, frozen, finite: what is not written here is an error."""

    # defer_build: the sections are built once, inside the policy's validator, and not on import.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    def _findings(self) -> Iterable[Finding]:
        """What is wrong between the keys of this model."""
        return ()

    @model_validator(mode="after")
    def _between_keys(self) -> Self:
        findings = tuple(self._findings())
        if findings:
            text = "; ".join(finding.message for finding in findings)
            raise PydanticCustomError("between_keys", "{text}", {"text": text, "findings": findings})
        return self

"""What identifies the deciding part of a policy, however it is written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from gate.policy.model import Policy

NOT_DECIDING = frozenset({"name", "watch", "waivers", "bless", "report"})
"""Top-level keys that may change without starting a streak anew."""


def deciding_part(policy: Policy) -> dict[str, Any]:
    """The policy without what does not decide and without keys equal to their default, as JSON values."""
    values = policy.model_dump(exclude=set(NOT_DECIDING), exclude_defaults=True, by_alias=True)
    part: dict[str, Any] = _canonical(values)
    return part


def decision_digest(policy: Policy) -> str:
    """SHA-256 over the canonical JSON of :func:`deciding_part`: sorted keys, no spaces, 1.0 as 1."""
    text = json.dumps(deciding_part(policy), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value

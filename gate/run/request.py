"""What a run is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gate.history.store import Store
from gate.policy.load import LoadedPolicy
from gate.run.intake import Files


@dataclass(frozen=True, slots=True)
class Request:
    """One ``gate run``. now: ISO time, for the records only. ci: what the CI system says of itself.

    store: a history in the place of the named one.

    policy_since: when the policy's deciding part was committed, ISO, empty if unknown; asked only where
    results say when they ran.

    decides: False where nobody agreed beforehand that this policy judges; the report says so.
    """

    loaded: LoadedPolicy
    baseline: str
    candidates: tuple[str, ...]
    sets: Mapping[str, Files] = field(default_factory=dict)
    history: str | None = None
    store: Store | None = None
    expect_head: str | None = None
    read_only: bool = False
    reveal: bool = False
    decides: bool = True
    policy_since: Callable[[], str] = str
    cycle: str | None = None
    baseline_id: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    now: str = ""
    tool_version: str = ""

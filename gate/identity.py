"""Who is compared with whom on what: the digests by which a history knows an evaluation again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gate.artifacts.table import ItemTable
from gate.cycles.attempt import Attempt
from gate.cycles.items import item_set
from gate.intake import ItemSet

if TYPE_CHECKING:
    from gate.pipeline import Request

Sets = Mapping[str | None, ItemSet]


def artifact_digest(sets: Sets, side: str) -> str:
    """One digest for all files of a side: the main artifact's own where there are no named sets."""
    tables: dict[str, ItemTable] = {name or "": getattr(item_set, side) for name, item_set in sets.items()}
    if len(tables) == 1:
        return tables[""].identity
    digest = hashlib.sha256()
    for name in sorted(tables):
        digest.update(f"{len(name)}:{name}{tables[name].identity}".encode())
    return digest.hexdigest()


def attempt_of(request: Request, sets: Sets | None) -> Attempt:
    """The attempt of one candidate; as much of it as is known while the artifacts are not read."""
    loaded, policy = request.loaded, request.loaded.policy
    known: dict[str, Any] = {
        "metric": f"{policy.gating.metric}:{policy.gating.direction}",
        "decision_digest": loaded.decision_digest,
        "policy": policy.name,
        "policy_digest": loaded.policy_digest,
        "ci": {key: recordable(value) for key, value in request.ci.items()},
    }
    if sets is None:
        return Attempt(
            cycle=recordable(request.cycle or ""),
            items=item_set((), ""),
            baseline_digest="",
            candidate_digest="",
            **known,
        )
    gating = sets[policy.gating.set]
    candidate = artifact_digest(sets, "candidate")
    return Attempt(
        cycle=recordable(request.cycle or candidate[:12]),
        items=item_set(gating.table.ids, gating.table.counts.items_digest),
        baseline_digest=artifact_digest(sets, "baseline"),
        candidate_digest=candidate,
        baseline_id=recordable(request.baseline_id or _system(gating.baseline)),
        candidate_id=recordable(gating.candidate.source.system or ""),
        identical=gating.table.identical,
        artifacts_time=_earliest(gating),
        **known,
    )


def _system(table: ItemTable) -> str:
    """What the artifact calls its system."""
    return str(table.source.system or table.source.facts.get("model") or "")


def recordable(text: str) -> str:
    """The text with bytes that are no UTF-8 (lone surrogates) spelled out, as a record can keep it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _earliest(gating: ItemSet) -> str:
    times = [table.source.facts.get("time") for table in (gating.baseline, gating.candidate)]
    return min((str(time) for time in times if time), default="")

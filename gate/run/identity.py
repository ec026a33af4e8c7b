"""Who is compared with whom on what: the digests by which a history knows an evaluation again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gate.cycles.attempt import Attempt, StagePlace
from gate.cycles.items import item_set
from gate.pairing.model import NO_FILE, Staged
from gate.run.intake import ItemSet, system_of

if TYPE_CHECKING:
    from gate.policy.model import Policy
    from gate.run.request import Request

Sets = Mapping[str | None, ItemSet]


def artifact_digest(policy: Policy, sets: Sets, side: str) -> str:
    """One digest for all of a side's results that decide: the main artifact's own without named sets."""
    deciding = {None, policy.gating.set, *(rail.set for rail in policy.guardrails)}
    return _joined({name or "": getattr(sets[name], side).identity for name in sets if name in deciding})


def read_digest(sets: Sets, side: str) -> str:
    """The same over everything that was read, as histories of the first schema know a side."""
    return _joined({name or "": getattr(item_set, side).read_digest for name, item_set in sets.items()})


def _joined(tables: Mapping[str, str]) -> str:
    if len(tables) == 1:
        return tables[""]
    digest = hashlib.sha256()
    for name in sorted(tables):
        digest.update(f"{len(name)}:{name}{tables[name]}".encode())
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
    candidate = artifact_digest(policy, sets, "candidate")
    items, stage = item_set(gating.table.ids, gating.table.counts.items_digest), None
    if gating.staged is not None:
        stage = stage_place(known, gating.staged)
        items = item_set(gating.staged.universe, gating.staged.universe_digest)
    return Attempt(
        cycle=recordable(request.cycle or (stage.evaluation if stage else candidate)[:12]),
        items=items,
        stage=stage,
        baseline_digest=read_digest(sets, "baseline"),
        candidate_digest=read_digest(sets, "candidate"),
        baseline_identity=artifact_digest(policy, sets, "baseline"),
        candidate_identity=candidate,
        baseline_id=recordable(request.baseline_id or system_of(gating.baseline)),
        candidate_id=recordable(gating.candidate.source.system or ""),
        identical=gating.table.identical,
        artifacts_time=earliest_time(sets),
        dated=all(_times(sets)),
        policy_time=request.policy_since() if earliest_time(sets) else "",
        **known,
    )


def stage_place(known: Mapping[str, Any], staged: Staged) -> StagePlace:
    """The stage, and the name of its evaluation: the same for every stage of one candidate's results."""
    parts = [known["metric"], known["decision_digest"], staged.universe_digest]
    parts += [staged.baselines[0], staged.prefixes[0]]
    evaluation = hashlib.sha256("\n".join(["stages", *parts]).encode("utf-8", "surrogatepass")).hexdigest()
    look = staged.look
    return StagePlace(evaluation, look.stage, len(look.sizes), staged.prefixes, staged.baselines)


def recordable(text: str) -> str:
    """The text with bytes that are no UTF-8 (lone surrogates) spelled out, as a record can keep it."""
    return text.encode("utf-8", "backslashreplace").decode()


def earliest_time(sets: Sets) -> str:
    """The earliest time at which one of the files says that it ran; empty if none does. All are in UTC."""
    return min(filter(None, _times(sets)), default="")


def _times(sets: Sets) -> list[str]:
    sides = [side for item_set in sets.values() for side in (item_set.baseline, item_set.candidate)]
    return [str(s.source.facts.get("time", "")) for s in sides if s.source.path != NO_FILE]

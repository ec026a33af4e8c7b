"""What is asked of a history: this evaluation (:class:`Attempt`) under these rules (:class:`Rules`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from gate.cycles.items import ItemSet

if TYPE_CHECKING:
    from gate.policy.model import Policy


@dataclass(frozen=True, slots=True)
class Rules:
    """The part of a policy that concerns cycles. alpha is two-sided, over seeds one-sided."""

    required: int = 1
    windows: str = "reused"
    looks: int | None = None
    test: str | None = None
    feedback: str = "full"
    allow_worn: bool = False
    may_shrink: bool = False
    history_required: bool = False
    on_baseline_fall: str = "flag"
    on_alarm: str = "flag"
    challengers: int | None = None
    policy_first: bool = False
    staged: bool = False
    alpha: float = 0.05
    by_seed: bool = False

    @property
    def level(self) -> float:
        """One-sided level of a single look."""
        return self.alpha if self.by_seed else self.alpha / 2

    @property
    def needs_history(self) -> bool:
        """Whether a verdict rests on more than this evaluation."""
        fresh = self.windows == "fresh"  # only a history knows which items were seen
        past = "hold" in {self.on_baseline_fall, self.on_alarm}  # and how earlier cycles did
        more = fresh or self.history_required or past or self.staged
        return self.required > 1 or self.looks is not None or more


def rules_of(policy: Policy) -> Rules:
    """The rules that a policy file declares."""
    cycles = policy.cycles
    return Rules(
        required=cycles.required,
        windows=cycles.windows,
        looks=cycles.looks,
        test=cycles.test,
        feedback=cycles.feedback,
        allow_worn=cycles.allow_worn,
        may_shrink=policy.items.may_shrink,
        history_required=cycles.history_required,
        on_baseline_fall=cycles.on_baseline_fall,
        on_alarm=cycles.on_alarm,
        challengers=policy.challengers,
        policy_first=cycles.policy_first,
        staged=policy.items.stages is not None,
        alpha=policy.alpha,
        by_seed=policy.items.unit == "seed",
    )


@dataclass(frozen=True, slots=True)
class StagePlace:
    """Where a staged evaluation stands. evaluation: one name for all of its stages, from the policy, the
    universe, the baseline and the candidate's first items. number: 1 is the first, of `of`.

    prefixes, baselines: the sides' identities on the items of each stage up to this one.
    """

    evaluation: str
    number: int
    of: int
    prefixes: tuple[str, ...]
    baselines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What identifies one evaluation of one candidate.

    metric: ``name:direction`` of the gating rule. policy: its name. baseline_id: the baseline's system by the
    artifact's own name or as it was given; another one is another comparison, empty says nothing.
    candidate_id: what the artifact calls its system, empty if nothing that changes with each retrain.
    lineage: whose passes add up; empty means the decision digest (several challengers get one each).
    identical: same bytes and same system on both sides. ci: run_id, run_attempt, sha, ref, actor.
    artifacts_time: earliest run time that the artifacts state, ISO; dated: whether all of them state one.
    policy_time: when the policy's deciding part was committed, ISO, if known.
    stage: where only a part of the items is looked at; then ``items`` are all of them.
    """

    cycle: str
    metric: str
    decision_digest: str
    items: ItemSet
    baseline_digest: str
    candidate_digest: str
    policy: str = ""
    policy_digest: str = ""
    baseline_id: str = ""
    candidate_id: str = ""
    lineage: str = ""
    identical: bool = False
    ci: Mapping[str, str] = field(default_factory=dict)
    artifacts_time: str = ""
    dated: bool = False
    policy_time: str = ""
    baseline_identity: str = ""
    candidate_identity: str = ""
    stage: StagePlace | None = None

    @property
    def identities(self) -> dict[str, str]:
        """Each side's digest over the columns that decide."""
        return {
            "baseline": self.baseline_identity or self.baseline_digest,
            "candidate": self.candidate_identity or self.candidate_digest,
        }

    def is_side(self, side: str, digest: str) -> bool:
        """Whether a record's digest is this side's, by either schema's rule."""
        read = self.baseline_digest if side == "baseline" else self.candidate_digest
        return digest in (self.identities[side], read)


def look_id(attempts: Sequence[Attempt]) -> str:
    """One name for one look: the same artifacts under the same deciding policy, whoever runs it when."""
    if attempts[0].stage is not None:
        return attempts[0].stage.evaluation
    known = [attempt.identities for attempt in attempts]
    return _look_id(attempts[0], known[0]["baseline"], [sides["candidate"] for sides in known])


def first_look_id(attempts: Sequence[Attempt]) -> str:
    """The name of the same look in a history of the first schema."""
    return _look_id(attempts[0], attempts[0].baseline_digest, [each.candidate_digest for each in attempts])


def _look_id(first: Attempt, baseline: str, candidates: Sequence[str]) -> str:
    parts = [first.metric, first.decision_digest, first.items.digest, baseline, *sorted(candidates)]
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def with_lineages(attempts: Sequence[Attempt], challengers: int | None = None) -> tuple[Attempt, ...]:
    """Each attempt with its lineage: the decision digest, for several challengers with their names.

    challengers: how many the policy declares. Then a lineage is one system (without a name: one set of
    results), however many come tonight.
    """
    if challengers is not None:
        names = [attempt.candidate_id or attempt.identities["candidate"] for attempt in attempts]
        return tuple(
            replace(attempt, lineage=f"{attempt.decision_digest}/{name}")
            for attempt, name in zip(attempts, names, strict=True)
        )
    if len(attempts) == 1:
        only = attempts[0]
        return (replace(only, lineage=only.lineage or only.decision_digest),)
    named: list[Attempt] = []
    for number, attempt in enumerate(attempts, start=1):
        lineage = attempt.lineage or f"{attempt.decision_digest}/{attempt.candidate_id or number}"
        if any(lineage == other.lineage for other in named):
            lineage = f"{lineage}/{number}"
        named.append(replace(attempt, lineage=lineage))
    return tuple(named)

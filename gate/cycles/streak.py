"""The streak: how many cycles in a row passed, as a walk over the records in hash order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gate.cycles.attempt import Attempt
from gate.cycles.chain import History
from gate.cycles.record import Record
from gate.cycles.spent import spent_looks


@dataclass(slots=True)
class Streak:
    """The state of one lineage. passes: the outcomes that count, oldest first.

    cycles, candidates: names already used: a second scoring of one is a look, not a cycle.
    baselines: items digest -> baseline digest that it was compared with last.
    """

    passes: list[Record] = field(default_factory=list)
    cycles: set[str] = field(default_factory=set)
    candidates: set[str] = field(default_factory=set)
    baselines: dict[str, str] = field(default_factory=dict)

    def is_rescore(self, cycle: str, candidate_id: str, window: str) -> bool:
        """Whether this cycle, or this candidate on these items, was scored before."""
        return cycle in self.cycles or (window != "fresh" and candidate_id in self.candidates)

    def add(self, outcome: Record) -> None:
        """Take an outcome in: +1, unchanged or back to 0."""
        items, baseline = outcome.holdout["digest"], outcome.baseline["digest"]
        if self.baselines.setdefault(items, baseline) != baseline:
            self.reset()  # another comparison on the same items
            self.baselines[items] = baseline
        candidate = outcome.candidate["id"]
        if outcome.status != "pass":
            self.reset()
        elif not self.is_rescore(outcome.cycle, candidate, outcome.holdout["kind"]):
            self.passes.append(outcome)
        self.cycles.add(outcome.cycle)
        if candidate:
            self.candidates.add(candidate)

    def reset(self) -> None:
        """Back to 0. The names stay used."""
        self.passes = []


def series_of(history: History, attempt: Attempt) -> list[Record]:
    """The records about the same thing as the attempt: one metric, and the same policy, renamed or edited."""
    metric, policy, decision = attempt.metric, attempt.policy, attempt.decision_digest
    return [
        record
        for record in history.records
        if record.metric == metric and (record.policy == policy or record.decision_digest == decision)
    ]


def amended(series: Sequence[Record]) -> list[Record]:
    """Outcomes that a waiver amended later, given or run out: the last word on a look stands in its place."""
    last = {(record.id, record.candidate["digest"]): record for record in series if record.kind == "outcome"}
    found: list[Record] = []
    for record in series:
        key = (record.id, record.candidate["digest"])
        if record.kind != "outcome":
            found.append(record)
        elif key in last:
            found.append(last.pop(key))
    return found


def streak_of(series: Sequence[Record], attempt: Attempt, look: str) -> Streak:
    """The streak of the attempt's lineage before the look ``look``, whose own intent does not count.

    It goes back to 0 at: a fail or an inconclusive; a changed baseline on the same items; another decision
    digest in the same series; a look that was begun and never finished; a promotion. Void leaves it. A look
    that was begun and finished later counts where it was finished.
    """
    unfinished = spent_looks(series, attempt.metric).unfinished - {look}
    decision, lineage = attempt.decision_digest, attempt.lineage
    streak = Streak()
    for record in amended(series):
        kind = record.kind
        broken = kind == "intent" and record.id in unfinished
        if record.decision_digest != decision:
            if broken or kind == "outcome":
                streak.reset()
        elif record.candidate["lineage"] == lineage:
            if kind == "outcome":
                streak.add(record)
            if broken or record.verdict == "promote":
                streak.reset()
    return streak

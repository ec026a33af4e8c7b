"""The streak: how many cycles in a row passed, as a walk over the records in hash order."""

from __future__ import annotations

from dataclasses import dataclass, field

from gate.cycles.attempt import Attempt
from gate.cycles.chain import History
from gate.cycles.record import Record
from gate.cycles.spent import unfinished_looks


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


def streak_of(history: History, attempt: Attempt, look: str) -> Streak:
    """The streak of the attempt's lineage, before the look ``look`` (whose own open intent does not count).

    It goes back to 0 at: a fail or an inconclusive; a changed baseline on the same items; another decision
    digest in the same series (policy name and metric); a look that was begun and never finished; a
    promotion. Void leaves it. A look that was begun and finished later counts where it was finished.
    """
    series = [record for record in history.records if in_series(record, attempt) and record.id != look]
    unfinished = unfinished_looks(series)
    streak = Streak()
    for record in series:
        event = record.kind == "outcome" or (record.kind == "intent" and record.id in unfinished)
        if event and record.decision_digest != attempt.decision_digest:
            streak.reset()
        elif record.lineage == attempt.lineage:
            _walk(streak, record, unfinished)
    for record in history.records:  # an earlier scoring of the very same artifacts, if it is no replay
        if record.id == look and record.kind == "outcome" and record.lineage == attempt.lineage:
            streak.cycles.add(record.cycle)
    return streak


def in_series(record: Record, attempt: Attempt) -> bool:
    """Whether the record and the attempt are about the same thing: a policy may be renamed, or edited."""
    same_policy = record.policy == attempt.policy or record.decision_digest == attempt.decision_digest
    return record.metric == attempt.metric and same_policy


def _walk(streak: Streak, record: Record, unfinished: set[str]) -> None:
    if record.kind == "outcome":
        streak.add(record)
    broken = record.kind == "intent" and record.id in unfinished
    if broken or record.kind == "promotion" or record.verdict == "promote":
        streak.reset()

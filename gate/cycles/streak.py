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

    def add(self, outcome: Record) -> None:
        """Take an outcome in: +1, unchanged or back to 0."""
        holdout, candidate, baseline = outcome.holdout, outcome.candidate["id"], outcome.baseline["digest"]
        if self.baselines.setdefault(holdout["digest"], baseline) != baseline:
            self.reset()  # another comparison on the same items
            self.baselines[holdout["digest"]] = baseline
        if outcome.status != "pass":
            self.reset()
        elif outcome.cycle not in self.cycles and (
            holdout["kind"] == "fresh" or candidate not in self.candidates
        ):
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


def is_rescore(series: Sequence[Record], attempt: Attempt, window: str) -> bool:
    """Whether the lineage has scored this cycle before, or this candidate on items that are not new."""
    cycle, candidate = attempt.cycle, "" if window == "fresh" else attempt.candidate_id
    return any(
        record.kind == "outcome" and record.candidate["lineage"] == attempt.lineage
        for record in series
        if record.cycle == cycle or (candidate and record.candidate["id"] == candidate)
    )


def streak_of(series: Sequence[Record], attempt: Attempt, look: str) -> Streak:
    """The streak of the attempt's lineage before the look ``look``, whose own intent does not count.

    It goes back to 0 at: a fail or an inconclusive; a changed baseline on the same items; another decision
    digest in the same series; a look that was begun and never finished; a promotion. Void leaves it. A look
    that was begun and finished later counts where it was finished.
    """
    events = _events(series, attempt.metric, look)
    start = next((at for at in range(len(events), 0, -1) if _resets(events[at - 1], attempt)), 0)
    before = [record for record in events[:start] if _is_own_outcome(record, attempt)]
    streak = Streak(
        cycles={record.cycle for record in before},
        candidates={record.candidate["id"] for record in before} - {""},
        baselines={record.holdout["digest"]: record.baseline["digest"] for record in before},
    )
    for record in events[start:]:
        if _is_own_outcome(record, attempt):
            streak.add(record)
    return streak


def _is_own_outcome(record: Record, attempt: Attempt) -> bool:
    own = record.kind == "outcome" and record.decision_digest == attempt.decision_digest
    return own and record.candidate["lineage"] == attempt.lineage


def _resets(event: Record, attempt: Attempt) -> bool:
    """Whether nothing before the event can count any more."""
    if event.decision_digest != attempt.decision_digest:
        return True
    over = event.kind == "intent" or event.status != "pass" or event.verdict == "promote"
    return over and event.candidate["lineage"] == attempt.lineage


def _events(series: Sequence[Record], metric: str, look: str) -> list[Record]:
    """What moves a streak: the last word of each outcome in its first place, and looks that never ended."""
    outcomes = [record for record in series if record.kind == "outcome"]
    finished = {record.id for record in outcomes}
    unfinished = {record.id for record in series if record.kind == "intent"} - finished - {look}
    if not unfinished and len(finished) == len(outcomes):
        return outcomes
    last = {(record.id, record.candidate["digest"]): record for record in outcomes}
    unfinished &= spent_looks(series, metric).unfinished
    events: list[Record] = []
    for record in series:
        key = (record.id, record.candidate["digest"])
        if record.kind == "outcome" and key in last:
            events.append(last.pop(key))  # a waiver, given or run out, may have amended it since
        elif record.kind == "intent" and record.id in unfinished:
            events.append(record)
    return events

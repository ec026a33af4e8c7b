"""The streak: how many cycles in a row passed, as a walk over the records in hash order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gate.cycles.attempt import Attempt
from gate.cycles.chain import History, Order
from gate.cycles.counted_looks import counted_looks, item_sets
from gate.cycles.items import ItemSet, overlapping
from gate.cycles.record import Record
from gate.safe import quoted


@dataclass(slots=True)
class Streak:
    """The state of one lineage. passes: the outcomes that count, oldest first.

    cycles, candidates: names already used: a second scoring of one is a look, not a cycle.
    baselines: items digest -> baseline digest that it was compared with last (records of the first schema).
    system: the last name that a baseline gave itself. restarted: why the count began anew, last.
    """

    passes: list[Record] = field(default_factory=list)
    cycles: set[str] = field(default_factory=set)
    candidates: set[str] = field(default_factory=set)
    baselines: dict[str, str] = field(default_factory=dict)
    system: str = ""
    restarted: str = ""

    def add(self, outcome: Record) -> None:
        """Take an outcome in: +1, unchanged or back to 0."""
        holdout, names = outcome.holdout, candidate_names(outcome)
        self._compare_baselines(outcome)
        if outcome.state.get("held"):
            return  # neither a pass nor a failure, and the cycle may be scored again
        if continues(outcome):
            return
        if outcome.status != "pass":
            self.reset(_ending(outcome))
        elif outcome.cycle not in self.cycles and (
            holdout["kind"] == "fresh" or names.isdisjoint(self.candidates)
        ):
            self.passes.append(outcome)
        self.cycles.add(outcome.cycle)
        self.candidates |= names

    def reset(self, why: str) -> None:
        """Back to 0. The names stay used."""
        self.passes = []
        self.restarted = why

    def _compare_baselines(self, outcome: Record) -> None:
        """Another baseline system is another comparison; records of the first schema went by its results."""
        name, digest, items = outcome.baseline["id"], outcome.baseline["digest"], outcome.holdout["digest"]
        other = self.baselines.get(items, digest) != digest if outcome.is_first else name != self.system
        if self.passes and other and (outcome.is_first or (name and self.system)):
            words = "other results of the baseline" if outcome.is_first else "another baseline system"
            was = "" if outcome.is_first else f" ({quoted(name)}, it was {quoted(self.system)})"
            self.reset(f"{words} in cycle {quoted(outcome.cycle)}{was}")
        self.baselines[items] = digest
        self.system = name or self.system


def continues(outcome: Record) -> bool:
    """Whether it is a stage at which more items were asked for: neither a pass nor a failure."""
    return bool(outcome.state.get("continues"))


def series_of(history: History, attempt: Attempt) -> list[Record]:
    """The records about the same thing as the attempt: one metric, and the same policy, renamed or edited."""
    metric, policy, decision = attempt.metric, attempt.policy, attempt.decision_digest
    return [
        record
        for record in history.records
        if record.metric == metric and (record.policy == policy or record.decision_digest == decision)
    ]


def candidate_names(record: Record) -> set[str]:
    """By what a candidate is known again: its system, and its very results, whatever they are compared with.

    Records of the first schema go by the system alone; there another baseline began a streak anew.
    """
    results = "" if record.is_first else record.contender[1]
    return {record.candidate["id"], results} - {""}


def is_rescore(series: Sequence[Record], attempt: Attempt, window: str) -> bool:
    """Whether the lineage has scored this cycle before, or this candidate on items that are not new."""
    cycle = attempt.cycle
    names = {attempt.candidate_id, attempt.identities["candidate"]} - {""} if window != "fresh" else set()
    return any(
        record.kind == "outcome"
        and record.candidate["lineage"] == attempt.lineage
        and not record.state.get("held")
        and not continues(record)
        for record in series
        if record.cycle == cycle or not names.isdisjoint(candidate_names(record))
    )


def streak_of(series: Sequence[Record], attempt: Attempt, look: str, order: Order) -> Streak:
    """The streak of the attempt's lineage before the look ``look``, whose own intent does not count.

    It goes back to 0 at: a fail or an inconclusive; another baseline system; another decision
    digest in the same series; a look that was begun and never finished; a promotion. Void leaves it. A look
    that was begun and finished later counts where it was finished.

    Branches that were merged have no order among them. A pass counts only if it was written with every such
    event in sight, and of passes on two branches that are about the same (``_rivals``) the smallest counts.
    """
    events = _events(series, attempt.metric, look, order)
    resets = order.latest([at for event, at in events if _resets(event, attempt)])
    own = [(event, at) for event, at in events if _is_own_outcome(event, attempt)]
    after = [event for event, at in own if all(order.precedes(reset, at) for reset in resets)]
    counting = {event.digest for event in after}
    before = [event for event, _ in own if event.digest not in counting]
    streak = Streak(
        cycles={record.cycle for record in before if not record.state.get("held")},
        candidates={name for r in before if not r.state.get("held") for name in candidate_names(r)},
        baselines={record.holdout["digest"]: record.baseline["digest"] for record in before},
        system=next((record.baseline["id"] for record in reversed(before) if record.baseline["id"]), ""),
        restarted=_why(events, resets, attempt),
    )
    rivals = _rivals(after, item_sets(series)) if order.branched else frozenset()
    for record in after:
        if record.digest not in rivals:
            streak.add(record)
    return streak


def _rivals(after: Sequence[Record], sets: Mapping[str, ItemSet]) -> frozenset[str]:
    """Digests of passes that stand for what another pass stands for: its cycle, its candidate, its items.

    Two branches can each take a window for fresh. Of the same thing the least gain is kept.
    """
    kept: list[Record] = []
    dropped: set[str] = set()
    for record in sorted((r for r in after if r.status == "pass"), key=lambda r: (_gain(r), r.digest)):
        if any(_about_the_same(record, other, sets) for other in kept):
            dropped.add(record.digest)
        else:
            kept.append(record)
    return frozenset(dropped)


def _gain(record: Record) -> float:
    delta = record.result.get("delta")
    return float(delta) if isinstance(delta, int | float) else -math.inf


def _about_the_same(one: Record, other: Record, sets: Mapping[str, ItemSet]) -> bool:
    if one.cycle == other.cycle:
        return True
    if "fresh" not in {one.holdout["kind"], other.holdout["kind"]}:
        return not candidate_names(one).isdisjoint(candidate_names(other))
    first, second = (sets[record.holdout["digest"]] for record in (one, other))
    return bool(overlapping(first, {second.digest: second}))


def _is_own_outcome(record: Record, attempt: Attempt) -> bool:
    own = record.kind == "outcome" and record.decision_digest == attempt.decision_digest
    return own and record.candidate["lineage"] == attempt.lineage


def _resets(event: Record, attempt: Attempt) -> bool:
    """Whether nothing before the event can count any more."""
    if event.decision_digest != attempt.decision_digest:
        return True
    over = event.kind == "intent" or event.status != "pass" or event.verdict == "promote"
    return over and event.candidate["lineage"] == attempt.lineage


def _why(events: Sequence[tuple[Record, Record]], resets: Sequence[Record], attempt: Attempt) -> str:
    """Why nothing before the last reset counts any more; empty without one."""
    last = {record.digest for record in resets}
    event = next((event for event, at in reversed(events) if at.digest in last), None)
    if event is None:
        return ""
    if event.decision_digest != attempt.decision_digest:
        return f"the policy's deciding part changed after cycle {quoted(event.cycle)}"
    return _ending(event)


def why_first(before: Record | None, record: Record) -> str:
    """Why the streak began anew with this record of the first schema, as far as the one before it tells."""
    if before is None:
        return ""
    if before.decision_digest != record.decision_digest:
        return f"the policy's deciding part changed after cycle {quoted(before.cycle)}"
    if before.status != "pass":
        return _ending(before)
    same_items = before.holdout["digest"] == record.holdout["digest"]
    if same_items and before.baseline["digest"] != record.baseline["digest"]:
        return f"other results of the baseline in cycle {quoted(record.cycle)}"
    return ""


def _ending(event: Record) -> str:
    cycle = f"cycle {quoted(event.cycle)}"
    if event.kind == "intent":
        return f"the look of {cycle} was begun and never finished"
    if continues(event):
        return f"the evaluation of {cycle} was left at a stage"
    if event.status != "pass":
        return f"{cycle} {'failed' if event.status == 'fail' else 'was inconclusive'}"
    return f"{cycle} was promoted, and a promotion ends its streak"


def _events(series: Sequence[Record], metric: str, look: str, order: Order) -> list[tuple[Record, Record]]:
    """What moves a streak, each with the record at whose place it counts.

    The last word of each outcome in its first place, and looks that never ended: a stage that continues moves
    nothing, unless its evaluation was left there.
    """
    outcomes = [record for record in series if record.kind == "outcome"]
    ended = {record.id for record in outcomes if not continues(record)} | {look}
    outcomes = [record for record in outcomes if not (continues(record) and record.id in ended)]
    finished = {record.id for record in series if record.kind == "outcome"}
    one_word_each = len({record.id for record in outcomes}) == len(outcomes)
    unfinished = {record.id for record in series if record.kind == "intent"} - finished - {look}
    if not unfinished and one_word_each:
        return [(record, record) for record in outcomes]
    words: dict[tuple[str, str], list[Record]] = {}
    for record in outcomes:
        words.setdefault(record.contender, []).append(record)
    unfinished &= counted_looks(series, metric).unfinished
    events: list[tuple[Record, Record]] = []
    for record in series:
        key = record.contender
        if record.kind == "outcome" and key in words:
            # a waiver, given or run out, may have amended it since
            events.append((least_favourable(order.latest(words.pop(key))), record))
        elif record.kind == "intent" and record.id in unfinished:
            events.append((record, record))
    return events


_FAVOUR = {"fail": 0, "block": 0, "inconclusive": 1, "": 1, "hold": 2, "pass": 2, "promote": 3}


def least_favourable(words: Sequence[Record]) -> Record:
    """Of what several branches say of one thing, the least in favour of a promotion."""
    return min(words, key=lambda r: (_FAVOUR.get(r.verdict, 1), _FAVOUR[r.status], _gain(r), r.digest))

"""What a policy would have done over past cycles: their labels exchanged, and gains of known size planted.

Every decision, level, look and streak is the gate's own: a replay is a history in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.cycles.attempt import Rules, rules_of
from gate.cycles.chain import History
from gate.cycles.looks import Look
from gate.cycles.record import Record
from gate.history.session import Session
from gate.history.store import MemoryStore
from gate.measure.model import at_least
from gate.pairing.model import IndexArray, PairedTable
from gate.planning.exchange import Answers, exchanged, refuse_policy
from gate.planning.past_cycles import Past
from gate.planning.re_runs import margin_of
from gate.run.pipeline import evaluate
from gate.run.request import Request
from gate.stats.label_swaps import (
    Luck,
    Operating,
    Outcomes,
    PastCycle,
    against_outcomes,
    first_promotions,
    gains_to_try,
    operating,
)
from gate.stats.power import smallest_effect
from gate.values import GateError

SEED = 20_260_102
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one real cycle. verdict: the history's, else of this policy over the files in order.

    delta: of the gating metric, positive is better, None where nothing was measured. good: what is known.
    """

    cycle: str
    verdict: str
    recorded: bool
    n: int
    delta: float | None
    good: bool | None


@dataclass(frozen=True, slots=True)
class Backtest:
    """steps: of margin, or of MDE at margin 0. shared: share of distinct items that several cycles hold.

    same: cycles whose sides do not differ on any item: exchanging them tells nothing. missing: cycles of the
    history without files. outcomes: None where none are known.
    """

    metric: str
    required: int
    level: float
    step: float
    step_of: str
    rows: tuple[Operating, ...]
    cycles: tuple[Decided, ...]
    shared: float
    same: tuple[str, ...]
    missing: tuple[str, ...]
    outcomes: Outcomes | None
    replays: int


def backtest(
    request: Request,
    past: Sequence[Past],
    history: History | None,
    good: Mapping[str, bool],
    replays: int,
    progress: Progress,
) -> Backtest:
    """Replay the cycles. good: cycle -> what production said later.

    Errors: a kind or set that cannot be replayed; an outcome of a cycle that is not there.
    """
    policy = request.loaded.policy
    refuse_policy(policy)
    past, missing = _ordered(past, history)
    _refuse_unknown(good, past)
    world = _World(request, past)
    step, name = world.step()
    gains = gains_to_try(step)
    rows = tuple(operating(gain, world.replay(gain, replays, progress), len(past)) for gain in gains)
    decided = _decided(request, past, history, good)
    known = against_outcomes([d.verdict == "promote" for d in decided], [d.good for d in decided])
    return Backtest(
        metric=policy.gating.metric,
        required=policy.cycles.required,
        level=world.rules.level,
        step=step,
        step_of=name,
        rows=rows,
        cycles=decided,
        shared=world.shared(),
        same=tuple(cycle.name for cycle, rows in zip(past, world.rows, strict=True) if _same(rows)),
        missing=missing,
        outcomes=known if good else None,
        replays=replays,
    )


def _same(rows: PastCycle) -> bool:
    return bool(np.array_equal(rows.baseline, rows.candidate))


@dataclass(slots=True)
class _Place:
    """A moment in a replayed history: the look that was begun, and what follows each answer to it."""

    history: History
    looks: tuple[Look, ...]
    next: dict[Hashable, tuple[bool, _Place | None]] = field(default_factory=dict)


class _World:
    """The cycles as arrays, and the tree of histories that replays walk through.

    Where the verdict rests on nothing but each cycle's status, replays of equal statuses share their branch.
    """

    def __init__(self, request: Request, past: Sequence[Past]) -> None:
        policy = request.loaded.policy
        self._past, self._answers, self._gating = past, Answers(request), policy.gating
        # the policy is tried, so it is younger than what it is tried on
        self.rules: Rules = replace(rules_of(policy), policy_first=False)
        self._status_alone = self.rules.test is None and "hold" not in {
            self.rules.on_baseline_fall,
            self.rules.on_alarm,
        }
        self._numbers = _numbered([cycle.found.table for cycle in past])
        self.rows = [self._rows(k) for k in range(len(past))]
        store = MemoryStore(None)
        store.create(now="", tool="")
        self._root = self._begin(store.read(), 0)

    def replay(self, gain: float, replays: int, progress: Progress) -> list[tuple[int, int]]:
        """(promotions, place of the first) of each replay."""

        def judge(cycles: Sequence[PastCycle], chance: Luck) -> list[bool]:
            progress(f"gain {gain:.4g}")
            return self._walk(cycles, chance)

        return first_promotions(self.rows, judge, gain, range(replays), SEED)

    def step(self) -> tuple[float, str]:
        """The mean margin of the cycles; at margin 0 the mean smallest gain that they show."""
        margins = [
            margin_of(self._answers.request.loaded.policy, self._mean(k)) for k in range(len(self.rows))
        ]
        if not at_least(0.0, margin := float(np.mean(margins))):
            return margin, "margin"
        effects = [
            smallest_effect(float(np.var(r.candidate - r.baseline)), r.items.size, self.rules.level)
            for r in self.rows
        ]
        return float(np.mean(effects)), "MDE"

    def shared(self) -> float:
        """Share of distinct items that more than one cycle holds."""
        counts = np.bincount(np.concatenate([np.unique(numbers) for numbers in self._numbers]))
        return float(np.mean(counts[counts > 0] > 1))

    def _mean(self, k: int) -> float:
        return float(np.nanmean(self._past[k].found.table.metrics[self._gating.metric].baseline))

    def _rows(self, k: int) -> PastCycle:
        metric = self._past[k].found.table.metrics[self._gating.metric]
        at = np.isfinite(metric.baseline) & np.isfinite(metric.candidate)
        if not at.any():
            raise GateError("no_values", f"cycle {self._past[k].name!a} has no item with both results")
        sides = (self._up(metric.baseline[at]), self._up(metric.candidate[at]))
        return PastCycle(self._numbers[k][at], *sides)

    def _up(self, values: FloatArray) -> FloatArray:
        """Larger is better; pass/fail stays pass/fail. Twice is back again."""
        if self._gating.direction == "higher":
            return values
        return 1.0 - values if self._gating.kind == "binary" else -values

    def _walk(self, cycles: Sequence[PastCycle], chance: Luck) -> list[bool]:
        found = []
        place: _Place | None = self._root
        for k, cycle in enumerate(cycles):
            assert place is not None
            outcome = self._answers.outcome(
                self._past[k].found, self._table(k, cycle, chance), place.looks[0]
            )
            step = place.next.get(outcome.status)
            if step is None:
                store = MemoryStore(place.history)
                (state,) = Session(store).finish(place.looks, [outcome])
                follows = self._begin(store.read(), k + 1) if k + 1 < len(cycles) else None
                step = (state.verdict == "promote", follows)
                if self._status_alone:
                    place.next[outcome.status] = step
            promoted, place = step
            found.append(promoted)
        return found

    def _begin(self, history: History, k: int) -> _Place:
        store = MemoryStore(history)
        looks = Session(store).begin([self._past[k].attempt], self.rules)
        return _Place(store.read(), looks)

    def _table(self, k: int, cycle: PastCycle, chance: Luck) -> PairedTable:
        """The replayed gating metric; everything else of an item changes sides with it."""
        table = self._past[k].found.table
        everything: IndexArray = np.arange(len(table.ids))
        swap: BoolArray = chance.swap[self._numbers[k]]
        made = exchanged(table, everything, swap)
        name = self._gating.metric
        metric = made.metrics[name]
        at = np.isfinite(metric.baseline) & np.isfinite(metric.candidate)
        baseline, candidate = metric.baseline.copy(), metric.candidate.copy()
        baseline[at], candidate[at] = self._up(cycle.baseline), self._up(self._bounded(cycle))
        planted = replace(metric, baseline=baseline, candidate=candidate, runs=None)
        return replace(made, metrics={**made.metrics, name: planted})

    def _bounded(self, cycle: PastCycle) -> FloatArray:
        """Nothing leaves a declared scale: a guaranteed test would not take it."""
        scale = self._gating.scale
        if scale is None or cycle.binary:
            return cycle.candidate
        low, high = sorted(float(end) for end in self._up(np.array(scale, dtype=float)))
        return np.clip(cycle.candidate, low, high)


def _numbered(tables: Sequence[PairedTable]) -> list[IndexArray]:
    """For each table the number of each item's coin: equal ids share one, and so do items of a cluster."""
    parent: dict[object, object] = {}

    def root(node: object) -> object:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for k, table in enumerate(tables):
        clusters = () if table.clusters is None else table.clusters.tolist()
        for name, cluster in zip(table.ids.tolist(), clusters, strict=False):
            parent[root(name)] = root((k, cluster))
    numbers: dict[object, int] = {}
    return [
        np.array(
            [numbers.setdefault(root(name), len(numbers)) for name in table.ids.tolist()], dtype=np.int64
        )
        for table in tables
    ]


def _ordered(past: Sequence[Past], history: History | None) -> tuple[tuple[Past, ...], tuple[str, ...]]:
    """The cycles in the order of the history, those it does not hold last; and its cycles without files."""
    if history is None:
        return tuple(past), ()
    records = _outcomes(history, past[0].attempt.metric)
    places = {cycle.name: _place(cycle, records) for cycle in past}
    matched = {places[cycle.name] for cycle in past}
    ordered = sorted(past, key=lambda cycle: (places[cycle.name] is None, places[cycle.name] or 0))
    without = dict.fromkeys(record.cycle for k, record in enumerate(records) if k not in matched)
    return tuple(ordered), tuple(without)


def _outcomes(history: History, metric: str) -> list[Record]:
    return [record for record in history.records if record.kind == "outcome" and record.metric == metric]


def _place(cycle: Past, records: Sequence[Record]) -> int | None:
    """Where the history decided these very files; its last word on them."""
    attempt = cycle.attempt
    return next(
        (
            k
            for k in range(len(records) - 1, -1, -1)
            if attempt.is_side("candidate", records[k].contender[1])
            and attempt.is_side("baseline", records[k].identities["baseline"])
            and records[k].holdout["digest"] == attempt.items.digest
        ),
        None,
    )


def _decided(
    request: Request, past: Sequence[Past], history: History | None, good: Mapping[str, bool]
) -> tuple[Decided, ...]:
    """Each cycle as the history has it, else as this policy decides the files in their order."""
    records = [] if history is None else _outcomes(history, past[0].attempt.metric)
    store = MemoryStore(None)
    store.create(now="", tool="")
    found = []
    for cycle in past:
        place = _place(cycle, records)
        files = (cycle.files.baseline, cycle.files.candidate)
        asked = replace(request, baseline=files[0], candidates=files[1:], cycle=cycle.name, store=store)
        verdict, delta = _tried(asked)
        found.append(
            Decided(
                cycle.name,
                verdict if place is None else records[place].verdict,
                place is not None,
                cycle.found.table.counts.n_pairs,
                delta,
                good.get(cycle.name),
            )
        )
    return tuple(found)


def _tried(request: Request) -> tuple[str, float | None]:
    report = evaluate(request)
    assert not hasattr(report, "reports")
    return str(report.verdict), report.gating.delta


def _refuse_unknown(good: Mapping[str, bool], past: Sequence[Past]) -> None:
    unknown = sorted(set(good) - {cycle.name for cycle in past})
    if unknown:
        raise GateError(
            "outcome_unknown_cycle",
            f"an outcome is given for {unknown[0]!a}, which is no cycle of the folder",
            help="name cycles as their folders or files are named",
        )

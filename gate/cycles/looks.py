"""Before anything is computed: which look this is, at which level, and what the history says against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gate.cycles import history_cautions
from gate.cycles.attempt import Attempt, Rules, first_look_id, look_id, with_lineages
from gate.cycles.chain import History, latest
from gate.cycles.counted_looks import counted_looks, item_sets, missed_attempts
from gate.cycles.items import connected, overlapping
from gate.cycles.levels import level_rule
from gate.cycles.record import Record
from gate.cycles.staged import evaluation_closed, refuse_other_stages
from gate.cycles.streak import is_rescore, least_favourable, series_of
from gate.safe import quoted
from gate.values import Caution

FAULTS: Final = frozenset(
    {"window_not_fresh", "items_shrank", "worn_out", "policy_not_first", "evaluation_closed"}
)
"""What :func:`_faults` can find."""


@dataclass(frozen=True, slots=True)
class Look:
    """The place of one evaluation in the history.

    number: 1 for the first look at these items (fresh windows: at this metric). level: one-sided, for this
    look. window: fresh, reused or overlap, as the item ids say. replay: the outcome already recorded for
    these very artifacts under this deciding policy: the first verdict stands. rescore: this cycle or
    candidate was scored before. faults: each makes the gating rule inconclusive. wear: looks at these items
    whose numbers were shown. retry_risk: correlation -> chance that one of the looks so far passes by luck,
    at the plain level. recorded: False in read-only mode.
    """

    id: str
    attempt: Attempt
    rules: Rules
    number: int
    level: float
    window: str
    missed: int = 0
    rescore: bool = False
    wear: int = 0
    replay: Record | None = None
    faults: tuple[Caution, ...] = ()
    cautions: tuple[Caution, ...] = ()
    retry_risk: Mapping[str, float] | None = None
    recorded: bool = True

    @property
    def identities(self) -> dict[str, str]:
        """By which digests its records know the two sides: an amended verdict keeps those of the first."""
        return self.attempt.identities if self.replay is None else self.replay.identities


def plan_look(history: History, attempt: Attempt, rules: Rules) -> Look:
    """The look that ``attempt`` is."""
    return plan_looks(history, [attempt], rules)[0]


def plan_looks(history: History, attempts: Sequence[Attempt], rules: Rules) -> tuple[Look, ...]:
    """One look of several challengers: one number and level, a streak and a replay each."""
    name, first = look_id(attempts), first_look_id(attempts)
    if first != name and any(record.id == first and record.is_first for record in history.records):
        name = first  # begun by an earlier gate
    lines = with_lineages(attempts, rules.challengers)
    return tuple(_plan(history, attempt, rules, name) for attempt in lines)


def _plan(history: History, attempt: Attempt, rules: Rules, name: str) -> Look:
    replay = recorded_outcome(history, attempt)
    if replay is not None:
        level, window = replay.level or rules.level, replay.holdout["kind"]
        faults = _recorded_faults(history, replay)
        return Look(replay.id, attempt, rules, replay.look_no, level, window, replay=replay, faults=faults)
    if attempt.stage is not None:
        refuse_other_stages(history.records, attempt, attempt.stage)
    place = _place(history, attempt, rules, name)
    series = series_of(history, attempt)
    rescore = is_rescore(series, attempt, place.window)
    return Look(
        name,
        attempt,
        rules,
        place.number,
        place.level,
        place.window,
        missed=place.missed,
        rescore=rescore,
        wear=place.wear,
        faults=_faults(history, series, attempt, rules, place),
        cautions=(*_cautions(history, series, attempt, rules, place), *_rescored(attempt, rescore=rescore)),
        retry_risk=level_rule(rules).retry_risk(place.number),
    )


def _rescored(attempt: Attempt, *, rescore: bool) -> tuple[Caution, ...]:
    if not rescore:
        return ()
    text = (
        f"cycle {quoted(attempt.cycle)} or its candidate was scored before: this look adds no cycle to the "
        "streak; a new cycle needs a name of its own"
    )
    return (Caution("rescored", text),)


def recorded_outcome(history: History, attempt: Attempt) -> Record | None:
    """The outcome of these artifacts under this deciding policy, as a waiver may have amended it since."""
    wanted = (attempt.metric, attempt.decision_digest, attempt.items.digest)
    found = [
        r
        for r in history.records
        if r.kind == "outcome"
        and (r.metric, r.decision_digest, r.holdout["digest"]) == wanted
        and attempt.is_side("candidate", r.contender[1])
        and attempt.is_side("baseline", r.identities["baseline"])
    ]
    return least_favourable(latest(history, found)) if found else None


def _recorded_faults(history: History, replay: Record) -> tuple[Caution, ...]:
    """What the history held against this look from the first: a waiver amends a verdict, never a fault."""
    codes = {
        code
        for record in history.records
        if record.kind == "outcome" and record.contender == replay.contender
        for code in record.alarms
    }
    return tuple(Caution(code, "recorded with the first verdict") for code in sorted(codes & FAULTS))


@dataclass(frozen=True, slots=True)
class _Place:
    number: int
    level: float
    window: str
    missed: int
    wear: int
    unfinished: int


def _place(history: History, attempt: Attempt, rules: Rules, name: str) -> _Place:
    spent = counted_looks(history.records, attempt.metric)
    others = {look: first.holdout["digest"] for look, first in spent.first.items() if look != name}
    near = _near(history, attempt, rules, set(others.values()))
    window = "fresh" if not near else "reused" if attempt.items.digest in near else "overlap"
    same = [look for look, items in others.items() if items in near]
    counted = list(others) if rules.windows == "fresh" else same
    missed = missed_attempts(history.records, attempt.metric, attempt.ci)
    number = 1 + missed + len(counted) + sum(spent.missed.get(look, 0) for look in counted)
    level = level_rule(rules).level(number)
    if name in spent.first:  # begun before and not finished: the same digests are the same look
        number = spent.first[name].look_no
        level = spent.first[name].level or level
    wear = len(spent.printed.intersection(same))
    return _Place(number, level, window, missed, wear, len(spent.unfinished.intersection(counted)))


def _near(history: History, attempt: Attempt, rules: Rules, seen: set[str]) -> set[str]:
    """Digests of the item sets seen before that share items with this one.

    On fresh windows directly, on re-used items also through others in between.
    """
    if seen <= {attempt.items.digest}:
        return seen
    sets = {digest: items for digest, items in item_sets(history.records).items() if digest in seen}
    return (overlapping if rules.windows == "fresh" else connected)(attempt.items, sets)


def _faults(
    history: History, series: Sequence[Record], attempt: Attempt, rules: Rules, place: _Place
) -> tuple[Caution, ...]:
    found: list[Caution | None] = []
    if rules.windows == "fresh" and place.window != "fresh":
        text = "the policy asks for fresh windows, but an earlier look was at some of these items"
        found.append(Caution("window_not_fresh", f"{text}; score items that no look has seen"))
    if not rules.may_shrink:
        found.append(history_cautions.items_shrank(latest(history, _promoted(series)), attempt))
    found.append(evaluation_closed(history.records, attempt))
    if rules.policy_first:
        found.append(history_cautions.policy_not_first(history.records, attempt))
    if _worn(rules, place) > 3 and not rules.allow_worn:
        text = f"{place.wear} looks at these items showed their numbers, {rules.looks} were planned"
        found.append(Caution("worn_out", f"{text}: only new items can decide now"))
    return tuple(caution for caution in found if caution)


def _promoted(series: Sequence[Record]) -> list[Record]:
    return [record for record in series if record.verdict == "promote"]


def _worn(rules: Rules, place: _Place) -> float:
    """Wear in units of the planned looks; it applies where looks are planned and the items are seen again."""
    if rules.looks is None or rules.windows == "fresh":
        return 0.0
    return place.wear / rules.looks


def _cautions(
    history: History, series: Sequence[Record], attempt: Attempt, rules: Rules, place: _Place
) -> tuple[Caution, ...]:
    found: list[Caution | None] = [*level_rule(rules).cautions(place.number)]
    if _worn(rules, place) > 1:
        text = f"{place.wear} looks at these items showed their numbers, {rules.looks} were planned"
        found.append(Caution("worn", f"{text}: what was tuned to them is no longer measured by them"))
    if place.missed:
        text = f"{place.missed} earlier attempts of this run are not in the history"
        found.append(Caution("attempts_missing", f"{text}; they count as looks"))
    if place.unfinished:
        text = f"{place.unfinished} earlier looks were begun and never finished"
        found.append(Caution("looks_unfinished", f"{text}; they count"))
    found.append(history_cautions.baseline_is_winner(history, attempt))
    found.append(history_cautions.policy_is_younger(history.records, series, attempt))
    found.append(history_cautions.voids_in_a_row(series))
    return tuple(caution for caution in found if caution)

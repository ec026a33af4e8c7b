"""After the computation: what this outcome makes of the streak, and what may be claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gate.cycles import history_cautions
from gate.cycles.attempt import Rules
from gate.cycles.band import ALARMS, Band, Cycle, cycle_of, earlier_cycles, noise_band
from gate.cycles.chain import History, Order, order_of
from gate.cycles.ledger import sign_flip_p
from gate.cycles.looks import Look, recorded_outcome
from gate.cycles.record import Record, Scalar
from gate.cycles.streak import Streak, series_of, streak_of
from gate.values import Caution

BLESSED: Final = "blessed"
"""Key of a promotion's state: ``NAME:SHA256`` of the results that it made the baseline of that name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the computation found for one candidate.

    status: pass, fail or inconclusive over all rules (a waived fail is a pass). delta, margin: of the gating
    rule, in its unit. result: further numbers to keep, flat (n, b, c, low, high, p, ...). waived: rules
    that an active waiver excused. revealed: numbers were asked for although the policy hides them.
    blessed: ``NAME:SHA256`` of results in a store that become the baseline if this is a promotion.
    continues: a stage that asks for more items. digests: of the item differences and of the inputs, for the
    noise band.
    """

    status: str
    delta: float | None = None
    margin: float = 0.0
    result: Mapping[str, Scalar] = field(default_factory=dict)
    waived: tuple[str, ...] = ()
    revealed: bool = False
    blessed: str = ""
    continues: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CycleState:
    """Where the cycles stand after this outcome. Goes into the report as it is.

    verdict: promote, block, inconclusive or hold. status: the outcome's, or inconclusive where the history
    has a fault. passed: cycles of the streak, this one included. claim: this_cycle, each_cycle or
    over_cycles. scope: "these items" or "fresh windows". sign_flip_p: over the streak's deltas minus
    margin, None without any. numbers_shown: False where ``feedback: verdict`` keeps deltas and intervals
    back. restarted: why the streak began anew, where one is asked for. held: why a passing cycle neither
    promotes nor counts. band: what earlier cycles say of this one; None without any. past: those cycles.
    """

    verdict: str
    status: str
    required: int
    passed: int
    cycle: str
    look: int
    level: float
    window: str
    claim: str
    scope: str
    sign_flip_p: float | None
    retry_risk: Mapping[str, float] | None
    replayed: bool = False
    recorded: bool = True
    numbers_shown: bool = True
    faults: tuple[Caution, ...] = ()
    cautions: tuple[Caution, ...] = ()
    restarted: str = ""
    held: str = ""
    band: Band | None = None
    past: tuple[Cycle, ...] = ()


def assess(history: History, look: Look, outcome: Outcome) -> CycleState:
    """The state after ``outcome``, against the history as read again under the lock.

    If another run finished the same look meanwhile, its verdict stands.
    """
    earlier = recorded_outcome(history, look.attempt) or look.replay
    if earlier is not None and _same_waivers(earlier, outcome):
        return _replayed(look, earlier, outcome)
    rules = look.rules
    doubtful = look.faults or look.attempt.identical
    status = "inconclusive" if doubtful and outcome.status == "pass" else outcome.status
    order = order_of(history.records)
    series = _before(series_of(history, look.attempt), look, order)
    fell = history_cautions.baseline_fell(series, look.attempt, outcome.result, shown=False)
    ended = [record for record in series if not record.state.get("continues")]
    band = _band(ended, look, outcome)
    held = HELD if fell and rules.on_baseline_fall == "hold" and status == "pass" else ""
    if band is not None and band.alarms and rules.on_alarm == "hold" and status == "pass":
        held = held or OUTSIDE
    streak = _counted(series, look, order, provisional(look, status, outcome, held))
    counted = streak.passes
    passed = len(counted)
    if status == "pass" and rules.required == 1 and not held:
        passed = max(passed, 1)  # a re-score may promote where no streak is asked for; it still was a look
    deltas = [_above_margin(record) for record in counted]
    p_value = sign_flip_p(deltas) if deltas else None
    tested = rules.test is None or (p_value is not None and p_value <= rules.alpha)
    enough = tested and passed >= rules.required and not held
    verdict = _verdict(status, look.recorded or not rules.needs_history, enough)
    shown = _shown(look, verdict, revealed=outcome.revealed)
    fell = history_cautions.baseline_fell(series, look.attempt, outcome.result, shown=shown)
    return CycleState(
        verdict,
        status,
        rules.required,
        passed,
        look.attempt.cycle,
        look.number,
        look.level,
        look.window,
        claim=_claim(passed, rules, p_value),
        scope=_scope(look.window, counted, rules),
        sign_flip_p=p_value,
        retry_risk=look.retry_risk,
        recorded=look.recorded,
        numbers_shown=shown,
        faults=look.faults,
        cautions=(*look.cautions, *([fell] if fell else []), *_alarms(band, shown=shown)),
        restarted=streak.restarted if rules.required > 1 else "",
        held=held,
        band=band if shown else None,
        past=earlier_cycles(ended, look.attempt.metric),
    )


def _band(ended: Sequence[Record], look: Look, outcome: Outcome) -> Band | None:
    """This cycle against the earlier ones of the series; None where there are none, or a stage goes on."""
    if look.rules.on_alarm == "hold":  # else one odd night would make the next plain one odd; a policy that
        # was revalidated, so that it is another one, begins a band of its own
        known = look.attempt.decision_digest
        ended = [r for r in ended if r.decision_digest == known and ALARMS.isdisjoint(r.alarms)]
    past = earlier_cycles(ended, look.attempt.metric)
    if outcome.continues or look.attempt.identical or not past:
        return None
    return noise_band(cycle_of(provisional(look, outcome.status, outcome)), past)


def _alarms(band: Band | None, *, shown: bool) -> tuple[Caution, ...]:
    if band is None:
        return ()
    return band.alarms if shown else tuple(replace(found, message=WITHHELD) for found in band.alarms)


def _same_waivers(earlier: Record, outcome: Outcome) -> bool:
    """A waiver given or run out since amends the verdict of the same look; nothing is measured anew."""
    return (earlier.result.get("waived") or "") == ", ".join(outcome.waived)


HELD = "the baseline fell"
OUTSIDE = "outside the noise band of earlier cycles"
WITHHELD = "the noise band of earlier cycles was left; its numbers are withheld"
NOT_WINNER = "not_winner"


def provisional(look: Look, status: str, outcome: Outcome, held: str = "") -> Record:
    """The outcome as a record that is not linked yet."""
    attempt = look.attempt
    result = dict(outcome.result) | {"delta": outcome.delta, "margin": outcome.margin}
    if outcome.waived:
        result["waived"] = ", ".join(outcome.waived)
    return Record(
        kind="outcome",
        id=look.id,
        cycle=attempt.cycle,
        metric=attempt.metric,
        policy=attempt.policy,
        policy_digest=attempt.policy_digest,
        decision_digest=attempt.decision_digest,
        holdout=attempt.items.as_holdout(look.window, with_marks=False),
        baseline={"digest": attempt.baseline_digest, "id": attempt.baseline_id},
        candidate={
            "digest": attempt.candidate_digest,
            "id": attempt.candidate_id,
            "lineage": attempt.lineage,
        },
        ci=dict(attempt.ci),
        look_no=look.number,
        level=look.level,
        missed=look.missed,
        state={
            **look.identities,
            **({"held": held} if held else {}),
            **_stage(look, outcome),
            **outcome.digests,
        },
        status=status,
        result=result,
    )


def _stage(look: Look, outcome: Outcome) -> dict[str, Scalar]:
    """What the next stage must find again."""
    stage = look.attempt.stage
    if stage is None:
        return {}
    going_on = {"continues": True} if outcome.continues else {}
    return {"stage": stage.number, "stages": stage.of, **going_on}


def _counted(series: list[Record], look: Look, order: Order, outcome: Record) -> Streak:
    streak = streak_of(series, look.attempt, look.id, order)
    if not look.attempt.identical:  # void: nothing was measured, so nothing changes
        streak.add(outcome)
    return streak


def _before(series: list[Record], look: Look, order: Order) -> list[Record]:
    """What came before this look's own first outcome: an amended verdict is assessed in its old place."""
    contender = (look.id, look.identities["candidate"])
    for own in series:
        if own.kind == "outcome" and own.contender == contender:
            return [record for record in series if order.precedes(record, own)]
    return series


def _above_margin(record: Record) -> float:
    delta, margin = record.result.get("delta"), record.result.get("margin")
    if not isinstance(delta, int | float) or not isinstance(margin, int | float):
        return 0.0  # unknown counts as "no better", which can only raise the p-value
    return float(delta) - float(margin)


def _verdict(status: str, trusted: bool, enough: bool) -> str:
    if status != "pass":
        return "block" if status == "fail" else "inconclusive"
    return "promote" if trusted and enough else "hold"


def _claim(passed: int, rules: Rules, p_value: float | None) -> str:
    if rules.test is not None and passed >= rules.required and p_value is not None and p_value <= rules.alpha:
        return "over_cycles"
    return "each_cycle" if passed > 1 else "this_cycle"


def _scope(window: str, counted: list[Record], rules: Rules) -> str:
    kinds = {window, *(record.holdout["kind"] for record in counted)}
    return "fresh windows" if rules.windows == "fresh" and kinds == {"fresh"} else "these items"


def _shown(look: Look, verdict: str, *, revealed: bool) -> bool:
    hidden = look.rules.feedback == "verdict" and look.rules.windows == "reused" and verdict != "promote"
    return revealed or not hidden


def _replayed(look: Look, earlier: Record, outcome: Outcome) -> CycleState:
    p_value = earlier.result.get("sign_flip_p")
    shown = earlier.result.get("printed") is not False or outcome.revealed
    return CycleState(
        earlier.verdict,
        earlier.status,
        look.rules.required,
        earlier.streak,
        earlier.cycle,
        earlier.look_no,
        earlier.level or look.rules.level,
        earlier.holdout["kind"],
        claim=earlier.claim,
        scope=str(earlier.result.get("scope", "these items")),
        sign_flip_p=p_value if isinstance(p_value, float) else None,
        retry_risk=look.retry_risk,
        replayed=True,
        recorded=look.recorded,
        numbers_shown=shown,
        cautions=tuple(Caution(code, "recorded with the first verdict") for code in earlier.alarms),
        restarted=str(earlier.state.get("restarted") or ""),
        held=str(earlier.state.get("held") or ""),
    )


def one_winner(states: Sequence[CycleState], outcomes: Sequence[Outcome]) -> tuple[CycleState, ...]:
    """The largest delta among those promoted now wins, the first of equals; the others are on hold.

    A promotion that is only replayed was recorded before, and stays what it is.
    """
    promoted = [k for k, state in enumerate(states) if state.verdict == "promote" and not state.replayed]
    if len(promoted) < 2:
        return tuple(states)
    winner = max(promoted, key=lambda k: (outcomes[k].delta or 0.0, -k))
    return tuple(
        _beaten(state, states[winner].cycle) if k in promoted and k != winner else state
        for k, state in enumerate(states)
    )


def _beaten(state: CycleState, winner: str) -> CycleState:
    text = f"this candidate passed too, but another of the same look gained more (cycle {winner})"
    return replace(state, verdict="hold", cautions=(*state.cautions, Caution(NOT_WINNER, text)))

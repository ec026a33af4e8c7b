"""Everything measured -> each rule's answer: the gate's truth table. Nothing is computed or read here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.measure.model import (
    Comparison,
    Counted,
    Limited,
    Margin,
    MostLost,
    MostOnOne,
    SignTest,
    Tested,
    Tolerance,
    Untested,
    Veto,
    Worst,
    WorstShare,
    at_least,
)
from gate.measure.words import number, p_value, signed, span
from gate.safe import examples
from gate.values import Role, Status

PASS, FAIL, INCONCLUSIVE, WAIVED = Status.PASS, Status.FAIL, Status.INCONCLUSIVE, Status.WAIVED
NOT_DECIDED, NOT_GATED = Status.NOT_DECIDED, Status.NOT_GATED
SAME_RUN = "both sides are one run, the same file or a copy, of the same system: there is nothing to compare"
FAILED_RUNS_DECIDE = "the failed runs decide"


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule's answer. observed, required: what was found and what the policy asks for, in words."""

    rule: str
    status: Status
    metric: str
    observed: str
    required: str
    message: str


def judge(c: Comparison) -> Reason:
    """One comparison's status. Both readings of failed runs must agree, else the answer is inconclusive."""
    reason = _answer(c)
    if c.same_run and c.gated:
        return _reason(c, INCONCLUSIVE, reason.required, SAME_RUN)
    if c.other is None:
        return reason
    other = _answer(c.other)
    if other.status == reason.status:
        return reason
    text = (
        f"{c.asked.named}: {reason.status} when failed runs are read as {c.reading} ({c.named}), "
        f"{other.status} when they are read as {c.other.reading} ({c.other.named}): {FAILED_RUNS_DECIDE}"
    )
    return Reason(c.rule, INCONCLUSIVE, c.asked.metric, reason.observed, reason.required, text)


def _answer(c: Comparison) -> Reason:
    """The truth table: what was measured, and what is wanted of it."""
    match c:
        case Tested(wanted=Margin() as margin):
            return _gating(c, margin)
        case Tested(wanted=Tolerance() as tolerance):
            return _non_inferior(c, tolerance)
        case Tested(wanted=Veto() as veto):
            return _no_regression(c, veto)
        case Limited():
            return _limit(c)
        case Counted(wanted=MostLost() as most):
            return _churn(c, most)
        case Counted():
            return _must_pass(c)
        case Worst():
            return _worst_item(c, c.wanted) if isinstance(c.wanted, MostOnOne) else _tail(c, c.wanted)
    if not c.gated:
        return _not_gated(c)
    return _reason(c, INCONCLUSIVE, _required(c), c.insufficient or "nothing could be tested")


def _not_gated(c: Tested | Untested) -> Reason:
    return _reason(c, NOT_GATED, _required(c), c.insufficient or "reported, not gated")


def _required(c: Tested | Untested) -> str:
    """What is asked of a rule that rests on a test, in words."""
    match c.wanted:
        case Margin(rule="tested") as margin:
            return f"gain above {number(margin.amount)} shown at level {c.level:g}"
        case Margin() as margin:
            return f"gain of at least {number(margin.amount)} observed, and above 0 at level {c.level:g}"
        case Tolerance() as tolerance:
            return (
                f"a loss above {number(tolerance.amount)} ruled out at level {c.level:g}" if c.gated else ""
            )
    return f"no significant loss at level {c.level:g}"


def _gating(c: Tested, margin: Margin) -> Reason:
    required, metric, delta, interval = _required(c), c.asked.named, c.sides.delta, c.evidence.interval
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    if margin.suspect_gain is not None and delta > margin.suspect_gain:
        text = f"a gain of {signed(delta)} is larger than {number(margin.suspect_gain)}: "
        return _reason(c, INCONCLUSIVE, required, text + "check extractor, leakage and judge")
    if _significant(c) and at_least(delta, margin.amount):
        flaky = _on_flaky_items(c, margin)
        if flaky:
            return _reason(c, INCONCLUSIVE, required, flaky)
        return _reason(c, PASS, required, f"{metric} is better by {signed(delta)} {_evidence(c)}")
    if c.evidence.worse:
        return _reason(c, FAIL, required, f"{metric} is worse by {number(-delta)} {_evidence(c)}")
    if interval.high < margin.amount:
        kind = "real but below" if interval.low > 0 else "below"
        return _reason(c, FAIL, required, f"the gain in {metric} is {kind} the margin {_evidence(c)}")
    return _reason(c, INCONCLUSIVE, required, _no_claim(c, margin))


def _on_flaky_items(c: Tested, margin: Margin) -> str:
    """Why the gain does not count where too much of it lies on items that do not reproduce."""
    most = margin.max_flaky_share
    share = None if c.gain is None else c.gain.items.flaky.get("delta_share")
    if most is None or (share is not None and at_least(most, share)):
        return ""
    if share is None:
        return (
            "the share of the gain on flaky items is not known: it takes pass/fail results of 4 runs an item"
        )
    text = f"{share:.0%} of the gain lies on flaky items, more than items.max_flaky_share"
    return f"{text} {number(most)}: score these items more often, or repair them"


def _no_claim(c: Tested, margin: Margin) -> str:
    tested, delta = margin.rule == "tested", c.sides.delta
    if not tested and not at_least(delta, margin.amount):
        return f"a gain of the margin is neither observed ({signed(delta)}) nor ruled out {_evidence(c)}"
    floor = number(margin.amount) if tested and margin.amount else "0"
    return f"a gain above {floor} is not shown {_evidence(c)}"


def _non_inferior(c: Tested, tolerance: Tolerance) -> Reason:
    required, metric, most = _required(c), c.asked.named, number(tolerance.amount)
    if not c.gated:
        return _not_gated(c)
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    if _significant(c):
        return _reason(c, PASS, required, f"{metric} loses less than {most} {_evidence(c)}")
    if c.evidence.worse:
        return _reason(c, FAIL, required, f"{metric} is worse {_evidence(c)}")
    return _reason(c, INCONCLUSIVE, required, f"a loss of {most} is not ruled out {_evidence(c)}")


def _no_regression(c: Tested, veto: Veto) -> Reason:
    required, metric, mde = _required(c), c.asked.named, c.visible.mde
    if not c.gated:
        return _not_gated(c)
    if math.isnan(c.evidence.p_value):  # NaN is below no level, and would pass
        return _reason(c, INCONCLUSIVE, required, c.insufficient or "nothing could be tested")
    if c.evidence.p < c.level:
        return _reason(c, FAIL, required, f"{metric} is significantly worse {_evidence(c)}")
    if c.sign_test is not None and c.sign_test.p < c.level and c.sides.delta < 0:
        text = f"{sign_words(c.sign_test)}, and {metric} is worse on the whole {_evidence(c)}"
        return _reason(c, FAIL, required, text)
    if not can_fire(c):
        return _reason(c, INCONCLUSIVE, required, cannot_fire_words(c))
    if veto.detect is not None and (mde is None or mde > veto.detect):
        seen = "unknown" if mde is None else f"{number(mde)}, above {number(veto.detect)}"
        text = f"no loss is shown, but the smallest loss this set can see is {seen}"
        return _reason(c, INCONCLUSIVE, f"a loss of {number(veto.detect)} would be seen", text)
    return _reason(c, PASS, required, f"no significant loss in {metric} {_evidence(c)}")


def can_fire(c: Tested) -> bool:
    """Whether a veto could reject at its corrected level if every item, cluster or seed lost."""
    if c.visible.unable:
        return False
    return c.visible.clean_sweep is None or c.visible.clean_sweep < c.level


def cannot_fire_words(c: Tested) -> str:
    """Why no result of this size could ever be a veto."""
    if c.visible.unable:
        return f"this veto can rest on nothing: {c.visible.unable}"
    return (
        f"this veto cannot fire: even if {c.asked.named} got worse everywhere, p would be "
        f"{p_value(c.visible.clean_sweep)}, not below {c.level:g}"
    )


def sign_words(found: SignTest) -> str:
    """What the sign test beside a veto on a mean has seen."""
    adjusted = "" if found.p_adjusted is None else "adjusted "
    return (
        f"{found.worse:,} of the {found.changed:,} that changed got worse (sign test, {adjusted}p "
        f"{p_value(found.p)})"
    )


def _limit(c: Limited) -> Reason:
    low, high, proven = c.wanted.least, c.wanted.most, c.wanted.proven
    required = " and ".join(
        [f"at least {number(low)}"] * (low is not None) + [f"at most {number(high)}"] * (high is not None)
    ) + (f", proven at level {c.level:g}" if proven else "")
    if c.candidate is None:
        return _reason(c, INCONCLUSIVE, required, c.insufficient or f"no value of {c.asked.named}")
    ends = (c.candidate, c.candidate)
    if proven:
        if c.interval is None:
            return _reason(c, INCONCLUSIVE, required, c.insufficient or f"no interval for {c.asked.named}")
        ends = (c.interval.low, c.interval.high)
    shown = f"the candidate's {c.asked.named} is {number(c.candidate)}"
    shown += f" ({number(ends[0])} to {number(ends[1])})" if proven else ""
    if (high is not None and not at_least(high, ends[0])) or (low is not None and not at_least(ends[1], low)):
        return _reason(c, FAIL, required, f"{shown}, beyond the limit")
    if (high is None or at_least(high, ends[1])) and (low is None or at_least(ends[0], low)):
        return _reason(c, PASS, required, f"{shown}, within the limit")
    why = c.insufficient or "the interval straddles the limit"
    return _reason(c, INCONCLUSIVE, required, f"{shown}: {why}")


def _churn(c: Counted, most: MostLost) -> Reason:
    required = f"at most {number(most.share)} of the items lost"
    if c.share is None:
        return _reason(c, INCONCLUSIVE, required, "no pairs")
    text = f"{c.found} of the items got worse in {c.asked.named}"
    return _reason(c, PASS if at_least(most.share, c.share) else FAIL, required, text)


def _worst_item(c: Worst, most: MostOnOne) -> Reason:
    required = f"no item loses more than {number(most.amount)}"
    if c.loss is None:
        return _reason(c, INCONCLUSIVE, required, "no item has a result on both sides")
    text = f"the largest loss in {c.asked.named} on one item is {c.found}"
    if at_least(most.amount, c.loss):
        return _reason(c, PASS, required, text)
    return _reason(c, FAIL, required, f"{text}; {len(c.beyond)} items lose more ({examples(c.beyond)})")


def _tail(c: Worst, worst: WorstShare) -> Reason:
    named = f"the worst {worst.share:.3g} of the items"
    most = number(worst.amount)
    required = f"{named} lose at most {most} on average, shown at level {c.level:g}"
    if c.insufficient or c.interval is None:
        return _reason(c, INCONCLUSIVE, required, c.insufficient or "nothing could be bounded")
    low, high = number(0.0 - c.interval.high), number(0.0 - c.interval.low)
    text = f"{named} lose {c.found} on average ({low} to {high}, whatever their distribution)"
    if at_least(worst.amount, 0.0 - c.interval.low):
        return _reason(c, PASS, required, text)
    if not at_least(worst.amount, 0.0 - c.interval.high):
        return _reason(c, FAIL, required, text)
    return _reason(c, INCONCLUSIVE, required, f"{text}: a loss above {most} is not ruled out")


def _must_pass(c: Counted) -> Reason:
    required = "no must-pass item newly failing"
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    text = f"{c.worse} of {c.n} must-pass items newly fail" if c.worse else f"all {c.n} must-pass items hold"
    return _reason(c, FAIL if c.worse else PASS, required, text)


def _significant(c: Tested) -> bool:
    """The interval is above the null value and the (adjusted) p below the level: one event, asked twice."""
    return c.evidence.p < c.level and c.evidence.clears_bound


def _evidence(c: Tested) -> str:
    found = c.evidence
    adjusted = "" if found.p_adjusted is None else " adjusted"
    ends = span(found.interval.low, found.interval.high)
    return f"(interval {ends}, one-sided{adjusted} p {p_value(found.p)})"


def _reason(c: Comparison, status: Status, required: str, message: str) -> Reason:
    return Reason(c.rule, status, c.asked.metric, c.found, required, message.strip())


def decided(
    comparisons: Sequence[Comparison], faults: Iterable[Reason] = (), waivers: Mapping[str, str] | None = None
) -> tuple[Reason, ...]:
    """Every rule's reason, in the order a person should read them.

    A failing ``first`` guardrail ends the matter: the others are reported as not decided. faults: reasons
    that come from the history (a window that is not fresh, a set that shrank). waivers: rule -> who accepts
    its failure and until when.
    """
    reasons = [_waive(judge(c), waivers or {}) for c in comparisons if c.asked.role != Role.WATCH]
    first = {c.rule for c in comparisons if c.asked.first}
    if any(reason.rule in first and reason.status == FAIL for reason in reasons):
        reasons = [
            reason if reason.rule in first and reason.status == FAIL else _undecided(reason)
            for reason in reasons
        ]
        faults = ()
    return in_order((*faults, *reasons))


def in_order(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """As a person should read them; alike ones as they stand."""
    order = (FAIL, INCONCLUSIVE, WAIVED, PASS, NOT_DECIDED, NOT_GATED)
    return tuple(sorted(reasons, key=lambda reason: order.index(reason.status)))


def _waive(reason: Reason, waivers: Mapping[str, str]) -> Reason:
    if reason.status != FAIL or reason.rule not in waivers:
        return reason
    text = f"{reason.message}; waived: {waivers[reason.rule]}"
    return Reason(reason.rule, WAIVED, reason.metric, reason.observed, reason.required, text)


def _undecided(reason: Reason) -> Reason:
    text = "reported, not decided: a rule that comes first has failed"
    return Reason(reason.rule, NOT_DECIDED, reason.metric, reason.observed, reason.required, text)


def outcome(reasons: Iterable[Reason]) -> Status:
    """This cycle by itself: fail if any rule fails, else inconclusive if any is, else pass."""
    statuses = {reason.status for reason in reasons}
    if FAIL in statuses:
        return FAIL
    return INCONCLUSIVE if INCONCLUSIVE in statuses else PASS

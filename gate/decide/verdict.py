"""Everything measured -> each rule's answer: the gate's truth table. Nothing is computed or read here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.compare.model import Comparison, SignTest, at_least
from gate.values import Status
from gate.words import number, p_value, signed, span

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


def judge(comparison: Comparison) -> Reason:
    """One comparison's status. Both readings of failed runs must agree, else the answer is inconclusive."""
    reason = _TABLE[comparison.mode](comparison)
    if comparison.same_run and comparison.gated:
        return _reason(comparison, INCONCLUSIVE, reason.required, SAME_RUN)
    if comparison.other is None:
        return reason
    other = _TABLE[comparison.mode](comparison.other)
    if other.status == reason.status:
        return reason
    text = (
        f"{comparison.metric}: {reason.status} when failed runs are read as {comparison.reading} "
        f"({comparison.found()}), {other.status} when they are read as "
        f"{comparison.other.reading} ({comparison.other.found()}): {FAILED_RUNS_DECIDE}"
    )
    return Reason(comparison.rule, INCONCLUSIVE, comparison.metric, reason.observed, reason.required, text)


def _gating(c: Comparison) -> Reason:
    assert c.bound is not None
    tested = c.margin_rule == "tested"
    required = (
        f"gain above {number(c.bound)} shown at level {c.level:g}"
        if tested
        else f"gain of at least {number(c.bound)} observed, and above 0 at level {c.level:g}"
    )
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    assert c.delta is not None
    assert c.interval is not None
    if c.suspect_gain is not None and c.delta > c.suspect_gain:
        text = f"a gain of {signed(c.delta)} is larger than {number(c.suspect_gain)}: "
        return _reason(c, INCONCLUSIVE, required, text + "check extractor, leakage and judge")
    if _significant(c) and at_least(c.delta, c.bound):
        flaky = _on_flaky_items(c)
        if flaky:
            return _reason(c, INCONCLUSIVE, required, flaky)
        return _reason(c, PASS, required, f"{c.metric} is better by {signed(c.delta)} {_evidence(c)}")
    if c.worse:
        return _reason(c, FAIL, required, f"{c.metric} is worse by {number(-c.delta)} {_evidence(c)}")
    if c.interval.high < c.bound:
        kind = "real but below" if c.interval.low > 0 else "below"
        return _reason(c, FAIL, required, f"the gain in {c.metric} is {kind} the margin {_evidence(c)}")
    return _reason(c, INCONCLUSIVE, required, _no_claim(c, tested=tested))


def _on_flaky_items(c: Comparison) -> str:
    """Why the gain does not count where too much of it lies on items that do not reproduce."""
    share = c.flaky.get("delta_share")
    if c.max_flaky_share is None or (share is not None and at_least(c.max_flaky_share, share)):
        return ""
    if share is None:
        return (
            "the share of the gain on flaky items is not known: it takes pass/fail results of 4 runs an item"
        )
    text = f"{share:.0%} of the gain lies on flaky items, more than items.max_flaky_share"
    return f"{text} {number(c.max_flaky_share)}: score these items more often, or repair them"


def _non_inferior(c: Comparison) -> Reason:
    required = f"a loss above {number(c.bound)} ruled out at level {c.level:g}"
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    if _significant(c):
        return _reason(c, PASS, required, f"{c.metric} loses less than {number(c.bound)} {_evidence(c)}")
    if c.worse:
        return _reason(c, FAIL, required, f"{c.metric} is worse {_evidence(c)}")
    return _reason(c, INCONCLUSIVE, required, f"a loss of {number(c.bound)} is not ruled out {_evidence(c)}")


def _no_regression(c: Comparison) -> Reason:
    required = f"no significant loss at level {c.level:g}"
    if not c.gated:
        return _reason(c, NOT_GATED, required, c.insufficient or "reported, not gated")
    if c.p_value is None or math.isnan(c.p_value):  # NaN is below no level, and would pass
        return _reason(c, INCONCLUSIVE, required, c.insufficient or "nothing could be tested")
    p = c.p_value if c.p_adjusted is None else c.p_adjusted
    if p < c.level:
        return _reason(c, FAIL, required, f"{c.metric} is significantly worse {_evidence(c)}")
    if c.sign_test is not None and c.sign_test.p < c.level and c.delta is not None and c.delta < 0:
        text = f"{sign_words(c.sign_test)}, and {c.metric} is worse on the whole {_evidence(c)}"
        return _reason(c, FAIL, required, text)
    if not can_fire(c):
        return _reason(c, INCONCLUSIVE, required, cannot_fire_words(c))
    if c.detect is not None and (c.mde is None or c.mde > c.detect):
        seen = "unknown" if c.mde is None else f"{number(c.mde)}, above {number(c.detect)}"
        text = f"no loss is shown, but the smallest loss this set can see is {seen}"
        return _reason(c, INCONCLUSIVE, f"a loss of {number(c.detect)} would be seen", text)
    return _reason(c, PASS, required, f"no significant loss in {c.metric} {_evidence(c)}")


def can_fire(c: Comparison) -> bool:
    """Whether a veto could reject at its corrected level if every item, cluster or seed lost."""
    return c.clean_sweep is None or c.clean_sweep < c.level


def cannot_fire_words(c: Comparison) -> str:
    """Why no result of this size could ever be a veto."""
    return (
        f"this veto cannot fire: even if {c.metric} got worse everywhere, p would be "
        f"{p_value(c.clean_sweep)}, not below {c.level:g}"
    )


def sign_words(found: SignTest) -> str:
    """What the sign test beside a veto on a mean has seen."""
    adjusted = "" if found.p_adjusted is None else "adjusted "
    return (
        f"{found.worse:,} of the {found.changed:,} that changed got worse (sign test, {adjusted}p "
        f"{p_value(found.p)})"
    )


def _limit(c: Comparison) -> Reason:
    low, high = c.bound, c.upper_bound
    required = " and ".join(
        [f"at least {number(low)}"] * (low is not None) + [f"at most {number(high)}"] * (high is not None)
    ) + (f", proven at level {c.level:g}" if c.proven else "")
    if c.candidate is None:
        return _reason(c, INCONCLUSIVE, required, c.insufficient or f"no value of {c.metric}")
    ends = (c.candidate, c.candidate)
    if c.proven:
        if c.interval is None:
            return _reason(c, INCONCLUSIVE, required, c.insufficient or f"no interval for {c.metric}")
        ends = (c.interval.low, c.interval.high)
    shown = f"the candidate's {c.metric} is {number(c.candidate)}"
    shown += f" ({number(ends[0])} to {number(ends[1])})" if c.proven else ""
    if (high is not None and not at_least(high, ends[0])) or (low is not None and not at_least(ends[1], low)):
        return _reason(c, FAIL, required, f"{shown}, beyond the limit")
    if (high is None or at_least(high, ends[1])) and (low is None or at_least(ends[0], low)):
        return _reason(c, PASS, required, f"{shown}, within the limit")
    why = c.insufficient or "the interval straddles the limit"
    return _reason(c, INCONCLUSIVE, required, f"{shown}: {why}")


def _churn(c: Comparison) -> Reason:
    assert c.upper_bound is not None
    required = f"at most {number(c.upper_bound)} of the items lost"
    if c.share is None:
        return _reason(c, INCONCLUSIVE, required, "no pairs")
    text = f"{number(c.share)} of the items got worse in {c.metric}"
    return _reason(c, PASS if at_least(c.upper_bound, c.share) else FAIL, required, text)


def _slice_non_inferior(c: Comparison) -> Reason:
    if not c.gated:
        return _reason(c, NOT_GATED, "", c.insufficient or "reported, not gated")
    return _non_inferior(c)


def _must_pass(c: Comparison) -> Reason:
    required = "no must-pass item newly failing"
    if c.insufficient:
        return _reason(c, INCONCLUSIVE, required, c.insufficient)
    lost = c.only_baseline
    assert lost is not None
    text = f"{lost} of {c.n} must-pass items newly fail" if lost else f"all {c.n} must-pass items hold"
    return _reason(c, FAIL if lost else PASS, required, text)


_TABLE = {
    "gating": _gating,
    "non_inferior": _non_inferior,
    "no_regression": _no_regression,
    "limit": _limit,
    "churn": _churn,
    "slice_no_regression": _no_regression,
    "slice_non_inferior": _slice_non_inferior,
    "must_pass": _must_pass,
}


def _significant(c: Comparison) -> bool:
    """The interval is above the null value and the (adjusted) p below the level: one event, asked twice."""
    p = c.p_value if c.p_adjusted is None else c.p_adjusted
    return p is not None and p < c.level and bool(c.clears_bound)


def _no_claim(c: Comparison, *, tested: bool) -> str:
    assert c.delta is not None
    assert c.bound is not None
    if not tested and not at_least(c.delta, c.bound):
        return f"a gain of the margin is neither observed ({signed(c.delta)}) nor ruled out {_evidence(c)}"
    floor = number(c.bound) if tested and c.bound else "0"
    return f"a gain above {floor} is not shown {_evidence(c)}"


def _evidence(c: Comparison) -> str:
    if c.interval is None:
        return ""
    p = c.p_value if c.p_adjusted is None else c.p_adjusted
    adjusted = "" if c.p_adjusted is None else " adjusted"
    return f"(interval {span(c.interval.low, c.interval.high)}, one-sided{adjusted} p {p_value(p)})"


def _reason(c: Comparison, status: Status, required: str, message: str) -> Reason:
    observed = {
        "limit": number(c.candidate),
        "churn": number(c.share),
        "must_pass": f"{c.only_baseline} newly failing",
    }.get(c.mode, signed(c.delta))
    return Reason(c.rule, status, c.metric, observed, required, message.strip())


def decided(
    comparisons: Sequence[Comparison], faults: Iterable[Reason] = (), waivers: Mapping[str, str] | None = None
) -> tuple[Reason, ...]:
    """Every rule's reason, in the order a person should read them.

    A failing ``first`` guardrail ends the matter: the others are reported as not decided. faults: reasons
    that come from the history (a window that is not fresh, a set that shrank). waivers: rule -> who accepts
    its failure and until when.
    """
    reasons = [_waive(judge(c), waivers or {}) for c in comparisons if c.role != "watch"]
    first = {c.rule for c in comparisons if c.first}
    if any(reason.rule in first and reason.status == FAIL for reason in reasons):
        reasons = [
            reason if reason.rule in first and reason.status == FAIL else _undecided(reason)
            for reason in reasons
        ]
        faults = ()
    order = (FAIL, INCONCLUSIVE, WAIVED, PASS, NOT_DECIDED, NOT_GATED)
    return tuple(sorted((*faults, *reasons), key=lambda reason: order.index(reason.status)))


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

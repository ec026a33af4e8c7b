"""One sentence that tells a person what to do next, from a decided comparison."""

from __future__ import annotations

from collections.abc import Sequence

from gate.cycles.assess import NOT_WINNER, CycleState
from gate.decide.verdict import FAIL, FAILED_RUNS_DECIDE, INCONCLUSIVE, WAIVED, Reason
from gate.measure.core import SAME_FILE
from gate.measure.model import Comparison, Margin, Tested, Untested
from gate.measure.words import count, number


def next_step(
    state: CycleState, reasons: Sequence[Reason], comparisons: Sequence[Comparison], min_items: int
) -> str:
    """The most useful single thing to do about this verdict. min_items: fewer are never enough."""
    verdict = state.verdict
    if verdict == "promote":
        waived = [reason for reason in reasons if reason.status == WAIVED]
        if waived:
            return f"release only as the waiver allows: {waived[0].rule} failed, {waived[0].message}"
        return "release the candidate, and publish the interval with it"
    if verdict == "hold":
        return _held(state)
    status = FAIL if verdict == "block" else INCONCLUSIVE
    reason = next((r for r in reasons if r.status == status), None)
    if reason is None:
        return "read the reasons"
    match next((c for c in comparisons if c.rule == reason.rule), None):
        case (Tested(wanted=Margin() as margin) | Untested(wanted=Margin() as margin)) as gating:
            if verdict == "block":
                return _gating_blocked(gating, margin)
            return _gating_open(gating, margin, reason, min_items)
    return f"{reason.rule.replace(':', ' ')}: {reason.message}"


def _held(state: CycleState) -> str:
    if not (state.recorded or state.replayed):
        return "run again with a history that can be written: this cycle is not recorded and does not count"
    if state.held:
        return f"{state.held}: find out why, score the baseline again, or say that it is another system"
    if any(caution.code == NOT_WINNER for caution in state.cautions):
        return "release the winner, not this candidate"
    missing = state.required - state.passed
    if missing > 0:
        return f"{count(missing, 'more passing cycle')} before the candidate may be released"
    return "at least 1 more passing cycle: the sign-flip test over the cycles does not pass yet"


def _gating_blocked(c: Tested | Untested, margin: Margin) -> str:
    if isinstance(c, Tested) and c.evidence.worse:
        return f"do not release: {c.asked.named} got worse; look at the lost items first"
    return (
        f"do not release: the gain in {c.asked.named} is smaller than the margin {number(margin.amount)} "
        "that was agreed to be worth a release"
    )


def _gating_open(c: Tested | Untested, margin: Margin, reason: Reason, min_items: int) -> str:
    if c.other is not None and reason.message.endswith(FAILED_RUNS_DECIDE):
        return "repair the failed runs and score these items again"
    if isinstance(c, Untested):
        return "score both systems on the same items"
    if margin.suspect_gain is not None and c.delta > margin.suspect_gain:
        return "check extractor, leakage and judge before you believe this gain"
    if c.clusters.get("labelled") and "clusters" in c.insufficient:
        return f"score items of more clusters: {c.insufficient}; more items of the same ones do not help"
    if c.insufficient == SAME_FILE:
        return "give the results of two systems: the same file was given as baseline and as candidate"
    new = _items_to_score(c, margin, min_items)
    if new is not None and c.delta < margin.amount / 2:
        return (
            f"no gain near the margin {number(margin.amount)} was observed: more items need not help, the "
            f"candidate must get better ({count(new, 'new item')} would say whether it is out of reach)"
        )
    if new is not None and c.n < min_items:  # nothing could be claimed, so the same set may grow
        return f"score about {count(new - c.n, 'more item')}"
    if new is not None:
        return f"score about {count(new, 'new item')} {ALONE}"
    return _no_more_items(c, margin)


ALONE = "and look at them alone: this look has used its whole level"
"""Old and new items together at the same level would promote by luck nearly twice as often as is claimed."""


def _items_to_score(c: Tested, margin: Margin, min_items: int) -> int | None:
    """How many new items give a look at them alone 80 % power, or None where a larger set need not help."""
    needed = c.visible.items_needed
    if needed is None or (c.delta <= 0 and not margin.amount):
        return None  # with margin 0 the items needed are those that would show what was observed: no gain
    new = max(needed, min_items)
    return new if new > c.n else None


def _no_more_items(c: Tested, margin: Margin) -> str:
    """Why a larger set is not the answer."""
    if not (c.sides.better or c.sides.worse):
        return (
            "the two systems never differ on these items: score other items, or accept that nothing changed"
        )
    if c.insufficient:
        return f"{c.insufficient}; this set cannot carry the claim"
    if c.delta <= 0:
        metric = c.asked.named
        return f"no gain was observed in {metric}: more items need not help, the candidate must get better"
    if c.delta < margin.amount:
        return (
            f"the observed gain is below the margin {number(margin.amount)}: this set is large enough to see "
            "the margin, so more items need not help, the candidate must get better"
        )
    return "the set is as large as planned and still undecided: a fresh set of items may decide"

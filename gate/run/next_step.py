"""What to do about a verdict: one imperative with a number or a place to look, never the reason again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from gate.cycles.assess import NOT_WINNER, CycleState
from gate.decide.verdict import FAIL, FAILED_RUNS_DECIDE, INCONCLUSIVE, SAME_RUN, WAIVED, Reason
from gate.measure.words import count
from gate.report import voice
from gate.report.model import Changes, Comparison, Gating
from gate.report.statements import name_of
from gate.report.statements import outcome as outcome_of
from gate.safe import examples
from gate.values import Direction, Mode


def next_step(
    state: CycleState,
    reasons: Sequence[Reason],
    blocks: Sequence[Comparison],
    changes: Changes,
    min_items: int,
) -> str:
    """The most useful single thing to do. min_items: fewer are never enough."""
    gating = next(block for block in blocks if isinstance(block, Gating))
    if state.verdict == "promote":
        return _release(gating, reasons)
    if state.verdict == "hold":
        return _held(state)
    status = FAIL if state.verdict == "block" else INCONCLUSIVE
    open_ = [reason for reason in reasons if reason.status == status]
    if not open_:
        return "read the reasons"
    block = next((block for block in blocks if block.rule == open_[0].rule), None)
    if status == FAIL:
        text = _blocked(open_[0], block, changes)
    else:
        text = _open(open_[0], block, changes, min_items)
    return text if len(open_) == 1 else f"{text}; then see to {count(len(open_) - 1, 'more rule')}"


def _release(gating: Gating, reasons: Sequence[Reason]) -> str:
    waived = [reason for reason in reasons if reason.status == WAIVED]
    if waived:
        rules = examples([reason.rule for reason in waived])
        return (
            f"release it as the waiver allows, and repair {rules} ({waived[0].message.rpartition('; ')[2]})"
        )
    change = voice.size(gating)
    if any(caution.code == "gain_on_flaky_items" for caution in gating.cautions):
        flaky = gating.flaky
        where = f"{voice.share(flaky.delta_share)} of it lies on {count(flaky.flagged or 0, 'flaky item')}"
        return f"release it; do not quote {change}: {where}"
    if gating.seed_reading == "sign_only" and gating.mde is not None:
        seen = f"{count(gating.n, 'item')} show gains from {voice.amount(gating.mde, gating)}"
        return f"release it; quote the interval, not {change}: {seen}"
    quote = f"{name_of(gating)} {voice.moved(gating)}, {voice.change(gating)}, {count(gating.n, 'item')}"
    return f'release it; quote "{quote}"'


def _held(state: CycleState) -> str:
    if not (state.recorded or state.replayed):
        return "run again with a history that can be written: this cycle is not recorded and does not count"
    if state.held:
        return f"{state.held}: find out why, score the baseline again, or say that it is another system"
    if any(caution.code == NOT_WINNER for caution in state.cautions):
        return "release the winner, not this candidate"
    missing = state.required - state.passed
    where = " on new items" if state.scope == "fresh windows" else ""
    if missing > 0:
        return f"collect {count(missing, 'more passing cycle')}{where}, with this policy and history"
    return "collect at least 1 more passing cycle: the sign-flip test over the cycles does not pass yet"


def _blocked(reason: Reason, block: Comparison | None, changes: Changes) -> str:
    if block is None:
        return f"look into {reason.rule}: {reason.message}"
    outcome = outcome_of(reason, block)
    if outcome == "gating worse":
        return _read_lost(block, changes)
    repair = _REPAIRS.get(outcome or block.mode)
    return f"look into {reason.rule}: {reason.message}" if repair is None else repair(block)


def _read_lost(block: Comparison, changes: Changes) -> str:
    if not changes.lost_count:
        return f"keep the baseline: {name_of(block)} got worse"
    return (
        f"keep the baseline, and read the {count(changes.lost_count, 'item')} that got worse in "
        f"{name_of(block)} (`worse` in flips.csv)"
    )


def _gain_more(block: Comparison) -> str:
    missing = (block.bound or 0.0) - (block.delta or 0.0)
    return (
        f"keep the baseline, or improve {name_of(block)} by {voice.amount(missing, block)} more; "
        "more items do not help"
    )


def _bring_within(block: Comparison) -> str:
    """The value that this set could show to be within the tolerance; how many items would show today's."""
    bound, mde, delta = block.bound or 0.0, block.mde, block.delta or 0.0
    ways = []
    if block.baseline is not None and mde is not None and mde < bound:
        ways.append(
            f"bring {name_of(block)} to {_at(block, bound - mde)}, which {count(block.n, 'item')} can clear"
        )
    if block.items_needed and bound > 0 and delta > -bound:
        new = math.ceil(block.items_needed * (bound / (bound + delta)) ** 2)
        if block.n < new < 10_000_000:
            ways.append(f"score about {_units(block, new)} {ALONE}")
    return ", or ".join(ways) or f"bring {name_of(block)} back to {voice.value(block.baseline, block)}"


def _bring_below(block: Comparison) -> str:
    least = _at(block, block.bound or 0.0)
    return f"bring {name_of(block)} from {voice.value(block.candidate, block)} to {least}"


def _at(block: Comparison, loss: float) -> str:
    """The level at which so much is lost."""
    sign = 1.0 if block.direction == Direction.LOWER else -1.0
    words = "at most" if sign > 0 else "at least"
    return f"{words} {voice.value((block.baseline or 0.0) + sign * loss, block)}"


def _to_the_limit(block: Comparison) -> str:
    return f"bring {name_of(block)} from {voice.value(block.candidate, block)} to {voice.asked(block)}"


def _repair(block: Comparison) -> str:
    lost = "" if block.discordant is None else f": it lost {count(block.discordant.only_baseline, 'item')}"
    return f"repair {name_of(block)}{lost}"


def _win_back(block: Comparison) -> str:
    allowed = math.floor((block.upper_bound or 0.0) * block.n + 1e-9)
    lost = round((block.share or 0.0) * block.n)
    return f"win back {lost - allowed:,} of the {count(lost, 'lost item')}: {voice.asked(block)} may be lost"


def _must_hold(block: Comparison) -> str:
    lost = block.discordant.only_baseline if block.discordant else 0
    return (
        f"repair the {count(lost, 'must-pass item')} that newly fail"
        if lost
        else "repair the must-pass items"
    )


_REPAIRS: Mapping[str, Callable[[Comparison], str]] = {
    "gating small": _gain_more,
    "gating real": _gain_more,
    "non_inferior worse": _bring_within,
    "non_inferior beyond": _bring_below,
    "veto fail": _repair,
    Mode.NO_REGRESSION: _repair,
    Mode.SLICE_NO_REGRESSION: _repair,
    "limit fail": _to_the_limit,
    "churn fail": _win_back,
    Mode.MUST_PASS: _must_hold,
}


def _open(reason: Reason, block: Comparison | None, changes: Changes, min_items: int) -> str:
    if reason.message == SAME_RUN:
        return "give the results of two systems: the same file was given as baseline and as candidate"
    if reason.message.endswith(FAILED_RUNS_DECIDE):
        return "repair the failed runs and score these items again"
    if block is None:
        return f"clear up {reason.rule.replace(':', ' ')}: {reason.message}"
    if block.clusters and block.clusters.get("labelled") and "clusters" in (block.insufficient or ""):
        return f"score items of more clusters: {block.insufficient}; more items of the same ones do not help"
    if block.n < min_items and block.insufficient:
        return f"score {count(min_items - block.n, 'more item')}: {block.insufficient}"
    if block.delta is not None and block.mode == Mode.NON_INFERIOR and not block.insufficient:
        return _bring_within(block)
    if block.detect and block.mde and block.mde > block.detect:
        new = math.ceil(block.n * (block.mde / block.detect) ** 2)
        loss = voice.amount(block.detect, block)
        return f"score about {_units(block, new)}, which can show a loss of {loss}"
    if isinstance(block, Gating):
        return _gating_open(reason, block, changes, min_items)
    return f"clear up {reason.rule.replace(':', ' ')}: {reason.message}"


def _gating_open(reason: Reason, c: Gating, changes: Changes, min_items: int) -> str:
    if c.delta is None:
        return "score both systems on the same items"
    if reason.message.endswith("check extractor, leakage and judge"):
        ids = examples([change.id for change in changes.gained])
        return f"check extractor, leakage and judge on items that gained: {ids}"
    margin, delta = c.margin or 0.0, c.delta
    new = _items_to_score(c, min_items)
    if new is None:
        return _no_more_items(c, changes)
    least = voice.amount(margin, c)
    if delta < margin / 2:
        return (
            f"improve {name_of(c)}: no gain near {least} was observed, so more items need not "
            f"help ({_units(c, new)} would say whether it is out of reach)"
        )
    enough = _enough_for_what_was_seen(c)
    if enough is None or enough >= new:
        return f"score about {_units(c, new)} {ALONE}"
    seen = f"{_units(c, max(enough, min_items))} if you believe in {voice.amount(delta, c)}"
    return f"score about {seen}, or {new:,} to see as little as {least}, {ALONE}"


def _units(c: Comparison, items: int) -> str:
    """New items, or new clusters as large as these: more items of the same clusters say little."""
    if not c.clusters or not c.clusters.get("labelled"):
        return count(items, "new item")
    clusters = math.ceil(items * int(c.clusters["n_clusters"]) / c.n)
    return f"{count(clusters, 'new cluster')} ({count(items, 'item')})"


ALONE = "and look at them alone: this look has used its whole level"
"""Old and new items together at the same level would promote by luck nearly twice as often as is claimed."""


def _enough_for_what_was_seen(c: Gating) -> int | None:
    """Items that would show a true gain of what was observed."""
    margin, delta = c.margin or 0.0, c.delta or 0.0
    if not (c.items_needed and 0 < margin < delta):
        return None
    return math.ceil(c.items_needed * (margin / delta) ** 2)


def _items_to_score(c: Gating, min_items: int) -> int | None:
    """How many new items give a look at them alone 80 % power, or None where a larger set need not help."""
    if c.items_needed is None or ((c.delta or 0.0) <= 0 and not c.margin):
        return None  # with margin 0 the items needed are those that would show what was observed: no gain
    new = max(c.items_needed, min_items)
    return new if new > c.n else None


def _no_more_items(c: Gating, changes: Changes) -> str:
    """Why a larger set is not the answer."""
    if not (changes.gained_count or changes.lost_count):
        return f"score other items, or accept that nothing changed: the two never differ on these {c.n:,}"
    if c.insufficient:
        return f"score another set: {c.insufficient}, so this one cannot carry the claim"
    margin, delta = c.margin or 0.0, c.delta or 0.0
    if delta <= 0:
        return f"improve {name_of(c)}: no gain was observed, and more items need not help"
    if delta < margin:
        missing = voice.amount(margin - delta, c)
        return f"improve {name_of(c)} by {missing} more: more items need not help, these can see the margin"
    return "score a fresh set of items: this one is as large as planned and still undecided"

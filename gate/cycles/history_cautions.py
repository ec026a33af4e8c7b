"""What a long memory is for: shrinking item sets, lucky winners as baselines, rules younger than the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from gate.cycles.attempt import Attempt
from gate.cycles.chain import History
from gate.cycles.record import Record, Scalar
from gate.safe import quoted
from gate.values import Caution

VOIDS_TO_FLAG = 3
FALL_P = 0.01
"""Two-sided: how seldom two runs of one system may differ that much."""


def items_shrank(promoted: Sequence[Record], attempt: Attempt) -> Caution | None:
    """A fault: fewer items than in the last promoted cycle, so hard items may have been left out.

    promoted: the last promotion, or the last one of each branch.
    """
    before = max((record.holdout["n"] for record in promoted), default=0)
    if attempt.items.n >= before:
        return None
    text = f"{attempt.items.n} items, but the last promoted cycle had {before}"
    return Caution("items_shrank", f"{text}: restore the items, or allow it with items.may_shrink")


def baseline_is_winner(history: History, attempt: Attempt) -> Caution | None:
    """The baseline's scores are those of a run that won on these items: winners are lucky on them."""
    for record in history.records:
        if record.status == "pass" and _is_win(record, attempt):
            text = f"the baseline is the very run that won in cycle {quoted(record.cycle)} on these items"
            return Caution("baseline_is_winning_run", f"{text}: winners are lucky, so score it again")
    return None


def _is_win(record: Record, attempt: Attempt) -> bool:
    same_scores = attempt.is_side("baseline", record.identities["candidate"])
    same_items = record.holdout["digest"] == attempt.items.digest
    return same_scores and same_items and record.metric == attempt.metric


def policy_is_younger(
    records: Sequence[Record], series: Sequence[Record], attempt: Attempt
) -> Caution | None:
    """The results are older than the rule they are judged by. Times are claims, so this never decides."""
    data = moment(attempt.artifacts_time)
    rule = _known_since(records, attempt) or _not_in_force_before(series, attempt)
    if data is None or rule is None or data >= rule:
        return None
    text = f"{_ran(attempt)}, before this deciding policy is known to exist"
    return Caution("policy_younger_than_data", f"{text}: a rule is to be written before results come in")


def policy_not_first(records: Sequence[Record], attempt: Attempt) -> Caution | None:
    """A fault under ``cycles.policy_first``: the results are older than the policy, or nobody can tell."""
    data, rule = moment(attempt.artifacts_time), _known_since(records, attempt)
    if data is None or not attempt.dated:
        text = "not all result files say when they ran; give files of a tool that does"
    elif rule is None:
        text = (
            "it is not known since when this deciding policy exists; commit it and check out the whole "
            "history (fetch-depth: 0), or keep a history; then score again"
        )
    elif data < rule:
        known = rule.astimezone(UTC).isoformat()
        text = f"{_ran(attempt)}, and this deciding policy is known since {known}; score again"
    else:
        return None
    return Caution("policy_not_first", f"cycles.policy_first wants a policy older than the results: {text}")


def _ran(attempt: Attempt) -> str:
    return f"the results ran at {attempt.artifacts_time[:40]!a}"


def _known_since(records: Sequence[Record], attempt: Attempt) -> datetime | None:
    """The earlier of the commit of the policy's deciding part and of the history's first record of it."""
    own = [record.time for record in records if record.decision_digest == attempt.decision_digest]
    times = [when for text in (attempt.policy_time, *own) if (when := moment(text)) is not None]
    return min(times, default=None)


def _not_in_force_before(series: Sequence[Record], attempt: Attempt) -> datetime | None:
    """On a policy's first look: the last record of another one that was in force before."""
    if any(record.decision_digest == attempt.decision_digest for record in series):
        return None
    return max((when for record in series if (when := moment(record.time)) is not None), default=None)


def moment(text: str) -> datetime | None:
    """The ISO text as a time, UTC where it names no zone; None if it is none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def voids_in_a_row(series: Sequence[Record]) -> Caution | None:
    """Runs that break off for technical reasons leave the streak alone; many of them deserve a look."""
    count = 0
    for record in reversed(series):
        if record.kind == "void":
            count += 1
        elif record.kind in {"outcome", "promotion"}:
            break
    if count < VOIDS_TO_FLAG:
        return None
    text = f"the last {count} runs broke off before anything was measured"
    return Caution("voids_in_a_row", f"{text}: find out why before trusting a pass")


def baseline_fell(
    series: Sequence[Record], attempt: Attempt, result: Mapping[str, Scalar], *, shown: bool
) -> Caution | None:
    """The baseline does worse than two runs of one system would differ by: the gain may be its loss.

    Two independent runs differ by sqrt(se1^2 + se2^2); on the same items by less, so this errs to silence.
    It is compared with its last cycle that had not fallen already, so that a lasting fall stays one.
    """
    now = _mean_and_error(result)
    before = [r for r in series if r.kind == "outcome" and _same_baseline(r, attempt)]
    known = [(r, past) for r in before if (past := _mean_and_error(r.result)) is not None]
    if now is None or not known:
        return None
    record, past = known[-1]
    drop = now[0] - past[0] if attempt.metric.endswith(":lower") else past[0] - now[0]
    noise = math.hypot(now[1], past[1])
    if drop <= 0 or (noise > 0 and math.erfc(drop / noise / math.sqrt(2)) >= FALL_P):
        return None
    numbers = f", from {past[0]:.4g} to {now[0]:.4g}" if shown else ""
    text = f"the baseline fell since cycle {quoted(record.cycle)}{numbers}, by more than two runs of one"
    items = "" if record.holdout["digest"] == attempt.items.digest else ", or the items are harder"
    return Caution("baseline_fell", f"{text} system would (p < {FALL_P:g}): the gain may be its loss{items}")


def _same_baseline(record: Record, attempt: Attempt) -> bool:
    """The last cycle to compare with: not one of another system, nor one in which it had fallen already."""
    one, other = record.baseline["id"], attempt.baseline_id
    return "baseline_fell" not in record.alarms and not (one and other and one != other)


def _mean_and_error(result: Mapping[str, Scalar]) -> tuple[float, float] | None:
    mean, error = result.get("baseline_mean"), result.get("baseline_se")
    if not isinstance(mean, int | float) or not isinstance(error, int | float):
        return None
    return float(mean), float(error)

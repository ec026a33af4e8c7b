"""One sentence for each rule and outcome: the whole table, so that every page says the same of the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gate.decide.verdict import FAILED_RUNS_DECIDE, SAME_RUN, Reason
from gate.measure.words import count
from gate.policy.kinds import metric_words
from gate.report import voice
from gate.report.model import Comparison, Gating, Report
from gate.values import Mode, Role, Status

SENTENCES: Mapping[str, str] = {
    "gating pass": "{metric} {moved}, {change}; {asked} was asked for, and it is {proof}",
    "gating worse": "{metric} got worse: {moved}, {change}; {asked} was asked for",
    "gating small": "{metric} {moved}, {change}; below the {bound} that was asked for, whatever is true",
    "gating real": "{metric} {moved}, {change}: real but below the margin, {bound} was asked for",
    "gating no sign": "{metric} {moved}, {change}; {items} cannot tell that from no gain",
    "gating sign": "{metric} is better, {moved}, {change}, but {bound} is not reached and not ruled out",
    "gating unproven": "{metric} {moved}, {change}; {bound} is not proven: it could be as little as {worst}",
    "non_inferior pass": "{metric} {moved}, {change}; {asked} is allowed",
    "non_inferior open": "{metric} {moved}, {change}; {asked} is allowed, and more is not ruled out: "
    "could be {worst}",
    "non_inferior worse": "{metric} {moved}, {change}; worse for sure, and over {allowed} is not ruled out: "
    "could be {worst}",
    "non_inferior beyond": "{metric} {moved}, {change}; more than the {allowed} that is allowed",
    "veto pass": "no loss of {metric} shown: {moved}, {change}{unseen}",
    "veto fail": "{metric} got worse: {moved}, {change}, {p} {question}{family}",
    "limit pass": "{metric} {shown}; {asked} was asked for",
    "limit fail": "{metric} {shown}; {asked} was asked for",
    "limit open": "{metric} {shown}, and could be {limit_worst}; {asked} must be proven",
    "churn pass": "{lost} of {items} got worse in {metric} ({share}); {asked} is allowed",
    "churn fail": "{lost} of {items} got worse in {metric} ({share}); {asked} is allowed",
    "veto blind": "no loss of {metric} shown, but one of {missed}, more than the {detect} you asked to see, "
    "can go unseen",
    "data": "{metric}: {insufficient}; nothing is claimed",
    "watch worse": "{metric} {moved}, {change}; nothing guards it",
    "watch changed": "{metric} changed: {moved}, {change}; nothing guards it",
    "watch better": "{metric} {moved}, {change}; better",
    "watch flat": "{metric} {moved}, {change}; no change shown",
}


def statement(reason: Reason, report: Report) -> str:
    """What one rule found. Where the table has no sentence for it (history, readings), its own message."""
    block = block_of(reason.rule, report)
    key = None if block is None else outcome(reason, block)
    if key is None or block is None:
        return reason.message
    text = SENTENCES[key].format_map(_Words(block, report))
    if reason.status == Status.WAIVED:
        return f"{text}; {reason.message.rpartition('; ')[2]}"
    return text


def watched(block: Comparison, report: Report) -> str:
    """What a watched metric did."""
    return SENTENCES[f"watch {moved_word(block, report)}"].format_map(_Words(block, report))


def block_of(rule: str, report: Report) -> Comparison | None:
    """The comparison of a rule."""
    blocks = (report.gating, *report.guardrails, *report.slices)
    return next((block for block in blocks if block.rule == rule), None)


def outcome(reason: Reason, block: Comparison) -> str | None:
    """The key of the sentence; None where the reason's own message says it."""
    status = Status.FAIL if reason.status == Status.WAIVED else reason.status
    if status not in {Status.PASS, Status.FAIL, Status.INCONCLUSIVE} or not _measured(block):
        return None
    message = reason.message
    if status == Status.INCONCLUSIVE and (message == SAME_RUN or message.endswith(FAILED_RUNS_DECIDE)):
        return None
    kind = _KINDS[block.mode]
    if status == Status.INCONCLUSIVE and message == block.insufficient and kind != "limit":
        return "data"
    return _OUTCOMES[kind](status, block)


def _measured(block: Comparison) -> bool:
    needed = {Mode.LIMIT: block.candidate, Mode.CHURN: block.share}.get(block.mode, block.delta)
    tested = block.mode in {Mode.LIMIT, Mode.CHURN} or block.interval is not None
    return needed is not None and tested and block.mode in _KINDS


def _gating(status: Status, block: Comparison) -> str | None:
    low, high = _ends(block)
    if status == Status.PASS:
        return "gating pass"
    if status == Status.FAIL:
        if high is not None and high < 0:
            return "gating worse"
        return "gating real" if low is not None and low > 0 else "gating small"
    if not isinstance(block, Gating) or block.margin_rules.observed is None:
        return None
    passed = block.margin_rules.tested if block.margin_rule == "tested" else block.margin_rules.observed
    if passed:  # the numbers pass, and something else keeps it open: a suspect gain, flaky items
        return None
    if low is None or low <= 0:
        return "gating no sign"
    return "gating unproven" if block.margin_rules.observed else "gating sign"


def _non_inferior(status: Status, block: Comparison) -> str:
    if status == Status.PASS:
        return "non_inferior pass"
    if status == Status.INCONCLUSIVE:
        return "non_inferior open"
    high, bound = _ends(block)[1], block.bound
    beyond = high is not None and bound is not None and high < -bound
    return "non_inferior beyond" if beyond else "non_inferior worse"


def _veto(status: Status, block: Comparison) -> str | None:
    if status == Status.FAIL:
        by_signs = block.sign_test is not None and (block.p_adjusted or block.p_value or 0.0) >= block.level
        return None if by_signs else "veto fail"
    blind = block.detect is not None and block.mde is not None and block.mde > block.detect
    if status == Status.INCONCLUSIVE:
        return "veto blind" if blind else None
    return "veto pass"


def _limit(status: Status, block: Comparison) -> str | None:
    """Of a limit, and of a share lost; open without an interval, its own message says why."""
    kind = _KINDS[block.mode]
    if status == Status.INCONCLUSIVE:
        return None if block.interval is None else f"{kind} open"
    return f"{kind} {status}"


_KINDS = {
    Mode.GATING: "gating",
    Mode.NON_INFERIOR: "non_inferior",
    Mode.SLICE_NON_INFERIOR: "non_inferior",
    Mode.NO_REGRESSION: "veto",
    Mode.SLICE_NO_REGRESSION: "veto",
    Mode.LIMIT: "limit",
    Mode.CHURN: "churn",
}
_OUTCOMES: Mapping[str, Callable[[Status, Comparison], str | None]] = {
    "gating": _gating,
    "non_inferior": _non_inferior,
    "veto": _veto,
    "limit": _limit,
    "churn": _limit,
}


def moved_word(block: Comparison, report: Report) -> str:
    """``worse``, ``changed``, ``better`` or ``flat``: what a watched metric did, beyond chance."""
    codes = {c.code for c in block.cautions}
    if "watch_worse" in codes:
        return "worse"
    if "watch_changed" in codes:
        return "changed"
    low, p = _ends(block)[0], block.p_two_sided if block.p_adjusted is None else block.p_adjusted
    shown = p is not None and p < report.policy.alpha and low is not None and low > 0
    return "better" if shown and block.direction != "neutral" else "flat"


def name_of(block: Comparison) -> str:
    """The metric, with its slice."""
    where = block.rule.removeprefix("slice:")
    inside = f" in {where}" if block.role == Role.SLICE else ""
    items = f" on {block.set}" if block.set else ""
    return f"{metric_words(block.metric, block.kind)}{inside}{items}"


def _ends(block: Comparison) -> tuple[float | None, float | None]:
    return (None, None) if block.interval is None else (block.interval.low, block.interval.high)


class _Words(dict[str, str]):
    """The words of a sentence, each made when it is asked for."""

    def __init__(self, block: Comparison, report: Report) -> None:
        super().__init__()
        self.block, self.report = block, report

    def __missing__(self, key: str) -> str:
        return _family(self.block, self.report) if key == "family" else _MADE[key](self.block)


def _proof(block: Comparison) -> str:
    rules = block.margin_rules if isinstance(block, Gating) else None
    if not block.bound:
        return "shown"
    return "proven" if rules is not None and rules.tested else "reached, not proven"


def _limit_worst(block: Comparison) -> str:
    low, high = _ends(block)
    return voice.value(high if block.upper_bound is not None else low, block)


def _family(block: Comparison, report: Report) -> str:
    size = next((f.size for f in report.families if block.p_adjusted is not None), 0)
    return f" ({report.policy.correction or 'corrected'} over {size})" if size else ""


_MADE: Mapping[str, Callable[[Comparison], str]] = {
    "metric": name_of,
    "moved": voice.moved,
    "change": voice.change,
    "asked": voice.asked,
    "bound": lambda b: voice.asked(b).removeprefix("at least "),
    "allowed": voice.tolerance,
    "worst": voice.worst,
    "items": lambda b: count(b.n, "item"),
    "proof": _proof,
    "unseen": lambda b: "" if b.mde is None else f"; a loss under {voice.amount(b.mde, b)} can go unseen",
    "p": lambda b: voice.probability(b.p_value if b.p_adjusted is None else b.p_adjusted),
    "question": voice.question,
    "shown": voice.moved,
    "limit_worst": _limit_worst,
    "lost": lambda b: f"{b.discordant.only_baseline:,}" if b.discordant else voice.share(b.share),
    "share": lambda b: voice.share(b.share),
    "insufficient": lambda b: b.insufficient or "too few data",
    "missed": lambda b: voice.amount(b.mde or 0.0, b),
    "detect": lambda b: voice.amount(b.detect or 0.0, b),
}

"""What a report says, as plain sentences that every format shares. No markup, no escaping, no arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.decide.verdict import Reason
from gate.measure.words import count, number, p_value, signed
from gate.policy.kinds import KINDS, metric_words
from gate.report.figures import (
    amount,
    confidence,
    difference,
    percent,
    probability,
    span,
    whole,
)
from gate.report.model import (
    Change,
    Changes,
    Comparison,
    Distribution,
    ErrorFacts,
    Flaky,
    Gating,
    Report,
    Reports,
)
from gate.safe import cut
from gate.values import Caution, Kind, Status, Verdict

Line = tuple[str, str]

ICONS = {
    "promote": "\u2705",
    "block": "\u274c",
    "inconclusive": "\u2754",
    "hold": "\u23f3",
    "pass": "\u2705",
    "fail": "\u274c",
    "waived": "\u26a0\ufe0f",
    "not_decided": "\u2796",
    "not_gated": "\u2796",
    "reported": "\u2796",
    "error": "\u26a0\ufe0f",
}
READINGS = {
    "publish": "the sign is solid and the delta is at least the smallest gain this set can see: "
    "publish the interval",
    "sign_only": "sign solid, magnitude not; quote no headline number",
    "cannot_answer": "the interval includes 0: this set cannot answer",
}


WINDOWS = {
    "fresh": "no earlier look at these items is recorded",
    "overlap": "some of these items were looked at before",
    "reused": "these items were looked at before",
}

WARNINGS = frozenset(
    {"watch_worse", "watch_changed", "sentinel_values", "empty_answers", "limits_hit"}
    | {"rows_left_out_unequal", "errors_uneven", "status_on_one_side"}
)
"""Cautions that stand on top of every format."""


def warnings(cautions: Iterable[Caution]) -> list[str]:
    """What a person must have seen before acting on the verdict, although no rule decides it."""
    return [caution.message for caution in cautions if caution.code in WARNINGS]


def icon(word: str) -> str:
    """The sign that stands before a verdict or status word, never instead of it."""
    return ICONS.get(word, "\u2796")


def said(word: str) -> str:
    """A status as a person reads it: ``not_gated`` is ``not gated``."""
    return word.replace("_", " ")


def verdict(report: Report) -> str:
    """``promote``, with the waived rules where there are any; whether it decides anything."""
    text = _worded(report)
    return f"{text} (advisory: decides nothing)" if not report.decides else text


def _worded(report: Report) -> str:
    waived = [reason.rule for reason in report.reasons if reason.status == Status.WAIVED]
    shown = waived and report.verdict == Verdict.PROMOTE
    return f"{report.verdict} (waived: {_list(waived)})" if shown else str(report.verdict)


def why(report: Report | Reports) -> str:
    """The reason in one sentence."""
    if isinstance(report, Reports):
        return _why_several(report)
    deciding = {Verdict.BLOCK: Status.FAIL, Verdict.INCONCLUSIVE: Status.INCONCLUSIVE}.get(report.verdict)
    reasons = report.reasons
    found = [reason for reason in reasons if reason.status == deciding]
    if deciding and found:
        return _because(found)
    first = next((r for r in reasons if r.rule == report.gating.rule), reasons[0] if reasons else None)
    text = "no rule was decided" if first is None else first.message
    beaten = [reason.message for reason in reasons if reason.rule == "not_winner"]
    if beaten:
        return f"{text}; {beaten[0]}"
    if report.verdict == Verdict.HOLD:
        return f"this cycle passed ({text}), but {cycles(report)}"
    waived = [reason.message for reason in reasons if reason.status == Status.WAIVED]
    return f"{text}; {waived[0]}" if waived and text != waived[0] else text


def _because(found: Sequence[Reason]) -> str:
    first, rest = found[0].message, [reason.rule for reason in found[1:]]
    return f"{first}; also: {_list(rest)}" if rest else first


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def name(report: Report) -> str:
    """The policy's name, or its file where it has none."""
    return cut(report.policy.name or report.provenance.policy or "release gate", 120)


def four_lines(gating: Gating, changes: Changes, cautions: Iterable[Caution]) -> list[Line]:
    """Delta with interval; b, c and p; the smallest gain this set can see; the share on flaky items."""
    if gating.delta is None:
        withheld = any(caution.code == "numbers_withheld" for caution in cautions)
        return [(label, "withheld" if withheld else "not measured") for label in _FOUR]
    found = (_delta(gating), evidence(gating, changes), smallest_gain(gating), flaky(gating.flaky))
    return list(zip(_FOUR, found, strict=True))


_FOUR = ("Delta", "Evidence", "Smallest gain seen", "On flaky items")


def _delta(gating: Gating) -> str:
    moved = f"{number(gating.baseline)} to {number(gating.candidate)}"
    interval = gating.interval
    return (
        f"{difference(gating.delta, gating.kind)}, paired {confidence(interval)} interval "
        f"{span(interval)} ({metric_words(gating.metric, gating.kind)} {moved} on {count(gating.n, 'item')}, "
        f"{gating.direction} is better)"
    )


def evidence(gating: Gating, changes: Changes) -> str:
    """Wins and losses, the p readers look for, and the p that decides."""
    adjusted = gating.p_adjusted
    word = "one-sided" if adjusted is None else "one-sided adjusted"
    p = probability(gating.p_value if adjusted is None else adjusted)
    decides = f"{gating.method} {word} {p} against level {gating.level:g}"
    pair = gating.discordant
    exact = (gating.reference or {}).get("mcnemar_exact_p")
    if pair is not None and exact is not None:
        return (
            f"b = {whole(pair.only_candidate)} items only the candidate passes, "
            f"c = {whole(pair.only_baseline)} only the baseline passes, "
            f"exact two-sided p {p_value(exact)}; {decides}"
        )
    two_sided = f"two-sided {probability(gating.p_two_sided)}; {decides}"
    if not KINDS[gating.kind].by_item and (gating.distribution or Distribution()).counts is None:
        return two_sided + _beside(gating)
    return f"{count(changes.gained_count, 'item')} better, {whole(changes.lost_count)} worse, {two_sided}"


def _beside(gating: Gating) -> str:
    """The row bootstrap beside a test that is none."""
    found = gating.reference or {}
    low, high = found.get("bootstrap_low"), found.get("bootstrap_high")
    if low is None or high is None:
        return ""
    return f"; by the row bootstrap [{signed(low)}, {signed(high)}]"


def smallest_gain(gating: Gating) -> str:
    """The MDE at 80 % power and the items that the margin, or the observed gain, would need."""
    if gating.mde is None:
        return "cannot be said: the items do not differ"
    text = f"{amount(gating.mde, gating.kind)} at 80 % power with {count(gating.n, 'item')}"
    if gating.kind == Kind.BINARY and gating.mde > 1:
        text = f"none: {count(gating.n, 'item')} cannot show any gain at 80 % power"
    needed, margin = gating.items_needed, gating.margin
    if needed is None:
        return text
    if margin:
        return f"{text}; to see the margin {amount(margin, gating.kind)}: {count(needed, 'item')}"
    return f"{text}; if the true gain is what was observed: {count(needed, 'item')}"


def flaky(block: Flaky) -> str:
    """The share of the delta on items that do not reproduce, or why it is not known."""
    if block.status == "not measurable":
        return "not measurable (needs pass/fail results of at least 4 runs of each item)"
    if block.status != "measured":
        return "not measured (one run of each item)"
    items = f"{whole(block.flagged)} flaky items of {whole(block.items)}"
    share = block.delta_share
    if share is None:
        return f"the delta is 0, so no share of it can be given ({items})"
    return f"{percent(share)} of the delta lies on {items}"


def margin_rules(gating: Gating) -> str:
    """Both margin rules; the policy's is named."""
    words = {True: "yes", False: "no", None: "not assessed" if gating.delta is not None else "withheld"}
    both = gating.margin_rules
    return (
        f"cleared as observed: {words[both.observed]}; margin itself proven: {words[both.tested]} "
        f"(margin {amount(gating.margin, gating.kind)}, the policy decides by the "
        f"{gating.margin_rule} rule)"
    )


def reading(gating: Gating) -> str:
    """What may be published of this delta; empty where nothing was measured."""
    return READINGS.get(gating.seed_reading, "")


def cycles(report: Report) -> str:
    """How many passing cycles there are and what they say."""
    block = report.cycles
    passed, required = block.passed, block.required
    text = f"{passed} of {count(required, 'required cycle')} passed"
    text = f"{text}, {block.scope}" if block.scope else text
    if block.held:
        return f"{text} (this one is held: {block.held})"
    anew = block.restarted and passed < required
    return f"{text} (counted anew: {block.restarted})" if anew else text


def cycle_details(report: Report) -> list[str]:
    """What else there is to say about this cycle."""
    block = report.cycles
    seen = WINDOWS.get(block.window, f"{block.window} window")
    found = [f"cycle {block.cycle}, look {block.look}, {seen}"]
    if block.sign_flip_p is not None and block.passed > 1:
        found.append(f"sign-flip {probability(block.sign_flip_p)} over the streak")
    if block.replayed:
        found.append("a replay of artifacts that were decided before: the recorded verdict stands")
    if not block.recorded:
        found.append("look unrecorded")
    return found


def families(report: Report) -> list[str]:
    """Each family of tests with its correction."""
    return [
        f"{family.name}: {count(family.size, 'test')}, correction {family.correction}"
        for family in report.families
    ]


def fault(error: ErrorFacts) -> str:
    """What an error document says, with its place."""
    return f"{error.where}: {error.message}" if error.where else error.message


def _why_several(report: Reports) -> str:
    """The reason of a verdict over several challengers."""
    if report.winner:
        return f"{report.winner} has the largest gain among the promoted challengers"
    return f"none of {count(len(report.reports), 'challenger')} may be released yet"


def candidate(report: Report) -> str:
    """Where the candidate came from."""
    source = report.provenance.candidate
    return f"{source.path} ({source.system})" if source.system else source.path


def delta(block: Comparison) -> str:
    """The delta alone."""
    return difference(block.delta, block.kind)


def interval(block: Comparison) -> str:
    """The deciding interval alone."""
    return span(block.interval)


def flips(gating: Gating) -> str:
    """How many items would have to come out otherwise for another status; empty where it is not known."""
    if not isinstance(gating.flips, int):
        return ""
    turned = "would no longer pass" if gating.status == Status.PASS else "would pass"
    return f"the rule {turned} if the candidate's result on {count(gating.flips, 'item')} came out otherwise"


def items(n: int) -> str:
    """``1 item``, ``2 items``."""
    return count(n, "item")


def more(n: int, shown: int) -> str:
    """``3 more``."""
    return f"{n - shown:,} more"


def shown_names(found: Sequence[Change], most: int) -> list[str]:
    """The fields that the policy asks to print, in their order of appearance."""
    names = dict.fromkeys(name for change in found[:most] for name in change.shown)
    return list(names)[:6]


def sources(report: Report) -> list[tuple[str, str, str]]:
    """What, path and digest of the policy, the artifacts and the items."""
    provenance = report.provenance
    found = [("policy", provenance.policy or "", report.policy.digest)]
    pairs = {"": provenance, **{f"{name} ": pair for name, pair in (provenance.sets or {}).items()}}
    for label, pair in pairs.items():
        for side, source in (("baseline", pair.baseline), ("candidate", pair.candidate)):
            found.append((f"{label}{side}", source.path, source.digest or ""))
    return [*found, ("items", "", report.pairing.items_digest)]

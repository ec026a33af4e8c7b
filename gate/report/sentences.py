"""What a report says, as plain sentences that every format shares. No markup, no escaping, no arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.decide.verdict import Reason
from gate.measure.words import count, number, p_value
from gate.policy.kinds import KINDS
from gate.report import voice
from gate.report.figures import confidence, percent, probability, whole
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
    Stages,
    Worth,
)
from gate.report.statements import moved_word, name_of, statement, watched
from gate.report.terms import GRAVITY, gravity
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
    "publish": "the sign is solid, and these items can show a change so large: publish the interval",
    "sign_only": "sign solid, magnitude not; quote no headline number",
    "cannot_answer": "the interval includes 0: this set cannot answer",
}
WINDOWS = {
    "fresh": "no earlier look at these items is recorded",
    "overlap": "some of these items were looked at before",
    "reused": "these items were looked at before",
}

MOST_WARNINGS = 3


def ranked(cautions: Iterable[Caution]) -> list[Caution]:
    """What could change this verdict first, then what could change the next one, then details."""
    return sorted(cautions, key=lambda caution: GRAVITY[gravity(caution.code)])


def warnings(cautions: Iterable[Caution], report: Report | None = None) -> list[str]:
    """What a person must have seen before acting on the verdict: at most three, the gravest first.

    Several of one kind are one warning. report: gives watched metrics their own sentence.
    """
    told = {} if report is None else {block.rule: watched(block, report) for block in _got_worse(report)}
    kinds: dict[str, list[str]] = {}
    for caution in ranked(cautions):
        if gravity(caution.code) != "detail":
            text = told.get(caution.message.partition(": ")[0], caution.message)
            kinds.setdefault(caution.code, []).append(text)
    found = [f"{said[0]} (so too {len(said) - 1} more)" if said[1:] else said[0] for said in kinds.values()]
    shown, left = found[:MOST_WARNINGS], len(found) - MOST_WARNINGS
    return [*shown[:-1], f"{shown[-1]} (and {left} more in the report)"] if left > 0 else shown


def _got_worse(report: Report) -> list[Comparison]:
    return [block for block in report.watch if moved_word(block, report) in {"worse", "changed"}]


def costs(report: Report) -> list[str]:
    """What gets worse with this candidate although the rules allow it, and what nothing guards."""
    found: list[str] = []
    if report.verdict not in {Verdict.PROMOTE, Verdict.HOLD}:
        return found
    for block in report.guardrails:
        high = None if block.interval is None else block.interval.high
        if block.mode == "non_inferior" and block.status == Status.PASS and high is not None and high < 0:
            allowed = voice.asked(block).removeprefix("up to ")
            found.append(f"{name_of(block)} {voice.change(block)} ({allowed} is allowed)")
    found += [
        f"{name_of(block)} {voice.change(block)} (watched: nothing guards it)"
        for block in report.watch
        if moved_word(block, report) == "worse"
    ]
    return found


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
        return _because(found, report)
    first = next((r for r in reasons if r.rule == report.gating.rule), reasons[0] if reasons else None)
    text = "no rule was decided" if first is None else statement(first, report)
    beaten = [reason.message for reason in reasons if reason.rule == "not_winner"]
    if beaten:
        return f"{text}; {beaten[0]}"
    if report.verdict == Verdict.HOLD:
        return f"this cycle passed ({text}), but {cycles(report)}"
    waived = [statement(reason, report) for reason in reasons if reason.status == Status.WAIVED]
    return f"{text}; {waived[0]}" if waived and text != waived[0] else text


def _because(found: Sequence[Reason], report: Report) -> str:
    first, rest = statement(found[0], report), [reason.rule for reason in found[1:]]
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
    interval = gating.interval
    return (
        f"{voice.change(gating)}, paired {confidence(interval)} interval "
        f"({name_of(gating)} {voice.moved(gating)} on {count(gating.n, 'item')}, "
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
        return two_sided
    return f"{count(changes.gained_count, 'item')} better, {whole(changes.lost_count)} worse, {two_sided}"


def smallest_gain(gating: Gating) -> str:
    """The MDE at 80 % power and the items that the margin, or the observed gain, would need."""
    if gating.mde is None:
        return "cannot be said: the items do not differ"
    text = f"{voice.amount(gating.mde, gating)} at 80 % power with {count(gating.n, 'item')}"
    if gating.kind == Kind.BINARY and gating.mde > 1:
        text = f"none: {count(gating.n, 'item')} cannot show any gain at 80 % power"
    needed, margin = gating.items_needed, gating.margin
    if needed is None:
        return text
    if margin:
        return f"{text}; to see the margin of {voice.amount(margin, gating)}: {count(needed, 'item')}"
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
    margin = "not said" if gating.margin is None else voice.amount(gating.margin, gating)
    return (
        f"cleared as observed: {words[both.observed]}; margin itself proven: {words[both.tested]} "
        f"(margin {margin}, the policy decides by the {gating.margin_rule} rule)"
    )


def reading(gating: Gating) -> str:
    """What may be published of this change; nothing where the rule failed."""
    return "" if gating.status == Status.FAIL else READINGS.get(gating.seed_reading, "")


def cycles(report: Report) -> str:
    """How many passing cycles there are and what they say."""
    block = report.cycles
    passed, required = block.passed, block.required
    text = f"{passed} of {count(required, 'required cycle')} passed"
    text = f"{text}, {block.scope}" if block.scope else text
    if block.held:
        return f"{text} (this one is held: {block.held})"
    anew = block.restarted and passed < required
    text = f"{text} (counted anew: {block.restarted})" if anew else text
    return f"{text}; {stages(report.stages)}" if report.stages else text


def stages(block: Stages) -> str:
    """How far a staged look has come, what it is held to and what stopping saved."""
    text = f"stage {block.stage} of {block.of} ({block.n:,} of {block.sizes[-1]:,} items): "
    if block.next:
        return f"{text}continue with {count(block.next.n, 'item')}"
    text += {"end": "the last", "futile": "stopped, hopeless"}.get(block.move, f"stopped, {block.move}")
    if block.p_value is not None:
        text += f"; one-sided p {p_value(block.p_value)} of {number(block.level)}, stopping respected"
    if None not in (block.gain_low, block.gain_median, block.gain_high):
        text += f", gain {number(block.gain_median)} "
        text += f"({number(block.gain_low)} to {number(block.gain_high)})"
    if block.saved_items:
        cost = "" if block.saved_cost is None else f", {block.saved_cost:,.2f} in money"
        text += f"; saved {count(block.saved_items, 'item')} ({percent(block.saved_share)}){cost}"
    return text


def explained(report: Report) -> list[Line]:
    """Everything behind the gating rule's answer, line by line."""
    gating, found = report.gating, report.gating.reference or {}
    unpaired, low, high = (found.get(key) for key in ("unpaired_p", "bootstrap_low", "bootstrap_high"))
    return [
        *four_lines(gating, report.changes, report.cautions),
        ("Margin", margin_rules(gating)),
        ("Reading", "" if report.verdict == Verdict.BLOCK else reading(gating)),
        ("Bootstrap", f"by the row bootstrap {voice.ends(low, high, gating)}" if low is not None else ""),
        ("If unpaired", f"two-sided {voice.probability(unpaired)}" if unpaired is not None else ""),
        ("Clusters", _clusters(report)),
        ("From flipping", flips(gating)),
        ("Cycles", "; ".join([cycles(report), *cycle_details(report)])),
        ("Judge", judged(report)),
        *(("Worth", worth(one, report)) for one in report.worth or ()),
        ("Owner", report.policy.owner or ""),
        *(("Claim", text) for text in report.claims),
        *(("Limit", text) for text in report.limits),
    ]


def worth(found: Worth, report: Report) -> str:
    """How likely a promotion like this is a false one, and the gain that is left after shrinking."""
    if found.by == "declaration":
        start = "if the declared share of candidates is really better"
    else:
        start = "by the gains of earlier cycles"
    wrong = f"about {100 * found.not_better:.0f} of 100 promotions like this are not better"
    return f"{start}, {wrong}; expect a gain of {voice.amount(found.gain, report.gating)}"


def judged(report: Report) -> str:
    """What the judge of the gating metric is believed for; empty where the policy asks for nothing."""
    found = report.provenance.judge
    if found is None:
        return ""
    name = f"{found.judge} is" if found.judge else "the gating metric's judge is"
    age = "" if found.age_days is None else f", {count(found.age_days, 'day')} old at this run"
    return f"{name} believed for {found.path} of {found.time[:10]}{age} (SHA-256 {found.sha256[:12]})"


def _clusters(report: Report) -> str:
    """How many, and what it changes that their items belong together."""
    number = report.pairing.n_clusters
    if not number:
        return ""
    found, facts = (
        f"{count(report.gating.n, 'item')} in {count(number, 'cluster')}",
        report.gating.clusters or {},
    )
    together, alone = facts.get("cluster_se"), facts.get("naive_se")
    if not isinstance(together, float) or not isinstance(alone, float):
        return found
    error, other = (voice.amount(value, report.gating) for value in (together, alone))
    return f"{found}; standard error of the gain {error}, {other} if the items were independent"


def cycle_details(report: Report) -> list[str]:
    """What else there is to say about this cycle."""
    block = report.cycles
    seen = WINDOWS.get(block.window, f"{block.window} window")
    found = [f"cycle {block.cycle}, look {block.look}, {seen}"]
    if block.band is not None and block.band.low is not None:
        ends = voice.ends(block.band.low, block.band.high, report.gating)
        found.append(
            f"after {count(block.band.cycles or 0, 'earlier cycle')} this gain was expected in {ends}"
        )
    if block.band is not None and block.band.next_low is not None:
        after = voice.ends(block.band.next_low, block.band.next_high, report.gating)
        found.append(f"true gain of the next cycle {after}")
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
    """The change with its interval, as the metric itself moved."""
    return voice.change(block) or "not measured"


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

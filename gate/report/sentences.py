"""What a report says, as plain sentences that every format shares. No markup, no escaping, no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gate.report import cycle_words
from gate.report.figures import (
    amount,
    confidence,
    difference,
    percent,
    probability,
    span,
    whole,
)
from gate.safe import cut
from gate.words import count, number, p_value

Report = Mapping[str, Any]
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


WARNINGS = frozenset(
    {"watch_worse", "watch_changed", "sentinel_values", "empty_answers", "limits_hit"}
    | {"rows_left_out_unequal", "errors_uneven", "status_on_one_side"}
)
"""Cautions that stand on top of every format."""


def warnings(report: Report) -> list[str]:
    """What a person must have seen before acting on the verdict, although no rule decides it."""
    return [str(caution["message"]) for caution in report["cautions"] if caution["code"] in WARNINGS]


def icon(word: str) -> str:
    """The sign that stands before a verdict or status word, never instead of it."""
    return ICONS.get(word, "\u2796")


def said(word: str) -> str:
    """A status as a person reads it: ``not_gated`` is ``not gated``."""
    return word.replace("_", " ")


def verdict(report: Report) -> str:
    """``promote``, with the waived rules where there are any; whether it decides anything."""
    text = _worded(report)
    return f"{text} (advisory: decides nothing)" if report.get("decides") is False else text


def _worded(report: Report) -> str:
    waived = [reason["rule"] for reason in report["reasons"] if reason["status"] == "waived"]
    word = str(report["verdict"])
    return f"{word} (waived: {_list(waived)})" if waived and word == "promote" else word


def why(report: Report) -> str:
    """The reason in one sentence."""
    deciding = {"block": "fail", "inconclusive": "inconclusive"}.get(report["verdict"])
    reasons = list(report["reasons"])
    found = [reason for reason in reasons if reason["status"] == deciding]
    if deciding and found:
        return _because(found)
    gating = [r for r in reasons if r["rule"] == report["gating"]["rule"]]
    text = str((gating or reasons or [{"message": "no rule was decided"}])[0]["message"])
    beaten = [reason["message"] for reason in reasons if reason["rule"] == "not_winner"]
    if beaten:
        return f"{text}; {beaten[0]}"
    if report["verdict"] == "hold":
        return f"this cycle passed ({text}), but {cycles(report)}"
    waived = [reason["message"] for reason in reasons if reason["status"] == "waived"]
    return f"{text}; {waived[0]}" if waived and text != waived[0] else text


def _because(found: Sequence[Mapping[str, Any]]) -> str:
    first, rest = found[0], [str(reason["rule"]) for reason in found[1:]]
    return f"{first['message']}; also: {_list(rest)}" if rest else str(first["message"])


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def name(report: Report) -> str:
    """The policy's name, or its file where it has none."""
    policy = report["policy"]
    return cut(str(policy.get("name") or report.get("provenance", {}).get("policy") or "release gate"), 120)


def four_lines(report: Report) -> list[Line]:
    """Delta with interval; b, c and p; the smallest gain this set can see; the share on flaky items."""
    gating = report["gating"]
    if gating.get("delta") is None:
        return [(label, _unmeasured(report)) for label in _FOUR]
    found = (_delta(gating), evidence(report), smallest_gain(gating), flaky(gating))
    return list(zip(_FOUR, found, strict=True))


_FOUR = ("Delta", "Evidence", "Smallest gain seen", "On flaky items")


def _unmeasured(report: Report) -> str:
    withheld = any(caution["code"] == "numbers_withheld" for caution in report["cautions"])
    return "withheld" if withheld else "not measured"


def _delta(gating: Mapping[str, Any]) -> str:
    moved = f"{number(gating['baseline'])} to {number(gating['candidate'])}"
    interval = gating.get("interval")
    return (
        f"{difference(gating['delta'], gating['kind'])}, paired {confidence(interval)} interval "
        f"{span(interval)} ({gating['metric']} {moved} on {count(gating['n'], 'item')}, "
        f"{gating['direction']} is better)"
    )


def evidence(report: Report) -> str:
    """Wins and losses, the p readers look for, and the p that decides."""
    gating = report["gating"]
    adjusted = gating.get("p_adjusted")
    word = "one-sided" if adjusted is None else "one-sided adjusted"
    p = probability(gating.get("p_value") if adjusted is None else adjusted)
    decides = f"{gating['method']} {word} {p} against level {gating['level']:g}"
    pair = gating.get("discordant")
    exact = gating.get("reference", {}).get("mcnemar_exact_p")
    if pair is not None and exact is not None:
        return (
            f"b = {whole(pair['only_candidate'])} items only the candidate passes, "
            f"c = {whole(pair['only_baseline'])} only the baseline passes, "
            f"exact two-sided p {p_value(exact)}; {decides}"
        )
    changes = report["changes"]
    return (
        f"{count(changes['gained_count'], 'item')} better, {whole(changes['lost_count'])} worse, "
        f"two-sided {probability(gating.get('p_two_sided'))}; {decides}"
    )


def smallest_gain(gating: Mapping[str, Any]) -> str:
    """The MDE at 80 % power and the items that the margin, or the observed gain, would need."""
    if gating.get("mde") is None:
        return "cannot be said: the items do not differ"
    text = f"{amount(gating['mde'], gating['kind'])} at 80 % power with {count(gating['n'], 'item')}"
    if gating["kind"] == "binary" and gating["mde"] > 1:
        text = f"none: {count(gating['n'], 'item')} cannot show any gain at 80 % power"
    needed, margin = gating.get("items_needed"), gating.get("margin")
    if needed is None:
        return text
    if margin:
        return f"{text}; to see the margin {amount(margin, gating['kind'])}: {count(needed, 'item')}"
    return f"{text}; if the true gain is what was observed: {count(needed, 'item')}"


def flaky(gating: Mapping[str, Any]) -> str:
    """The share of the delta on items that do not reproduce, or why it is not known."""
    block = gating.get("flaky") or {"status": "not measured"}
    if block["status"] == "not measured":
        return "not measured (one run of each item)"
    if block["status"] == "not measurable":
        return "not measurable (needs pass/fail results of at least 4 runs of each item)"
    items = f"{whole(block['flagged'])} flaky items of {whole(block['items'])}"
    share = block.get("delta_share")
    if share is None:
        return f"the delta is 0, so no share of it can be given ({items})"
    return f"{percent(share)} of the delta lies on {items}"


def margin_rules(gating: Mapping[str, Any]) -> str:
    """Both margin rules; the policy's is named."""
    words = {True: "yes", False: "no", None: "not assessed" if gating["delta"] is not None else "withheld"}
    both = gating["margin_rules"]
    return (
        f"cleared as observed: {words[both['observed']]}; margin itself proven: {words[both['tested']]} "
        f"(margin {amount(gating['margin'], gating['kind'])}, the policy decides by the "
        f"{gating['margin_rule']} rule)"
    )


def reading(gating: Mapping[str, Any]) -> str:
    """What may be published of this delta; empty where nothing was measured."""
    return READINGS.get(gating.get("seed_reading", ""), "")


cycles = cycle_words.cycles
cycle_details = cycle_words.cycle_details


def families(report: Report) -> list[str]:
    """Each family of tests with its correction."""
    return [
        f"{family['name']}: {count(family['size'], 'test')}, correction {family['correction']}"
        for family in report["families"]
    ]


def fault(error: Mapping[str, Any]) -> str:
    """What an error document says, with its place."""
    return f"{error['where']}: {error['message']}" if error["where"] else str(error["message"])


def why_several(report: Report) -> str:
    """The reason of a verdict over several challengers."""
    winner = report.get("winner")
    if winner:
        return f"{winner} has the largest gain among the promoted challengers"
    return f"none of {count(len(report['reports']), 'challenger')} may be released yet"


def candidate(report: Report) -> str:
    """Where the candidate came from."""
    source = report["provenance"].get("candidate", {})
    system = f" ({source['system']})" if source.get("system") else ""
    return f"{source.get('path', 'candidate')}{system}"


def delta(block: Mapping[str, Any]) -> str:
    """The delta alone."""
    return difference(block.get("delta"), block["kind"])


def interval(block: Mapping[str, Any]) -> str:
    """The deciding interval alone."""
    return span(block.get("interval"))


def flips(gating: Mapping[str, Any]) -> str:
    """How many items would have to come out otherwise for another status; empty where it is not known."""
    found = gating.get("flips")
    if found is None:
        return ""
    turned = "would no longer pass" if gating["status"] == "pass" else "would pass"
    return f"the rule {turned} if the candidate's result on {count(found, 'item')} came out otherwise"


def items(n: int) -> str:
    """``1 item``, ``2 items``."""
    return count(n, "item")


def more(n: int, shown: int) -> str:
    """``3 more``."""
    return f"{n - shown:,} more"


def shown_names(found: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """The fields that the policy asks to print, in their order of appearance."""
    names = dict.fromkeys(name for change in found[:most] for name in (change.get("shown") or {}))
    return list(names)[:6]


def sources(report: Report) -> list[dict[str, str]]:
    """Policy, artifacts and items with their digests."""
    provenance = report["provenance"]
    found = [
        {
            "what": "policy",
            "path": str(provenance.get("policy") or ""),
            "digest": str(report["policy"].get("digest", "")),
        }
    ]
    pairs = [("", provenance), *((f"{n} ", s) for n, s in provenance.get("sets", {}).items())]
    for label, pair in pairs:
        for side in ("baseline", "candidate"):
            source = pair.get(side) or {}
            found.append(
                {
                    "what": f"{label}{side}",
                    "path": str(source.get("path", "")),
                    "digest": str(source.get("digest", "")),
                }
            )
    items_digest = str(report["pairing"].get("items_digest", ""))
    return [*found, {"what": "items", "path": "", "digest": items_digest}]

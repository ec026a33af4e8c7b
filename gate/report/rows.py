"""The tables of a report: one row a rule, a comparison or a changed item, as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gate.decide.verdict import Reason
from gate.measure.words import number, p_value
from gate.policy.kinds import metric_words
from gate.report import voice
from gate.report.figures import compact, difference, span, whole
from gate.report.model import Change, Comparison, Report
from gate.report.sentences import icon, said
from gate.report.statements import block_of, moved_word, statement, watched
from gate.values import Mode, Role, Status

WORSE = "\u2b07\ufe0f"
ORDER = (
    *(Status.ERROR, Status.FAIL, Status.INCONCLUSIVE, Status.WAIVED),
    *(Status.PASS, Status.NOT_DECIDED, Status.NOT_GATED, Status.REPORTED),
)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule's answer. status: its word; the sign beside it says nothing more. label: what it is about.

    moved, change, asked: baseline -> candidate, the change with its interval, what the policy asks. message:
    all of it in one sentence.
    """

    icon: str
    status: str
    rule: str
    label: str
    moved: str
    change: str
    asked: str
    message: str
    gating: bool = False


@dataclass(frozen=True, slots=True)
class NumbersRow:
    """One comparison's numbers, formatted."""

    icon: str
    status: str
    rule: str
    n: str
    baseline: str
    candidate: str
    delta: str
    interval: str
    p: str
    bound: str
    mde: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One changed item. shown: the fields that the policy asks to print with it."""

    id: str
    baseline: str
    candidate: str
    delta: str
    shown: Mapping[str, str | None]

    def text(self, name: str) -> str:
        """A field to print with the item, empty where the item has none."""
        return self.shown.get(name) or ""


def rule_rows(report: Report, most: int | None = None) -> list[RuleRow]:
    """Every rule, or the first ``most``, in the order to read them; then what got worse unguarded."""
    ordered = sorted(report.reasons, key=lambda reason: rank(reason.status))[:most]
    worse = [b for b in report.watch if moved_word(b, report) in {"worse", "changed"}]
    return [*(_rule(reason, report) for reason in ordered), *(_watched(b, report) for b in worse[:most])]


def _rule(reason: Reason, report: Report) -> RuleRow:
    block, status = block_of(reason.rule, report), said(reason.status)
    message, sign = statement(reason, report), icon(reason.status)
    known = block is not None and (block.delta, block.candidate, block.share) != (None, None, None)
    if block is None or not known:
        return RuleRow(sign, status, reason.rule, reason.rule, "", message, reason.required, message)
    moved, change = voice.moved(block), voice.change(block)
    if block.mode == Mode.CHURN:
        lost = (
            "" if block.discordant is None else f"{whole(block.discordant.only_baseline)} of {whole(block.n)}"
        )
        moved, change = lost, f"{voice.share(block.share)} got worse"
    elif block.mode == Mode.MUST_PASS:
        moved, change = reason.observed, message
    label, gating = label_of(block), block.role == Role.GATING
    return RuleRow(sign, status, reason.rule, label, moved, change, voice.asked(block), message, gating)


def _watched(block: Comparison, report: Report) -> RuleRow:
    word = moved_word(block, report)
    moved, change, asked = voice.moved(block), voice.change(block), voice.asked(block)
    return RuleRow(WORSE, word, block.rule, block.metric, moved, change, asked, watched(block, report))


def label_of(block: Comparison) -> str:
    """What a rule is about, in as few words as tell it from the others."""
    where = f" ({block.set})" if block.set else ""
    if block.role == Role.SLICE:
        return block.rule.removeprefix("slice:")
    if block.role == Role.MUST_PASS:
        return "must_pass"
    return f"{metric_words(block.metric, block.kind)}{' churn' if block.mode == Mode.CHURN else ''}{where}"


def rank(status: Status) -> int:
    """Position of a status: what needs attention comes first."""
    return ORDER.index(status)


def comparisons(report: Report) -> Iterator[Comparison]:
    """Gating first, then guardrails and slices with what matters first, then what is only watched."""
    yield report.gating
    rest = [*report.guardrails, *report.slices]
    yield from sorted(rest, key=lambda block: rank(block.status))
    yield from report.watch


def numbers_rows(report: Report, most: int | None = None) -> list[NumbersRow]:
    """The numbers behind every rule, or behind the first ``most``."""
    return [_numbers(block) for block in islice(comparisons(report), most)]


def number_of_comparisons(report: Report) -> int:
    """How many rows there are in all."""
    return 1 + len(report.guardrails) + len(report.slices) + len(report.watch)


def _numbers(block: Comparison) -> NumbersRow:
    adjusted = block.p_adjusted
    plain = block.p_two_sided if block.role == Role.WATCH else block.p_value
    p = plain if adjusted is None else adjusted
    return NumbersRow(
        icon(block.status),
        said(block.status),
        block.rule,
        whole(block.n),
        _or_dash(block.baseline, number),
        _or_dash(block.candidate, number),
        "" if block.delta is None else difference(block.delta, block.kind),
        "" if block.interval is None else span(block.interval),
        "" if p is None else p_value(p) + (" adj." if adjusted is not None else ""),
        bound(block),
        _or_dash(block.mde, number),
    )


def _or_dash(value: float | None, form: Any) -> str:
    return "" if value is None else str(form(value))


def bound(block: Comparison) -> str:
    """What the policy sets for this comparison: a margin, tolerance, limit or share."""
    low, high = block.bound, block.upper_bound
    words = {Mode.GATING: "margin", Mode.LIMIT: "at least"}
    found = [f"{words.get(block.mode, 'tolerance')} {number(low)}"] if low is not None else []
    return " and ".join([*found, *([f"at most {number(high)}"] if high is not None else [])])


def change_rows(found: Sequence[Change], most: int) -> list[ChangeRow]:
    """The first ``most`` changed items, largest change first."""
    return [change_row(change) for change in found[:most]]


def change_row(change: Change) -> ChangeRow:
    """One changed item, formatted."""
    return ChangeRow(
        change.id,
        compact(change.baseline),
        compact(change.candidate),
        compact(change.delta, "+"),
        change.shown,
    )

"""The report for a terminal: verdict, why, what to do next; one line a rule; at most three warnings.

``quiet`` is one line, ``explain`` everything there is to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from gate.measure.words import count
from gate.policy.kinds import KINDS
from gate.report import sentences, voice
from gate.report.model import Document, ErrorFacts, ErrorReport, Report, Reports
from gate.report.rows import RuleRow, rule_rows
from gate.safe import cut, terminal_line

Form = Literal["short", "quiet", "explain"]
MOST_RULES = 40
MOST_CAUTIONS = 40
MOST_ROWS = 8
"""Of the short form; rules that did not pass are never left out."""
_WORDS = {"inconclusive": "open", "not gated": "none", "not decided": "none"}
_COLOURS = {
    "promote": "32",
    "pass": "32",
    "block": "31",
    "fail": "31",
    "error": "31",
    "worse": "31",
    "inconclusive": "33",
    "waived": "33",
    "hold": "36",
}


def text(document: Document, *, colour: bool = False, form: Form = "short") -> str:
    """One report in so many words. colour: a person reads it on a terminal that shows colours."""
    if isinstance(document, ErrorReport):
        found = _error(document.error)
    elif form == "quiet":
        found = iter([_quiet(document)])
    elif isinstance(document, Reports):
        found = _several(document, colour, form)
    else:
        found = _one(document, colour, form)
    return "\n".join(found) + "\n"


def _error(error: ErrorFacts) -> Iterator[str]:
    yield "cannot decide"
    yield f"why:  {terminal_line(sentences.fault(error))}"
    if error.help:
        yield f"help: {terminal_line(error.help)}"


def _quiet(document: Report | Reports) -> str:
    first = document if isinstance(document, Report) else document.reports[0]
    verdict = sentences.verdict(document) if isinstance(document, Report) else document.verdict
    line = f"{verdict}: {terminal_line(cut(sentences.why(document), 300))}"
    costs = sentences.costs(first) if isinstance(document, Report) else []
    return f"{line}; it costs {terminal_line('; '.join(costs))}" if costs else line


def _several(report: Reports, colour: bool, form: Form) -> Iterator[str]:
    yield _headline(report.verdict, report.verdict, sentences.name(report.reports[0]), colour)
    yield f"why: {terminal_line(sentences.why(report))}"
    for one in report.reports:
        yield ""
        yield f"candidate {terminal_line(sentences.candidate(one))}"
        yield from _one(one, colour, form)


def _one(report: Report, colour: bool, form: Form) -> Iterator[str]:
    yield _headline(report.verdict, sentences.verdict(report), sentences.name(report), colour)
    yield f"why:  {terminal_line(sentences.why(report))}"
    yield f"next: {terminal_line(report.next_step)}"
    if report.stages:
        yield terminal_line(sentences.stages(report.stages))
    costs = sentences.costs(report)
    if costs:
        yield f"cost: {terminal_line('; '.join(costs))}"
    yield ""
    yield from _rules(report, colour, form)
    yield ""
    yield from (f"! {terminal_line(text)}" for text in sentences.warnings(report.cautions, report))
    yield terminal_line(_last(report))
    if form == "explain":
        yield ""
        yield from _explained(report)


def _headline(word: str, shown: str, name: str, colour: bool) -> str:
    return f"{_painted(terminal_line(shown), word, colour, bold=True)}  {terminal_line(cut(name, 120))}"


def _rules(report: Report, colour: bool, form: Form) -> Iterator[str]:
    rows = rule_rows(report, MOST_RULES)
    shown = rows if form == "explain" else _folded(rows, report)
    label, moved, change = (
        min(limit, max((len(terminal_line(text)) for text in column), default=0))
        for limit, column in (
            (30, [row.label for row in shown]),
            (24, [row.moved for row in shown]),
            (40, [row.change for row in shown]),
        )
    )
    for row in shown:
        cells = (
            _painted(f"{_WORDS.get(row.status, row.status):7}", row.status, colour),
            f"{terminal_line(cut(row.label, 80)):{label}}",
            f"{terminal_line(row.moved):{moved}}",
            f"{terminal_line(cut(row.change, 70)):{change}}",
            terminal_line(row.asked),
        )
        yield ("  " + "  ".join(cells)).rstrip()
    if len(report.reasons) > MOST_RULES:
        yield f"  and {len(report.reasons) - MOST_RULES} more rules"


def _folded(rows: Sequence[RuleRow], report: Report) -> list[RuleRow]:
    """Slices that pass become one row; other passes too where there are more rows than a screen takes."""
    slices = {block.rule for block in report.slices}
    passed = [row for row in rows if row.status == "pass" and row.rule in slices]
    rest = [row for row in rows if row not in passed] if len(passed) > 1 else list(rows)
    folded = [_fold(passed, f"{len(passed)} slices")] if len(passed) > 1 else []
    others = [row for row in rest if row.status == "pass" and not row.gating]
    if len(rest) + len(folded) > MOST_ROWS and len(others) > 1:
        rest = [row for row in rest if row not in others]
        folded = [replace(_fold(others, f"{len(others)} more rules"), asked=""), *folded]
    return sorted([*rest, *folded], key=lambda row: row.status in {"worse", "changed"})


def _fold(rows: Sequence[RuleRow], label: str) -> RuleRow:
    first = rows[0]
    found = [f"{row.label.rpartition('=')[2]} {row.change.partition(' ')[0]}" for row in rows]
    return replace(first, label=label, rule="", moved="", change=voice.list_of(found, 4))


def _last(report: Report) -> str:
    gating, changes = report.gating, report.changes
    if gating.delta is None:
        return "all of it: gate run --explain, or report.html of --report-dir"
    p = gating.p_value if gating.p_adjusted is None else gating.p_adjusted
    counts = f", {changes.gained_count:,} better, {changes.lost_count:,} worse"
    counts = counts if KINDS[gating.kind].by_item else ""
    said = f"{voice.probability(p)} {voice.question(gating)}"
    return f"{count(gating.n, 'item')}{counts}, {said}; all of it: --explain, or report.html of --report-dir"


def _explained(report: Report) -> Iterator[str]:
    facts = sentences.explained(report)
    width = max((len(label) for label, _ in facts), default=0)
    yield from (f"  {label:{width}}  {terminal_line(found)}" for label, found in facts if found)
    yield ""
    yield from (f"  {terminal_line(cut(row.rule, 80))}: {terminal_line(row.message)}" for row in _all(report))
    cautions = sentences.ranked(report.cautions)
    for caution in cautions[:MOST_CAUTIONS]:
        yield f"  caution {terminal_line(caution.code)}: {terminal_line(caution.message)}"
    if len(cautions) > MOST_CAUTIONS:
        yield f"  and {len(cautions) - MOST_CAUTIONS} more cautions"


def _all(report: Report) -> list[RuleRow]:
    return rule_rows(report, MOST_RULES)


def _painted(shown: str, word: str, colour: bool, *, bold: bool = False) -> str:
    code = _COLOURS.get(word)
    if not colour or code is None:
        return shown
    return f"\x1b[{'1;' if bold else ''}{code}m{shown}\x1b[0m"

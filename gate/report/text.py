"""The report for a terminal: verdict, why, the four lines, the rules, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from gate.report import sentences
from gate.report.model import Document, ErrorFacts, ErrorReport, Report, Reports
from gate.report.rows import rule_rows
from gate.safe import cut, terminal_line

MOST_RULES = 40
MOST_CAUTIONS = 12
_COLOURS = {
    "promote": "32",
    "pass": "32",
    "block": "31",
    "fail": "31",
    "error": "31",
    "inconclusive": "33",
    "waived": "33",
    "hold": "36",
}


def text(document: Document, *, colour: bool = False) -> str:
    """The short report. colour: the caller knows that a person reads it on a terminal that shows colours."""
    if isinstance(document, ErrorReport):
        found = _error(document.error)
    elif isinstance(document, Reports):
        found = _several(document, colour)
    else:
        found = _one(document, colour)
    return "\n".join(found) + "\n"


def _error(error: ErrorFacts) -> Iterator[str]:
    yield "cannot decide"
    yield f"why:  {terminal_line(sentences.fault(error))}"
    if error.help:
        yield f"help: {terminal_line(error.help)}"


def _several(report: Reports, colour: bool) -> Iterator[str]:
    yield _headline(report.verdict, report.verdict, sentences.name(report.reports[0]), colour)
    yield f"why: {terminal_line(sentences.why(report))}"
    for one in report.reports:
        yield ""
        yield f"candidate {terminal_line(sentences.candidate(one))}"
        yield from _one(one, colour)


def _one(report: Report, colour: bool) -> Iterator[str]:
    yield _headline(report.verdict, sentences.verdict(report), sentences.name(report), colour)
    yield f"why:  {terminal_line(sentences.why(report))}"
    yield f"next: {terminal_line(report.next_step)}"
    yield from (f"warning: {terminal_line(text)}" for text in sentences.warnings(report.cautions))
    yield ""
    yield from _gating(report)
    yield ""
    yield from _rules(report, colour)
    yield from _cautions(report)


def _headline(word: str, shown: str, name: str, colour: bool) -> str:
    return f"{_painted(terminal_line(shown), word, colour, bold=True)}  {terminal_line(cut(name, 120))}"


def _gating(report: Report) -> Iterator[str]:
    gating = report.gating
    facts = [
        *sentences.four_lines(gating, report.changes, report.cautions),
        ("Margin", sentences.margin_rules(gating)),
        ("Reading", sentences.reading(gating)),
        ("From flipping", sentences.flips(gating)),
        ("Cycles", sentences.cycles(report)),
    ]
    width = max(len(label) for label, _ in facts)
    yield from (f"  {label:{width}}  {terminal_line(found)}" for label, found in facts if found)


def _rules(report: Report, colour: bool) -> Iterator[str]:
    rows = rule_rows(report, MOST_RULES)
    width = max((len(row.status) for row in rows), default=0)
    for row in rows:
        status = _painted(f"{row.status:{width}}", row.status, colour)
        yield f"  {status}  {terminal_line(cut(row.rule, 80))}: {terminal_line(row.message)}"
    if len(report.reasons) > MOST_RULES:
        yield f"  and {len(report.reasons) - MOST_RULES} more rules"


def _cautions(report: Report) -> Iterator[str]:
    cautions = [caution for caution in report.cautions if caution.code not in sentences.WARNINGS]
    if cautions:
        yield ""
    for caution in cautions[:MOST_CAUTIONS]:
        yield f"  caution: {terminal_line(caution.message)}"
    if len(cautions) > MOST_CAUTIONS:
        yield f"  and {len(cautions) - MOST_CAUTIONS} more cautions"


def _painted(shown: str, word: str, colour: bool, *, bold: bool = False) -> str:
    code = _COLOURS.get(word)
    if not colour or code is None:
        return shown
    return f"\x1b[{'1;' if bold else ''}{code}m{shown}\x1b[0m"

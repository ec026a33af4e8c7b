"""The report in about 1 KB of JSON: for coding agents, chats and whoever pays by the token."""

from __future__ import annotations

import json
from typing import Any

from gate.report import sentences, statements
from gate.report.model import Document, ErrorReport, Report, Reports, reports_of
from gate.safe import cut, visible
from gate.values import Status, Verdict

LARGEST = 1024
"""Bytes. Ids of lost items are left out first, then warnings, then the ends of long texts."""
_LADDER = ((5, 3, 300), (0, 2, 200), (0, 0, 120), (0, 0, 40))


def brief(document: Document) -> str:
    """``gate.brief/1`` in one line of at most 1 KB."""
    found = (_line(_fields(document, *step)) for step in _LADDER)
    return next((line for line in found if len(line) <= LARGEST), _line(_least(document)))


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")) + "\n"


def _least(document: Document) -> dict[str, Any]:
    verdict = "error" if isinstance(document, ErrorReport) else str(document.verdict)
    return {"schema": "gate.brief/1", "verdict": verdict}


def _fields(document: Document, ids: int, warnings: int, width: int) -> dict[str, Any]:
    if isinstance(document, ErrorReport):
        error = document.error
        why, step = _text(sentences.fault(error), width), _text(error.help, width)
        code = {"code": _text(error.code, 40), "text": step}
        return _least(document) | {"exit_code": 2, "why": why, "next": code}
    first = leading(document)
    gating, cycles = first.gating, first.cycles
    interval = gating.interval
    return _least(document) | {
        "exit_code": document.exit_code,
        "why": _text(sentences.why(document), width),
        "next": {"code": _code(first), "text": _text(first.next_step, width)},
        "gating": {
            "metric": _text(gating.metric, 40),
            "n": gating.n,
            "baseline": gating.baseline,
            "candidate": gating.candidate,
            "delta": gating.delta,
            "low": interval and interval.low,
            "high": interval and interval.high,
            "margin": gating.margin,
        },
        "better": first.changes.gained_count,
        "worse": first.changes.lost_count,
        "not_passed": [
            [_text(reason.rule, 60), str(reason.status)]
            for reason in first.reasons
            if reason.status in {Status.FAIL, Status.INCONCLUSIVE, Status.WAIVED}
        ][:5],
        "warnings": [_text(text, 120) for text in sentences.warnings(first.cautions, first)[:warnings]],
        "cycles": [cycles.passed, cycles.required],
        "lost": [_text(change.id, 40) for change in first.changes.lost[:ids]],
    }


def leading(document: Report | Reports) -> Report:
    """The winner among several, else the first."""
    reports = reports_of(document)
    winner = document.winner if isinstance(document, Reports) else None
    return next((one for one in reports if one.provenance.candidate.path == winner), reports[0])


def _code(report: Report) -> str:
    """What kind of step is next: ``release``, ``more_cycles``, or the first rule that is in the way."""
    if report.verdict in {Verdict.PROMOTE, Verdict.HOLD}:
        return "release" if report.verdict == Verdict.PROMOTE else "more_cycles"
    status = Status.FAIL if report.verdict == Verdict.BLOCK else Status.INCONCLUSIVE
    reason = next((reason for reason in report.reasons if reason.status == status), None)
    block = None if reason is None else statements.block_of(reason.rule, report)
    key = None if reason is None or block is None else statements.outcome(reason, block)
    return (key or ("" if reason is None else _text(reason.rule, 60))).replace(" ", "_")


def _text(found: str, width: int) -> str:
    return cut(visible(found), width)

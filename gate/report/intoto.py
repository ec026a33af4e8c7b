"""The report as an in-toto test-result statement: unsigned, for whoever signs (``actions/attest``)."""

from __future__ import annotations

import json
import re
from typing import Any

from gate.report.model import Document, ErrorReport, Report, Reports, Source
from gate.values import GateError, Status, Verdict

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def intoto(document: Document) -> str:
    """The statement as JSON; one line each (a bundle) for several challengers.

    Errors: ``no_subject`` where there is no candidate file to speak of, ``decides_nothing`` for a run that is
    only advisory.
    """
    if isinstance(document, ErrorReport):
        raise GateError("no_subject", "an error has no candidate that a statement could be about")
    if not document.decides:
        raise GateError(
            "decides_nothing",
            "the run decides nothing (its policy is the change's own), so there is nothing to attest",
        )
    if isinstance(document, Reports):
        return "".join(json.dumps(statement(one), sort_keys=True) + "\n" for one in document.reports)
    return json.dumps(statement(document), sort_keys=True, indent=1) + "\n"


def statement(report: Report) -> dict[str, Any]:
    """PASSED is a promotion, WARNED one with a waived rule; whatever may not be released is FAILED."""
    by_status = {
        status: [reason.rule for reason in report.reasons if reason.status == status] for status in Status
    }
    waived = by_status[Status.WAIVED]
    promoted = report.verdict == Verdict.PROMOTE
    return {
        "_type": STATEMENT,
        "subject": [_descriptor(report.provenance.candidate, "the candidate")],
        "predicateType": PREDICATE,
        "predicate": {
            "result": ("WARNED" if waived else "PASSED") if promoted else "FAILED",
            "configuration": _configuration(report),
            "passedTests": by_status[Status.PASS],
            "warnedTests": [*waived, *_worse(report)],
            "failedTests": [*by_status[Status.FAIL], *by_status[Status.INCONCLUSIVE]],
        },
    }


def _worse(report: Report) -> list[str]:
    """Watched metrics that got significantly worse."""
    return [
        block.rule
        for block in report.watch
        if any(caution.code == "watch_worse" for caution in block.cautions)
    ]


def _configuration(report: Report) -> list[dict[str, Any]]:
    policy, cycles = report.policy, report.cycles
    facts = {
        "decision_digest": policy.digest,
        "verdict": report.verdict,
        "cycles_passed": cycles.passed,
        "cycles_required": cycles.required,
        "signature": report.signature,
    }
    name = report.provenance.policy or "policy"
    return [
        {"name": name, "annotations": facts},
        _descriptor(report.provenance.baseline, "the baseline"),
        *(_descriptor(run, "a run of the baseline") for run in report.provenance.baseline_runs or ()),
    ]


def _descriptor(source: Source, what: str) -> dict[str, Any]:
    digest = source.sha256 or ""
    if not _SHA256.fullmatch(digest):
        raise GateError("no_subject", f"the report holds no SHA-256 of {what}")
    found: dict[str, Any] = {"name": source.path, "digest": {"sha256": digest}}
    known = {"digest": source.digest, "system": source.system, "rows": source.rows}
    notes = {key: value for key, value in known.items() if value is not None}
    return found | ({"annotations": notes} if notes else {})

"""A decided run -> the step's outputs. Pipelines act on these, so a doubt is always ``error``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gate.report.model import ErrorReport, Report, Reports, reports_of
from gate.values import Verdict

NAMES: Final = (
    *("verdict", "reason", "winner", "delta", "ci-low", "ci-high", "p-value", "n-items"),
    *("cycles-passed", "cycles-required", "policy-digest", "policy-commit"),
    *("report-json", "report-md", "report-junit", "attestation"),
)
FILES: Final = {
    "report-json": "report.json",
    "report-md": "summary.md",
    "report-junit": "junit.xml",
    "attestation": "attestation.intoto.json",
}
"""Outputs that are files in the report directory; the output is empty where the file was not written."""


@dataclass(frozen=True, slots=True)
class Result:
    """verdict: a Verdict, ``advisory`` where the run decides nothing, or ``error``.

    report: the deciding one, None on an error. help: what to do about an error.
    """

    verdict: str
    reason: str
    report: Report | None = None
    winner: str = ""
    help: str = ""


def result_of(document: Report | Reports | ErrorReport) -> Result:
    """What a run came to: of several challengers the winner's report, or the first."""
    if isinstance(document, ErrorReport):
        error = document.error
        return Result(
            "error", f"{error.where}: {error.message}" if error.where else error.message, help=error.help
        )
    reports = reports_of(document)
    winner = document.winner if isinstance(document, Reports) else _candidate(reports[0])
    chosen = next((one for one in reports if _candidate(one) == winner), reports[0])
    word = str(document.verdict) if document.decides else "advisory"
    return Result(word, chosen.reasons[0].message if chosen.reasons else "", chosen, winner or "")


def outputs(result: Result, directory: Path, policy_commit: str) -> dict[str, str]:
    """Every output by its name; what is not known is empty. Numbers have full precision."""
    values: dict[str, Any] = {
        "verdict": result.verdict,
        "reason": result.reason,
        "winner": result.winner if result.verdict == Verdict.PROMOTE else "",
        **_numbers(result.report),
        "policy-commit": policy_commit,
    }
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    paths = {name: directory / file for name, file in FILES.items()}
    return texts | {name: str(path) if path.is_file() else "" for name, path in paths.items()}


def _numbers(report: Report | None) -> dict[str, Any]:
    if report is None:
        names = ("delta", "ci-low", "ci-high", "p-value", "n-items")
        return dict.fromkeys((*names, "cycles-passed", "cycles-required", "policy-digest"))
    gating = report.gating
    return {
        "delta": gating.delta,
        "ci-low": gating.interval and gating.interval.low,
        "ci-high": gating.interval and gating.interval.high,
        "p-value": gating.p_value,
        "n-items": gating.n,
        "cycles-passed": report.cycles.passed,
        "cycles-required": report.cycles.required,
        "policy-digest": report.policy.digest,
    }


def _candidate(report: Report) -> str:
    return report.provenance.candidate.path

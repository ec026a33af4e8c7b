"""What a run left behind -> the step's outputs. Pipelines act on these, so a doubt is always ``error``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

VERDICTS: Final = {"promote": 0, "block": 1, "inconclusive": 3, "hold": 4}
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
    """verdict: one of VERDICTS, ``advisory`` where the run decides nothing, or ``error``.

    report: the deciding ``gate.report/1``, empty on an error. help: what to do about an error.
    """

    verdict: str
    reason: str
    report: Mapping[str, Any] = field(default_factory=dict)
    winner: str = ""
    help: str = ""


def result_of(directory: Path, code: int, complaint: str) -> Result:
    """Read the report of a finished run. It counts only if it says what the exit code says."""
    found = _json(directory / FILES["report-json"])
    verdict = found.get("verdict")
    if verdict not in VERDICTS or code in {2, 70} or found.get("exit_code") != VERDICTS[verdict]:
        return _error(found, complaint)
    reports = found.get("reports", [found])
    winner = str(found.get("winner") or "")
    word = "advisory" if found.get("decides") is False else str(verdict)
    chosen = next((one for one in reports if winner and _candidate(one) == winner), reports[0])
    return Result(word, _reason(chosen), chosen, winner if len(reports) > 1 else _candidate(chosen))


def outputs(result: Result, directory: Path, policy_commit: str) -> dict[str, str]:
    """Every output by its name; what is not known is empty. Numbers have full precision."""
    gating = result.report.get("gating", {})
    interval = gating.get("interval") or {}
    cycles = result.report.get("cycles", {})
    values: dict[str, Any] = {
        "verdict": result.verdict,
        "reason": result.reason,
        "winner": result.winner if result.verdict == "promote" else "",
        "delta": gating.get("delta"),
        "ci-low": interval.get("low"),
        "ci-high": interval.get("high"),
        "p-value": gating.get("p_value"),
        "n-items": gating.get("n"),
        "cycles-passed": cycles.get("passed"),
        "cycles-required": cycles.get("required"),
        "policy-digest": result.report.get("policy", {}).get("digest"),
        "policy-commit": policy_commit,
    }
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    paths = {name: directory / file for name, file in FILES.items()}
    return texts | {name: str(path) if path.is_file() else "" for name, path in paths.items()}


def _error(found: Mapping[str, Any], complaint: str) -> Result:
    error = found.get("error") if found.get("schema") == "gate.error/1" else None
    if not isinstance(error, dict):
        return Result("error", complaint or "the run ended without a report")
    place = f"{error.get('where')}: " if error.get("where") else ""
    return Result("error", f"{place}{error.get('message')}", help=str(error.get("help") or ""))


def _reason(report: Mapping[str, Any]) -> str:
    reasons = report.get("reasons") or []
    return str(reasons[0].get("message", "")) if reasons else ""


def _candidate(report: Mapping[str, Any]) -> str:
    return str(report.get("provenance", {}).get("candidate", {}).get("path", ""))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

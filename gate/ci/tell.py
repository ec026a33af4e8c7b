"""What a finished job leaves for the runner, for other CI systems and for people."""

from __future__ import annotations

from gate.ci.annotate import annotation_lines
from gate.ci.job import Job
from gate.ci.outputs import dotenv, write_outputs
from gate.ci.results import Result, outputs
from gate.ci.summary import append, compose, notes_block
from gate.safe import terminal_lines
from gate.values import Verdict


def tell(job: Job, result: Result, markdown: str) -> list[str]:
    """Write outputs and summary; the lines for the log. markdown: of the report, empty on an error."""
    values = outputs(result, job.directory, job.policy_commit)
    (job.directory / "outputs.env").write_text(dotenv(values), encoding="utf-8")
    if job.environ.get("GITHUB_OUTPUT"):
        write_outputs(job.environ["GITHUB_OUTPUT"], values)
    notes = [*job.notes, *_forgiven(job, result)]
    lines = [terminal_lines(f"gate: {note}") for note in notes]
    if job.change is not None:
        lines += [terminal_lines(f"gate: {text}") for text in (job.change.headline, *job.change.details)]
    if job.environ.get("GITHUB_ACTIONS") == "true":
        lines += annotation_lines(result, job.change, job.warnings)
    return lines + _summarise(job, result, notes, markdown)


def _forgiven(job: Job, result: Result) -> list[str]:
    if job.advisory and result.report is not None and result.report.verdict != Verdict.PROMOTE:
        return [f"Advisory: {result.report.verdict} does not fail this job."]
    return []


def _summarise(job: Job, result: Result, notes: list[str], markdown: str) -> list[str]:
    length = job.inputs.summary if job.inputs else "full"
    path = job.environ.get("GITHUB_STEP_SUMMARY")
    if not path or length == "none":
        return []
    if append(path, compose(result, markdown, notes_block(notes, job.change), length)):
        return []
    return ["gate: the job summary is full, so nothing was added to it"]

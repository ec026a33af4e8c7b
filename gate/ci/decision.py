"""One CI job from its environment to its outputs: each step hands the next one a value."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Final

from gate.ci.event import ci_facts
from gate.ci.inputs import Inputs, named_files, variable
from gate.ci.job import Job, job_of, judging_policy, read_inputs
from gate.ci.policy_age import commit_since
from gate.ci.results import FILES, Result, result_of
from gate.ci.tell import tell
from gate.pairing.model import NO_FILE
from gate.policy.load import LoadedPolicy
from gate.report.fault import BUG, bug_text, error_text, fault_of
from gate.report.files import check_outputs, claim, report_files, write_reports, write_text
from gate.report.intoto import intoto
from gate.report.junit import junit
from gate.report.model import Document, ErrorReport, Report, Reports, error_json, error_report
from gate.report.text import text
from gate.run import Request, evaluate
from gate.run.request import forgiven_verdicts, named_sets
from gate.run.stored import SCHEME, from_store
from gate.safe import terminal_lines
from gate.values import EXIT_BUG, EXIT_CANNOT_DECIDE, GateError, __version__


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job came to. document: None for a fault of the program itself. said: for the log."""

    code: int
    document: Report | Reports | ErrorReport | None
    said: str
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """code: the job's exit code. log: harmless lines."""

    code: int
    log: tuple[str, ...]


def run_job(environ: Mapping[str, str]) -> Finished:
    """Decide, then tell the runner: outputs, annotations and summary are written whatever the verdict."""
    job = job_of(environ)
    answer = _answer(job)
    _render(job.directory, answer.document)
    result = Result("error", BUG) if answer.document is None else result_of(answer.document)
    return Finished(
        job.exit_code(answer.code), (terminal_lines(answer.said), *tell(job, result, answer.markdown))
    )


def _answer(job: Job) -> Answer:
    try:
        return _decided(job)
    except (Exception, KeyboardInterrupt) as error:  # whatever it is, the runner is told
        fault = fault_of(error)
        if fault is None:
            return Answer(EXIT_BUG, None, bug_text(error))
        document = error_report(fault)
        with contextlib.suppress(OSError, GateError):
            write_text(job.directory / FILES["report-json"], error_json(document))
        return Answer(EXIT_CANNOT_DECIDE, document, error_text(fault))


def _decided(job: Job) -> Answer:
    _choose_directory(job)
    asked = read_inputs(job)
    policy = judging_policy(job, asked)
    found = job.inputs or asked
    forgiven = forgiven_verdicts(found.exit_zero_on)
    request = _request(job, found, policy, writes=found.history == asked.history)
    check_outputs(report_files(job.directory), _given(job, found))
    report = evaluate(request)
    texts = write_reports(report, job.directory)
    code = 0 if report.verdict in forgiven else report.exit_code
    return Answer(code, report, text(report), texts[FILES["report-md"]])


def _choose_directory(job: Job) -> None:
    """Take the folder that was asked for, once it is sure that nothing in it is lost."""
    asked = job.where.report_directory(job.environ.get(variable("report-dir"), "").strip())
    claim(asked, (job.where.workspace / path for path in named_files(job.environ)))
    job.directory.rmdir()
    job.directory = asked


def _request(job: Job, found: Inputs, policy: LoadedPolicy, *, writes: bool) -> Request:
    """writes: the history is the one that was asked for, so that what it promotes may be blessed."""
    here = job.where.readable
    candidates = tuple(here(path) for path in found.candidates)
    sets = [(name, *(path if path == NO_FILE else here(path) for path in pair)) for name, *pair in found.sets]
    history, store = (_place(path, here) for path in (found.history, found.store))
    file = found.baseline if found.baseline.startswith(SCHEME) else here(found.baseline)
    baseline, stored = from_store(file, store, history)
    since = partial(
        commit_since, job.policy_commit, found.policy, job.where.workspace, policy.decision_digest
    )
    return Request(
        loaded=policy,
        baseline=baseline,
        runs=tuple(here(path) for path in found.runs),
        stored=stored if stored is None or (writes and job.decides) else replace(stored, shelf=None),
        candidates=candidates,
        labels=here(found.labels) if found.labels else None,
        sets=named_sets(sets, candidates),
        history=history,
        expect_head=found.expect_head or None,
        read_only=found.history_mode == "read-only",
        cycle=found.cycle or None,
        decides=job.decides,
        policy_since=cache(since),
        ci=ci_facts(job.environ),
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
    )


def _place(path: str, here: Callable[[str], str]) -> str | None:
    """A file or a branch, None where none is named."""
    return (path if path.startswith("git:") else here(path)) if path else None


def _given(job: Job, found: Inputs) -> list[Path]:
    named = [found.policy, found.baseline, *found.runs, *found.candidates, found.history, found.labels]
    named += [path for _, *pair in found.sets for path in pair if path != NO_FILE]
    return [job.where.workspace / path for path in named if path]


_MORE: Final[Mapping[str, Callable[[Document], str]]] = {"report-junit": junit, "attestation": intoto}


def _render(directory: Path, document: Document | None) -> None:
    """JUnit and the attestation. What cannot be rendered leaves its output empty."""
    if document is None:
        return
    for name, render in _MORE.items():
        if name == "attestation" and isinstance(document, ErrorReport):
            continue
        with contextlib.suppress(GateError, OSError):
            write_text(directory / FILES[name], render(document))

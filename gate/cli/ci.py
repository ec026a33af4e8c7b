"""``gate ci``: decide inside a CI job. Its inputs are ``GATE_*`` variables, which the action sets."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from io import StringIO
from pathlib import Path

from gate.ci.base_policy import read_policy
from gate.ci.event import event_of
from gate.ci.inputs import Inputs, named_files, variable
from gate.ci.job import Job, absent, job_of, judging_policy, read_inputs
from gate.ci.places import places
from gate.ci.policy_age import commit_since
from gate.ci.results import FILES, Result, result_of
from gate.ci.tell import tell
from gate.cli.streams import Streams
from gate.cli.targets import claim
from gate.safe import terminal_lines
from gate.values import EXIT_BUG, EXIT_CANNOT_DECIDE

EPILOG = """\
examples:
  gate ci run                             what the action runs; inputs are GATE_BASELINE, GATE_CANDIDATE, ...
  gate ci policy --policy gate.yaml -o P  the policy of the base side, for any pipeline

The policy is read from the base side of a pull or merge request, so that a change cannot loosen the gate that
judges it. What cannot be read there is exit 2."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate ci``."""
    add = parser.add_argument
    add("what", choices=("run", "policy"), help="decide, or only fetch the policy")
    add("--policy", default="gate.yaml", metavar="FILE", help="with policy: its path in the repository")
    add(
        "--policy-ref",
        default="auto",
        metavar="REF",
        help="with policy: auto, a commit, refs/heads/NAME",
    )
    add("-o", "--output", metavar="FILE", help="with policy: where to write it")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """The job's exit code."""
    if args.what == "policy":
        return _fetch_policy(args, streams)
    return run_job(os.environ, streams)


def _fetch_policy(args: argparse.Namespace, streams: Streams) -> int:
    from gate.cli.targets import write_text

    found = read_policy(args.policy, args.policy_ref, event_of(os.environ), places(os.environ).workspace)
    if found is None:
        raise absent(args.policy)
    if args.output:
        write_text(Path(args.output), found.text)
        streams.print(f"{args.policy} of {found.words}: {found.commit}")
    else:
        streams.print(found.text)
    return 0


def run_job(environ: Mapping[str, str], streams: Streams) -> int:
    """Decide, then tell the runner: outputs, annotations and summary are written whatever the verdict."""
    from gate.cli.main import guarded

    job = job_of(environ)
    said, errors = StringIO(), StringIO()
    inner = Streams(said, errors)
    options: list[str] = []  # filled as soon as it is known where an error document belongs
    code = guarded(lambda: _decide(job, options, inner), options, inner)
    result = result_of(job.directory, code, _complaint(errors.getvalue()))
    if result.verdict == "error" and code not in {EXIT_CANNOT_DECIDE, EXIT_BUG}:
        code = EXIT_CANNOT_DECIDE
    _render(job, result)
    streams.print(terminal_lines(said.getvalue() + errors.getvalue()))
    for line in tell(job, result):
        streams.print(line)
    return job.exit_code(code)


def _decide(job: Job, options: list[str], streams: Streams) -> int:
    from gate.cli.run import decide

    options[:] = ["--json", str(job.directory / FILES["report-json"])]
    _choose_directory(job)
    options[:] = ["--json", str(job.directory / FILES["report-json"])]
    found = read_inputs(job)
    policy = judging_policy(job, found)
    os.chdir(job.where.workspace)
    words = _run_options(job.inputs or found, job.directory)
    digest = policy.decision_digest
    since = partial(commit_since, job.policy_commit, found.policy, job.where.workspace, digest)
    return decide(policy, words, streams, since=since, decides=job.decides)


def _choose_directory(job: Job) -> None:
    """Take the folder that was asked for, once it is sure that nothing in it is lost."""
    asked = job.where.report_directory(job.environ.get(variable("report-dir"), "").strip())
    claim(asked, (job.where.workspace / path for path in named_files(job.environ)))
    job.directory.rmdir()
    job.directory = asked


def _run_options(found: Inputs, directory: Path) -> argparse.Namespace:
    from gate.cli import run
    from gate.cli.commands import Parser

    parser = Parser(prog="gate run")
    run.arguments(parser)
    return parser.parse_args(found.arguments(str(directory)))


def _render(job: Job, result: Result) -> None:
    """JUnit and the attestation, from the report alone. What cannot be rendered leaves its output empty."""
    from gate.cli.main import main

    forms = {"junit": "report-junit"} | ({} if result.verdict == "error" else {"intoto": "attestation"})
    for form, name in forms.items():
        out = StringIO()
        report = str(job.directory / FILES["report-json"])
        if main(["render", report, "--format", form], out, StringIO()) == 0:
            (job.directory / FILES[name]).write_text(out.getvalue(), encoding="utf-8")


def _complaint(text: str) -> str:
    """The first line that the gate itself wrote to stderr."""
    lines = (line.removeprefix("gate: ") for line in text.splitlines() if line.startswith("gate: "))
    return next(lines, "")

"""``gate run``: the main job."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

from gate import __version__
from gate.cli import output
from gate.cli.streams import Streams
from gate.cli.targets import check_targets
from gate.policy.load import LoadedPolicy, load
from gate.run import Files, Request, evaluate
from gate.values import GateError

EPILOG = """\
example:
  gate run --policy gate.yaml --baseline baseline.jsonl --candidate candidate.jsonl --history history.jsonl

Promote on the verdict, not on the code alone: exit 0 is promote, 1 block, 2 cannot decide, 3 inconclusive,
4 hold (this cycle passed, more are required)."""

MAPPABLE = {"hold": 4, "inconclusive": 3}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate run``."""
    add = parser.add_argument
    add("--policy", required=True, metavar="FILE", help="the policy, agreed before the run")
    add("--baseline", required=True, metavar="FILE", help="per-item results of what runs today")
    add(
        "--candidate",
        required=True,
        action="append",
        metavar="FILE",
        help="per-item results of what may replace it; repeat the option for several challengers",
    )
    add(
        "--set",
        nargs=3,
        action="append",
        default=[],
        metavar=("NAME", "BASELINE", "CANDIDATE"),
        help="a named item set with files of its own, for rules with set: NAME; BASELINE may be - for limits",
    )
    add("--history", metavar="FILE", help="the append-only record of past decisions")
    add(
        "--history-mode",
        choices=("normal", "read-only"),
        default="normal",
        help="read-only records nothing, and cannot promote where looks or several cycles are required",
    )
    add("--expect-head", metavar="DIGEST", help="a record that the history must still hold")
    add(
        "--reveal",
        action="store_true",
        help="print the numbers that cycles.feedback: verdict withholds; the items count as worn then",
    )
    add(
        "--baseline-id",
        metavar="NAME",
        help="the baseline's system and version, where its results do not name it: another one starts a "
        "streak anew, new results of the same one do not",
    )
    add("--cycle", metavar="NAME", help="name of this cycle (default: from the candidate's digest)")
    add(
        "--report-dir",
        metavar="DIR",
        help="write report.json, summary.md, report.html, junit.xml and tables of items there",
    )
    add("--json", metavar="FILE", help="write the JSON report there; - for standard output")
    add(
        "--exit-zero-on",
        metavar="VERDICTS",
        default="",
        help="exit 0 on these too: hold, inconclusive or both, with a comma between",
    )


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Decide, write what was asked for, return the exit code."""
    try:
        policy = load(args.policy)
        return decide(policy, args, streams, since=partial(_checkout_since, policy))
    except GateError as error:
        _report_error(error, args)
        raise


def _checkout_since(policy: LoadedPolicy) -> str:
    from gate.ci.policy_age import checkout_since

    return checkout_since(policy.path, policy.decision_digest)


def _report_error(error: GateError, args: argparse.Namespace) -> None:
    """What cannot be decided is said in the report directory too; never in the place of an input."""
    with contextlib.suppress(GateError, OSError):
        check_targets(args)
        output.deliver_error(error, args)


def decide(
    policy: LoadedPolicy,
    args: argparse.Namespace,
    streams: Streams,
    *,
    since: Callable[[], str],
    decides: bool = True,
) -> int:
    """The same by a policy that need not be the file of ``args``; not ``decides``: it only advises.

    since: when the policy's deciding part was committed, as :class:`Request` has it.
    """
    forgiven = _forgiven(args.exit_zero_on)
    _refuse_same_candidate(args.candidate)
    check_targets(args)
    request = Request(
        loaded=policy,
        baseline=args.baseline,
        candidates=tuple(args.candidate),
        sets=_sets(args),
        history=args.history,
        expect_head=args.expect_head,
        read_only=args.history_mode == "read-only",
        cycle=args.cycle,
        baseline_id=args.baseline_id,
        reveal=args.reveal,
        decides=decides,
        policy_since=cache(since),
        ci=ci_facts(os.environ),
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
    )
    report = evaluate(request)
    output.deliver(report, args, streams)
    return 0 if report.verdict in forgiven else report.exit_code


def _forgiven(text: str) -> set[str]:
    words = {word.strip() for word in text.split(",") if word.strip()}
    unknown = sorted(words - set(MAPPABLE))
    if unknown:
        raise GateError(
            "usage",
            f"--exit-zero-on takes hold and inconclusive (found {unknown[0][:40]!a})",
            help="a block, an error or a bug never exits 0",
        )
    return words


def _refuse_same_candidate(candidates: list[str]) -> None:
    files = [os.path.realpath(candidate) for candidate in candidates]
    if len(set(files)) < len(files):
        raise GateError("usage", "one candidate file is given twice", help="name each challenger once")


def _sets(args: argparse.Namespace) -> Mapping[str, Files]:
    found: dict[str, Files] = {}
    for name, baseline, candidate in args.set:
        if name in found:
            raise GateError("usage", f"the item set {name[:40]!a} is given twice")
        found[name] = Files(baseline, candidate)
    if found and len(args.candidate) > 1:
        raise GateError(
            "usage",
            "--set has one candidate file, so it cannot be used with several --candidate",
            help="run the gate once for each challenger",
        )
    return found


def ci_facts(environ: Mapping[str, str]) -> dict[str, str]:
    """What the CI system says about this run, for the history's records."""
    names: dict[str, Any] = {
        "run_id": ("GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILD_BUILDID", "BUILD_ID"),
        "run_attempt": ("GITHUB_RUN_ATTEMPT",),
        "sha": ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "GIT_COMMIT"),
        "ref": ("GITHUB_REF", "CI_COMMIT_REF_NAME", "BUILD_SOURCEBRANCH", "GIT_BRANCH"),
        "actor": ("GITHUB_ACTOR", "GITLAB_USER_LOGIN"),
    }
    found = {key: next((environ[n] for n in options if environ.get(n)), "") for key, options in names.items()}
    return {key: value[:200] for key, value in found.items() if value}

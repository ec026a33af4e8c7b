"""``gate run``: the main job."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from gate.ci.event import ci_facts
from gate.cli.render import length, lengths
from gate.cli.streams import Streams, colours
from gate.pairing.local import pair_files
from gate.pairing.model import NO_FILE, Pairer
from gate.policy.load import LoadedPolicy, load
from gate.report.files import check_outputs, report_files, write_reports, write_text
from gate.report.model import Report, Reports, error_report, reports_of, to_json
from gate.run import Files, Request, evaluate
from gate.run.request import forgiven_verdicts, further_runs, named_sets
from gate.run.stored import from_store
from gate.values import GateError, __version__

EPILOG = """\
example:
  gate run --policy gate.yaml --baseline baseline.jsonl --candidate candidate.jsonl --history history.jsonl

Promote on the verdict, not on the code alone: exit 0 is promote, 1 block, 2 cannot decide, 3 inconclusive,
4 hold (this cycle passed, more are required)."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate run``."""
    add = parser.add_argument
    add("--policy", required=True, metavar="FILE", help="the policy, agreed before the run")
    add(
        "--baseline",
        required=True,
        action="append",
        metavar="FILE",
        help="results of what runs today, or store:NAME; repeat the option for several runs of it",
    )
    add("--labels", metavar="FILE", help="gold labels by id, for files of predictions")
    add("--store", metavar="PLACE", help="a store of baselines: a directory, or git:REMOTE#BRANCH")
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
    add(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="spark: Parquet paths or table names, matched in Apache Spark (docs/spark.md)",
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
        "--json-summary",
        metavar="FILE",
        help="write at most 1 KB of JSON there, for coding agents and chats; - for standard output",
    )
    add(
        "--next",
        metavar="FILE",
        help="write the ids to score next there, one a line; empty where no stage asks for more",
    )
    lengths(parser)
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
        forgiven = forgiven_verdicts(args.exit_zero_on)
        sets = named_sets(args.set, args.candidate)
        check_outputs(_outputs(args), _given(args))
        report = evaluate(_request(policy, sets, args))
        _deliver(report, args, streams)
    except GateError as error:
        _report_error(error, args)
        raise
    return 0 if report.verdict in forgiven else report.exit_code


def _request(policy: LoadedPolicy, sets: Mapping[str, Files], args: argparse.Namespace) -> Request:
    baseline, stored = from_store(args.baseline[0], args.store, args.history)
    return request_here(
        policy,
        baseline=baseline,
        runs=further_runs(args.baseline),
        stored=stored,
        labels=args.labels,
        candidates=tuple(args.candidate),
        sets=sets,
        pairer=_pairer(args.engine, policy),
        history=args.history,
        expect_head=args.expect_head,
        read_only=args.history_mode == "read-only",
        cycle=args.cycle,
        baseline_id=args.baseline_id,
        reveal=args.reveal,
    )


def request_here(policy: LoadedPolicy, **given: Any) -> Request:
    """A request of this process: its time, its CI job, its checkout."""
    return Request(
        loaded=policy,
        policy_since=cache(lambda: _checkout_since(policy)),
        ci=ci_facts(os.environ),
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
        **given,
    )


def _pairer(engine: str, policy: LoadedPolicy) -> Pairer:
    if engine == "local":
        return pair_files
    from gate.pairing.spark import pair_tables
    from gate.run.served import refuse_unserved

    refuse_unserved(policy.policy)
    return pair_tables


def _checkout_since(policy: LoadedPolicy) -> str:
    from gate.ci.policy_age import checkout_since

    return checkout_since(policy.path, policy.decision_digest)


def _outputs(args: argparse.Namespace) -> Iterator[Path]:
    for name in (args.json, args.json_summary, args.next):
        if name and name != "-":
            yield Path(name)
    if args.report_dir:
        yield from report_files(Path(args.report_dir))


def _given(args: argparse.Namespace) -> Iterator[Path]:
    named = [args.policy, *args.baseline, *args.candidate, args.history, args.labels]
    named += [path for _, *pair in args.set for path in pair if path != NO_FILE]
    return (Path(path) for path in named if path)


def _report_error(error: GateError, args: argparse.Namespace) -> None:
    """What cannot be decided is said in the report directory too; never in the place of an input."""
    with contextlib.suppress(GateError, OSError):
        check_outputs(_outputs(args), _given(args))
        if args.report_dir:
            write_reports(error_report(error), Path(args.report_dir))


def _deliver(report: Report | Reports, args: argparse.Namespace, streams: Streams) -> None:
    """Write every output that was asked for. Files first: the verdict is printed when it can be read."""
    from gate.report.brief import brief

    if args.report_dir:
        write_reports(report, Path(args.report_dir))
    if args.json and args.json != "-":
        write_text(Path(args.json), to_json(report))
    if args.json_summary and args.json_summary != "-":
        write_text(Path(args.json_summary), brief(report))
    if args.next:
        found = (one.stages.next for one in reports_of(report) if one.stages and one.stages.next)
        write_text(Path(args.next), "".join(f"{item}\n" for each in found for item in each.ids))
    if "-" in {args.json, args.json_summary}:
        streams.print(to_json(report) if args.json == "-" else brief(report))
        return
    from gate.report.text import text

    streams.print(text(report, colour=colours(streams.out, os.environ), form=length(args)))

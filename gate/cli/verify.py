"""``gate verify``: does this report reproduce, and was this candidate promoted?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from gate.cli.streams import Streams
from gate.safe import terminal_line
from gate.values import EXIT_BLOCK, GateError, Status

if TYPE_CHECKING:
    from gate.artifacts.opening import InMemory
    from gate.planning.reproduce import Moment
    from gate.policy.load import LoadedPolicy
    from gate.report.model import Report, Reports
    from gate.run.stored import Stored

EPILOG = """\
examples:
  gate verify report/report.json                          make the same run again from its files, to the byte
  gate verify report/report.json --history history.jsonl  where earlier looks had a say; it is only read
  gate verify --promoted 9f2c41d07ab3 --history history.jsonl --max-age 30

A report reproduces: exit 0. It does not: exit 1, with the first field that differs. Its files are not
there, or are others now: exit 2. With --promoted: exit 0 only if the history verifies and holds the promotion
of that candidate; 1 if it does not."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate verify``."""
    parser.add_argument("report", metavar="REPORT", nargs="?", help="a saved report.json")
    parser.add_argument("--store", metavar="PLACE", help="the store of a baseline store:NAME")
    parser.add_argument("--promoted", metavar="DIGEST", help="ask for a candidate's promotion instead")
    parser.add_argument("--history", metavar="FILE", help="the record of past decisions; it is only read")
    parser.add_argument("--max-age", type=float, metavar="DAYS", help="the promotion may not be older")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """0 it holds, 1 it does not."""
    if (args.report is None) == (args.promoted is None):
        raise GateError(
            "usage", "gate verify takes a REPORT or --promoted DIGEST", help="see gate verify --help"
        )
    if args.promoted is not None:
        return _promoted(args, streams)
    if args.max_age is not None:
        raise GateError("usage", "--max-age goes with --promoted")
    return _reproduced(args, streams)


def _promoted(args: argparse.Namespace, streams: Streams) -> int:
    from gate.cycles.promoted import was_promoted
    from gate.history.session import store_for

    if args.history is None:
        raise GateError("usage", "--promoted needs --history FILE", help="see gate verify --help")
    if args.max_age is not None and not args.max_age >= 0:
        raise GateError("usage", f"--max-age is a number of days, 0 or more (found {args.max_age:g})")
    history = store_for(args.history).read()
    answer = was_promoted(history, args.promoted, args.max_age, datetime.now(UTC))
    streams.print(answer.reason)
    return 0 if answer.promoted else EXIT_BLOCK


def _reproduced(args: argparse.Namespace, streams: Streams) -> int:
    from gate.planning import reproduce
    from gate.policy.load import load
    from gate.report.model import ErrorReport, reports_of, to_json
    from gate.report.saved import read_report

    saved = read_report(args.report)
    reports = reports_of(saved)
    if isinstance(saved, ErrorReport):
        raise GateError("nothing_decided", "the document is an error: there is no decision to reproduce")
    for report in reports:
        reproduce.refuse_part(report)
    stored = _stored(reports, args.store)
    _check_files(reports, stored)
    resting = any(reproduce.rests_on_history(report) for report in reports)
    if resting and args.history is None:
        raise reproduce.needs_history()
    text = _text(args.report)
    first = ""
    for moment in _moments(args.history, reports):
        fresh = to_json(_again(reports, moment, stored))
        if fresh == text:
            streams.print(f"reproduced to the byte: {terminal_line(args.report)} ({saved.verdict})")
            return 0
        first = first or fresh
    if not first:
        streams.print("does not reproduce: the history holds this candidate against another baseline system")
        return EXIT_BLOCK
    difference = reproduce.first_difference(json.loads(text), json.loads(first))
    found = difference or "the layout of the JSON differs"
    if load(str(reports[0].provenance.policy)).policy.cycles.feedback == "verdict":
        found = f"{found.partition(': ')[0]} (values withheld: cycles.feedback is verdict)"
    if args.history is None and any(report.cycles.recorded for report in reports):
        found += "; earlier records may have had a say: add --history FILE"
    streams.print(f"does not reproduce: {terminal_line(found)}")
    return EXIT_BLOCK


def _text(path: str) -> str:
    """The saved report as it is written; a packed one unpacked."""
    from gate.artifacts.content import open_content

    content = open_content(path)
    try:
        return content.text()
    finally:
        content.close()


def _moments(place: str | None, reports: Sequence[Report]) -> Sequence[Moment | None]:
    """Without a history there is one way to make a report."""
    from gate.history.session import store_for
    from gate.planning.reproduce import moments

    return [None] if place is None else moments(store_for(place).read(), reports[0])


def _check_files(reports: Sequence[Report], stored: InMemory | None) -> None:
    """Every file is there, and is the one of that run; the version too."""
    from gate.artifacts.content import open_content
    from gate.planning import reproduce
    from gate.policy.load import load
    from gate.values import __version__

    for report in reports:
        if report.tool_version != __version__:
            raise reproduce.other_version(report.tool_version, __version__)
        for what, path, wanted in reproduce.files_of(report):
            if what == "baseline" and stored is not None:
                continue
            if not Path(path).is_file():
                raise reproduce.no_file(what, path)
            if what == "policy":
                found = load(path).policy_digest
            else:
                content = open_content(path)
                found = content.sha256
                content.close()
            if found != wanted:
                raise reproduce.other_file(what, path, found, wanted)


def _again(reports: Sequence[Report], moment: Moment | None, stored: InMemory | None) -> Report | Reports:
    """The same run once more; what it records is kept in memory only."""
    from gate.history.store import MemoryStore
    from gate.policy.load import load
    from gate.run import Files, Request, evaluate
    from gate.values import __version__

    provenance = reports[0].provenance
    loaded = load(str(provenance.policy))
    sets = {
        name: Files(pair.baseline.path, pair.candidate.path) for name, pair in (provenance.sets or {}).items()
    }
    request = Request(
        loaded=loaded,
        baseline=provenance.baseline.path if stored is None else stored,
        stored=None if stored is None else _as_blessed(reports[0]),
        runs=tuple(run.path for run in provenance.baseline_runs or ()),
        labels=None if provenance.labels is None else provenance.labels.path,
        candidates=tuple(report.provenance.candidate.path for report in reports),
        sets=sets,
        store=None if moment is None else MemoryStore(moment.history),
        read_only=moment is not None and not reports[0].cycles.recorded,
        ci={} if moment is None else moment.ci,
        reveal=loaded.policy.cycles.feedback == "verdict" and reports[0].gating.delta is not None,
        decides=reports[0].decides,
        policy_since=cache(partial(_policy_since, provenance.policy_since or "", loaded)),
        cycle=provenance.cycle if isinstance(provenance.cycle, str) else None,
        baseline_id=provenance.baseline_id,
        now=_day_of_run(reports[0]) or _day(reports, [(w.rule, w.expires) for w in loaded.policy.waivers]),
        tool_version=__version__,
    )
    return evaluate(request)


def _policy_since(saved: str, loaded: LoadedPolicy) -> str:
    """The time that the report states, but no earlier than the repository at hand knows it."""
    from gate.ci.policy_age import checkout_since
    from gate.cycles.history_cautions import moment

    known = checkout_since(loaded.path, loaded.decision_digest) if saved else ""
    times = [(when, text) for text in (saved, known) if (when := moment(text)) is not None]
    return max(times)[1] if times else ""


def _stored(reports: Sequence[Report], place: str | None) -> InMemory | None:
    """The baseline from its store, by the digest that the report states; None where it was a file."""
    from gate.history.baselines import fetch
    from gate.history.shelf import shelf_at

    blessed = _as_blessed(reports[0])
    if blessed is None:
        return None
    if place is None:
        raise GateError("usage", "the report's baseline came from a store", help="add --store PLACE")
    return fetch(shelf_at(place), blessed.blessed)


def _as_blessed(report: Report) -> Stored | None:
    from gate.history.baselines import Blessed
    from gate.run.stored import Stored

    found = report.provenance.blessing
    if found is None:
        return None
    sha256 = report.provenance.baseline.sha256 or ""
    return Stored(Blessed(found.name, sha256, found.time, "", found.cycle or ""), None)


def _day_of_run(report: Report) -> str:
    """A day on which baseline and judge were as old as the report says; empty where it says no age."""
    from gate.cycles.history_cautions import moment

    aged = (report.provenance.blessing, report.provenance.judge)
    days = [
        then + timedelta(days=found.age_days)
        for found in aged
        if found is not None and found.age_days is not None and (then := moment(found.time)) is not None
    ]
    return max(days).isoformat() if days else ""


def _day(reports: Sequence[Report], waivers: list[tuple[str, str]]) -> str:
    """Today, or an earlier day on which the waivers that the reports used were in force."""
    used = {reason.rule for report in reports for reason in report.reasons if reason.status == Status.WAIVED}
    return min([datetime.now(UTC).date().isoformat(), *(day for rule, day in waivers if rule in used)])

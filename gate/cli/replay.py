"""``gate replay``: both systems over the same recorded cases, and the artifacts that the gate reads."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path

from gate.cli.progress import Progress
from gate.cli.streams import Streams, colours
from gate.replay.artifact import Written
from gate.replay.decisions import TO_DECIDE, Book
from gate.replay.load import LoadedSuite, load
from gate.replay.names import SIDES
from gate.replay.replay import item_ids, replay
from gate.safe import terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate replay suite.yaml --out replayed
  gate run --policy gate.yaml --baseline replayed/baseline.jsonl --candidate replayed/candidate.jsonl
  gate replay suite.yaml --out replayed --policy gate.yaml --history history.jsonl
                                        where the policy has items.stages: stop as soon as it is clear

A replay that was stopped goes on where it was: run the same command again. What the infrastructure kept from
being answered is asked again then; an answer never is. A suite starts programs: run none that you have not
read."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate replay``."""
    parser.add_argument("suite", metavar="SUITE", help="the suite file: cases, two systems, a scorer")
    add = parser.add_argument
    add("--out", metavar="DIR", required=True, help="folder for the journal and the artifacts")
    add(
        "--policy", metavar="FILE", help="a policy with items.stages: replay stage by stage until it is clear"
    )
    add("--history", metavar="FILE", help="the record of past decisions, for --policy")
    add("--report-dir", metavar="DIR", help="write the report of the last stage there, for --policy")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Replay, and say what was written and how the runs ended."""
    gc.enable()  # long work: what the event loop leaves in circles must not pile up
    loaded = load(args.suite)
    if (args.policy is None) != (args.history is None):
        raise GateError("usage", "--policy and --history go together: a look in stages is recorded")
    if args.report_dir and args.policy is None:
        raise GateError("usage", "--report-dir goes with --policy", help="gate run writes the report else")
    if args.policy is not None:
        return _in_stages(args, loaded, streams)
    _replayed(args, loaded, streams, None)
    return 0


def _in_stages(args: argparse.Namespace, loaded: LoadedSuite, streams: Streams) -> int:
    """Stage after stage, each replayed and looked at, until the gate asks for no more."""
    from gate.cli.run import request_here
    from gate.policy.load import load as load_policy
    from gate.report.files import check_outputs, report_files, write_reports
    from gate.report.model import Report
    from gate.report.text import text
    from gate.run import evaluate
    from gate.run.stages import first_items

    policy = load_policy(args.policy)
    if args.report_dir:
        given = map(Path, (args.policy, args.history, args.suite))
        check_outputs(report_files(Path(args.report_dir)), given)
    if loaded.suite.decisions is not None:
        raise GateError(
            "usage", "people's decisions have no stages", help="leave --policy out, and run the gate later"
        )
    universe = item_ids(loaded)
    wanted = first_items(policy, lambda: universe).ids
    while True:
        made = _replayed(args, loaded, streams, wanted)
        files = {one.side: str(one.path) for one in made}
        report = evaluate(
            request_here(
                policy,
                baseline=files["baseline"],
                candidates=(files["candidate"],),
                universe=universe,
                history=args.history,
            )
        )
        assert isinstance(report, Report)  # one candidate
        if args.report_dir:
            write_reports(report, Path(args.report_dir))
        streams.print(text(report, colour=colours(streams.out, os.environ)))
        if report.stages is None or report.stages.next is None:
            return report.exit_code
        wanted = report.stages.next.ids  # what was looked at is not asked for again, spoiled or not


def _replayed(
    args: argparse.Namespace, loaded: LoadedSuite, streams: Streams, wanted: Collection[str] | None
) -> list[Written]:
    bars: list[Progress] = []

    def progress(total: int, finished: int) -> Callable[[str], None]:
        if finished:
            streams.complain(f"gate: {finished} of {total} runs are finished, going on with the others")
        bars.append(Progress(streams.err, "replaying", total, steps=finished))
        return bars[0]

    try:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        made, book = replay(loaded, Path(args.out), os.environ, now, progress, wanted)
    finally:
        for bar in bars:
            bar.done()
    advice = _next(made) if wanted is None else []  # a part of the items is looked at by the replay itself
    lines = (*_said(loaded.suite.name, made), *advice, *_decided(book, args.out))
    streams.print("\n".join(map(terminal_line, lines)))
    _refuse_silence(made)
    return made


def _said(name: str, made: list[Written]) -> list[str]:
    lines = [f"replayed {name}"]
    for one in made:
        asked = sum(one.statuses.values())
        failed = [f"{count} {status}" for status, count in sorted(one.statuses.items()) if status != "ok"]
        line = f"  {one.path}: {one.statuses.get('ok', 0)} of {asked} runs answered"
        line += "".join(f", {words}" for words in failed)
        line += f"; {one.faults} attempts spoiled by the infrastructure" if one.faults else ""
        lines.append(line)
    return lines


def _next(made: list[Written]) -> list[str]:
    lines = []
    by_window = {one.window: [other for other in made if other.window == one.window] for one in made}
    for window, pair in by_window.items():
        sides = " ".join(f"--{one.side} {one.path}" for one in pair)
        cycle = "" if window is None else f" --cycle {window}"
        lines.append(f"next: gate run --policy POLICY {sides}{cycle}")
    return lines


def _decided(book: Book | None, folder: str) -> list[str]:
    if book is None:
        return []
    seen = book.seen
    line = (
        f"people decided on {seen['decided']} outputs; {seen['reused']} decisions carried over to equal bytes"
    )
    if not seen["undecided"]:
        return [line]
    where = Path(folder) / TO_DECIDE
    return [f"{line}; {seen['undecided']} runs wait for a decision: {where}"]


def _refuse_silence(made: list[Written]) -> None:
    """A system that never answered is no result to go on with."""
    for side in SIDES:
        parts = [one for one in made if one.side == side]
        if not any(one.statuses.get("ok") for one in parts):
            raise GateError(
                "no_answers",
                f"the {side} answered not once ({parts[0].first_error})",
                where=str(parts[0].path),
                help="correct the suite, and replay into another folder",
            )

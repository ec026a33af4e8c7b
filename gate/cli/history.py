"""``gate history``: start, show, verify, amend and merge the record of past decisions."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from gate.cli.streams import Streams
from gate.cycles.attempt import rules_of
from gate.cycles.chain import History
from gate.cycles.chart import draw
from gate.cycles.known import how_often_right, known_record, right_lines
from gate.cycles.record import Record
from gate.history.checks import head_line, join, require_head
from gate.history.session import store_for
from gate.policy.load import load
from gate.report.files import cannot_write, refuse_inputs, write_text
from gate.run.request import Request
from gate.safe import terminal_line
from gate.values import GateError, __version__

EPILOG = """\
examples:
  gate history init history.jsonl
  gate history show history.jsonl
  gate history outcome history.jsonl night-12 bad --note "complaints doubled"
  gate history verify history.jsonl --expect-head 3f2a9c01d4e7
  gate history site history.jsonl public
  gate history merge ours.jsonl theirs.jsonl --out history.jsonl"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate history``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("init", help="start a history").add_argument("file", metavar="FILE")
    actions.add_parser("show", help="draw the run of cycles").add_argument("file", metavar="FILE")
    later = actions.add_parser("outcome", help="record what production said of a cycle's candidate")
    later.add_argument("file", metavar="FILE")
    later.add_argument("cycle", metavar="CYCLE", help="its name, as gate history show prints it")
    later.add_argument("outcome", choices=("good", "bad"))
    later.add_argument("--note", default="", metavar="TEXT", help="where that is known from")
    check = actions.add_parser("verify", help="check that nothing was changed or lost")
    check.add_argument("file", metavar="FILE")
    check.add_argument("--expect-head", metavar="DIGEST", help="a record that must still be there")
    site = actions.add_parser("site", help="write the history as a page")
    site.add_argument("file", metavar="FILE")
    site.add_argument("folder", metavar="DIR", help="where index.html goes")
    site.add_argument("--policy", metavar="POLICY", help="with --artifacts: add which items still decide")
    site.add_argument("--artifacts", metavar="CYCLES", help="past result files, as gate backtest takes them")
    union = actions.add_parser("merge", help="join copies of one history that grew apart")
    union.add_argument("files", metavar="FILE", nargs="+")
    union.add_argument("--out", required=True, metavar="FILE", help="the new file; it must not exist")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Do it; every fault is an error of exit 2."""
    if args.action == "init":
        now = datetime.now(UTC).isoformat(timespec="seconds")
        store = store_for(args.file)
        store.create(now=now, tool=__version__)
        streams.print(f"started: {head_line(store.read())}")
    elif args.action == "show":
        streams.print(draw(store_for(args.file).read()))
    elif args.action == "outcome":
        streams.print("\n".join(_outcome(args)))
    elif args.action == "site":
        streams.print(f"written: {terminal_line(_site(args))}")
    elif args.action == "verify":
        found = store_for(args.file).read()
        if args.expect_head:
            require_head(found, args.expect_head)
        for caution in found.cautions:
            streams.complain(f"caution: {caution.message}")
        streams.print(f"verified: {head_line(found)}")
    else:
        _refuse_store(args.out)
        streams.print(f"merged: {head_line(join([store_for(file).read() for file in args.files], args.out))}")
    return 0


def _outcome(args: argparse.Namespace) -> list[str]:
    now, store = datetime.now(UTC).isoformat(timespec="seconds"), store_for(args.file)

    def step(history: History) -> tuple[list[Record], Record]:
        about = known_record(history.records, args.cycle, args.outcome, args.note[:500])
        return [about._replace(time=now, tool=__version__)], about

    about = store.transact(step)
    found = how_often_right(store.read().records, about.metric)
    return [
        f"recorded: cycle {terminal_line(about.cycle)} was {args.outcome}",
        *(right_lines(found) if found else []),
    ]


def _site(args: argparse.Namespace) -> Path:
    from gate.report.history_page import history_page

    if (args.policy is None) != (args.artifacts is None):
        raise GateError("usage", "--policy and --artifacts go together", help="give both, or none")
    folder = Path(args.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error.strerror or str(error)) from error
    target = folder / "index.html"
    refuse_inputs([target], [] if args.file.startswith("git:") else [Path(args.file)])
    write_text(target, history_page(store_for(args.file).read(), _health(args)))
    return target


def _health(args: argparse.Namespace) -> list[str]:
    if args.policy is None:
        return []
    from gate.planning.item_review import review, review_lines
    from gate.planning.past_cycles import read_cycles

    loaded = load(args.policy)
    request = Request(loaded, "", (), now=datetime.now(UTC).isoformat(timespec="seconds"))
    found = review(loaded.policy, read_cycles(request, args.artifacts), rules_of(loaded.policy).level)
    return [line.strip() for line in review_lines(found)]


def _refuse_store(out: str) -> None:
    if out.startswith("git:"):
        raise GateError(
            "usage",
            f"--out is a new file, not a branch (found {out!a})",
            help="merge into a file, look at it, and commit it to the branch",
        )

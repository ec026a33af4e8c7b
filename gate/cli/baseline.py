"""``gate baseline``: the results that others are compared with, kept in a store by their digest."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from gate.artifacts.opening import open_artifact
from gate.cli.streams import Streams
from gate.history import baselines
from gate.history.session import store_for
from gate.history.shelf import shelf_at
from gate.planning.first_look import first_look
from gate.planning.look_text import look_lines
from gate.planning.proposal import propose
from gate.run.intake import Files
from gate.run.stored import from_store
from gate.safe import terminal_line

EPILOG = """\
examples:
  gate baseline bless results.jsonl --as main --store baselines
  gate run --policy gate.yaml --store baselines --baseline store:main --candidate new.jsonl
  gate baseline list --store git:origin#gate-baselines --history history.jsonl
  gate baseline diff store:main new.jsonl --store baselines

A store is a directory or a git branch that nothing else is in. With `bless: on_promote` in the policy, a
promotion makes the candidate's results the next baseline; then give every command the history too."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate baseline``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    words = {
        "bless": "keep results and make them the baseline of a name",
        "list": "every blessing, oldest first",
        "show": "what the baseline of a name is",
        "diff": "a first look at two results, files or store:NAME",
        "export": "write the baseline of a name to a file",
        "prune": "remove results that are no longer among the newest",
    }
    made = {name: actions.add_parser(name, help=text) for name, text in words.items()}
    for one in made.values():
        one.add_argument("--store", required=True, metavar="PLACE", help="a directory, or git:REMOTE#BRANCH")
        one.add_argument("--history", metavar="FILE", help="the history whose promotions bless")
    made["bless"].add_argument("results", metavar="RESULTS", help="per-item results of what runs today")
    made["bless"].add_argument("--as", dest="name", required=True, metavar="NAME", help="the baseline's name")
    made["bless"].add_argument("--note", default="", metavar="TEXT", help="why")
    made["show"].add_argument("name", metavar="NAME")
    made["diff"].add_argument("baseline", metavar="A")
    made["diff"].add_argument("candidate", metavar="B")
    made["diff"].add_argument("--metric", metavar="M", help="the column to compare")
    made["export"].add_argument("name", metavar="NAME")
    made["export"].add_argument(
        "--out", required=True, metavar="FILE", help="the new file; it must not exist"
    )
    made["prune"].add_argument("--keep", type=int, required=True, metavar="N", help="results of each name")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Do it; every fault is an error of exit 2."""
    for line in _ACTIONS[args.action](args):
        streams.print(terminal_line(line))
    return 0


def _found(args: argparse.Namespace) -> tuple[baselines.Blessed, ...]:
    history = store_for(args.history).read() if args.history else None
    return baselines.entries(shelf_at(args.store), history)


def _bless(args: argparse.Namespace) -> list[str]:
    from gate.artifacts import detect

    baselines.checked_name(args.name)
    detect(args.results)
    with open_artifact(args.results) as file:
        data = file.read()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry = baselines.bless(shelf_at(args.store), args.name, data, now=now, note=args.note)
    return [f"blessed: {next(baselines.listing([entry]))}"]


def _list(args: argparse.Namespace) -> list[str]:
    return list(baselines.listing(_found(args))) or ["the store is empty"]


def _show(args: argparse.Namespace) -> list[str]:
    shelf = shelf_at(args.store)
    entry = baselines.latest(_found(args), args.name, shelf.where)
    data = baselines.fetch(shelf, entry).data
    return [*baselines.listing([entry]), f"sha256 {entry.sha256}, {len(data):,} bytes, verified"]


def _diff(args: argparse.Namespace) -> list[str]:
    paths = [from_store(path, args.store, args.history)[0] for path in (args.baseline, args.candidate)]
    proposal = propose(paths[0], paths[1], args.metric)
    return list(look_lines(first_look(proposal, Files(paths[0], paths[1]), "error")))


def _export(args: argparse.Namespace) -> list[str]:
    from gate.history.files import create

    shelf = shelf_at(args.store)
    entry = baselines.latest(_found(args), args.name, shelf.where)
    create(Path(args.out), baselines.fetch(shelf, entry).data)
    return [f"written: {args.out} ({entry.sha256[:12]})"]


def _prune(args: argparse.Namespace) -> list[str]:
    history = store_for(args.history).read() if args.history else None
    return [f"removed: {baselines.prune(shelf_at(args.store), max(1, args.keep), history)}"]


_ACTIONS = {
    "bless": _bless,
    "list": _list,
    "show": _show,
    "diff": _diff,
    "export": _export,
    "prune": _prune,
}

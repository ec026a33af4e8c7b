"""``gate backtest``: what a policy would have done over past cycles."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from gate.cli.progress import Progress
from gate.cli.streams import Streams
from gate.history.session import store_for
from gate.planning.backtest import backtest
from gate.planning.backtest_text import document, markdown_lines, picture
from gate.planning.past_cycles import read_cycles
from gate.policy.load import load
from gate.report.files import cannot_write, refuse_inputs, write_text
from gate.report.model import to_json
from gate.run.request import Request
from gate.safe import terminal_line
from gate.stats.label_swaps import FEWEST_REPLAYS, gains_to_try
from gate.values import GateError

EPILOG = """\
examples:
  gate backtest --policy gate.yaml --artifacts nights
  gate backtest --policy gate.yaml --artifacts nights --history history.jsonl --outcomes outcomes.csv
  gate backtest --policy gate.yaml --artifacts nights --out backtest

DIR holds a folder a cycle (nights/2026-03-01/baseline.jsonl, candidate.jsonl), or files of one name each
(night1-baseline.csv, night1-candidate.csv). Exit 0 whatever is found: nothing is decided or recorded."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate backtest``."""
    add = parser.add_argument
    add("--policy", required=True, metavar="FILE", help="the policy to try")
    add("--artifacts", required=True, metavar="DIR", help="the cycles' result files")
    add("--history", metavar="FILE", help="what was really decided, and in which order")
    add("--outcomes", metavar="FILE", help="CSV: cycle,good or cycle,bad, as production showed later")
    add("--replays", type=int, default=FEWEST_REPLAYS, metavar="N", help="2,000 (default) or more")
    add("--out", metavar="DIR", help="write backtest.json, backtest.md and backtest.svg there")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the answer as Markdown; write the files that are asked for."""
    if not FEWEST_REPLAYS <= args.replays <= 1_000_000:
        raise GateError("usage", f"--replays is {FEWEST_REPLAYS:,} to 1,000,000 (found {args.replays})")
    loaded = load(args.policy)
    good = _outcomes(args.outcomes) if args.outcomes else {}
    history = store_for(args.history).read() if args.history else None
    request = Request(loaded, "", (), now=datetime.now(UTC).isoformat(timespec="seconds"))
    past = read_cycles(request, args.artifacts)
    targets = _targets(args, [Path(p) for one in past for p in (one.files.baseline, one.files.candidate)])
    progress = Progress(streams.err, "backtest", args.replays * len(gains_to_try(0.0)))
    found = backtest(request, past, history, good, args.replays, progress)
    progress.done()
    text = "\n".join(markdown_lines(found)) + "\n"
    for target, content in zip(targets, (to_json(document(found)), text, picture(found)), strict=False):
        write_text(target, content)
    streams.print("\n".join(terminal_line(line) for line in text.splitlines()))
    return 0


def _targets(args: argparse.Namespace, inputs: list[Path]) -> list[Path]:
    if not args.out:
        return []
    folder = Path(args.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error.strerror or str(error)) from error
    targets = [folder / f"backtest.{end}" for end in ("json", "md", "svg")]
    given = [Path(p) for p in (args.policy, args.history, args.outcomes) if p]
    refuse_inputs(targets, [*inputs, *given])
    return targets


def _outcomes(path: str) -> Mapping[str, bool]:
    """cycle -> whether it was good."""
    try:
        rows = list(csv.reader(Path(path).read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GateError(
            "outcomes_unreadable", f"the outcomes cannot be read ({error})", where=path
        ) from error
    found: dict[str, bool] = {}
    for number, row in enumerate(rows, 1):
        if not row or (number == 1 and row == ["cycle", "outcome"]):
            continue
        if len(row) != 2 or row[1].strip() not in {"good", "bad"}:
            text = f"line {number} is not cycle,good or cycle,bad (found {','.join(row)[:60]!a})"
            raise GateError("outcomes_unreadable", text, where=path)
        if found.setdefault(row[0], row[1].strip() == "good") != (row[1].strip() == "good"):
            raise GateError("outcomes_unreadable", f"{row[0][:60]!a} is called good and bad", where=path)
    return found

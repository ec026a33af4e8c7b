"""``gate compare``: a first answer from two result files, without a policy."""

from __future__ import annotations

import argparse
from pathlib import Path

from gate.cli.streams import Streams
from gate.planning.first_look import FirstLook, first_look, look_document
from gate.planning.look_text import look_lines
from gate.planning.proposal import propose
from gate.planning.two_means import are_counts, two_means_lines
from gate.report.files import refuse_inputs, write_text
from gate.report.model import to_json
from gate.run.intake import Files
from gate.run.stored import from_store
from gate.safe import quoted, terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate compare baseline.jsonl candidate.jsonl
  gate compare baseline.csv candidate.csv --metric score
  gate compare 530/1000 543/1000
  gate compare promptfoo.json promptfoo.json --systems "old prompt" "new prompt"

Exit 0 whatever is found: this command never promotes and writes no history. `gate run` decides."""


INCOMPLETE = frozenset({"missing_values", "error_rate", "unmatched_ids", "uneven_repeats"})
"""Refusals whose usual help names keys of a policy, which a first look does not have."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate compare``."""
    two_files(parser)
    parser.add_argument("--json", metavar="FILE", help="write the look as JSON there; - for standard output")


def two_files(parser: argparse.ArgumentParser) -> None:
    """What ``compare`` and ``init`` share."""
    add = parser.add_argument
    add("baseline", metavar="A", help="per-item results of what runs today, or store:NAME")
    add("--store", metavar="PLACE", help="a store of baselines: a directory, or git:REMOTE#BRANCH")
    add("candidate", metavar="B", help="per-item results of what may replace it")
    add("--metric", metavar="M", help="the column to compare (asked for where several could be meant)")
    add("--systems", nargs=2, metavar=("A", "B"), help="which system of each file, where it holds several")
    add(
        "--where",
        metavar="COLUMN=VALUE",
        action="append",
        default=[],
        help="only these rows, for scores that lie one a row (again for another column, or another value)",
    )
    add(
        "--missing",
        choices=("error", "worst", "drop"),
        default="error",
        help="items without a result: refuse (default), read them least favourably, or leave them out",
    )


def looked(args: argparse.Namespace, gain: str | None = None) -> FirstLook:
    """The first look at the two files of ``args``. gain: what is to improve, while the metric is kept."""
    systems = None if args.systems is None else (str(args.systems[0]), str(args.systems[1]))
    baseline, _ = from_store(args.baseline, args.store, None)
    proposal = propose(baseline, args.candidate, args.metric, systems, _rows(args.where), gain)
    try:
        return first_look(proposal, Files(baseline, args.candidate), args.missing)
    except GateError as error:
        if error.code not in INCOMPLETE or args.missing != "error":
            raise
        help_text = "score these items again, or look at the rest: --missing drop, or worst"
        raise GateError(error.code, error.message, where=error.where, help=help_text) from error


def _rows(given: list[str]) -> dict[str, tuple[str, ...]]:
    """``name=correctness`` as the policy's ``artifacts.where`` has it."""
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, mark, word = text.partition("=")
        if not (name and mark and word):
            raise GateError(
                "usage",
                f"--where takes COLUMN=VALUE (found {quoted(text)})",
                help="for example --where name=correctness",
            )
        found[name] = (*found.get(name, ()), word)
    return found


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the look."""
    if are_counts([args.baseline, args.candidate]):
        streams.print("\n".join(two_means_lines(args.baseline, args.candidate)))
        return 0
    if args.json and args.json != "-":
        refuse_inputs([Path(args.json)], [Path(args.baseline), Path(args.candidate)])
    look = looked(args)
    if args.json:
        text = to_json(look_document(look))
        if args.json == "-":
            streams.print(text)
            return 0
        write_text(Path(args.json), text)
    streams.print("\n".join(terminal_line(line) for line in look_lines(look)))
    return 0

"""``gate judge``: an automatic judge held against what people decided on the same outputs."""

from __future__ import annotations

import argparse
import hashlib
import math
from datetime import UTC, datetime
from pathlib import Path

from msgspec import to_builtins

from gate.cli.streams import Streams
from gate.replay.judge import Question, examined
from gate.replay.judge_text import markdown, terminal
from gate.report.files import refuse_inputs, write_text
from gate.report.model import to_json
from gate.run.intake import Files
from gate.run.judge_evidence import Floors
from gate.safe import quoted
from gate.values import EXIT_BLOCK, GateError, Verdict

EPILOG = """\
examples:
  gate judge baseline.jsonl candidate.jsonl --judge judge_ok --human decision \\
    --word approve=1 --word edit=0 --word reject=0 --max-delta-bias 0.05 --min-kappa 0.4 -o evidence.json

Each file holds, for its own system's outputs, the judge's score and what people decided on that very output.
Exit 0: the judge may gate. 1: it may not. 3: these decisions do not show it. The policy then pins the file:
judge: {evidence: {file: evidence.json, sha256: ...}, max_delta_bias: 0.05}"""

_EXITS = {"valid": 0, "not_valid": EXIT_BLOCK, "inconclusive": Verdict.INCONCLUSIVE.exit_code}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate judge``."""
    add = parser.add_argument
    add("baseline", metavar="A", help="outputs of what runs today, judged and decided on")
    add("candidate", metavar="B", help="outputs of what may replace it, judged and decided on")
    add("--judge", required=True, metavar="COLUMN", help="the judge's score, the metric of the policy")
    add("--human", required=True, metavar="COLUMN", help="what people decided")
    kinds = ("binary", "graded")
    add("--kind", help="the judge's score: pass/fail (default) or a number", choices=kinds, default=kinds[0])
    add("--human-kind", help="the people's: pass/fail (default) or a number", choices=kinds, default=kinds[0])
    add("--direction", choices=("higher", "lower"), default="higher", help="which is better (default higher)")
    add("--word", action="append", default=[], metavar="WORD=VALUE", help="a word of people as a number")
    add("--id", metavar="COLUMN", help="the item's id (default id)")
    add("--cluster", metavar="COLUMN", help="items that belong together")
    add("--by", action="append", default=[], metavar="COLUMN", help="show the bias in each value of a column")
    add("--length", metavar="COLUMN", help="the output's length: does the judge favour long ones?")
    add("--again", metavar="COLUMN", help="the judge's score when asked again, or in the other order")
    add("--min-kappa", type=float, metavar="K", help="the least lower limit of Cohen's kappa")
    add("--max-delta-bias", type=float, metavar="D", help="how far its delta may be from the people's")
    add("--max-inconsistent", type=float, metavar="SHARE", help="how often it may contradict itself")
    add("-o", "--out", metavar="FILE", help="write the evidence as JSON there, and print its SHA-256")
    add("--markdown", metavar="FILE", help="write the finding as Markdown there")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print what was found; write it where it is wanted."""
    targets = [Path(path) for path in (args.out, args.markdown) if path]
    refuse_inputs(targets, [Path(args.baseline), Path(args.candidate)])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = examined(_question(args), Files(args.baseline, args.candidate), _floors(args), now)
    streams.print(terminal(found))
    if args.markdown:
        write_text(Path(args.markdown), markdown(found))
    if args.out:
        text = to_json(to_builtins(found))
        write_text(Path(args.out), text)
        streams.print(f"sha256: {hashlib.sha256(text.encode()).hexdigest()}")
    return _EXITS[found.verdict]


def _question(args: argparse.Namespace) -> Question:
    columns = [args.judge, args.human, *([args.again] if args.again else [])]
    columns += [args.length] if args.length else []
    if len(set(columns)) < len(columns):
        raise GateError(
            "usage",
            "one column is named for two things: a judge agrees with itself",
            help="give the people's decisions, the judge's and the rest in columns of their own",
        )
    return Question(
        metric=args.judge,
        human=args.human,
        kind=args.kind,
        human_kind=args.human_kind,
        direction=args.direction,
        words=_words(args.word),
        id=args.id,
        cluster=args.cluster,
        by=tuple(args.by),
        length=args.length,
        again=args.again,
    )


def _words(given: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in given:
        word, _, value = text.rpartition("=")
        if not word or value not in {"0", "1"} or word in found:
            raise GateError(
                "usage",
                f"--word takes WORD=0 or WORD=1, each word once (found {quoted(text)})",
                help="for example --word approve=1 --word edit=0 --word reject=0",
            )
        found[word] = float(value)
    return found


def _floors(args: argparse.Namespace) -> Floors:
    for name, most in (("min_kappa", 1.0), ("max_delta_bias", math.inf), ("max_inconsistent", 1.0)):
        value = getattr(args, name)
        least_ok = value is None or value > 0 or (value == 0 and name == "max_inconsistent")
        if not least_ok or (value is not None and not value <= most):
            option = name.replace("_", "-")
            raise GateError("usage", f"--{option} is a number above 0 (found {value:g})")
    return Floors(args.min_kappa, args.max_delta_bias, args.max_inconsistent)

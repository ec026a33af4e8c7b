"""``gate selftest``: plant regressions and gains into the baseline, and say what the policy catches."""

from __future__ import annotations

import argparse

from gate.cli.plan import named_sets
from gate.cli.progress import Progress
from gate.cli.streams import Streams
from gate.cycles.attempt import rules_of
from gate.cycles.policy_claims import policy_claims
from gate.planning.chances_text import finding_table, model
from gate.planning.selftest import faults, selftest
from gate.planning.world import world_of
from gate.policy.load import load
from gate.safe import terminal_line
from gate.values import GateError

EPILOG = """\
examples:
  gate selftest gate.yaml --baseline baseline.jsonl
  gate selftest gate.yaml --baseline baseline.jsonl --set safety safety-baseline.jsonl

Losses and gains of growing size are planted into fresh runs of the baseline and decided by the policy as any
candidate is. A policy that no loss makes block, or a rule that can never pass or never fail on these items,
is exit 2: such a gate is decoration. The same files always give the same answer."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate selftest``."""
    add = parser.add_argument
    add("policy", metavar="POLICY", help="the policy file")
    add("--baseline", required=True, metavar="FILE", help="per-item results of what runs today")
    add("--set", nargs=2, action="append", default=[], metavar=("NAME", "BASELINE"), help="a named item set")
    add("--noise", type=float, metavar="SHARE", help="share of a score's variance that a re-run renews")
    add(
        "--discordance",
        type=float,
        metavar="RATE",
        help="how often two runs of the baseline differ (pass/fail)",
    )


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print what each rule catches; a powerless policy is an error."""
    policy = load(args.policy).policy
    world = world_of(
        policy, args.baseline, named_sets(args.set), share=args.noise, discordance=args.discordance
    )
    level = float(policy_claims(rules_of(policy))["level"])
    progress = Progress(streams.err, "selftest")
    findings = selftest(world, level, progress)
    progress.done()
    lines = [*model(world), "", *finding_table(findings)]
    streams.print("\n".join(terminal_line(line) for line in lines))
    wrong = faults(findings)
    if wrong:
        raise GateError(
            "policy_powerless",
            "; ".join(wrong),
            where=args.policy,
            help="use more items (gate plan says how many), or a policy that these items can decide",
        )
    return 0

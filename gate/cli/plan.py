"""``gate plan``: how many items a decision needs, before anything is scored."""

from __future__ import annotations

import argparse
from pathlib import Path

from gate.cli.streams import Streams
from gate.cycles.attempt import rules_of
from gate.cycles.policy_claims import policy_claims
from gate.estimands import estimand_of
from gate.history.session import store_for
from gate.planning.floors import least_items_for
from gate.planning.plan import Plan, Prices, Question, gating_planned, plan, rules_of_policy
from gate.planning.plan_text import plan_document, said
from gate.planning.retrains import retrain_sd
from gate.planning.standing import standing_rules
from gate.planning.variances import Variances, declared, of_rerun, pilot_variances
from gate.planning.world import Key, World, not_simulated, world_of
from gate.policy.load import load
from gate.policy.model import Items, Policy
from gate.report.files import refuse_inputs, write_text
from gate.report.model import to_json
from gate.safe import terminal_line
from gate.values import LARGEST, GateError

EPILOG = """\
examples:
  gate plan --margin 0.02                                       pass/fail, one answer in ten changes
  gate plan --policy gate.yaml --baseline baseline.jsonl        every proof of the policy
  gate plan --policy gate.yaml --baseline a.jsonl --candidate b.jsonl
                                                                the spread of a pilot, never its delta
  gate plan --margin 0.1 --kind graded --sd 0.8 --items 300     what 300 items would see
  gate plan --gain 0.04 --items 800 --cost-false 20000 --cost-missed 5000 --cost-item 0.4
                                                                which margin is the cheapest

A candidate whose true gain is the margin passes about half the time however many items there are, so the
plan is for a true gain of two margins unless --gain says otherwise."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate plan``."""
    add = parser.add_argument
    add("--policy", metavar="FILE", help="plan for the rules of this policy")
    add("--baseline", metavar="FILE", help="results of what runs today: its repeats show the noise")
    add("--candidate", metavar="FILE", help="results of a pilot: only their spread is used")
    add("--set", nargs=2, action="append", default=[], metavar=("NAME", "BASELINE"), help="a named item set")
    add("--margin", type=float, metavar="M", help="smallest gain worth a release, without a policy")
    add(
        "--kind",
        choices=("binary", "graded"),
        default="binary",
        help="pass/fail or numbers, without a policy",
    )
    add("--alpha", type=float, default=0.05, metavar="A", help="two-sided, without a policy (default 0.05)")
    add("--discordance", type=float, metavar="RATE", help="share of items on which the two systems differ")
    add("--sd", type=float, metavar="SD", help="standard deviation of an item's difference (graded)")
    add("--noise", type=float, metavar="SHARE", help="share of a score's variance that a re-run renews")
    add("--gain", type=float, metavar="G", help="the true gain to plan for (default: two margins)")
    add("--items", type=int, metavar="N", help="look at this number of items")
    add("--repeats", type=int, default=1, metavar="K", help="runs of each item and system (default 1)")
    add("--power", type=float, default=0.8, metavar="P", help="power of the whole decision (default 0.8)")
    add("--cost-false", type=float, metavar="MONEY", help="what promoting a candidate without gain costs")
    add("--cost-missed", type=float, metavar="MONEY", help="what missing one with the planned gain costs")
    add("--cost-item", type=float, default=0.0, metavar="MONEY", help="what scoring one item costs")
    add(
        "--retrain-sd",
        type=float,
        metavar="SD",
        help="how much the true gain of one recipe varies by retrain",
    )
    add("--history", metavar="FILE", help="past cycles of the policy's metric, for --retrain-sd")
    add("--good", type=float, default=0.5, metavar="SHARE", help="share of candidates that have the gain")
    add("--json", metavar="FILE", help="write the plan as JSON there; - for standard output")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print the plan."""
    _check(args)
    if args.json and args.json != "-":
        refuse_inputs([Path(args.json)], map(Path, _given(args)))
    prices, sd = _prices(args), _retrain_sd(args)
    question = Question(args.repeats, args.power, args.items, args.gain, prices, sd)
    found = _without_policy(args, question) if args.policy is None else _for_policy(args, question)
    if args.json:
        text = to_json(plan_document(found))
        if args.json == "-":
            streams.print(text)
            return 0
        write_text(Path(args.json), text)
    streams.print("\n".join(terminal_line(line) for line in said(found)))
    return 0


def _retrain_sd(args: argparse.Namespace) -> float:
    if args.history is None:
        return args.retrain_sd or 0.0
    if args.policy is None or args.retrain_sd is not None:
        raise GateError("usage", "--history needs --policy, and stands in the place of --retrain-sd")
    gating = load(args.policy).policy.gating
    return retrain_sd(store_for(args.history).read().records, f"{gating.metric}:{gating.direction}")


def _given(args: argparse.Namespace) -> list[str]:
    alone = (args.policy, args.baseline, args.candidate)
    return [path for path in (*alone, *(path for _, path in args.set)) if path]


def _without_policy(args: argparse.Namespace, question: Question) -> Plan:
    margin = args.margin
    if margin is None and question.prices is not None and args.gain is not None:
        margin = args.gain / 2  # to begin with: the table of margins ends in a better one
    if margin is None:
        help_text = "or let costs choose the margin: --gain G --cost-false MONEY --cost-missed MONEY"
        raise GateError("usage", "gate plan needs --policy FILE or --margin M", help=help_text)
    known = declared(binary=args.kind == "binary", discordance=args.discordance, sd=args.sd)
    if known is None:
        raise GateError(
            "usage", "a graded metric needs --sd SD", help="the standard deviation of an item's difference"
        )
    level = args.alpha / 2
    least = max(
        Items().min, least_items_for(estimand_of(args.kind).default_test(0.0, "standard"), 0.0, level)
    )
    rule = gating_planned("gating", margin, "observed", level, known, question, least)
    return plan((rule,), question)


def _for_policy(args: argparse.Namespace, question: Question) -> Plan:
    policy = load(args.policy).policy
    level = float(policy_claims(rules_of(policy))["level"])
    sets = named_sets(args.set)
    world = None
    if args.baseline and not (
        args.candidate and any(map(not_simulated, (policy.gating, *policy.guardrails)))
    ):
        world = world_of(
            policy,
            args.baseline,
            sets,
            share=args.noise,
            discordance=args.discordance if not args.candidate else None,
        )
    known = _known(args, policy, world)
    rules, left_out = rules_of_policy(policy, world, known, level, question)
    standing = () if world is None else standing_rules(policy, world, rules_of(policy).level)
    return plan(rules, question, left_out, standing)


def _known(args: argparse.Namespace, policy: Policy, world: World | None) -> dict[Key, Variances]:
    """The spread of each metric: of a pilot, else of a re-run, else as declared for the gating metric."""
    gating: Key = (policy.gating.set, policy.gating.metric)
    if world is None and args.candidate:
        return pilot_variances(policy, args.baseline, args.candidate)
    if world is None:
        found = declared(binary=policy.gating.kind == "binary", discordance=args.discordance, sd=args.sd)
        return {} if found is None else {gating: found}
    known = {key: of_rerun(world, key) for key in world.uses}
    if args.candidate:
        known |= pilot_variances(policy, args.baseline, args.candidate)
    return known


def named_sets(given: list[list[str]]) -> dict[str, str]:
    """``--set NAME BASELINE`` as a mapping."""
    found: dict[str, str] = {}
    for name, path in given:
        if name in found:
            raise GateError("usage", f"the item set {name[:40]!a} is given twice")
        found[name] = path
    return found


def _prices(args: argparse.Namespace) -> Prices | None:
    if args.cost_false is None and args.cost_missed is None:
        return None
    if args.cost_false is None or args.cost_missed is None:
        raise GateError("usage", "--cost-false and --cost-missed go together", help="give both")
    return Prices(args.cost_false, args.cost_missed, args.cost_item, args.good)


def _check(args: argparse.Namespace) -> None:
    """Numbers that mean something; a candidate only beside its baseline."""
    if args.candidate and not (args.baseline and args.policy):
        raise GateError("usage", "--candidate needs --baseline and --policy", help="see gate plan --help")
    if args.noise is not None and not args.baseline:
        raise GateError("usage", "--noise needs --baseline", help="see gate plan --help")
    for name, low, high in _RANGES:
        value = getattr(args, name)
        if value is not None and not low < value < high:
            raise GateError(
                "usage", f"--{name.replace('_', '-')} lies between {low:g} and {high:g} (found {value:g})"
            )


_RANGES = (
    ("alpha", 0, 1),
    ("power", 0, 1),
    ("discordance", 0, 1),
    ("noise", 0, 1),
    ("good", 0, 1),
    ("sd", 1 / LARGEST, LARGEST),
    ("gain", 1 / LARGEST, LARGEST),
    ("retrain_sd", -1 / LARGEST, LARGEST),
    ("margin", -1 / LARGEST, LARGEST),
    ("items", 1, 1e9),
    ("repeats", 0, 1000),
    ("cost_false", -1 / LARGEST, LARGEST),
    ("cost_missed", -1 / LARGEST, LARGEST),
    ("cost_item", -1 / LARGEST, LARGEST),
)

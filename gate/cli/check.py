"""``gate check``: is this policy well formed, what does it claim, and is it weaker than the one before?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from gate.cli.plan import named_sets
from gate.cli.progress import Progress
from gate.cli.streams import Streams
from gate.cycles.attempt import rules_of
from gate.cycles.policy_claims import policy_claims
from gate.planning.floors import planned_test
from gate.planning.notes import policy_notes
from gate.policy.load import LoadedPolicy, load
from gate.policy.model import Policy
from gate.policy.rules import rule_ids
from gate.policy.weaker import Change, weaknesses
from gate.safe import terminal_line
from gate.stats.methods import assurance
from gate.values import EXIT_BLOCK, GateError

EPILOG = """\
examples:
  gate check gate.yaml
  gate check gate.yaml --against old/gate.yaml      exits 1 if the new policy asks less than the old one
  gate check gate.yaml --baseline baseline.jsonl    how often the whole policy would promote, by true gain
  gate check gate.yaml --baseline baseline.jsonl --simulations 2000

With --baseline, candidates are simulated by running the baseline again (from its repeats, or with the
declared noise) and planting gains, and each is decided by the policy as a real one would be."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate check``."""
    parser.add_argument("policy", metavar="POLICY", help="the policy file")
    parser.add_argument(
        "--against", metavar="OLD", help="an older policy; names each weakening, exits 1 on one"
    )
    parser.add_argument("--allow-weaker", metavar="REASON", help="exit 0 all the same, and print the reason")
    add = parser.add_argument
    add("--baseline", metavar="FILE", help="results of what runs today: simulate what the policy would do")
    add("--set", nargs=2, action="append", default=[], metavar=("NAME", "BASELINE"), help="a named item set")
    add("--noise", type=float, metavar="SHARE", help="share of a score's variance that a re-run renews")
    add(
        "--discordance",
        type=float,
        metavar="RATE",
        help="how often two runs of the baseline differ (pass/fail)",
    )
    add("--noise-floor", type=float, metavar="SIZE", help="what gate aa measured: is the margin below it?")
    add("--simulations", type=int, default=200, metavar="N", help="simulated looks a candidate (default 200)")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print what the policy says; 0 if it may be used, 1 if it is weaker than the old one."""
    loaded = load(args.policy)
    old = load(args.against) if args.against else None
    streams.print("\n".join(_described(loaded)))
    if args.noise_floor is not None:
        streams.print(_floor_line(loaded.policy, args.noise_floor))
    if args.baseline:
        _simulated(loaded.policy, args, streams)
    elif args.set or args.noise is not None or args.discordance is not None:
        raise GateError("usage", "--set, --noise and --discordance need --baseline FILE")
    if old is None:
        return 0
    changes = weaknesses(loaded.policy, old.policy)
    streams.print("\n".join(_compared(changes)))
    weaker = any(change.effect != "stronger" for change in changes)
    if weaker and args.allow_weaker:
        streams.print(f"allowed all the same: {terminal_line(args.allow_weaker)}")
        return 0
    return EXIT_BLOCK if weaker else 0


def _described(loaded: LoadedPolicy) -> Iterator[str]:
    policy, gating = loaded.policy, loaded.policy.gating
    yield f"{terminal_line(policy.name)}: valid"
    yield f"decision digest {loaded.decision_digest}"
    yield f"rules: {', '.join(terminal_line(rule) for rule in rule_ids(policy))}"
    yield ""
    yield "what a promotion claims:"
    yield f"  {_gating_claim(policy)}"
    if gating.margin_rule == "observed":
        yield "  one whose true gain is at or below the margin can pass, at it about half the time"
    claims = policy_claims(rules_of(policy))
    for sentence in claims["sentences"]:
        yield f"  {sentence}"
    yield ""
    yield "notes:"
    for note in (*claims["cautions"], *policy_notes(policy)):
        yield f"  {note.code}: {terminal_line(note.message)}"


def _floor_line(policy: Policy, floor: float) -> str:
    from gate.planning.re_runs import floor_note

    if not 0 <= floor < float("inf"):
        raise GateError("usage", f"--noise-floor is a size, 0 or more (found {floor:g})")
    note = floor_note(policy, floor)
    if note is None:
        return f"  the margin is at or above the noise floor of {floor:g}"
    return f"  {note.code}: {note.message}"


def _gating_claim(policy: Policy) -> str:
    gating = policy.gating
    margin = gating.margin if isinstance(gating.margin, float) else f"{gating.margin.relative:g} x baseline"
    tested = gating.margin_rule == "tested"
    rule = "proven above" if tested else "observed at or above"
    test = planned_test(policy, gating, 1.0 if tested and gating.margin != 0.0 else 0.0)
    whose = "whose true gain is at or below the margin" if tested else "with no gain"
    level = float(policy_claims(rules_of(policy))["level"])
    plugged_in = tested and gating.kind == "binary" and not isinstance(gating.margin, float)
    return (
        f"{terminal_line(gating.metric)} ({gating.direction} is better): gain {rule} {margin}; "
        f"the chance that a candidate {whose} passes one look is "
        f"{assurance(test, level, plugged_in=plugged_in)} "
        f"(alpha {policy.alpha:g}, {'one-sided over seeds' if policy.items.unit == 'seed' else 'two-sided'})"
    )


def _compared(changes: tuple[Change, ...]) -> Iterator[str]:
    yield ""
    if not changes:
        yield "no deciding key differs from the older policy"
        return
    yield "against the older policy:"
    for change in changes:
        yield f"  {change.effect}: {terminal_line(change.message)}"


def _simulated(policy: Policy, args: argparse.Namespace, streams: Streams) -> None:
    """The chances of promotion on this baseline, and what they suggest."""
    from gate.planning.chances import chances, identical
    from gate.planning.chances_text import chance_table, model, sensitivity
    from gate.planning.notes import baseline_notes, chance_notes
    from gate.planning.world import with_noise, world_of

    if not 10 <= args.simulations <= 1_000_000:
        raise GateError("usage", f"--simulations is 10 to 1,000,000 (found {args.simulations})")
    world = world_of(
        policy, args.baseline, named_sets(args.set), share=args.noise, discordance=args.discordance
    )
    level = float(policy_claims(rules_of(policy))["level"])
    other = {factor: with_noise(world, factor) for factor in (0.5, 2.0)}
    guessed = any(noise.source != "repeats" for noise in world.noise.values())
    total = args.simulations * (4 + 2 * guessed)
    progress = Progress(streams.err, "simulating", total)
    rows = chances(world, level, args.simulations, progress)
    around = [(f, identical(w, level, args.simulations, progress)) for f, w in other.items() if guessed]
    progress.done()
    lines = ["", *model(world), "", *chance_table(rows, policy.cycles.required), *sensitivity(around)]
    notes = [*baseline_notes(world, level), *chance_notes(policy, rows)]
    if notes:
        lines += ["", "notes on this baseline:", *(f"  {note.code}: {note.message}" for note in notes)]
    streams.print("\n".join(terminal_line(line) for line in lines))

"""``gate check``: is this policy well formed, what does it claim, and is it weaker than the one before?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from gate.cli.streams import Streams, one_line
from gate.cycles.attempt import rules_of
from gate.cycles.claims import policy_claims
from gate.errors import EXIT_BLOCK
from gate.policy.load import LoadedPolicy, load
from gate.policy.model import Policy
from gate.policy.rules import rule_ids
from gate.policy.weaker import Change, weaknesses

EPILOG = """\
examples:
  gate check gate.yaml
  gate check gate.yaml --against old/gate.yaml      exits 1 if the new policy asks less than the old one"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate check``."""
    parser.add_argument("policy", metavar="POLICY", help="the policy file")
    parser.add_argument(
        "--against", metavar="OLD", help="an older policy; names each weakening, exits 1 on one"
    )
    parser.add_argument("--allow-weaker", metavar="REASON", help="exit 0 all the same, and print the reason")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print what the policy says; 0 if it may be used, 1 if it is weaker than the old one."""
    loaded = load(args.policy)
    old = load(args.against) if args.against else None
    streams.print("\n".join(_described(loaded)))
    if old is None:
        return 0
    changes = weaknesses(loaded.policy, old.policy)
    streams.print("\n".join(_compared(changes)))
    weaker = any(change.effect != "stronger" for change in changes)
    if weaker and args.allow_weaker:
        streams.print(f"allowed all the same: {one_line(args.allow_weaker)}")
        return 0
    return EXIT_BLOCK if weaker else 0


def _described(loaded: LoadedPolicy) -> Iterator[str]:
    policy, gating = loaded.policy, loaded.policy.gating
    yield f"{one_line(policy.name)}: valid"
    yield f"decision digest {loaded.decision_digest}"
    yield f"rules: {', '.join(one_line(rule) for rule in rule_ids(policy))}"
    yield ""
    yield "what a promotion claims:"
    yield f"  {_gating_claim(policy)}"
    if gating.margin_rule == "observed":
        yield "  one whose true gain is at or below the margin can pass, at it about half the time"
    claims = policy_claims(rules_of(policy))
    for sentence in claims["sentences"]:
        yield f"  {sentence}"
    notes = [*(f"{c.code}: {c.message}" for c in claims["cautions"]), *_advice(policy)]
    if notes:
        yield ""
        yield "cautions:"
        yield from (f"  {note}" for note in notes)


def _gating_claim(policy: Policy) -> str:
    gating = policy.gating
    margin = gating.margin if isinstance(gating.margin, float) else f"{gating.margin.relative:g} x baseline"
    rule = "proven above" if gating.margin_rule == "tested" else "observed at or above"
    return (
        f"{one_line(gating.metric)} ({gating.direction} is better): gain {rule} {margin}; a candidate with "
        f"no gain passes one look with chance at most {policy.alpha / 2:g} (alpha {policy.alpha:g}, two-sided)"
    )


def _advice(policy: Policy) -> Iterator[str]:
    for rail in policy.guardrails:
        if rail.mode == "no_regression":
            yield (
                f"veto: {one_line(rail.metric)} blocks only a loss that is shown, and bounds none; "
                "a tolerance (mode: non_inferior) would"
            )
    vetoes = sum(rail.mode == "no_regression" for rail in policy.guardrails)
    if vetoes > 1 and policy.correction != "none":
        yield (
            f"correction: {policy.correction} over {vetoes} vetoes makes false blocks rarer "
            "and missed regressions more frequent"
        )


def _compared(changes: tuple[Change, ...]) -> Iterator[str]:
    yield ""
    if not changes:
        yield "no deciding key differs from the older policy"
        return
    yield "against the older policy:"
    for change in changes:
        yield f"  {change.effect}: {one_line(change.message)}"

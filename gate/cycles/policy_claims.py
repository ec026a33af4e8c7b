"""What a policy claims over its life, before anything is run: for ``gate check``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.cycles.attempt import Rules
from gate.cycles.ledger import expected_cycles, fewest_cycles, sign_flip_floor
from gate.cycles.levels import MANY, StreakLevel, level_rule
from gate.values import Caution, GateError

POWERS: Final = (0.5, 0.8, 0.95)
UNDECLARED_LOOKS: Final = 10
FEW_CYCLES: Final = 10


def check_rules(rules: Rules) -> tuple[Caution, ...]:
    """Refuse a cycle test that could never pass; caution about one that must be nearly unanimous."""
    if rules.test is None:
        return ()
    fewest = fewest_cycles(rules.alpha)
    if rules.required < fewest:
        floor = sign_flip_floor(rules.required)
        raise GateError(
            "policy",
            f"cycles.test sign_flip cannot pass: {rules.required} unanimous cycles give p = {floor:.4g}, "
            f"above alpha {rules.alpha:g}",
            help=f"set cycles.required to {fewest} or more, or remove cycles.test",
        )
    if rules.required < FEW_CYCLES:
        text = f"with {rules.required} cycles the sign-flip test needs nearly all deltas above the margin"
        return (Caution("few_cycles", f"{text}, and it assumes symmetric noise"),)
    return ()


def policy_claims(rules: Rules) -> dict[str, Any]:
    """N_max, the chance of a false promotion, the cycles to wait for, and what bounds them.

    false_promotion: exact for fresh windows over the declared looks (without any: 10); for re-used items the
    ledger's bound, or without a ledger the retry risk by correlation over 10 looks.
    """
    rule, looks = level_rule(rules), rules.looks or UNDECLARED_LOOKS
    risk, open_ends = rule.claim(looks)
    waits = {format(power, "g"): expected_cycles(power, rules.required) for power in POWERS}
    return {
        "windows": rules.windows,
        "required": rules.required,
        "looks": rules.looks,
        "level": rule.level(1),
        "n_max": rule.most if isinstance(rule, StreakLevel) else None,
        "expected_cycles": waits,
        "cycle_test_fewest": fewest_cycles(rules.alpha),
        "false_promotion_looks": looks,
        "false_promotion": rule.false_promotion(looks),
        "sentences": (risk, *_sentences(rules, waits)),
        "cautions": (*check_rules(rules), *open_ends),
    }


def _cycles(number: float) -> str:
    return f"{number:.1f}" if number < MANY else f"more than {MANY:,.0f}"


def _sentences(rules: Rules, waits: Mapping[str, float]) -> Iterator[str]:
    wait = ", ".join(f"{_cycles(cycles)} at {float(power):.0%} power" for power, cycles in waits.items())
    yield f"cycles to a promotion on average: {wait}"
    if rules.policy_first:
        yield "no promotion by results that are older than the policy, or that do not say when they ran"

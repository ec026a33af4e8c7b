"""What a policy claims over its life, before anything is run: for ``gate check``."""

from __future__ import annotations

import math
from typing import Any, Final

from gate.cycles.attempt import Rules
from gate.cycles.ledger import (
    chance_words,
    expected_cycles,
    fewest_cycles,
    fresh_level,
    ledger_level,
    most_looks,
    promotion_chance,
    retry_risk,
    sign_flip_floor,
)
from gate.values import Caution, GateError

POWERS: Final = (0.5, 0.8, 0.95)
UNDECLARED_LOOKS: Final = 10
FEW_CYCLES: Final = 10
MANY: Final = 1e9


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
    cautions = list(check_rules(rules))
    looks = rules.looks or UNDECLARED_LOOKS
    claims: dict[str, Any] = {
        "windows": rules.windows,
        "required": rules.required,
        "looks": rules.looks,
        "level": _first_level(rules),
        "n_max": _whole(most_looks(rules.level, rules.required)) if rules.windows == "fresh" else None,
        "expected_cycles": {format(p, "g"): expected_cycles(p, rules.required) for p in POWERS},
        "cycle_test_fewest": fewest_cycles(rules.alpha),
        "false_promotion_looks": looks,
    }
    if rules.windows == "fresh":
        claims["false_promotion"] = promotion_chance(claims["level"], rules.required, looks)
        if rules.looks is None and claims["n_max"] is not None and looks > claims["n_max"]:
            text = f"beyond {claims['n_max']} looks the chance of a false promotion exceeds {rules.level:g}"
            cautions.append(Caution("looks_undeclared", f"{text}: declare cycles.looks"))
    elif rules.looks is not None:
        claims["false_promotion"] = rules.level
    else:
        claims["false_promotion"] = retry_risk(looks, rules.level)
        text = "looks at re-used items are counted but cost nothing"
        cautions.append(Caution("looks_undeclared", f"{text}: declare cycles.looks to bound retries"))
    claims["sentences"] = _sentences(rules, claims)
    claims["cautions"] = tuple(cautions)
    return claims


def _first_level(rules: Rules) -> float:
    if rules.windows == "fresh":
        return fresh_level(rules.level, rules.required, rules.looks)
    return rules.level if rules.looks is None else ledger_level(rules.level, 1, rules.required, rules.looks)


def _whole(looks: float) -> int | None:
    """None: more than anybody makes."""
    return math.floor(looks * (1 + 1e-12)) if looks < MANY else None


def _cycles(number: float) -> str:
    return f"{number:.1f}" if number < MANY else f"more than {MANY:,.0f}"


def _sentences(rules: Rules, claims: dict[str, Any]) -> tuple[str, ...]:
    chance, looks = claims["false_promotion"], claims["false_promotion_looks"]
    waits = claims["expected_cycles"]
    wait = ", ".join(f"{_cycles(waits[key])} at {float(key):.0%} power" for key in waits)
    if isinstance(chance, dict):
        risk = f"{looks} looks at the same items: one passes by luck with chance {chance['0.9']:.2g}"
        risk += f" (nearly the same candidate) to {chance['0']:.2g} (all scored anew), where each test holds"
        risk += " its level"
    elif rules.windows == "fresh":
        risk = f"{looks} looks at fresh windows: "
        if looks < rules.required:
            risk += f"no promotion is possible before {rules.required}"
        else:
            risk += f"a promotion by luck has chance {chance_words(chance)} at most"
        most = "any number of" if claims["n_max"] is None else f"up to {claims['n_max']}"
        risk += f"; {most} looks keep the chance of one by luck below {rules.level:g}, "
        risk += "where each test holds its level"
    else:
        risk = f"all looks at the same items together: a promotion by luck has chance at most {chance:g}"
        risk += f", where each test holds its level; each of the first {looks} looks is held to "
        risk += f"{claims['level']:.4g}"
    first = "no promotion by results that are older than the policy, or that do not say when they ran"
    more = (first,) if rules.policy_first else ()
    return (risk, f"cycles to a promotion on average: {wait}", *more)

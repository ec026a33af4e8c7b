"""What a staged evaluation may spend by each stage, and whether going on can still pay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from gate.stats.distributions import normal_quantile, normal_sf

MOST_STAGES = 10

Move = Literal["promote", "block", "futile", "continue", "end"]


def spending(fractions: Sequence[float], level: float) -> tuple[float, ...]:
    """Level that may be spent by each stage: 2 (1 - Phi(z_{1 - level/2} / sqrt t)), all of it at t = 1.

    fractions: share of the items seen by each stage, in (0, 1], not falling. Lan & DeMets (1983,
    Biometrika 70:659), O'Brien-Fleming type: hardly anything early, nearly the whole level at the end.
    ValueError where the fractions are none.
    """
    shares = tuple(float(t) for t in fractions)
    if not shares or not all(0 < t <= 1 for t in shares) or list(shares) != sorted(shares):
        raise ValueError(f"fractions must rise within (0, 1] (found {list(shares)})")
    if not 0 < level < 1:
        raise ValueError(f"the level must lie in (0, 1) (found {level})")
    z = -normal_quantile(level / 2)
    return tuple(level if t == 1.0 else 2.0 * normal_sf(z / math.sqrt(t)) for t in shares)


def planned_drift(gain: float, items: int, variance: float) -> float:
    """Mean of the final z if the true gain is `gain`: G sqrt(N) / sd, for all `items` of the universe."""
    return gain * math.sqrt(items / variance)


def binary_drift(gain: float, items: int, discordant: int, seen: int) -> float:
    """``planned_drift`` of pass/fail with the rate of disagreement seen so far, at least the gain itself."""
    rate = max(discordant / seen, gain)
    return planned_drift(gain, items, rate - gain * gain) if rate > gain * gain else math.inf


def conditional_power(z: float, fraction: float, drift: float, last_boundary: float) -> float:
    """Chance to cross the last boundary, given z at `fraction` of the items and the planned `drift`.

    Phi((sqrt(t) z + drift (1 - t) - c_K) / sqrt(1 - t)), 0 < t < 1 (Lan & Wittes 1988, Biometrics 44:579).
    Futility by it is non-binding: stopping early, or not stopping, never raises the level.
    """
    reached = math.sqrt(fraction) * z + drift * (1.0 - fraction) - last_boundary
    return normal_sf(-reached / math.sqrt(1.0 - fraction))


def next_move(
    *, last: bool, crossed: bool, failed: bool, power: float | None = None, futility: float | None = None
) -> Move:
    """What a stage leads to. A shown failure comes first; ``end`` is a last stage that shows neither.

    crossed: every component passes at its own level of this stage. failed: one is shown to fail. power:
    ``conditional_power`` where a gain is planned. futility: the share below which going on does not pay.
    """
    if failed:
        return "block"
    if crossed:
        return "promote"
    if last:
        return "end"
    hopeless = power is not None and futility is not None and power < futility
    return "futile" if hopeless else "continue"

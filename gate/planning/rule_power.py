"""The chance that one rule passes, for a true gain: exact enumeration for pass/fail, normal for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gate.stats.distributions import normal_quantile, normal_sf
from gate.stats.power import (
    binary_variance,
    mcnemar_power,
    normal_power,
    smallest_effect,
    smallest_gain,
    unconditional_power,
)

MOST_EXACT = 1000
"""Items up to which a proof's chance is enumerated, and a smallest gain searched for."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How much the difference of an item varies, as far as planning knows it.

    variance: of the per-item difference of means at zero true gain. exact: one pass/fail result an item, so
    that the law of the discordant pairs is known and ``variance`` is the rate of disagreement.
    """

    variance: float
    exact: bool

    def at(self, gain: float) -> float:
        """Variance for a true gain."""
        if not self.exact:
            return self.variance
        return max(binary_variance(max(self.variance, abs(gain)), gain), 1e-12)


def observed_rule(spread: Spread, n: int, gain: float, margin: float, level: float) -> float:
    """Chance of "delta >= margin, and above 0 at the level" for a true gain."""
    if spread.exact:
        return mcnemar_power(n, max(spread.variance, abs(gain)), gain, level, margin)
    se = math.sqrt(spread.at(gain) / n)
    bound = max(margin, -normal_quantile(level) * se)
    return normal_sf((bound - gain) / se) if se > 0 else float(gain >= margin)


def seen_effect(spread: Spread, n: int, level: float, power: float) -> float:
    """Smallest true gain over 0 that is seen: by exact McNemar for one pass/fail run, else the normal MDE."""
    found = smallest_gain(n, spread.variance, level, power) if spread.exact and n <= MOST_EXACT else None
    return smallest_effect(spread.variance, n, level, power) if found is None else found


def proof(spread: Spread, n: int, gain: float, null_value: float, level: float) -> float:
    """Chance of "above ``null_value`` at the level" for a true gain, normal approximation."""
    return normal_power(spread.at(gain), n, gain - null_value, level)


def exact_proof(spread: Spread, n: int, gain: float, null_value: float, level: float) -> float:
    """The same by the exact unconditional test where that is enumerable in a second or so."""
    if not spread.exact or n > MOST_EXACT:
        return proof(spread, n, gain, null_value, level)
    return unconditional_power(n, max(spread.variance, abs(gain)), gain, null_value, level)


def least_items(chance: Callable[[int], float], wanted: float, most: int = 10_000_000) -> int | None:
    """Least n from which ``chance(n)`` reaches ``wanted``, None where no n up to ``most`` does.

    chance rises with n up to the ripple of a discrete law; the first n of the last rise is searched for.
    """
    high = 4
    while chance(high) < wanted:
        if high >= most:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= wanted else (middle, high)
    return high

"""The chance that one rule passes, for a true gain: exact enumeration for pass/fail, normal for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gate.stats.distributions import normal_quantile, normal_sf
from gate.stats.power import binary_variance, mcnemar_power, normal_power


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


def proof(spread: Spread, n: int, gain: float, null_value: float, level: float) -> float:
    """Chance of "above ``null_value`` at the level" for a true gain, normal approximation."""
    return normal_power(spread.at(gain), n, gain - null_value, level)


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

"""The chance that one rule passes, for a true gain: exact enumeration for pass/fail, normal for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import normal_quantile, normal_sf
from gate.stats.power import binary_variance, normal_power

Ints = npt.NDArray[np.int64]


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
        return mcnemar_rule(n, max(spread.variance, abs(gain)), gain, margin, level)
    se = math.sqrt(spread.at(gain) / n)
    bound = max(margin, -normal_quantile(level) * se)
    return normal_sf((bound - gain) / se) if se > 0 else float(gain >= margin)


def proof(spread: Spread, n: int, gain: float, null_value: float, level: float) -> float:
    """Chance of "above ``null_value`` at the level" for a true gain, normal approximation."""
    return normal_power(spread.at(gain), n, gain - null_value, level)


def mcnemar_rule(n: int, discordant: float, gain: float, margin: float, level: float) -> float:
    """Exact chance that exact McNemar rejects and (b - c) / n reaches the margin, over all (b, c).

    discordant: rate of disagreement, at least |gain|. margin 0 is the power of the test.
    """
    from scipy.special import bdtrc, gammaln  # noqa: PLC0415

    if discordant <= 0:
        return 0.0
    s = _plausible(n, discordant)
    rest = math.log1p(-discordant) if discordant < 1 else -math.inf
    with np.errstate(invalid="ignore"):
        none = np.where(n > s, (n - s) * rest, 0.0)
    mass = np.exp(gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1) + s * math.log(discordant) + none)
    reach = np.ceil((s + n * margin) / 2 - 1e-9).astype(np.int64)
    wins = np.maximum(_significant_wins(s, level), reach)
    share = min(1.0, max(0.0, (discordant + gain) / (2 * discordant)))
    passes = np.where(wins <= s, np.where(wins > 0, bdtrc(np.maximum(wins - 1, 0), s, share), 1.0), 0.0)
    return min(1.0, float(mass @ passes))


def _plausible(n: int, discordant: float) -> Ints:
    """Numbers of discordant pairs; what lies beyond has a chance below 1e-20."""
    middle, spread = n * discordant, 10 * math.sqrt(n * discordant * (1 - discordant)) + 12
    return np.arange(max(0, math.floor(middle - spread)), min(n, math.ceil(middle + spread)) + 1)


def _significant_wins(s: Ints, level: float) -> Ints:
    """Least b with P(Bin(s, 1/2) >= b) < level, s + 1 where there is none, by bisection."""
    from scipy.special import bdtrc  # noqa: PLC0415

    low, high = s // 2, s + 1
    for _ in range(int(s[-1] + 2).bit_length()):
        middle = (low + high) // 2
        open_ = high - low > 1
        tail = np.where(middle > 0, bdtrc(np.maximum(middle - 1, 0), s, 0.5), 1.0)
        high = np.where(open_ & (tail < level), middle, high)
        low = np.where(open_ & (tail >= level), middle, low)
    return high


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

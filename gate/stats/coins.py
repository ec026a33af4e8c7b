"""Laws of counts of coin flips, added up without losing small tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.stats.distributions import Floats


@dataclass(frozen=True, slots=True)
class CoinLaw:
    """Chances of first, first + 1, ... wins; what lies below 1e-30 is left out. They need not add up to 1."""

    first: int
    mass: Floats

    def plus(self, more: CoinLaw) -> CoinLaw:
        """The law of the sum with an independent count."""
        small, large = sorted((self.mass, more.mass), key=len)
        total = np.zeros(max(0, small.size + large.size - 1))
        for shift, chance in enumerate(small):  # no BLAS: its last digits depend on the machine
            total[shift : shift + large.size] += chance * large
        return CoinLaw(self.first + more.first, total)

    def tail(self, wins: int) -> float:
        """P(so many wins or more)."""
        return float(np.sum(self.mass[max(0, wins - self.first) :]))

    def below(self, wins: int) -> CoinLaw:
        """What is left of the law below so many wins."""
        return CoinLaw(self.first, self.mass[: max(0, wins - self.first)])


def coin_flips(s: int, theta: float) -> CoinLaw:
    """Bin(s, theta), by ratios from one count to the next."""
    if s == 0 or theta <= 0.0 or theta >= 1.0:
        return CoinLaw(s if theta >= 1.0 else 0, np.ones(1))
    reach = math.ceil(12.0 * math.sqrt(s * theta * (1.0 - theta))) + 60
    middle = math.floor(s * theta)
    k = np.arange(max(0, middle - reach), min(s, middle + reach) + 1)
    steps = np.log((s - k[:-1]) / k[1:]) + (math.log(theta) - math.log1p(-theta))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    mass = np.exp(logs - logs.max())
    return CoinLaw(int(k[0]), mass / mass.sum())

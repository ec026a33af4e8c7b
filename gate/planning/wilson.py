"""A share of simulated runs and how exactly it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.stats.distributions import normal_quantile


@dataclass(frozen=True, slots=True)
class Rate:
    """count of trials, with Wilson's interval (Wilson 1927)."""

    count: int
    trials: int

    @property
    def share(self) -> float:
        """The observed share."""
        return self.count / self.trials

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Limits of the true chance."""
        z = -normal_quantile((1 - confidence) / 2)
        n, p = self.trials, self.share
        middle = p + z * z / (2 * n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)

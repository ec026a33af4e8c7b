"""A share of counted trials and how exactly it is known."""

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
        """The observed share; 0 where nothing was tried."""
        return self.count / self.trials if self.trials else 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Limits of the true chance; (0, 1) where nothing was tried."""
        if not self.trials:
            return 0.0, 1.0
        z = -normal_quantile((1 - confidence) / 2)
        n, p = self.trials, self.share
        middle = p + z * z / (2 * n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)

"""Do cycles differ by more than the noise of their items: random effects over the deltas of many cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gate.stats.distributions import clip_p, t_quantile


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """Cochran's Q with its p, and the spread of true deltas between cycles (DerSimonian & Laird 1986).

    fixed_mean, mean: weighted without and with tau. tau: sd of the true deltas beyond item noise, in the
    metric's unit: what a retrain adds. i2: share of Q beyond its mean. se: of `mean`. Few cycles find
    little: with 8 and tau as large as an item standard error the power is .43, so a large p proves nothing.
    """

    cycles: int
    fixed_mean: float
    q: float
    p: float
    tau2: float
    i2: float
    mean: float
    se: float

    @property
    def tau(self) -> float:
        """Square root of tau2."""
        return math.sqrt(self.tau2)

    def next_delta(self, confidence: float = 0.95, next_se: float = 0.0) -> tuple[float, float] | None:
        """Prediction interval of the next cycle's true delta; of the observed one with that cycle's own se.

        mean +- t_{K-2} sqrt(tau^2 + se^2) (Higgins, Thompson & Spiegelhalter 2009, JRSS A 172:137); None
        with fewer than three cycles.
        """
        if self.cycles < 3:
            return None
        spread = math.sqrt(self.tau2 + self.se**2 + next_se**2)
        reach = t_quantile(0.5 + confidence / 2, self.cycles - 2) * spread
        return self.mean - reach, self.mean + reach


def heterogeneity(deltas: Sequence[float], errors: Sequence[float]) -> Heterogeneity | None:
    """Random effects over K deltas with their standard errors > 0; None for K < 2 or an error that is not.

    H0 of p: all true deltas are equal (chi-square, K - 1 degrees of freedom).
    """
    k = len(deltas)
    if k < 2 or len(errors) != k or not all(0 < e < math.inf for e in errors):
        return None
    from scipy.special import chdtrc  # noqa: PLC0415

    weights = [1.0 / e**2 for e in errors]
    fixed = _weighted(deltas, weights)
    q = math.fsum(w * (d - fixed) ** 2 for d, w in zip(deltas, weights, strict=True))
    total = math.fsum(weights)
    scale = total - math.fsum(w * w for w in weights) / total
    tau2 = max(0.0, (q - (k - 1)) / scale)
    mixed = [1.0 / (e**2 + tau2) for e in errors]
    return Heterogeneity(
        cycles=k,
        fixed_mean=fixed,
        q=q,
        p=clip_p(float(chdtrc(k - 1, q))),
        tau2=tau2,
        i2=max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0,
        mean=_weighted(deltas, mixed),
        se=1.0 / math.sqrt(math.fsum(mixed)),
    )


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(w * v for v, w in zip(values, weights, strict=True)) / math.fsum(weights)

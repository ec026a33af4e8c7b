"""Is this delta one of a kind with those of earlier cycles: limits exact from three cycles on, and drift.

Deltas are candidate - baseline in the metric's unit, one a cycle, oldest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gate.stats.distributions import normal_quantile, t_quantile, t_sf

OUTSIDE = 0.01
FEWEST = 5
"""Earlier cycles from which the limits are asked; with fewer they are too wide to see anything."""
SMOOTHING, WIDTH = 0.2, 2.86
"""EWMA weight of the newest delta, and limits in standard deviations: 5 % false alarms in 20 cycles."""
_FARTHEST = 1e-300


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the next delta lies with chance 1 - error, if nothing changed. Metric's unit."""

    low: float
    high: float
    centre: float
    sd: float
    cycles: int

    def hold(self, delta: float) -> bool:
        """Whether the delta lies within."""
        return self.low <= delta <= self.high


def prediction_limits(past: Sequence[float], error: float = OUTSIDE) -> Limits | None:
    """mean +- t_{1 - error/2, h - 1} s sqrt(1 + 1/h): exact for normal deltas at every h >= 2.

    mean +- 3 s, the usual way, is wrong 12 % of the time at h = 3 and still 2.5 % at 8. None with fewer than
    two deltas, or where all are equal.
    """
    h = len(past)
    if h < 2:
        return None
    mean, sd = _mean_sd(past)
    if sd == 0:
        return None
    reach = prediction_factor(h, error) * sd
    return Limits(mean - reach, mean + reach, mean, sd, h)


def prediction_factor(cycles: int, error: float = OUTSIDE) -> float:
    """Half-width of ``prediction_limits`` in standard deviations of `cycles` >= 2 earlier deltas."""
    return t_quantile(1.0 - error / 2, cycles - 1) * math.sqrt(1.0 + 1.0 / cycles)


def prediction_p(past: Sequence[float], found: float) -> float | None:
    """One-sided p of H0 "one more of the same kind is as large": t_{h - 1}, as ``prediction_limits``."""
    if prediction_limits(past) is None:
        return None
    mean, sd = _mean_sd(past)
    return t_sf((found - mean) / (sd * math.sqrt(1.0 + 1.0 / len(past))), len(past) - 1)


@dataclass(frozen=True, slots=True)
class Drift:
    """A value a cycle from the third on. scores: standard normal if nothing changed; smoothed: their EWMA."""

    scores: tuple[float, ...]
    smoothed: tuple[float, ...]
    limits: tuple[float, ...]

    @property
    def alarm(self) -> bool:
        """Whether the last cycle's smoothed score is outside its limits."""
        return bool(self.smoothed) and abs(self.smoothed[-1]) > self.limits[-1]


def drift(deltas: Sequence[float]) -> Drift:
    """Self-starting scores (Quesenberry 1991, J Qual Technol 23:213) and their EWMA (Roberts 1959).

    Q_t = Phi^-1(T_{t-2}((d_t - mean) / (s sqrt(1 + 1/(t-1))))), mean and s of the t - 1 deltas before: no
    cycles have to be set aside to learn from. A delta after equal ones scores 0, or as far out as floats go.
    """
    scores, smoothed, limits = [], [], []
    level = 0.0
    for t in range(3, len(deltas) + 1):
        mean, sd = _mean_sd(deltas[: t - 1])
        score = _score(deltas[t - 1] - mean, sd * math.sqrt(1.0 + 1.0 / (t - 1)), t - 2)
        level = SMOOTHING * score + (1.0 - SMOOTHING) * level
        steps = 1.0 - (1.0 - SMOOTHING) ** (2 * (t - 2))
        scores.append(score)
        smoothed.append(level)
        limits.append(WIDTH * math.sqrt(SMOOTHING / (2.0 - SMOOTHING) * steps))
    return Drift(tuple(scores), tuple(smoothed), tuple(limits))


def _score(away: float, scale: float, df: int) -> float:
    if abs(away) <= 1e-12 or scale == 0:
        return 0.0 if abs(away) <= 1e-12 else math.copysign(-normal_quantile(_FARTHEST), away)
    tail = max(_FARTHEST, t_sf(abs(away) / scale, df))
    return math.copysign(-normal_quantile(tail), away)


def _mean_sd(deltas: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(deltas) / len(deltas)
    sd = math.sqrt(math.fsum((d - mean) ** 2 for d in deltas) / (len(deltas) - 1))
    return mean, (sd if sd > 1e-12 * max(map(abs, deltas)) else 0.0)

"""Runs of one system: how far apart they come by themselves, and how often a rule promotes one of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import binomial_sf, normal_quantile
from gate.stats.pairs import Floats, Ints
from gate.stats.rates import Rate
from gate.stats.seeding import generator

Bools = npt.NDArray[np.bool_]
Decide = Callable[[Ints, Bools], bool]
"""(units drawn, which of them change sides) -> whether the rule promotes."""


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """n items; delta: mean difference of the second run from the first, in the metric's unit.

    flipped: share of items on which two runs differ. floor: a run of the same system is better by more than
    that with a chance of at most the level; a margin below it is within the noise. sd: of one difference.
    """

    n: int
    delta: float
    flipped: float
    floor: float
    sd: float

    def swallows(self, margin: float) -> bool:
        """Whether a gain as large as the margin is one that nothing but a re-run reaches."""
        return margin < self.floor


def noise_floor(runs: npt.ArrayLike, level: float) -> NoiseFloor:
    """The floor from K >= 2 runs of one system: [n, K] scores after direction, finite, larger is better.

    H0 of the level: the runs are exchangeable on every item. Two pass/fail runs: exact, a sign for each item
    that flipped; else normal, from the variance between the runs of an item. ValueError on one run or none.
    """
    scores: Floats = np.asarray(runs, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < 2 or scores.shape[0] == 0:
        raise ValueError(f"two runs or more of the same items (found shape {scores.shape})")
    n, k = scores.shape
    within = np.var(scores, axis=1, ddof=1)
    # of two of the K runs, drawn at random: 2 v is the mean squared difference
    total = 2.0 * float(np.sum(within))
    delta = float(np.mean(scores[:, 1] - scores[:, 0]))
    sd = math.sqrt(total / n)
    if k == 2 and bool(np.isin(scores, (0.0, 1.0)).all()):
        flips = int(np.sum(scores[:, 0] != scores[:, 1]))
        return NoiseFloor(n, delta, flips / n, _most_by_luck(flips, level) / n, sd)
    return NoiseFloor(n, delta, _flipped(scores), -normal_quantile(level) * math.sqrt(total) / n, sd)


def false_promotions(units: int, decide: Decide, replays: range, seed: int) -> Rate:
    """How often a rule promotes one of two runs of the same system, on items drawn anew from theirs.

    units: items, or clusters that stay together. Each replay draws as many with replacement, and for each a
    fair coin says which run stands for the candidate. Every replay has a generator of its own.
    """
    promoted = 0
    for number in replays:
        rng = generator(seed + number)
        promoted += bool(decide(rng.integers(0, units, units), rng.random(units) < 0.5))
    return Rate(promoted, len(replays))


def _most_by_luck(flips: int, level: float) -> int:
    """Largest wins - losses of fair coins that is not exceeded with more than the level."""
    wins = (flips + 1) // 2
    while wins < flips and binomial_sf(wins + 1, flips, 0.5) > level:
        wins += 1
    return max(0, 2 * wins - flips)


def _flipped(scores: Floats) -> float:
    """Chance that two of the runs of a random item differ."""
    ordered = np.sort(scores, axis=1)
    n, k = scores.shape
    pairs = k * (k - 1) / 2
    same = sum(float(np.mean(ordered[:, gap:] == ordered[:, : k - gap])) * (k - gap) for gap in range(1, k))
    return max(0.0, 1.0 - same / pairs) if n else 0.0

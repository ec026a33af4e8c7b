"""Which items still decide: dead ones, flaky ones, ones that run backwards, and what the set is worth.

Scores are [items, systems] over past results, larger is better, NaN where a system has no result. Nothing is
ever removed here: an item that one generation of systems passes may tell the next ones apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import normal_quantile
from gate.stats.pairs import Floats, Ints
from gate.stats.power import POWER
from gate.stats.repeats import FEWEST_RUNS
from gate.stats.seeding import generator

Bools = npt.NDArray[np.bool_]

FEWEST_SYSTEMS = 3
"""Results below which an item is not called dead."""
FEWEST_TO_RANK = 5
"""Systems below which no item can run backwards beyond chance."""
BACKWARDS_P = 0.05
MOST_WORK = 400_000_000


@dataclass(frozen=True, slots=True)
class DeadItems:
    """Items on which all systems score alike, as bool[items]. known: enough results to say so."""

    best: Bools
    worst: Bools
    between: Bools
    known: Bools

    @property
    def all(self) -> Bools:
        """Every dead item."""
        dead: Bools = self.best | self.worst | self.between
        return dead


def dead_items(scores: npt.ArrayLike) -> DeadItems:
    """Items that no longer tell any two systems apart, with at least three results each.

    best, worst: at the highest or lowest score of the whole table (pass/fail: always passed, always failed);
    between: alike at another score.
    """
    table: Floats = np.asarray(scores, dtype=np.float64)
    present = ~np.isnan(table)
    known = present.sum(axis=1) >= FEWEST_SYSTEMS
    low = np.where(present, table, np.inf).min(axis=1, initial=np.inf)
    high = np.where(present, table, -np.inf).max(axis=1, initial=-np.inf)
    alike = known & (low == high)
    bottom, top = float(np.min(low, initial=np.inf)), float(np.max(high, initial=-np.inf))
    best = alike & (high == top)
    worst = alike & (low == bottom) & ~best
    return DeadItems(best, worst, alike & ~best & ~worst, known)


def flaky_items(systems: Iterable[npt.ArrayLike]) -> Bools:
    """Items on which any system disagrees with itself: at least two passes and two failures.

    systems: [items, runs] pass/fail of each, NaN where a run is missing; fewer than four runs say nothing.
    ValueError without any system.
    """
    found = [_unstable(np.asarray(runs, dtype=np.float64)) for runs in systems]
    if not found:
        raise ValueError("no system with repeated runs (found 0)")
    flaky: Bools = np.logical_or.reduce(found)
    return flaky


@dataclass(frozen=True, slots=True)
class Backwards:
    """Items that better systems fail and worse ones pass.

    net: int[items], pairs of systems that the item orders as the other items do, minus pairs the other way
    round. flagged: bool[items], net below 0 and p at most .05 against shuffled results. expected: flagged
    items that chance alone would give. p: of at least so many flagged items. None where too few systems.
    """

    net: Ints
    flagged: Bools
    expected: float
    p: float
    permutations: int


def backwards_items(scores: npt.ArrayLike, seed: int, permutations: int = 999) -> Backwards | None:
    """Counts of concordant and discordant pairs of systems, with a permutation control.

    Each item is compared with the mean over all other items. Control: the item's results are shuffled over
    the systems that have one, item by item; H0 "the item has nothing to do with the others". Every seed gives
    the same answer up to Monte Carlo error. None with fewer than five systems.
    """
    table: Floats = np.asarray(scores, dtype=np.float64)
    n, systems = table.shape
    if systems < FEWEST_TO_RANK or n < 2:
        return None
    first, second = np.triu_indices(systems, 1)
    order = _rest_order(table, first, second)
    net = _net(table, order, first, second)
    count = max(99, min(permutations, MOST_WORK // max(1, n * first.size)))
    rng = generator(seed)
    shuffled = np.stack([_net(_shuffled(table, rng), order, first, second) for _ in range(count)])
    limit = _critical(shuffled)
    flagged = (net < 0) & (net <= limit)
    by_chance = ((shuffled < 0) & (shuffled <= limit)).sum(axis=1)
    p = (1 + int(np.sum(by_chance >= flagged.sum()))) / (count + 1)
    return Backwards(net, flagged, float(by_chance.mean()), p, count)


def effective_items(scores: npt.ArrayLike) -> float:
    """How many equally telling items would decide as these do: (sum v)^2 / sum v^2, 0 where all are dead.

    v: mean squared difference of two systems on the item, over all pairs of systems that have it.
    """
    v = _pair_variance(np.asarray(scores, dtype=np.float64))
    squares = float(np.sum(v * v))
    return float(np.sum(v)) ** 2 / squares if squares > 0 else 0.0


@dataclass(frozen=True, slots=True)
class WhatIf:
    """items: of the changed set. smallest_gain: that it shows with power .8, in its own mean's unit.

    summed: the same gain summed over items, which is what to compare between sets of different size.
    """

    items: int
    smallest_gain: float
    summed: float


def smallest_gain_after(
    scores: npt.ArrayLike, level: float, drop: npt.ArrayLike | None = None, add: int = 0
) -> WhatIf:
    """Smallest gain of a set without some items, or with more like those that still decide.

    drop: bool[items]. add: so many items with the mean variance of the items kept that are not dead.
    ValueError where no item is left.
    """
    v = _pair_variance(np.asarray(scores, dtype=np.float64))
    kept = v if drop is None else v[~np.asarray(drop, dtype=np.bool_)]
    items = kept.size + add
    if items == 0:
        raise ValueError("no item is left (found 0)")
    live = kept[kept > 0]
    total = float(np.sum(kept)) + (add * float(np.mean(live)) if live.size else 0.0)
    summed = (-normal_quantile(level) + normal_quantile(POWER)) * math.sqrt(total)
    return WhatIf(items, summed / items, summed)


def _unstable(runs: Floats) -> Bools:
    count = (~np.isnan(runs)).sum(axis=1)
    passed = np.nansum(runs, axis=1)
    unstable: Bools = (count >= FEWEST_RUNS) & (np.minimum(passed, count - passed) >= 2)
    return unstable


def _pair_variance(table: Floats) -> Floats:
    """Twice the variance over systems (n - 1), which is the mean squared difference of two of them."""
    present = ~np.isnan(table)
    count = present.sum(axis=1)
    filled = np.where(present, table, 0.0)
    mean = filled.sum(axis=1) / np.maximum(count, 1)
    squares = (np.where(present, table - mean[:, None], 0.0) ** 2).sum(axis=1)
    found: Floats = np.where(count >= 2, 2.0 * squares / np.maximum(count - 1, 1), 0.0)
    found[found <= 1e-20] = 0.0  # equal scores whose mean is not exactly representable
    return found


def _rest_order(table: Floats, first: Ints, second: Ints) -> npt.NDArray[np.int8]:
    """[items, pairs] sign of the difference between two systems on all other items."""
    present = ~np.isnan(table)
    filled = np.where(present, table, 0.0)
    counts = present.sum(axis=0) - present
    rest = (filled.sum(axis=0) - filled) / np.maximum(counts, 1)
    away = rest[:, first] - rest[:, second]
    signs = np.sign(np.where(np.abs(away) > 1e-12, away, 0.0))
    return np.where((counts[:, first] > 0) & (counts[:, second] > 0), signs, 0).astype(np.int8)


def _net(table: Floats, order: npt.NDArray[np.int8], first: Ints, second: Ints) -> Ints:
    above = table[:, first] > table[:, second]  # NaN is neither above nor below
    below = table[:, first] < table[:, second]
    return np.asarray(np.sum(order * (above.astype(np.int8) - below), axis=1, dtype=np.int64))


def _shuffled(table: Floats, rng: np.random.Generator) -> Floats:
    """Each row's results in a random order, gaps where they were."""
    keys = rng.random(table.shape)
    gaps = np.isnan(table)
    keys[gaps] = np.inf
    drawn = np.take_along_axis(table, np.argsort(keys, axis=1), axis=1)  # gaps last
    places = np.argsort(np.where(gaps, 1, 0), axis=1, kind="stable")
    result = np.empty_like(table)
    np.put_along_axis(result, places, drawn, axis=1)
    return result


def _critical(shuffled: Ints) -> Ints:
    """For each item the largest net with p at most .05, the observed one counted among the shuffled."""
    rank = math.floor(BACKWARDS_P * (shuffled.shape[0] + 1)) - 1
    return np.asarray(np.sort(shuffled, axis=0)[rank] - 1, dtype=np.int64)

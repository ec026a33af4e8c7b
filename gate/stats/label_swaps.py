"""What a policy would have done: past cycles with their labels swapped, and with gains of known size planted.

Swapping baseline and candidate on an item is harmless where nothing is better. On items that several cycles
share the coin is one for all of them: independent coins would call a streak on re-used items far safer than
it is. Scores are turned so that larger is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.pairs import Floats, Ints
from gate.stats.rates import Rate
from gate.stats.seeding import generator

Bools = npt.NDArray[np.bool_]

FEWEST_REPLAYS = 2_000


@dataclass(frozen=True, slots=True)
class PastCycle:
    """One cycle's rows. items: int[n], from 0 on; the same number is the same item in every cycle.

    Where items hang together in clusters it is the number of the cluster, which swaps as a whole.
    """

    items: Ints
    baseline: Floats
    candidate: Floats

    @property
    def binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(self.baseline, (0.0, 1.0)).all() and np.isin(self.candidate, (0.0, 1.0)).all())


@dataclass(frozen=True, slots=True)
class Luck:
    """The chances of one replay, one value for each distinct item: shared by all cycles that hold it.

    swap: whether its labels change sides. place: in (0, 1), the order in which items receive planted gains.
    odd: in (0, 1), rounds the number of planted items.
    """

    swap: Bools
    place: Floats
    odd: float


Judge = Callable[[Sequence[PastCycle], Luck], Sequence[bool]]
"""The cycles in their order -> for each whether the policy promotes there, with its streaks and levels.

The chances serve for what else there is of an item: its other metrics change sides with it.
"""


def luck(items: int, rng: np.random.Generator) -> Luck:
    """Fresh chances for so many distinct items."""
    return Luck(rng.random(items) < 0.5, rng.random(items), float(rng.random()))


def replayed(cycle: PastCycle, gain: float, chance: Luck) -> PastCycle:
    """The cycle with labels swapped and a true gain of `gain` (metric's unit, may be negative) planted.

    Pass/fail: half as new wins on ties (first those that both fail), half as losses taken back; where one
    kind runs out the other serves.
    Scores: the differences lose their mean, change sign where labels swap, and all move by the gain.
    """
    swap = chance.swap[cycle.items]
    old = np.where(swap, cycle.candidate, cycle.baseline)
    if not cycle.binary:
        d = cycle.candidate - cycle.baseline
        d = d - np.mean(d)
        return PastCycle(cycle.items, old, old + np.where(swap, -d, d) + gain)
    new = np.where(swap, cycle.baseline, cycle.candidate)
    if gain == 0:
        return PastCycle(cycle.items, old, new)
    if gain < 0:
        new, old = _planted(new, old, -gain, chance, cycle.items)
    else:
        old, new = _planted(old, new, gain, chance, cycle.items)
    return PastCycle(cycle.items, old, new)


@dataclass(frozen=True, slots=True)
class Operating:
    """What a policy does at one true gain. promoted: replays with any promotion; cycles: cycles promoted.

    first: mean number of cycles to the first promotion, over the replays that have one, None without any;
    median: over all replays, None where fewer than half have one.
    """

    gain: float
    promoted: Rate
    cycles: Rate
    first: float | None
    median: float | None


def first_promotions(
    cycles: Sequence[PastCycle], judge: Judge, gain: float, replays: range, seed: int
) -> list[tuple[int, int]]:
    """For each replay (number of cycles promoted, place of the first from 1 on, 0 for none).

    Every replay has a generator of its own, so that any part of the range can be computed by itself. The same
    replay has the same coins at every gain.
    """
    distinct = 1 + max(int(cycle.items.max()) for cycle in cycles)
    found = []
    for number in replays:
        chance = luck(distinct, generator(seed + number))
        promoted = list(judge([replayed(cycle, gain, chance) for cycle in cycles], chance))
        found.append((sum(promoted), promoted.index(True) + 1 if True in promoted else 0))
    return found


def operating(gain: float, found: Sequence[tuple[int, int]], cycles: int) -> Operating:
    """The figures of ``first_promotions`` over all replays; cycles: how many each replay had."""
    firsts = sorted(first for _, first in found if first)
    half = math.ceil(len(found) / 2)
    return Operating(
        gain,
        Rate(len(firsts), len(found)),
        Rate(sum(count for count, _ in found), len(found) * cycles),
        math.fsum(firsts) / len(firsts) if firsts else None,
        float(firsts[half - 1]) if found and len(firsts) >= half else None,
    )


def gains_to_try(margin: float) -> tuple[float, ...]:
    """0, half, once, one and a half, twice and three times the margin: the operating characteristic."""
    return tuple(factor * margin for factor in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The policy's decisions against what production said later.

    wrong_promotions: of the bad candidates; wrong_blocks: of the good ones, whatever kept them from being
    promoted. unknown: cycles without a known outcome.
    """

    wrong_promotions: Rate
    wrong_blocks: Rate
    unknown: int


def against_outcomes(promoted: Sequence[bool], good: Sequence[bool | None]) -> Outcomes:
    """Share of bad candidates promoted and of good ones not promoted. good: None where it is not known."""
    pairs = list(zip(promoted, good, strict=True))
    bad = [was for was, is_good in pairs if is_good is False]
    fine = [was for was, is_good in pairs if is_good is True]
    return Outcomes(
        Rate(sum(bad), len(bad)),
        Rate(len(fine) - sum(fine), len(fine)),
        sum(is_good is None for _, is_good in pairs),
    )


def _planted(old: Floats, new: Floats, gain: float, chance: Luck, items: Ints) -> tuple[Floats, Floats]:
    """`new` better on gain * n items: the first in the order of the chances, alike in every cycle."""
    old, new = old.copy(), new.copy()
    count = min(items.size, math.floor(gain * items.size + chance.odd))
    place = chance.place[items]
    losses = _in_order((old == 1) & (new == 0), place)
    both_fail = _in_order((old == 0) & (new == 0), place)
    both_pass = _in_order((old == 1) & (new == 1), place)
    ties = np.concatenate([both_fail, both_pass])
    taken_back = min(losses.size, max(count // 2, count - ties.size))
    won = ties[: min(ties.size, count - taken_back)]
    new[losses[:taken_back]] = 1.0
    new[won] = 1.0
    old[won] = 0.0
    return old, new


def _in_order(mask: Bools, place: Floats) -> Ints:
    rows = np.flatnonzero(mask)
    return np.asarray(rows[np.argsort(place[rows], kind="stable")], dtype=np.int64)

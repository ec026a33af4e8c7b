"""A gain or a loss of a stated size, planted into a run: what a really better candidate would show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.planning.world import Key, World

FAR = 10.0
"""Where no scale bounds a metric, plantings go up to so many standard deviations or means."""


@dataclass(frozen=True, slots=True)
class Plant:
    """size: change of the metric's mean over the items of ``mask``, positive is better after direction."""

    key: Key
    size: float
    mask: BoolArray | None = None


def plant(world: World, wanted: Plant, runs: FloatArray, rng: np.random.Generator) -> FloatArray:
    """``runs`` with the change. Always draws the same number of coins, whatever the size.

    Pass/fail: results flip, each with the same chance, and none flips back. A declared scale: every result
    moves the same share of its way to the end. No scale: results grow or shrink by one factor where all are
    positive, else all move by the size.
    """
    coins = rng.random(runs.shape)
    mask = np.ones(len(runs), bool) if wanted.mask is None else wanted.mask
    changed = _changed(world, wanted, runs, coins) if wanted.size else runs
    return np.where(mask[:, None], changed, runs)


def largest(world: World, key: Key, *, gain: bool, mask: BoolArray | None = None) -> float:
    """The largest change that can be planted, as a size >= 0."""
    use, mean = world.uses[key], world.expected(key, mask)
    end = _end(world, key, gain=gain)
    if end is not None:
        return abs(end - mean)
    values = world.values[key]
    spread = float(np.nanstd(values))
    if (use.sign > 0) == gain or not _positive(values):
        return FAR * max(spread, abs(mean), 1e-9)
    return abs(mean)


def _changed(world: World, wanted: Plant, runs: FloatArray, coins: FloatArray) -> FloatArray:
    key, gain = wanted.key, wanted.size > 0
    use, mean = world.uses[key], world.expected(key, wanted.mask)
    end = _end(world, key, gain=gain)
    if end is not None:
        room = abs(end - mean)
        share = min(1.0, abs(wanted.size) / room) if room > 0 else 0.0
        if use.kind == "binary":
            return np.where((coins < share) & np.isfinite(runs), end, runs)
        return runs + share * (end - runs)
    move = use.sign * wanted.size
    if _positive(world.values[key]):
        return runs * max(0.0, 1.0 + move / mean)
    return runs + move


def _end(world: World, key: Key, *, gain: bool) -> float | None:
    """The best or worst value that the metric can take, None where none is declared."""
    use = world.uses[key]
    return None if use.ends is None else use.ends[1 if (use.sign > 0) == gain else 0]


def _positive(values: FloatArray) -> bool:
    return bool(np.nanmin(values) > 0)

"""From values to places on the paper, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from [low, high] to [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value stands; what lies outside stands at the edge."""
        inside = min(max(value, self.low), self.high)
        # Halves, because a difference of two finite numbers may be infinite.
        share = (inside / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return self.start + share * (self.end - self.start)

    def ticks(self, about: int = 6) -> list[float]:
        """Round values within the scale."""
        width = (self.high / 2 - self.low / 2) / about * 2
        power = 10.0 ** math.floor(math.log10(width)) if width > 0 else 0.0
        step = next((s * power for s in (1, 2, 2.5, 5, 10) if s * power >= width), 0.0)
        if not (0 < step < math.inf) or abs(self.low / step) > 1e9 or abs(self.high / step) > 1e9:
            return []
        return [
            float(f"{k * step:.12g}")
            for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        ]


def around(values: Iterable[float | None], start: float, end: float) -> Scale:
    """A scale that holds every value, with some air at both ends."""
    known = [float(v) for v in values if v is not None] or [0.0]
    low, high = min(known), max(known)
    air = 0.06 * (high / 2 - low / 2) * 2
    if not air > abs(high) * 1e-9:
        air = abs(high) * 0.1 or 1.0
    big = 8e307
    return Scale(max(low - air, -big), min(high + air, big), start, end)


def label(value: float) -> str:
    """A tick's text."""
    return f"{value:g}".replace("-", "\u2212")

"""Intervals for a paired difference of proportions that a policy may ask to see. They decide nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from gate.stats.binary import fay_lumbard, tango_interval
from gate.stats.distributions import normal_quantile
from gate.stats.pairs import Pairs
from gate.stats.results import Interval

# a: both pass, b: only the candidate, c: only the baseline, n: all
Cells = tuple[int, int, int, int]


def wald(cells: Cells, level: float) -> Interval:
    """delta +- z sqrt(b + c - (b - c)^2 / n) / n; [0, 0] where b = c = 0, which claims far too much."""
    _, b, c, n = cells
    return _around((b - c) / n, math.sqrt(b + c - (b - c) ** 2 / n) / n, level, "wald")


def agresti_min(cells: Cells, level: float) -> Interval:
    """Wald after adding 1/2 to each of the four cells (Agresti & Min 2005)."""
    _, b, c, n = cells
    size = n + 2
    return _around((b - c) / size, math.sqrt(b + c + 1 - (b - c) ** 2 / size) / size, level, "agresti_min")


def bonett_price(cells: Cells, level: float) -> Interval:
    """Wald on (b + 1) / (n + 2) and (c + 1) / (n + 2) (Bonett & Price 2012)."""
    _, b, c, n = cells
    up, down = (b + 1) / (n + 2), (c + 1) / (n + 2)
    return _around(up - down, math.sqrt((up + down - (up - down) ** 2) / (n + 2)), level, "bonett_price")


def newcombe(cells: Cells, level: float) -> Interval:
    """Square-and-add of Wilson limits with the correlation corrected by n / 2 (Newcombe 1998, method 10)."""
    a, b, c, n = cells
    d = n - a - b - c
    z = -normal_quantile(level)
    new, old = (a + b) / n, (a + c) / n
    low_new, high_new = _wilson(new, n, z)
    low_old, high_old = _wilson(old, n, z)
    phi = _phi(a, b, c, d)
    delta = (b - c) / n

    def reach(one: float, two: float) -> float:
        return math.sqrt(max(one * one - 2 * phi * one * two + two * two, 0.0))

    low = delta - reach(new - low_new, high_old - old)
    high = delta + reach(high_new - new, old - low_old)
    return Interval(low, high, 1 - 2 * level, "newcombe")


INTERVALS: Mapping[str, Callable[[Cells, float], Interval]] = {
    "fay_lumbard": lambda cells, level: fay_lumbard(*cells[1:], level),
    "tango": lambda cells, level: tango_interval(*cells[1:], level),
    "wald": wald,
    "agresti_min": agresti_min,
    "bonett_price": bonett_price,
    "newcombe": newcombe,
}


def requested_interval(name: str, pairs: Pairs, level: float) -> Interval:
    """The named interval at confidence 1 - 2 * level, cut to [-1, 1]. pairs must be pass/fail."""
    # a pass is 1, or 0 where the direction was turned and a failure is -1
    passing = 1.0 if max(pairs.baseline.max(), pairs.candidate.max()) == 1.0 else 0.0
    both = int(((pairs.baseline == passing) & (pairs.candidate == passing)).sum())
    found = INTERVALS[name]((both, pairs.b, pairs.c, pairs.n), level)
    return Interval(max(found.low, -1.0), min(found.high, 1.0), found.confidence, found.method)


def _around(centre: float, se: float, level: float, method: str) -> Interval:
    half = -normal_quantile(level) * se
    return Interval(centre - half, centre + half, 1 - 2 * level, method)


def _wilson(p: float, n: int, z: float) -> tuple[float, float]:
    middle = 2 * n * p + z * z
    half = z * math.sqrt(z * z + 4 * n * p * (1 - p))
    return (middle - half) / (2 * (n + z * z)), (middle + half) / (2 * (n + z * z))


def _phi(a: int, b: int, c: int, d: int) -> float:
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    cross = a * d - b * c
    if cross > 0:
        cross = max(cross - (a + b + c + d) / 2, 0)  # type: ignore[assignment]
    return cross / math.sqrt(margins)

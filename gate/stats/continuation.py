"""A second look on new items alone, at the level that the first look left.

Fix in advance how much level a first result leaves, A(first) in [0, 1] with mean at most the level when
nothing is better; then any new items, in any number, may be tested by themselves at level A, and the whole
promotes by luck no more often than the level (conditional rejection probability: Müller & Schäfer 2001,
Biometrics 57:886). The second test may leave a level in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gate.stats.coins import coin_flips
from gate.stats.distributions import Floats, normal_quantile
from gate.stats.inversion import PValue
from gate.stats.power import POWER

WEIGHT = 0.5
"""Weight of the first look, w^2 in the formulas: half, as if both looks had as many items."""
A0 = 0.5
"""A first p above it leaves nothing."""
LEAST = 0.01
"""A smaller level left is none: no sensible number of items could use it."""

PANELS = 40

Left = Callable[[float], float]


def level_left_by_wins(
    wins: int, discordant: int, level: float, reserve: float = 0.0, weight: float = WEIGHT
) -> float:
    """Level A that exact McNemar with so many wins leaves: 1 where it rejects, 0 at half the wins or fewer.

    The exact test uses less than its level; the unused part is what is handed on, so with reserve 0 nothing
    is lost at the first look. With reserve r it rejects where p < (1 - r) level. Over all wins, given the
    discordant items, the mean of A under theta = 1/2 is the level, or less; valid for theta <= 1/2.
    """
    masses = _fair_masses(discordant)
    tails = np.cumsum(masses[::-1])[::-1]
    rejecting = np.flatnonzero(tails < (1.0 - reserve) * level)
    least = int(rejecting[0]) if rejecting.size else discordant + 1
    if wins >= least:
        return 1.0
    if 2 * wins <= discordant:
        return 0.0
    middle = np.arange(discordant // 2 + 1, least)
    remaining = level - (float(tails[least]) if least <= discordant else 0.0)
    whole = float(np.sum(masses[middle]))
    if whole <= remaining:
        return 1.0
    from scipy.special import ndtr  # noqa: PLC0415

    z: Floats = np.asarray((2.0 * middle - discordant) / math.sqrt(discordant), dtype=np.float64)
    k = _falling_root(lambda k: float(np.sum(masses[middle] * ndtr(_away(z, k, weight)))) - remaining)
    return float(ndtr(_away(np.array([z[wins - middle[0]]]), k, weight))[0])


def level_left_by_p(p: float, level: float, reserve: float, weight: float = WEIGHT) -> float:
    """Level A that any valid one-sided p leaves: 1 for p <= (1 - r) level, 0 above 1/2 and where r = 0.

    In between the inverse-normal combination (Lehmacher & Wassmer 1999, Biometrics 55:1286); the integral of
    A over (0, 1) is the level, and A falls, so any p that is at least uniform will do.
    """
    if p <= (1.0 - reserve) * level:
        return 1.0
    if p > A0 or reserve <= 0:
        return 0.0
    from scipy.special import ndtr  # noqa: PLC0415

    k = continuation_constant(level, reserve, weight)
    return float(ndtr(_away(np.array([-normal_quantile(p)]), k, weight))[0])


def useful(left: float) -> float:
    """A level below ``LEAST`` counts as none."""
    return left if left >= LEAST else 0.0


@lru_cache(maxsize=4096)
def continuation_constant(level: float, reserve: float, weight: float = WEIGHT) -> float:
    """k of A(p) = Phi((w z_{1-p} - k) / sqrt(1 - w^2)), so that A has the level as its mean.

    ValueError where the reserve is not in (0, 1]: without one nothing is left by a test that is no exact one.
    """
    if not 0 < reserve <= 1:
        raise ValueError(f"the reserve must lie in (0, 1] (found {reserve})")
    from scipy.special import ndtr  # noqa: PLC0415

    first = (1.0 - reserve) * level
    top = 38.0 if first == 0.0 else min(38.0, -normal_quantile(first))
    x, weights = np.polynomial.legendre.leggauss(16)
    start = -normal_quantile(A0)
    width = (top - start) / PANELS
    z: Floats = (start + width * (np.arange(PANELS)[:, None] + 0.5 * (x + 1.0))).ravel()
    chances = 0.5 * width * np.tile(weights, PANELS) * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

    def mean(k: float) -> float:
        return first + float(np.sum(chances * ndtr(_away(z, k, weight))))

    return _falling_root(lambda k: mean(k) - level)


def second_look_passes(second_p: float, left: float) -> bool:
    """Whether the new items alone reach the level left; a level of 0 is reached by nothing."""
    return left > 0.0 and second_p <= left


def continued_p(second_p: float, left: Left, level: float) -> float:
    """One p for both looks: at or below `level` exactly where second_p <= left(level).

    second_p: of the new items alone. left: level x -> the level that the first look leaves of x
    (``level_left_by_wins`` or ``level_left_by_p`` with the rest filled in). It is the level at which the
    answer turns, found by bisection from `level`; 0 < p <= 1.
    """
    passes = second_look_passes(second_p, left(level))
    low, high = (0.0, level) if passes else (level, 1.0)
    if not passes and not second_look_passes(second_p, left(1.0)):
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        reached = second_look_passes(second_p, left(middle))
        low, high = (low, middle) if reached else (middle, high)
    return high


def continued_lower_limit(
    first: PValue,
    second: PValue,
    level: float,
    reserve: float,
    null_value: float,
    bounds: tuple[float, float],
) -> float:
    """Smallest m that both looks together do not reject, by inverting ``level_left_by_p`` in m.

    first, second: m -> one-sided p of H0 "delta <= m" on the items of that look, rising in m. bounds: (least,
    largest) conceivable delta. The limit lies above `null_value` exactly where the continued test rejects it.
    The upper limit is the mirror: p of H0 "delta >= -m", bounds and null value with their signs turned.
    """

    def rejects(m: float) -> bool:
        return second_look_passes(second(m), level_left_by_p(first(m), level, reserve))

    rejected, kept = (null_value, bounds[1]) if rejects(null_value) else (bounds[0], null_value)
    if rejected == bounds[0] and not rejects(rejected):
        return rejected
    for _ in range(60):
        middle = 0.5 * (rejected + kept)
        rejected, kept = (middle, kept) if rejects(middle) else (rejected, middle)
    return math.nextafter(null_value, math.inf) if rejected == null_value < kept else rejected


def more_items(left: float, variance: float, effect: float, first: int, least: int) -> int:
    """New items that give power .8 at the level left: ceil((z_{1-A} + z_.8)^2 Var(d) / e^2).

    effect: the margin where it is above 0, else the observed gain, in the metric's unit. At least `least`
    (items.min), at most three times the first look's.
    """
    most = 3 * first
    if left >= 1.0:
        return min(least, most)
    reach = -normal_quantile(left) + normal_quantile(POWER)
    wanted = reach * reach * variance / effect**2 if effect else math.inf
    return max(least, math.ceil(wanted - 1e-9)) if wanted < most else max(least, most)


def _fair_masses(s: int) -> Floats:
    law, masses = coin_flips(s, 0.5), np.zeros(s + 1)
    masses[law.first : law.first + law.mass.size] = law.mass
    return masses


def _away(z: Floats, k: float, weight: float) -> Floats:
    away: Floats = (math.sqrt(weight) * z - k) / math.sqrt(1.0 - weight)
    return away


def _falling_root(falling: Callable[[float], float]) -> float:
    low, high = -6.0, 10.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return 0.5 * (low + high)

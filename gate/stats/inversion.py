"""Confidence limits by inverting a test, anchored so that interval and p-value are one decision."""

from __future__ import annotations

import math
from collections.abc import Callable

from gate.stats.distributions import normal_quantile

PValue = Callable[[float], float]


def lower_limit(
    p_greater: PValue,
    level: float,
    null_value: float,
    bounds: tuple[float, float],
    *,
    near: tuple[float, float] | None = None,
    tolerance: float = 1e-9,
) -> float:
    """Smallest m that the test of H0 "delta <= m" does not reject at `level`.

    p_greater: m -> one-sided p, (nearly) increasing in m. bounds: (least, largest) conceivable delta.
    near: (guess, step) saves evaluations. The limit lies above `null_value` exactly where p(null) < level,
    also where p(m) is not quite monotone. The rejected end of the last bracket is
    returned, so the limit errs downwards.
    """
    target = normal_quantile(level)

    def excess(m: float) -> float:
        """Positive where H0 is rejected; nearly linear in m, which is what makes secant steps few."""
        p = p_greater(m)
        return (
            max(-9.0, min(9.0, target - normal_quantile(p)))
            if p < level
            else min(0.0, max(-9.0, target - normal_quantile(p)))
        )

    at_null = excess(null_value)
    least, largest = bounds
    if at_null > 0:
        rejected, kept, f_rejected, f_kept = null_value, largest, at_null, -9.0
    else:
        f_least = excess(least)
        if f_least <= 0 or least >= null_value:
            return least
        rejected, kept, f_rejected, f_kept = least, null_value, f_least, at_null
    if near is not None:
        rejected, kept, f_rejected, f_kept = _narrow(excess, near, rejected, kept, f_rejected, f_kept)
    limit = _bracketed_root(excess, rejected, kept, f_rejected, f_kept, tolerance)
    # "above the null value" must stay true where the limit is closer to it than the tolerance
    return math.nextafter(null_value, math.inf) if limit == null_value and at_null > 0 else limit


def upper_limit(
    p_less: PValue,
    level: float,
    null_value: float,
    bounds: tuple[float, float],
    *,
    near: tuple[float, float] | None = None,
    tolerance: float = 1e-9,
) -> float:
    """Largest m that the test of H0 "delta >= m" does not reject at `level`: the mirror of lower_limit."""
    least, largest = bounds
    return -lower_limit(
        lambda m: p_less(-m),
        level,
        -null_value,
        (-largest, -least),
        near=None if near is None else (-near[0], near[1]),
        tolerance=tolerance,
    )


def _narrow(
    excess: PValue, near: tuple[float, float], rejected: float, kept: float, f_rejected: float, f_kept: float
) -> tuple[float, float, float, float]:
    """Tighten the bracket around a guess, by steps that double until they reach across the limit."""
    at, step = near
    for _ in range(40):
        if not rejected < at < kept:
            break
        value = excess(at)
        if value > 0:
            rejected, f_rejected, at = at, value, at + step
            if f_kept > -9.0 and kept - rejected < 4 * step:
                break
        else:
            kept, f_kept, at = at, value, at - step
            if f_rejected < 9.0 and kept - rejected < 4 * step:
                break
        step *= 2
    return rejected, kept, f_rejected, f_kept


def _bracketed_root(
    excess: PValue, rejected: float, kept: float, f_rejected: float, f_kept: float, tolerance: float
) -> float:
    """Secant steps that keep the bracket (Illinois); a bisection where two of them did not halve it."""
    width, slow, last = kept - rejected, 0, 0
    for _ in range(200):
        middle = 0.5 * (rejected + kept)
        margin = 0.4 * tolerance * max(abs(kept), abs(rejected), 1e-3)
        if kept - rejected <= 2.5 * margin:
            break
        at = middle
        if slow < 2 and f_rejected > f_kept:
            at = rejected + (kept - rejected) * f_rejected / (f_rejected - f_kept)
            # a step onto the root itself would leave a wide bracket: aim just past it, on the side left alone
            at = min(max(at - last * margin, rejected + margin), kept - margin)
        value = excess(at)
        side = 1 if value > 0 else -1
        if side > 0:
            rejected, f_rejected = at, value
            f_kept = 0.5 * f_kept if last == side else f_kept
        else:
            kept, f_kept = at, value
            f_rejected = 0.5 * f_rejected if last == side else f_rejected
        halved = kept - rejected <= 0.5 * width
        slow = 0 if halved or slow >= 2 else slow + 1
        last, width = side, kept - rejected
    return rejected

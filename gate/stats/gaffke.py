"""Gaffke's test of a bounded mean: no assumption on the shape of the differences, no Monte Carlo.

Gaffke 2005; Learned-Miller & Thomas 2019 (arXiv 1905.06208). A finite-sample bound of which no violation is
known, but which is not proved. On pass/fail at 0 it is one-sided exact McNemar; for one proportion it is
Clopper-Pearson.
"""

from __future__ import annotations

import math

import numpy as np

from gate.stats.bounds import Scale
from gate.stats.distributions import clip_p
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.moments import moments
from gate.stats.pairs import Floats, Ints, Pairs
from gate.stats.results import Interval, TestResult

STEP = 0.2  # of the trapezoid rule; half of it would square the relative error
MOST_BENT = 0.7  # below 1, or a normal law would not die out along the path


def gaffke(pairs: Pairs, null_value: float, level: float, bounds: Scale) -> TestResult:
    """Test of H0 "mean difference <= m" for differences known to lie in bounds = (least, largest).

    p = P(sum E_i d_i + E_{n+1} least <= m sum E), E iid exponential: the Bayesian bootstrap with one more
    item at the worst possible value. The interval inverts the test on both sides.
    Degenerate: all differences equal are no problem; m at or beyond the bounds gives p of 1 or nearly 0.
    """
    least, largest = bounds
    x = moments(pairs.values, pairs.counts)

    def greater(m: float) -> float:
        return bounded_p(pairs.values, pairs.counts, m, least)

    def less(m: float) -> float:
        return bounded_p(-pairs.values, pairs.counts, -m, -largest)

    width = largest - least
    step = max(x.se, 0.5 * width / (x.n + 1))
    low = lower_limit(greater, level, null_value, bounds, near=(x.mean - 3 * step, step))
    high = upper_limit(less, level, null_value, bounds, near=(x.mean + 3 * step, step))
    p_greater, p_less = greater(null_value), less(null_value)
    return TestResult(
        method="gaffke",
        n=x.n,
        estimate=x.mean,
        null_value=null_value,
        p_greater=p_greater,
        p_less=p_less,
        p_two_sided=clip_p(2 * min(p_greater, p_less)),
        interval=Interval(low, high, 1 - 2 * level, "gaffke"),
        estimand_value=x.mean,
    )


def bounded_p(values: Floats, counts: Ints, m: float, least: float) -> float:
    """One-sided p of H0 "mean <= m" for values (each occurring counts times) that cannot be below `least`."""
    y = np.append(values - m, least - m)
    weights = np.append(counts, 1).astype(np.float64)
    if y.max() <= 0:
        return 1.0
    if y.min() >= 0:
        return clip_p(0.0)
    y /= np.abs(y).max()
    if float(np.sum(weights * y)) > 0:
        return clip_p(_tail(-y, weights))
    return clip_p(1.0 - _tail(y, weights))


def _tail(y: Floats, weights: Floats) -> float:
    """P(sum of weights-many exponentials times y > 0), for y of both signs with mean <= 0.

    Integral of exp(K(s)) / s along a hyperbola through the saddle point, K(s) = -sum w log(1 - s y). It bends
    as steepest descent does: straight up the integrand may turn round and round at nearly one size, as it
    does where n equal scores stand against the worst one.
    The relative error is below 2e-6 however small the tail: the terms do not cancel.
    """
    centre, curvature = _saddle(y, weights)
    peak = -float(np.sum(weights * np.log1p(-centre * y))) - math.log(centre)
    scale, q = 1.0 / math.sqrt(curvature), y / (1.0 - centre * y)
    third = 2.0 * (float(np.sum(weights * q * q * q)) - 1.0 / centre**3)
    bend = max(-MOST_BENT, min(MOST_BENT, third * scale**3 / 3.0))
    line = _Line(q, weights, scale * math.sinh(3.2))
    total, v = 0.5, 0.0  # the node at v = 0 has weight one half
    while True:
        block = v + STEP * np.arange(1, 9)
        z = scale * (bend * (np.cosh(block) - 1.0) + 1j * np.sinh(block))
        log_value = line.change(z) - np.log(1.0 + z / centre)
        total += float((np.exp(log_value) * (np.cosh(block) - 1j * bend * np.sinh(block))).real.sum())
        v = float(block[-1])
        if float(log_value.real[-1]) + v < -42.0 or v > 60.0:
            break
    return math.exp(peak) * total * STEP * scale / math.pi


class _Line:
    """K(centre + z) - K(centre) = -sum w log(1 - z q): power series for the many q with a small z q."""

    def __init__(self, q: Floats, weights: Floats, usual: float) -> None:
        near = np.abs(q) * usual <= 0.5
        if near.sum() < 1000:  # a series costs as much as the logarithms of some hundred values
            near[:] = False
        self.usual, self.all, self.rest = usual, (q, weights), (q[~near], weights[~near])
        small, power, sums = q[near], weights[near].copy(), []
        for k in range(1, 49 if small.size else 1):  # .5^48 is below the rounding error
            power *= small
            sums.append(float(power.sum()) / k)
        self.series = np.array(sums)

    def change(self, z: np.typing.NDArray[np.complex128]) -> np.typing.NDArray[np.complex128]:
        """At several places z of the upper half plane, their sizes ascending."""
        total, (q, weights) = np.zeros(z.size, dtype=np.complex128), self.all
        if abs(z[-1]) <= self.usual and self.series.size:
            total += np.sum(self.series * z[:, None] ** np.arange(1, self.series.size + 1), axis=1)
            q, weights = self.rest
        if q.size:
            x, up = z.real[:, None] * q, z.imag[:, None] * q
            total.real -= 0.5 * np.sum(weights * np.log1p(x * (x - 2.0) + up * up), axis=1)
            total.imag += np.sum(weights * np.arctan2(up, 1.0 - x), axis=1)
        return total


def _saddle(y: Floats, weights: Floats) -> tuple[float, float]:
    """Where K(s) - log s is least on (0, 1 / max y), and its second derivative there."""
    low, high = 0.0, 1.0 / float(y.max())
    s = 0.5 * high
    for _ in range(200):
        z = y / (1.0 - s * y)
        slope = float(np.sum(weights * z)) - 1.0 / s
        curvature = float(np.sum(weights * z * z)) + 1.0 / (s * s)
        if slope > 0:
            high = s
        else:
            low = s
        newton = s - slope / curvature
        following = newton if low < newton < high else 0.5 * (low + high)
        if abs(following - s) <= 1e-9 * s:
            break
        s = following
    return s, curvature

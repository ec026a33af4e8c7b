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

STEP = 0.2  # of the trapezoid rule; the error falls as exp(-pi^2 / STEP)


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
    if float(weights @ y) > 0:
        return clip_p(_tail(-y, weights))
    return clip_p(1.0 - _tail(y, weights))


def _tail(y: Floats, weights: Floats) -> float:
    """P(sum of weights-many exponentials times y > 0), for y of both signs with mean <= 0.

    Integral of exp(K(s)) / s along the vertical line through the saddle point, K(s) = -sum w log(1 - s y).
    The relative error is near machine precision however small the tail: the terms do not cancel.
    """
    centre, curvature = _saddle(y, weights)
    peak = -float(weights @ np.log1p(-centre * y)) - math.log(centre)
    scale = 1.0 / math.sqrt(curvature)
    total, v = 0.5, 0.0  # the node at v = 0 has weight one half
    while True:
        block = v + STEP * np.arange(1, 9)
        u = scale * np.sinh(block)
        points = centre + 1j * u
        log_value = -np.array([weights @ np.log(1.0 - s * y) for s in points]) - np.log(points) - peak
        terms = np.exp(log_value).real * np.cosh(block)
        total += float(terms.sum())
        v = float(block[-1])
        if float(log_value.real[-1]) + v < -42.0 or v > 60.0:
            break
    return math.exp(peak) * total * STEP * scale / math.pi


def _saddle(y: Floats, weights: Floats) -> tuple[float, float]:
    """Where K(s) - log s is least on (0, 1 / max y), and its second derivative there."""
    low, high = 0.0, 1.0 / float(y.max())
    s = 0.5 * high
    for _ in range(200):
        z = y / (1.0 - s * y)
        slope = float(weights @ z) - 1.0 / s
        curvature = float(weights @ (z * z)) + 1.0 / (s * s)
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

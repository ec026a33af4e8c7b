"""The law of the bootstrap mean itself, for data too large to resample item by item.

A bootstrap sample's mean is the mean of n independent draws from the n values, so its characteristic function
is the n-th power of theirs. Inverting it gives the same law that resampling items samples from, up to
rounding errors, at a cost that does not depend on the number of resamples; B resamples are
then B independent draws from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gate.stats.moments import moments
from gate.stats.pairs import Floats, Pairs

WINDOW = 30.0  # standard errors covered, centred on the mean
MOST_NODES = 640
NEGLIGIBLE = 1e-14
GRID = 2049
USUAL_NODES = 52  # enough for a law that is nearly normal
SERIES = 20  # 1 / 20! is below the rounding error


@dataclass(frozen=True, slots=True)
class MeanLaw:
    """Distribution function and density of the standardised bootstrap mean on an even grid."""

    centre: float
    se: float
    step: float
    points: Floats
    cdf: Floats
    density: Floats

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` independent bootstrap means, by inverting the distribution function."""
        u = rng.random(count)
        cell = np.searchsorted(self.cdf, u, "right") - 1  # the cdf runs from 0 to 1, and u lies in [0, 1)
        low, high = self.cdf[cell], self.cdf[cell + 1]
        share = np.where(high > low, (u - low) / np.maximum(high - low, 1e-300), 0.5)
        slope_low, slope_high = self.density[cell] * self.step, self.density[cell + 1] * self.step
        for _ in range(3):  # Newton on the cubic that meets both cdf and density at the ends of the cell
            value, slope = _hermite(share, low, high, slope_low, slope_high)
            share = np.clip(
                share - np.where(slope > 0, (value - u) / np.maximum(slope, 1e-300), 0.0), 0.0, 1.0
            )
        return np.asarray(self.centre + self.se * (self.points[cell] + share * self.step), dtype=np.float64)


def mean_law(pairs: Pairs) -> MeanLaw | None:
    """The law of the bootstrap mean, or None where it is not smooth enough to be had this way.

    Smooth means that the characteristic function dies out within a few hundred nodes. It does not where one
    item outweighs all others; resampling items is the way then.
    """
    x = moments(pairs.values, pairs.counts)
    if x.sd == 0:
        return None
    spread = x.sd * math.sqrt((x.n - 1) / x.n)
    wave = _characteristic(pairs, x.mean, spread)
    if wave is None:
        return None
    nodes = 2 * math.pi / WINDOW * np.arange(1, wave.size + 1, dtype=np.float64)
    points = np.linspace(-WINDOW / 2, WINDOW / 2, GRID)
    cdf, density = _invert(wave, nodes, points)
    return MeanLaw(x.mean, spread / math.sqrt(x.n), float(points[1] - points[0]), points, cdf, density)


def _characteristic(pairs: Pairs, mean: float, spread: float) -> np.typing.NDArray[np.complex128] | None:
    """phi(t) of the standardised mean at the nodes until it dies out."""
    n = pairs.n
    angle = (2 * math.pi / WINDOW / math.sqrt(n) / spread) * (pairs.values - mean)
    found, small = [], 0
    for below_one in _averages(angle, pairs.counts / n):
        found.append(np.exp(n * np.log1p(below_one)) if below_one != -1 else 0j)
        small = small + 1 if abs(found[-1]) < NEGLIGIBLE else 0
        if small == 8:  # a single zero could be an oscillation
            return np.array(found)
    return None


def _averages(angle: Floats, weights: Floats) -> Iterator[complex]:
    """sum of weights * (exp(i j angle) - 1) for j = 1, 2, ...: power series where the angles stay small."""
    near = np.abs(angle) * USUAL_NODES <= 1.0
    small, power, sums = angle[near], weights[near].copy(), []
    for k in range(1, SERIES + 1):
        power *= small
        sums.append(float(power.sum()) / math.factorial(k))
    rest = (angle[~near], weights[~near])
    for j in range(1, MOST_NODES + 1):
        total = 0j
        if j <= USUAL_NODES:
            total = sum((value * (1j * j) ** (k + 1) for k, value in enumerate(sums)), 0j)
        far, share = rest if j <= USUAL_NODES else (angle, weights)
        if far.size:
            half = np.sin(0.5 * j * far)
            total += complex(
                -2.0 * float(np.sum(share * half * half)), float(np.sum(share * np.sin(j * far)))
            )
        yield total


def _invert(wave: np.typing.NDArray[np.complex128], nodes: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Fourier series of density and distribution function over the window."""
    density, cdf = np.full(points.size, 1.0), points - points[0]
    for phi, t in zip(wave, nodes, strict=True):
        turned = phi * np.exp(-1j * t * points)
        density += 2 * turned.real
        cdf += 2 * ((turned - turned[0]) / (-1j * t)).real
    cdf = np.maximum.accumulate(np.clip(cdf / WINDOW, 0.0, 1.0))
    return cdf / cdf[-1], np.maximum(density / WINDOW, 0.0)


def _hermite(
    s: Floats, low: Floats, high: Floats, slope_low: Floats, slope_high: Floats
) -> tuple[Floats, Floats]:
    """Value and derivative of the cubic on [0, 1] with the given ends and end slopes."""
    rise = high - low
    a = slope_low + slope_high - 2 * rise
    b = 3 * rise - 2 * slope_low - slope_high
    return low + s * (slope_low + s * (b + s * a)), slope_low + s * (2 * b + 3 * s * a)

"""Mean, spread and skewness of a multiset of differences, safe for very large and very small numbers.

Sums, not dot products: those go to a BLAS, whose last digits depend on the machine and its threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.stats.pairs import Floats, Ints


@dataclass(frozen=True, slots=True)
class Moments:
    """n values: mean, sd with n - 1 (0 for n = 1), skewness mean((x - mean)^3) / sd^3 (0 where sd = 0)."""

    n: int
    mean: float
    sd: float
    skewness: float

    @property
    def se(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n)


def moments(values: Floats, counts: Ints | None = None) -> Moments:
    """Moments of values, each occurring counts times."""
    times = np.ones(values.size, dtype=np.float64) if counts is None else counts.astype(np.float64)
    n = int(times.sum())
    largest = float(np.max(np.abs(values)))
    # a power of two changes no digit and keeps squares and cubes inside the range of floats
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    x = np.ldexp(values, -exponent)
    mean = float(np.sum(x * times)) / n
    mean += float(np.sum((x - mean) * times)) / n  # second pass: removes the rounding of the first
    centred = x - mean
    squares = float(np.sum(centred * centred * times))
    sd = math.sqrt(squares / (n - 1)) if n > 1 else 0.0
    if sd <= 1e-13 * max(abs(mean), 1e-300):  # equal values whose mean is not exactly representable
        return Moments(n, math.ldexp(mean, exponent), 0.0, 0.0)
    cubes = float(np.sum(centred * centred * centred * times)) / n
    return Moments(n, math.ldexp(mean, exponent), math.ldexp(sd, exponent), cubes / sd**3)

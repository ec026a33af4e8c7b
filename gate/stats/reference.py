"""What readers of the literature look for, shown beside the decision. Two-sided; decides nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.stats.binary import mcnemar_edwards, mcnemar_exact
from gate.stats.distributions import t_sf
from gate.stats.moments import moments
from gate.stats.pairs import Floats, Pairs
from gate.stats.resampling import percentile_outcome
from gate.stats.seeding import enough_resamples, seed_for


@dataclass(frozen=True, slots=True)
class Reference:
    """Two-sided p-values, the percentile bootstrap interval, and how the two systems hang together.

    mcnemar_*: None unless pass/fail. bootstrap_*: None for n = 1. unpaired_p: pooled z (pass/fail) or Welch,
    None where a side has no spread. correlation: Pearson's, None where a side is constant.
    sd_difference: n - 1; None for n = 1.
    """

    mcnemar_exact_p: float | None
    mcnemar_chi2_p: float | None
    bootstrap_low: float | None
    bootstrap_high: float | None
    unpaired_p: float | None
    correlation: float | None
    sd_difference: float | None


def reference(
    pairs: Pairs, *, level: float = 0.025, resamples: int = 9_999, seed: int | None = None
) -> Reference:
    """All of it; the bootstrap interval has confidence 1 - 2 * level."""
    exact = chi2 = None
    if pairs.binary:
        exact = mcnemar_exact(pairs.b, pairs.c, pairs.n, 0.0, level).p_two_sided
        chi2 = mcnemar_edwards(pairs.b, pairs.c, pairs.n, 0.0, level).p_two_sided
    low = high = None
    if pairs.n > 1:
        count = enough_resamples(resamples, level)
        used = seed_for("bootstrap", count, pairs) if seed is None else seed
        outcome = percentile_outcome(pairs, 0.0, level, count, used)
        low, high = outcome.low, outcome.high
    return Reference(exact, chi2, low, high, unpaired_p(pairs), correlation(pairs), sd_difference(pairs))


def unpaired_p(pairs: Pairs) -> float | None:
    """Two-sided p that ignores the pairing: pooled two-proportion z for pass/fail, else Welch's t."""
    n = pairs.n
    if pairs.binary:
        before, after = _ones(pairs)
        share = (before + after) / (2 * n)
        variance = 2 * share * (1 - share) / n
        return math.erfc(abs(after - before) / n / math.sqrt(2 * variance)) if variance > 0 else None
    old, new = moments(pairs.baseline), moments(pairs.candidate)
    if old.sd == new.sd == 0:  # also for one item
        return None
    a, b = old.se, new.se
    scale = max(a, b)
    a, b = (a / scale) ** 2, (b / scale) ** 2
    df = (a + b) ** 2 * (n - 1) / (a * a + b * b)
    return min(1.0, 2 * t_sf(abs(new.mean - old.mean) / (scale * math.sqrt(a + b)), df))


def correlation(pairs: Pairs) -> float | None:
    """Pearson correlation of the two sides over the items."""
    if pairs.n < 2:
        return None
    if pairs.binary:
        return _phi(pairs)
    x, y = _standardised(pairs.baseline), _standardised(pairs.candidate)
    if x is None or y is None:
        return None
    return max(-1.0, min(1.0, float(np.sum(x * y)) / (pairs.n - 1)))


def _ones(pairs: Pairs) -> tuple[int, int]:
    """Items on which each side of a pass/fail table is not 0."""
    return int(np.count_nonzero(pairs.baseline)), int(np.count_nonzero(pairs.candidate))


def _phi(pairs: Pairs) -> float | None:
    """Pearson's correlation of two pass/fail columns, from their table."""
    n, (before, after) = pairs.n, _ones(pairs)
    both = (before + after - pairs.nonzero) / 2
    squares = before * (n - before) * after * (n - after)
    return (n * both - before * after) / math.sqrt(squares) if squares else None


def sd_difference(pairs: Pairs) -> float | None:
    """Standard deviation of the differences, n - 1."""
    return moments(pairs.values, pairs.counts).sd if pairs.n > 1 else None


def _standardised(values: Floats) -> Floats | None:
    found = moments(values)
    return None if found.sd == 0 else (values - found.mean) / found.sd

"""Fisher's exact test of two shares, two-sided: tables at most as likely as the observed one."""

from __future__ import annotations

import numpy as np


def fisher_two_sided(first: int, n_first: int, second: int, n_second: int) -> float:
    """p for ``first`` of ``n_first`` against ``second`` of ``n_second``; 1 where there is but one table."""
    total = first + second
    low, high = max(0, total - n_second), min(total, n_first)
    if low >= high:
        return 1.0
    from scipy.special import gammaln  # noqa: PLC0415

    k = np.arange(low, high + 1)
    cells = np.array([k, n_first - k, total - k, n_second - total + k])
    mass = -gammaln(cells + 1.0).sum(axis=0)
    chance = np.exp(mass - mass.max())
    as_rare = chance <= chance[first - low] * (1 + 1e-7)  # ties come out unequal by rounding
    return float(chance[as_rare].sum() / chance.sum())

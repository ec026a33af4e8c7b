"""The draws behind the resampling tests: exact bootstrap and sign-flip laws in bounded memory.

Differences with few distinct values are resampled as counts (multinomial over the values), never as items.
"""

from __future__ import annotations

import math

import numpy as np

from gate.stats.bootstrap_law import mean_law
from gate.stats.pairs import Floats, Pairs

ITEMS_PER_COUNT = 8  # a binomial draw costs about as much as drawing so many items
MUCH_WORK = 20_000_000  # item draws beyond which the law itself is cheaper
BLOCK = 2_000_000  # numbers held at once by a block of draws


def bootstrap_means(pairs: Pairs, count: int, rng: np.random.Generator) -> Floats:
    """Means of `count` samples of n items drawn with replacement."""
    counted = _by_counts(pairs)
    if (ITEMS_PER_COUNT * pairs.values.size if counted else pairs.n) * count > MUCH_WORK:
        law = mean_law(pairs)
        if law is not None:
            return _on_lattice(law.draw(count, rng), pairs)
    if counted:
        return bootstrap_moments(pairs, count, rng)[0]
    means = np.empty(count)
    for start, stop in _blocks(count, pairs.n):
        index = rng.integers(0, pairs.n, size=(stop - start, pairs.n), dtype=np.int32)
        means[start:stop] = pairs.differences[index].mean(axis=1)
    return means


def _on_lattice(means: Floats, pairs: Pairs) -> Floats:
    """Sums of numbers with few decimals have few decimals: the draws go back to the atoms of the true law."""
    for decimals in range(7):
        if np.array_equal(np.round(pairs.values, decimals), pairs.values):
            return np.asarray(np.round(means * pairs.n, decimals) / pairs.n, dtype=np.float64)
    return means


def bootstrap_moments(pairs: Pairs, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means and standard deviations (n - 1) of `count` bootstrap samples."""
    n = pairs.n
    means, squares = np.empty(count), np.empty(count)
    if _by_counts(pairs):
        shares = pairs.counts / n
        shares = shares / shares.sum()
        centre = pairs.mean()
        for start, stop in _blocks(count, pairs.values.size):
            drawn = rng.multinomial(n, shares, size=stop - start)
            means[start:stop] = drawn @ pairs.values / n
            squares[start:stop] = drawn @ (pairs.values - centre) ** 2 / n - (means[start:stop] - centre) ** 2
    else:
        for start, stop in _blocks(count, n):
            index = rng.integers(0, n, size=(stop - start, n), dtype=np.int32)
            sample = pairs.differences[index]
            means[start:stop] = sample.mean(axis=1)
            squares[start:stop] = sample.var(axis=1)
    return means, np.sqrt(np.maximum(squares, 0.0) * n / max(n - 1, 1))


def subset_means(pairs: Pairs, count: int, rng: np.random.Generator) -> tuple[Floats, int]:
    """Means of `count` random subsets (each item in with probability 1/2), and how many were empty."""
    sums, sizes = np.empty(count), np.empty(count)
    if _by_counts(pairs):
        for start, stop in _blocks(count, pairs.values.size):
            drawn = rng.binomial(pairs.counts, 0.5, size=(stop - start, pairs.values.size))
            sums[start:stop] = drawn @ pairs.values
            sizes[start:stop] = drawn.sum(axis=1)
    else:
        width = math.ceil(pairs.n / 8)
        for start, stop in _blocks(count, pairs.n):
            raw = rng.integers(0, 256, size=(stop - start, width), dtype=np.uint8)
            chosen = np.unpackbits(raw, axis=1, count=pairs.n).astype(np.float64)
            sums[start:stop] = chosen @ pairs.differences
            sizes[start:stop] = chosen.sum(axis=1)
    filled = sizes > 0
    return sums[filled] / sizes[filled], int(count - filled.sum())


def _by_counts(pairs: Pairs) -> bool:
    return pairs.values.size * ITEMS_PER_COUNT <= pairs.n


def _blocks(count: int, width: int) -> list[tuple[int, int]]:
    step = max(1, BLOCK // max(width, 1))
    return [(start, min(start + step, count)) for start in range(0, count, step)]

"""The draws follow the exact bootstrap and sign-flip laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gate.stats import draws
from gate.stats.bootstrap_law import mean_law
from gate.stats.pairs import from_differences
from gate.stats.procedures import run
from gate.stats.seeding import generator


def exact_mean_law(values, n):
    """Law of the sum of n draws from integer values: the n-fold convolution of their frequencies."""
    low = int(values.min())
    one = np.bincount((values - low).astype(int)) / values.size
    law = np.array([1.0])
    for _ in range(n):
        law = np.convolve(law, one)
    return (np.arange(law.size) + n * low) / n, law


def test_the_law_of_the_mean_is_the_convolution():
    values = np.random.default_rng(2).integers(-9, 12, 150).astype(float)
    means, law = exact_mean_law(values, 150)
    found = mean_law(from_differences(values))
    between = found.centre + found.se * found.points  # compare where no atom lies
    half = 0.5 / 150
    for share in (0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999):
        at = int(np.searchsorted(np.cumsum(law), share))
        edge = means[at] + half
        cdf = np.interp(edge, between, found.cdf)
        assert cdf == pytest.approx(np.cumsum(law)[at], abs=2e-5)


def test_draws_from_the_law_are_bootstrap_means(monkeypatch):
    """Same quantiles as resampling items, on skewed, heavy-tailed and outlier-ridden data; lattices kept."""
    rng = np.random.default_rng(4)
    sets = [rng.normal(0, 1, 400), rng.lognormal(0, 1.2, 400), np.append(rng.normal(0, 1, 399), 60.0)]
    for d in (*sets, np.round(sets[0], 2)):
        pairs = from_differences(d)
        plain = draws.bootstrap_means(pairs, 40_000, generator(1))
        monkeypatch.setattr(draws, "MUCH_WORK", 0)
        smooth = draws.bootstrap_means(pairs, 40_000, generator(2))
        monkeypatch.undo()
        grid = np.quantile(plain, np.linspace(0.005, 0.995, 199))
        gap = np.searchsorted(np.sort(plain), grid) - np.searchsorted(np.sort(smooth), grid)
        assert np.max(np.abs(gap)) / 40_000 < 1.95 / np.sqrt(20_000)  # Kolmogorov-Smirnov at .001
    assert np.allclose(smooth * 400 * 100, np.round(smooth * 400 * 100), atol=1e-6)


def test_one_item_that_outweighs_all_others_is_resampled_as_items():
    d = np.append(np.random.default_rng(0).normal(0, 1, 3000), 1e7)
    assert mean_law(from_differences(d)) is None
    result = run("bootstrap", from_differences(d), 0.0, 0.025)
    assert result.interval.high > 1e7 / 3001


def test_counts_and_items_give_the_same_law(monkeypatch):
    d = np.repeat([-1.0, 0.0, 1.0], [40, 300, 70])
    pairs = from_differences(d)
    counted = np.sort(draws.bootstrap_means(pairs, 20_000, generator(1)))
    monkeypatch.setattr(draws, "ITEMS_PER_COUNT", 10**9)
    items = np.sort(draws.bootstrap_means(pairs, 20_000, generator(2)))
    for share in (500, 5_000, 10_000, 15_000, 19_500):
        assert abs(counted[share] - items[share]) <= 3 / 410
    assert counted.std() == pytest.approx(items.std(), rel=0.03)


def test_all_samples_of_five_items():
    d = np.array([0.1, -0.05, 0.2, 0.0, 0.15])
    every = sorted(np.mean(c) for c in itertools.product(d, repeat=5))
    drawn = np.sort(draws.bootstrap_means(from_differences(d), 60_000, generator(3)))
    for share in (0.1, 0.5, 0.9):
        assert drawn[int(share * 60_000)] == pytest.approx(every[int(share * 3125)], abs=0.011)


def test_subset_means_serve_few_and_many_values():
    for d in (np.repeat([-1.0, 0.0, 2.0], [30, 30, 40]), np.random.default_rng(1).normal(0, 1, 100)):
        means, empty = draws.subset_means(from_differences(d), 20_000, generator(1))
        assert empty == 0
        assert means.mean() == pytest.approx(d.mean(), abs=5 * d.std() / np.sqrt(100 * 20_000))
        assert means.std() == pytest.approx(d.std() / 10, rel=0.05)


def test_studentized_draws_of_counts_and_items_agree(monkeypatch):
    d = np.repeat([-1.0, 0.0, 1.0], [40, 300, 70])
    pairs = from_differences(d)
    counted = draws.bootstrap_moments(pairs, 5_000, generator(1))
    monkeypatch.setattr(draws, "ITEMS_PER_COUNT", 10**9)
    items = draws.bootstrap_moments(pairs, 5_000, generator(2))
    for one, two in zip(counted, items, strict=True):
        assert one.mean() == pytest.approx(two.mean(), abs=6 * two.std() / np.sqrt(5_000))
        assert one.std() == pytest.approx(two.std(), rel=0.08)

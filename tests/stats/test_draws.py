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


def test_subsets_of_three_items_are_seven_and_the_empty_one(monkeypatch):
    pairs = from_differences([1.0, 2.0, 4.0])
    every = {sum(s) / len(s) for k in (1, 2, 3) for s in itertools.combinations((1.0, 2.0, 4.0), k)}
    for block in (draws.BLOCK, 7):
        monkeypatch.setattr(draws, "BLOCK", block)
        means, empty = draws.subset_means(pairs, 8_000, generator(6))
        assert means.size + empty == 8_000
        assert set(np.unique(means)) == every
        assert abs(empty - 1_000) < 150  # one in eight, sd 30
        for mean in every:
            assert abs(np.count_nonzero(means == mean) - 1_000) < 150


def test_subsets_of_counts_may_be_empty_too():
    means, empty = draws.subset_means(from_differences([3.0] * 8), 20_000, generator(1))
    assert abs(empty - 20_000 / 256) < 50
    assert set(means) == {3.0}


def test_few_values_are_drawn_as_counts_from_eight_items_a_value_on():
    assert draws._by_counts(from_differences(np.arange(80) % 10))
    assert not draws._by_counts(from_differences(np.arange(79) % 10))


def test_draws_go_back_to_the_lattice_of_the_sums():
    pairs = from_differences([0.25, 0.5, 1.75])
    found = draws._on_lattice(np.array([0.8334, 0.829]), pairs)
    np.testing.assert_allclose(found, [2.5 / 3, 2.49 / 3], rtol=1e-14)
    thirds = from_differences([1 / 3, 2 / 3])
    np.testing.assert_array_equal(draws._on_lattice(np.array([0.123456789]), thirds), [0.123456789])
    six = from_differences([0.000001, 0.5])
    np.testing.assert_allclose(draws._on_lattice(np.array([0.3000009]), six), [0.600002 / 2], rtol=1e-12)
    whole = from_differences([1.0, 2.0, 4.0])
    np.testing.assert_allclose(draws._on_lattice(np.array([2.4]), whole), [7 / 3], rtol=1e-14)


@pytest.mark.parametrize(("n", "count", "law"), [(2000, 10_000, False), (2000, 10_001, True)])
def test_the_law_is_drawn_from_beyond_twenty_million_items(monkeypatch, n, count, law):
    asked = []
    monkeypatch.setattr(draws, "mean_law", asked.append)
    draws.bootstrap_means(from_differences(np.arange(n) / 7), count, generator(1))
    assert bool(asked) is law
    asked.clear()
    few = from_differences(np.arange(100_000) % 50)  # 8 x 50 binomial draws stand for 100,000 items
    draws.bootstrap_means(few, 100, generator(1))
    assert not asked

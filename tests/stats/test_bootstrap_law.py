"""The law of the bootstrap mean: its characteristic function, its moments, and the draws from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from gate.stats import bootstrap_law, draws
from gate.stats.bootstrap_law import MeanLaw, mean_law
from gate.stats.pairs import from_counts, from_differences
from gate.stats.seeding import generator

RNG = np.random.default_rng(5)
SAMPLES = {
    "any": RNG.normal(0.3, 1, 300),
    "skewed": RNG.lognormal(0, 1, 250),
    "one far away": np.append(RNG.normal(0, 1, 299), 12.0),
    "repeated": np.repeat(RNG.normal(0, 1, 40), RNG.integers(1, 30, 40)),
    "small": RNG.normal(0, 1, 30),
}


def characteristic(d, t):
    """E exp(i t Z) of the standardised mean Z of n draws with replacement, each draw by itself."""
    z = (d - d.mean()) / d.std() / math.sqrt(d.size)
    return np.array([np.mean(np.exp(1j * at * z)) ** d.size for at in t])


@pytest.mark.parametrize("name", SAMPLES)
def test_the_characteristic_function_until_it_has_died_out(name):
    d = SAMPLES[name]
    wave = bootstrap_law._characteristic(from_differences(d), float(d.mean()), float(d.std()))
    nodes = 2 * math.pi / bootstrap_law.WINDOW * np.arange(1, wave.size + 1)
    np.testing.assert_allclose(wave, characteristic(d, nodes), rtol=0, atol=1e-12)
    negligible = np.abs(wave) < bootstrap_law.NEGLIGIBLE
    assert negligible[-8:].all()
    assert not negligible[-9]
    assert not any(negligible[at : at + 8].all() for at in range(wave.size - 8))


def test_a_law_that_does_not_die_out_is_none():
    assert mean_law(from_differences(np.append(np.zeros(50), 1e6) + np.arange(51) / 1e3)) is None
    assert mean_law(from_differences([0.5] * 9)) is None
    assert mean_law(from_counts(1, 0, 40)) is None  # one item in forty: the mean has 41 values
    assert mean_law(from_differences(np.arange(30.0) ** 2)) is not None


@pytest.mark.parametrize("name", SAMPLES)
def test_the_law_has_the_moments_of_a_bootstrap_mean(name):
    """Mean 0, variance 1 and skewness g / sqrt(n), g that of the n values as a population."""
    d = SAMPLES[name]
    law = mean_law(from_differences(d))
    assert (law.centre, law.se) == (pytest.approx(d.mean()), pytest.approx(d.std() / math.sqrt(d.size)))
    assert law.step == pytest.approx(law.points[1] - law.points[0])
    assert (law.points[0], law.points[-1], law.cdf[0], law.cdf[-1]) == (-15.0, 15.0, 0.0, 1.0)
    assert np.all(np.diff(law.cdf) >= 0)
    assert np.all(law.density >= 0)
    moments = [float(np.sum(law.points**k * law.density)) * law.step for k in range(4)]
    skewness = stats.skew(d) / math.sqrt(d.size)
    assert moments == pytest.approx([1.0, 0.0, 1.0, skewness], abs=1e-7)
    slopes = (law.cdf[2:] - law.cdf[:-2]) / (2 * law.step)
    np.testing.assert_allclose(slopes, law.density[1:-1], atol=3e-5)  # to the second order in the step


def test_the_law_of_many_even_values_is_nearly_normal():
    """Edgeworth to 1 / n: the fourth cumulant of the uniform law is -1.2 of its variance squared."""
    n = 600
    law = mean_law(from_differences(np.arange(n) / n))
    z = law.points
    expected = stats.norm.cdf(z) - stats.norm.pdf(z) * (-1.2 / n / 24) * (z**3 - 3 * z)
    np.testing.assert_allclose(law.cdf, expected, atol=2e-6)


@dataclass
class Numbers:
    """A generator whose random numbers are known."""

    numbers: np.ndarray

    def random(self, count):
        assert count == self.numbers.size
        return self.numbers


def test_draws_invert_the_distribution_function():
    """A cubic of the window is met exactly by the cubics of its cells: F(x) = 3 x^2 - 2 x^3 on [0, 1]."""
    x = np.linspace(0.0, 1.0, 17)
    law = MeanLaw(2.0, 3.0, 1 / 16, x, 3 * x**2 - 2 * x**3, 6 * x * (1 - x))
    u = np.array([0.0, 0.05, 0.1, 0.3, 0.5, 0.6, 0.77, 0.9, 0.95])
    at = (law.draw(u.size, Numbers(u)) - 2.0) / 3.0
    np.testing.assert_allclose(3 * at**2 - 2 * at**3, u, atol=1e-12)


def test_draws_from_a_cell_without_a_slope_stay_in_it():
    """Where the distribution function jumps and its density is 0 the share of the jump decides, nearly."""
    law = MeanLaw(0.0, 1.0, 0.5, np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0]), np.zeros(3))
    drawn = law.draw(3, Numbers(np.array([0.0, 0.5, 0.9])))
    assert drawn[0] == 0.5
    assert drawn[1] == pytest.approx(0.75)
    assert 0.75 < drawn[2] <= 1.0


def test_the_cubic_of_a_cell_has_its_ends_and_end_slopes():
    def f(s):
        return 0.3 + 0.7 * s - 1.1 * s**2 + 0.9 * s**3

    def slope(s):
        return 0.7 - 2.2 * s + 2.7 * s**2

    s = np.linspace(0, 1, 7)
    ends = [np.full(7, y) for y in (f(0), f(1), slope(0), slope(1))]
    value, rise = bootstrap_law._hermite(s, *ends)
    np.testing.assert_allclose(value, f(s), rtol=1e-13)
    np.testing.assert_allclose(rise, slope(s), rtol=1e-13)


def test_many_draws_follow_the_law():
    d = SAMPLES["skewed"]
    law = mean_law(from_differences(d))
    drawn = (law.draw(40_000, generator(3)) - law.centre) / law.se
    found = stats.kstest(drawn, lambda z: np.interp(z, law.points, law.cdf))
    assert found.pvalue > 1e-3
    items = draws.bootstrap_means(from_differences(d), 40_000, generator(4))
    assert stats.ks_2samp(law.centre + law.se * drawn, items).pvalue > 1e-3

"""Size of each default, by enumeration where the law is known and by seeded simulation where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gate.estimands import estimand_of
from gate.stats.cluster_data import cluster_pairs
from gate.stats.pairs import from_counts, pair
from gate.stats.procedures import run
from gate.stats.unconditional import p_greater

LEVEL = 0.025
G = 1e-4


def at_most(rejections, replicates, level=LEVEL, error=1e-4):
    """Whether so many rejections are credible for a test that holds its level."""
    return rejections <= stats.binom.ppf(1 - error, replicates, level)


def exact_size(critical, n, m, psi):
    """P(reject) when delta = m and psi of the items are discordant; critical[s] = least b that rejects."""
    s = np.arange(n + 1)
    share = np.clip((psi + m) / (2 * psi), 0, 1)
    return float(stats.binom.pmf(s, n, psi) @ stats.binom.sf(critical - 1, s, share))


def critical_wins(reject, n, most):
    """Least b with reject(b, s - b) for each s, by bisection; s + 1 where there is none or s > most."""
    found = np.arange(1, n + 2)
    for s in range(most + 1):
        low, high = -1, s + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reject(middle, s - middle) else (middle, high)
        found[s] = high
    return found


@pytest.mark.parametrize("n", [50, 200])
def test_exact_mcnemar_holds_its_level(n):
    assert estimand_of("binary").default_test(0.0, "standard") == "mcnemar_exact"

    def reject(b, c):
        return run("mcnemar_exact", from_counts(b, c, b + c + 1), 0.0, LEVEL).p_greater < LEVEL

    critical = critical_wins(reject, n, min(n, 60))
    sizes = [exact_size(critical, n, 0.0, psi) for psi in np.linspace(0.01, 0.2, 40)]
    assert max(sizes) <= LEVEL
    assert max(sizes) > 0.008  # and is not empty


@pytest.mark.parametrize(("n", "m"), [(50, 0.05), (50, -0.1), (50, 0.0), (200, 0.02), (200, -0.05)])
def test_exact_unconditional_holds_its_level_at_any_margin(n, m):
    assert estimand_of("binary").default_test(m or 0.01, "standard") == "exact_unconditional"
    most = 60
    critical = critical_wins(lambda b, c: p_greater(b, c, n, m, G) < LEVEL, n, min(n, most))
    largest = 1.0 if n <= most else 0.17  # beyond it more than 60 discordant items would matter
    sizes = [exact_size(critical, n, m, psi) for psi in np.linspace(max(abs(m), 0.01), largest, 60)]
    assert max(sizes) <= LEVEL
    assert max(sizes) > 0.015
    b, c = int(critical[20]), int(20 - critical[20])
    assert run("exact_unconditional", from_counts(b, c, n), m, LEVEL).p_greater == pytest.approx(
        p_greater(b, c, n, m, G)
    )


def noise(kind, rng, n):
    """Differences with mean exactly 0."""
    if kind == "gauss":
        return rng.normal(0, 1, n)
    if kind == "ratings":
        return rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], n, p=[0.05, 0.2, 0.5, 0.2, 0.05])
    if kind == "zero_inflated":
        return rng.choice([-1.0, 0.0, 1.0], n, p=[0.075, 0.85, 0.075])
    return 1.0 - rng.gamma(4.0, 0.25, n)  # left-skewed


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("m", [0.0, 0.3, -0.2])
@pytest.mark.parametrize("kind", ["gauss", "ratings", "zero_inflated"])
def test_t_guarded_holds_its_level(kind, m, n):
    rng = np.random.default_rng([n, round(10 * m) + 5])
    replicates = 700
    old = rng.integers(0, 5, n).astype(float)
    rejected = sum(
        run("t_guarded", pair(old, old + noise(kind, rng, n) + m), m, LEVEL).p_greater < LEVEL
        for _ in range(replicates)
    )
    assert at_most(rejected, replicates)
    assert rejected > 0.3 * LEVEL * replicates


def test_the_guard_is_what_holds_skewed_differences():
    rng = np.random.default_rng(8)
    replicates, n = 1200, 50
    p = [
        [run(t, pair(np.zeros(n), d), 0.0, LEVEL).p_greater < LEVEL for t in ("paired_t", "t_guarded")]
        for d in (2.0 - rng.gamma(0.5, 4.0, n) for _ in range(replicates))
    ]
    student, guarded = np.sum(p, axis=0)
    assert guarded < 0.75 * student


def test_gaffke_holds_where_catastrophes_hide():
    """3 % of items lose .6, the rest gain a little: mean 0, and most sets of 50 show hardly a catastrophe."""
    rng = np.random.default_rng(5)
    replicates, n = 150, 50
    rejected = {"gaffke": 0, "t_guarded": 0}
    for _ in range(replicates):
        d = np.where(rng.random(n) < 0.03, -0.6, 0.6 * 0.03 / 0.97) + rng.normal(0, 0.004, n)
        pairs = pair(np.full(n, 0.7), 0.7 + d)
        for method in rejected:
            rejected[method] += run(method, pairs, 0.0, LEVEL, scale=(0, 1)).p_greater < LEVEL
    assert at_most(rejected["gaffke"], replicates)
    assert rejected["t_guarded"] > 3 * LEVEL * replicates  # what `assurance: guaranteed` is for


def test_sign_flip_holds_its_level_exactly_on_symmetric_noise():
    rng = np.random.default_rng(9)
    replicates, n = 1500, 10
    rejected = sum(
        run("sign_flip", pair(np.zeros(n), rng.standard_t(3, n)), 0.0, LEVEL).p_greater <= LEVEL
        for _ in range(replicates)
    )
    assert at_most(rejected, replicates)
    assert rejected > 0.6 * LEVEL * replicates


def test_the_cluster_default_holds_where_items_hang_together():
    rng = np.random.default_rng(12)
    replicates, level = 300, 0.05
    sizes = np.array([30, 8, 3, 12, 5, 9, 2, 14, 7, 10])
    labels = np.repeat(np.arange(sizes.size), sizes)
    rejected = {"cluster": 0, "items": 0}
    for _ in range(replicates):
        d = 0.55 * rng.normal(0, 1, sizes.size)[labels] + rng.normal(0, 1, labels.size)
        data = cluster_pairs(np.zeros(d.size), d, labels)
        rejected["cluster"] += run("cluster_strict", data, 0.0, level).p_greater < level
        rejected["items"] += run("paired_t", pair(np.zeros(d.size), d), 0.0, level).p_greater < level
    assert at_most(rejected["cluster"], replicates, level)
    assert rejected["items"] > 2 * level * replicates


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "bootstrap_bca", "bootstrap_t", "sign_flip", "t_guarded"])
@pytest.mark.parametrize("n", [50, 200])
def test_size_of_the_tests_on_request(method, n):
    """On symmetric data the bootstrap exceeds its level a little at n = 50 (.030 for .025)."""
    rng = np.random.default_rng(n)
    replicates = 1500
    rejected = sum(
        run(method, pair(np.zeros(n), rng.normal(0, 1, n)), 0.0, LEVEL, resamples=999).p_greater < LEVEL
        for _ in range(replicates)
    )
    assert at_most(rejected, replicates, 0.033 if method.startswith("bootstrap") else LEVEL)
    assert rejected > 0.5 * LEVEL * replicates

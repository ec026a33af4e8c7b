"""Each resampling test on the very draws it makes, by the formulas of its literature; and its seeds."""

from __future__ import annotations

import hashlib
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gate.stats import draws, resampling, seeding
from gate.stats.pairs import from_counts, from_differences
from gate.stats.procedures import run

LEVEL = 0.025
B = 999
RNG = np.random.default_rng(21)
SAMPLES = {
    "any": RNG.normal(0.4, 1, 60),
    "skewed": RNG.lognormal(0, 1, 60) - 1.5,
    "left": 1.5 - RNG.lognormal(0, 1, 60),
    "few values": np.repeat([-1.0, 0.0, 2.0], [14, 20, 26]),
}


def drawn(d, seed=5, count=B):
    pairs = from_differences(d)
    return np.sort(np.round(draws.bootstrap_means(pairs, count, seeding.generator(seed)), 13))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("null_value", [-0.2, 0.0, 0.5])
def test_bca_is_efrons_formula_on_the_drawn_means(name, null_value):
    d = SAMPLES[name]
    means, mean = drawn(d), d.mean()
    centred = d - mean
    a = np.sum(centred**3) / (6 * np.sum(centred**2) ** 1.5)
    tied = np.isclose(means, mean, rtol=0, atol=1e-12)
    z0 = stats.norm.ppf(np.mean((means < mean) & ~tied) + 0.5 * tied.mean())

    def limit(p):
        w = z0 + stats.norm.ppf(p)
        return (B + 1) * stats.norm.cdf(z0 + w / (1 - a * w))

    def level_of(share):  # the level whose limit stands at this share of the draws
        if share in {0.0, 1.0}:
            return share
        w = stats.norm.ppf(share) - z0
        return stats.norm.cdf(w / (1 + a * w) - z0)

    found = resampling.bca_outcome(from_differences(d), null_value, LEVEL, B, 5)
    assert found.low == means[math.floor(limit(LEVEL)) - 1]
    assert found.high == means[math.ceil(limit(1 - LEVEL)) - 1]
    at_or_below = (1 + np.sum(means <= null_value + 1e-12)) / (B + 1)
    at_or_above = (1 + np.sum(means >= null_value - 1e-12)) / (B + 1)
    assert found.greater == pytest.approx(max(level_of(at_or_below), 1 / (B + 1)), rel=1e-6)
    assert found.less == pytest.approx(max(1 - level_of(1 - at_or_above), 1 / (B + 1)), rel=1e-6)
    assert found.floor == 1 / (B + 1)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("null_value", [-0.2, 0.0, 0.5])
def test_the_studentized_bootstrap_on_its_drawn_samples(name, null_value):
    d = SAMPLES[name]
    n, mean, se = d.size, d.mean(), d.std(ddof=1) / math.sqrt(d.size)
    means, sds = draws.bootstrap_moments(from_differences(d), B, seeding.generator(5))
    t = np.sort((means - mean) / (sds / math.sqrt(n)))
    found = resampling.studentized_outcome(from_differences(d), null_value, LEVEL, B, 5)
    assert (found.low, found.high) == (pytest.approx(mean - t[974] * se), pytest.approx(mean - t[24] * se))
    observed = (mean - null_value) / se
    assert found.greater == pytest.approx((1 + np.sum(t >= observed)) / (B + 1), abs=1e-9)
    assert found.less == pytest.approx((1 + np.sum(t <= observed)) / (B + 1), abs=1e-9)


def test_a_resample_without_spread_counts_against_the_claim():
    """Of {0, 0, 1} 8/27 of the resamples are all 0 and 1/27 all 1; they lie on the far side of any t."""
    d = np.array([0.0, 0.0, 1.0])
    found = resampling.studentized_outcome(from_differences(d), 5.0, 0.1, B, 1)
    means, sds = draws.bootstrap_moments(from_differences(d), B, seeding.generator(1))
    flat_low, flat_high = np.sum((sds == 0) & (means == 0)), np.sum((sds == 0) & (means == 1))
    assert (abs(flat_low / B - 8 / 27) < 0.06, abs(flat_high / B - 1 / 27) < 0.03) == (True, True)
    assert found.less == (1 + flat_low) / (B + 1)  # t* = -inf is at or below the observed t of -14
    assert found.high == math.inf
    other = resampling.studentized_outcome(from_differences(d), -5.0, 0.1, B, 1)
    assert other.greater == (1 + flat_high) / (B + 1)


def test_the_moments_of_drawn_samples_divide_by_n_minus_1():
    for d in SAMPLES.values():
        means, sds = draws.bootstrap_moments(from_differences(d), 20_000, seeding.generator(2))
        assert np.mean(means) == pytest.approx(d.mean(), abs=0.02)
        assert np.mean(sds**2) == pytest.approx(d.var(), rel=0.03)  # E of the n - 1 variance is d's own
    one = draws.bootstrap_moments(from_differences([0.5]), 3, seeding.generator(2))
    assert [list(column) for column in one] == [[0.5] * 3, [0.0] * 3]


def test_the_sign_flip_test_enumerates_up_to_twenty_items():
    d = np.round(np.random.default_rng(8).normal(0.3, 1, 12), 2)
    patterns = np.array(list(itertools.product((1, -1), repeat=12)))
    for m in (0.0, 0.25, -0.4):
        sums = patterns @ (d - m)
        found = run("sign_flip", from_differences(d), m, LEVEL)
        assert found.p_greater == np.mean(sums >= sums[0] - 1e-9)
        assert found.p_less == np.mean(sums <= sums[0] + 1e-9)
        assert (found.resamples, found.seed, found.smallest_p) == (0, 0, 2**-12)
        assert found.p_two_sided == min(1.0, 2 * min(found.p_greater, found.p_less))
        assert (found.interval.confidence, found.estimate) == (0.95, pytest.approx(d.mean()))
    # limits: the k-th smallest and largest mean of the non-empty subsets, k = 2^12 level
    means = np.sort([np.mean(d[list(s)]) for r in range(1, 13) for s in itertools.combinations(range(12), r)])
    k = math.floor(2**12 * LEVEL)
    assert found.interval.low == pytest.approx(means[k - 1], abs=1e-12)
    assert found.interval.high == pytest.approx(means[-k], abs=1e-12)
    twenty = np.round(np.random.default_rng(9).normal(0.3, 1, 21), 2)
    exact, sampled = (run("sign_flip", from_differences(twenty[:n]), 0.0, LEVEL) for n in (20, 21))
    assert (exact.resamples, sampled.resamples > 0, sampled.seed > 0) == (0, True, True)


@pytest.mark.parametrize("d", [SAMPLES["any"][:30], np.repeat([-1.0, 0.0, 2.0], [14, 10, 16])])
def test_drawn_sign_patterns_agree_with_their_normal_law(d):
    found = run("sign_flip", from_differences(d), 0.1, LEVEL)
    z = np.sum(d - 0.1) / math.sqrt(np.sum((d - 0.1) ** 2))
    assert found.p_greater == pytest.approx(stats.norm.sf(z), abs=0.02)
    assert found.p_less == pytest.approx(stats.norm.cdf(z), abs=0.035)
    assert found.p_greater + found.p_less > 1  # both hold the data themselves


def test_subset_means_and_empty_subsets_by_hand():
    """Six means, three empty subsets and the data: ten patterns. k = 10 level."""
    means = np.array([0.3, -0.1, 0.2, 0.0, 0.4, 0.1])
    found = resampling.flip_counts(means, 3, 0.1, 0.4)
    assert (found.greater, found.less, found.floor) == (0.7, 0.8, 0.1)
    assert (found.low, found.high) == (-0.1, 0.4)  # the empty ones come first from either end
    found = resampling.flip_counts(means, 3, 0.1, 0.3)
    assert (found.low, found.high) == (-math.inf, math.inf)
    found = resampling.flip_counts(means, 0, 0.1, 2 / 7)
    assert (found.low, found.high) == (0.0, 0.3)
    found = resampling.flip_counts(means, 0, 0.1, 1 / 7)
    assert (found.low, found.high) == (-0.1, 0.4)
    found = resampling.flip_counts(means, 0, 0.1, 0.14)  # fewer than one of seven patterns
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_the_percentile_bootstrap_counts_its_own_draws():
    d = SAMPLES["any"]
    means = drawn(d)
    found = resampling.percentile_outcome(from_differences(d), 0.2, LEVEL, B, 5)
    assert (found.low, found.high) == (means[24], means[974])
    assert found.greater == (1 + np.sum(means <= 0.2)) / (B + 1)
    assert found.less == (1 + np.sum(means >= 0.2)) / (B + 1)


def test_both_take_the_least_favourable_of_every_number():
    for d in SAMPLES.values():
        pairs = from_differences(d)
        one = resampling.bca_outcome(pairs, 0.1, LEVEL, B, 4)
        two = resampling.sign_flip_outcome(pairs, 0.1, LEVEL, B, 4)
        both = resampling.both_outcome(pairs, 0.1, LEVEL, B, 4)
        for key, choose in (
            ("greater", max), ("less", max), ("low", min), ("high", max), ("floor", max),
        ):  # fmt: skip
            assert getattr(both, key) == choose(getattr(one, key), getattr(two, key))
    five = resampling.both_outcome(from_differences([0.1, 0.3, 0.2, 0.5, 0.4]), 0.0, 0.1, B, 4)
    assert five.floor == 2**-5


def test_equal_differences_are_decided_without_draws_except_by_sign_flip():
    for method in ("bootstrap", "bootstrap_bca", "bootstrap_t", "bca_sign_flip"):
        found = run(method, from_differences([0.25] * 60), 0.0, LEVEL)
        assert (found.p_greater, found.p_less, found.resamples) == (2**-60, 1.0, 0)
        assert (found.p_two_sided, found.interval.confidence) == (2**-59, 0.95)
    found = run("sign_flip", from_differences([0.25] * 6), 0.0, LEVEL)
    assert (found.p_greater, found.p_less, found.smallest_p) == (2**-6, 1.0, 2**-6)


def test_a_p_near_the_level_raises_the_resamples_and_says_so_where_that_is_not_enough():
    d = np.random.default_rng(0).normal(0.29, 1, 50)
    at = run("bootstrap", from_differences(d), 0.0, 0.2).p_greater
    close = run("bootstrap", from_differences(d), 0.0, at)
    assert close.resamples in seeding.LADDER
    assert ("mc_borderline" in [c.code for c in close.cautions]) == (
        seeding.borderline(close.p_greater, at, close.resamples)
        or seeding.borderline(close.p_less, at, close.resamples)
    )
    clear = run("bootstrap", from_differences(d + 2), 0.0, LEVEL)
    assert (clear.resamples, clear.cautions) == (9_999, ())
    mirrored = run("bootstrap", from_differences(-d), 0.0, at)  # p_less may be the close one
    assert mirrored.resamples > 9_999


@pytest.mark.parametrize(
    ("method", "d", "raised"),
    [
        ("bootstrap_t", np.arange(1500) / 7, True),  # 1,500 x 999,999 draws are just within 1.5e9
        ("bootstrap_t", np.arange(1501) / 7, False),
        ("bootstrap_t", np.repeat([-1.0, 0.0, 1.0], 40_000), True),  # few values are drawn as counts
        ("bootstrap", np.arange(1501) / 7, True),  # its law is had without drawing items
        ("bootstrap", np.append(np.zeros(3000), [1e7]) + np.arange(3001) / 1e4, False),
        ("bootstrap_t", np.arange(20.0), True),
        ("sign_flip", np.arange(20.0), False),  # exact
        ("sign_flip", np.arange(21.0), True),
    ],
)
def test_which_resamples_can_be_raised_to_a_million(method, d, raised):
    assert resampling._affordable(method, from_differences(d), 999_999) is raised


def test_seeds_are_a_function_of_method_resamples_and_data():
    pairs = from_counts(3, 1, 9)
    digest = hashlib.sha256(b"bootstrap\n9999\n" + pairs.digest()).digest()
    expected = int.from_bytes(digest[:8], "big") // 2
    assert seeding.seed_for("bootstrap", 9_999, pairs) == expected
    assert seeding.seed_from("bootstrap", 9_999, pairs.digest()) == expected
    assert run("bootstrap", from_differences(SAMPLES["any"]), 0.0, LEVEL, seed=7).seed == 7
    numbers = seeding.generator(3).random(4)
    np.testing.assert_array_equal(numbers, np.random.Generator(np.random.PCG64(3)).random(4))


@pytest.mark.parametrize(
    ("asked", "level", "count"),
    [
        (9_999, 0.002, 9_999),  # 10,000 x .002 = 20 resamples beyond the limit
        (9_999, 0.0019, 99_999),
        (9_999, 0.0002, 99_999),
        (9_999, 0.00019, 999_999),
        (9_999, 0.00002, 999_999),
        (9_999, 0.000016, 1_249_999),
        (999, 0.025, 999),
        (799, 0.025, 799),
        (798, 0.025, 99_999),
        (250_000, 0.00007, 999_999),
        (3_000_000, 0.000001, 19_999_999),
        (30_000_000, 0.000001, 30_000_000),
    ],
)
def test_the_limits_rest_on_twenty_resamples(asked, level, count):
    assert seeding.enough_resamples(asked, level) == count


def test_ranks_and_what_is_close_to_the_level():
    assert [seeding.rank_at(b, 0.025) for b in (10, 39, 79, 9_999)] == [1, 1, 2, 250]
    assert [seeding.rank_at(9_999, level) for level in (0.0003, 0.00029999, 0.1)] == [3, 2, 1000]
    error = 2 * math.sqrt(0.025 * 0.975 / 9_999)
    for side in (-1, 1):
        assert seeding.borderline(0.025 + side * 0.999 * error, 0.025, 9_999)
        assert not seeding.borderline(0.025 + side * 1.001 * error, 0.025, 9_999)


def test_blocks_cover_every_draw_once():
    for count, width in ((10, 3), (7, 10**7), (10_000, 1_000), (1, 1), (4_001, 1_000)):
        blocks = draws._blocks(count, width)
        covered = [at for start, stop in blocks for at in range(start, stop)]
        assert covered == list(range(count))
        assert all((stop - start) * width <= max(draws.BLOCK, width) for start, stop in blocks)
    assert len(draws._blocks(4_001, 1_000)) == 3


def test_draws_do_not_depend_on_the_size_of_a_block(monkeypatch):
    for d in (SAMPLES["any"], SAMPLES["few values"]):
        pairs = from_differences(d)
        whole = [
            draws.bootstrap_means(pairs, 100, seeding.generator(1)),
            *draws.bootstrap_moments(pairs, 100, seeding.generator(1)),
        ]
        monkeypatch.setattr(draws, "BLOCK", 600)
        parts = [
            draws.bootstrap_means(pairs, 100, seeding.generator(1)),
            *draws.bootstrap_moments(pairs, 100, seeding.generator(1)),
        ]
        monkeypatch.undo()
        for one, two in zip(whole, parts, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)


def test_an_acceleration_that_turns_the_formula_over_is_no_evidence():
    """1 - a w <= 0 in the limit, 1 + a w <= 0 in the p: beyond them the adjusted level says nothing."""
    means = np.arange(1.0, 1000.0)
    z = stats.norm.ppf(0.75)
    skewed = resampling._Bca(means, 500.0, -1 / z)
    assert skewed.z0 == 0.0
    assert skewed.p_greater(749.0) == 1.0  # 1 + a w = 0
    assert skewed.p_greater(800.0) == 1.0
    assert skewed.p_greater(700.0) < 1.0
    other = resampling._Bca(means, 500.0, 1 / z)
    assert other.p_greater(249.0) == 1 / 1000
    assert other.p_greater(100.0) == 1 / 1000
    assert other.p_greater(300.0) > 1 / 1000
    steep = resampling._Bca(means, 500.0, -2.0)
    assert steep.limit(0.25) == -math.inf  # 1 - a w = 1 - 1.35 < 0
    assert steep.limit(0.4) < 500


def test_the_limit_of_a_bca_is_the_mean_at_its_rank():
    """Without bias and acceleration the adjusted level is the level: rank 1000 x level of 999 means."""
    plain = resampling._Bca(np.arange(1.0, 1000.0), 500.0, 0.0)
    assert [plain.limit(level) for level in (0.001, 0.002, 0.0259, 0.5, 0.9999)] == [1, 2, 25, 500, 999]
    assert plain.limit(0.0009) == -math.inf
    assert [plain.p_greater(m) for m in (0.5, 1.0, 24.0, 499.0)] == pytest.approx([0.001, 0.002, 0.025, 0.5])
    assert (plain.p_greater(999.0), plain.p_greater(2000.0)) == (1.0, 1.0)
    assert resampling._Bca(np.arange(1.0, 1000.0), 5000.0, 0.0).z0 == pytest.approx(
        stats.norm.ppf(1 - 0.5 / 999)
    )
    assert resampling._Bca(np.arange(1.0, 1000.0), -1.0, 0.0).z0 == pytest.approx(stats.norm.ppf(0.5 / 999))


def test_means_equal_to_the_null_value_count_on_both_sides():
    """.1 + .2 - .3 and the like must not part them: the means stand on the grid of the data."""
    d = np.array([0.1, 0.2, -0.3, 0.3, -0.2, 0.4])
    means = np.array(list(itertools.product(d, repeat=2))).mean(axis=1)
    tidy = resampling._tidy_means(means, from_differences(d))
    np.testing.assert_array_equal(tidy, np.round(means, 13) + 0.0)
    assert np.count_nonzero(tidy == 0.0) == 4
    tiny = resampling._tidy_means(np.array([1.5e-305]), from_differences([1e-305]))
    assert tiny == pytest.approx(1.5e-305)


def test_one_difference_is_decided_without_draws():
    for method in (resampling.bootstrap, resampling.bootstrap_bca, resampling.bootstrap_t):
        found = method(from_differences([0.25] * 3), 0.0, LEVEL, 99, None)
        assert (found.p_greater, found.resamples, found.method) == (1 / 8, 0, method.__name__)
    two = resampling.bootstrap(from_differences([0.25, 0.5]), 0.0, LEVEL, 99, None)
    assert two.resamples > 0
    assert (two.estimate, two.estimand_value, two.p_two_sided <= 1) == (0.375, 0.375, True)


def test_a_two_sided_p_of_draws_is_twice_the_smaller():
    d = SAMPLES["any"]
    for m in (0.2, 0.7):
        found = run("bootstrap", from_differences(d), m, LEVEL)
        assert found.p_two_sided == pytest.approx(2 * min(found.p_greater, found.p_less))
        assert found.smallest_p == 1 / (found.resamples + 1)
        assert (found.interval.confidence, found.interval.method) == (0.95, "bootstrap")

"""Pass/fail tests and intervals by their definitions; scipy gives the laws and the roots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from gate.estimands import estimand_of
from gate.stats import binary, power, unconditional
from gate.stats.binary_intervals import requested_interval
from gate.stats.methods import METHODS, named_tests
from gate.stats.pairs import from_counts, pair
from gate.stats.procedures import run

LEVEL = 0.025
TABLES = [(12, 3, 40), (3, 12, 40), (5, 5, 30), (7, 0, 20), (0, 7, 20), (9, 4, 13), (1, 0, 50)]


def test_what_each_test_is_for():
    pass_fail = {"mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards", "tango"}
    pairs, clusters = list(named_tests("pairs")), list(named_tests("clusters"))
    assert {m.id for m in pairs if "graded" not in m.kinds} == pass_fail | {"exact_unconditional"}
    against_0 = (pass_fail - {"tango"}) | {"wilcoxon", "wilcoxon_pratt", "sign"}
    assert {m.id for m in pairs if not m.margin} == against_0
    assert {m.id for m in clusters if not m.margin} == {"obuchowski", "durkalski", "yang"}
    by_default = {"cluster_strict", "cluster_pooled", "cluster_gaffke"}
    named = {m.id for m in METHODS.values() if m.sample != "set"} - by_default
    assert {m.id for m in (*pairs, *clusters)} == named
    assert (
        estimand_of("binary", averaged=True).default_test(0.0, "standard")
        == estimand_of("graded").default_test(0.0, "standard")
        == "t_guarded"
    )


@pytest.mark.parametrize("table", TABLES)
def test_mcnemar_in_its_four_forms(table):
    b, c, n = table
    s = b + c
    tail, point = stats.binom.sf(b - 1, s, 0.5), stats.binom.pmf(b, s, 0.5)
    other = stats.binom.cdf(b, s, 0.5)
    exact = run("mcnemar_exact", from_counts(b, c, n), 0.0, LEVEL)
    assert (exact.p_greater, exact.p_less) == (pytest.approx(tail), pytest.approx(other))
    assert exact.p_two_sided == pytest.approx(stats.binomtest(b, s).pvalue)
    assert (exact.smallest_p, exact.estimate) == (2.0**-s, (b - c) / n)
    mid = run("mcnemar_midp", from_counts(b, c, n), 0.0, LEVEL)
    assert mid.p_greater == pytest.approx(tail - point / 2)
    assert mid.p_less == pytest.approx(other - point / 2)
    both = 1 - point / 2 if b == c else 2 * min(tail, other) - point
    assert (mid.p_two_sided, mid.smallest_p) == (pytest.approx(both), 2.0 ** -(s + 1))
    for method, gap in (("mcnemar_chi2", abs(b - c)), ("mcnemar_edwards", max(abs(b - c) - 1, 0))):
        found = run(method, from_counts(b, c, n), 0.0, LEVEL)
        assert found.statistic == pytest.approx(gap**2 / s)
        two = stats.chi2.sf(gap**2 / s, 1)
        assert found.p_two_sided == pytest.approx(two)
        assert found.p_greater == pytest.approx(two / 2 if b > c else 1 - two / 2)
        assert found.p_less == pytest.approx(two / 2 if b < c else 1 - two / 2)


@pytest.mark.parametrize("method", ["mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards"])
def test_without_disagreement_every_p_is_1(method):
    found = run(method, from_counts(0, 0, 20), 0.0, LEVEL)
    assert (found.p_greater, found.p_less, found.p_two_sided) == (1.0, 1.0, 1.0)
    assert found.insufficient == "no disagreements on 20 items: this set cannot weigh the two systems"
    assert "smallest_p" not in [c.code for c in found.cautions]


@pytest.mark.parametrize(("level", "told"), [(2**-5, True), (2**-5 + 1e-9, False)])
def test_the_smallest_p_is_told_from_the_level_on(level, told):
    found = run("mcnemar_exact", from_counts(3, 2, 40), 0.0, level)
    assert ("smallest_p" in [c.code for c in found.cautions]) is told
    one = run("mcnemar_exact", from_counts(1, 0, 40), 0.0, 0.025)
    assert "the 1 discordant item could" in one.cautions[0].message
    assert (
        "the 2 discordant items could"
        in run("mcnemar_exact", from_counts(1, 1, 40), 0.0, 0.025).cautions[0].message
    )


def score(b, c, n, m, correction=0.0):
    """(b - c - n m) / sd at the likelihood's maximum over the rate of losses, delta being m."""
    low, high = max(0.0, -m), min(1.0, (1 - m) / 2)

    def loss(q):
        cells = ((b, q + m), (c, q), (n - b - c, 1 - 2 * q - m))
        return -sum(count * math.log(max(p, 1e-300)) for count, p in cells if count)

    q = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    return (b - c - n * m - correction) / math.sqrt(n * (2 * q + m - m * m))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("m", [0.0, 0.05, -0.1, 0.4, -0.7])
def test_tangos_score_test(table, m):
    found = run("tango", from_counts(*table), m, LEVEL)
    assert found.statistic == pytest.approx(score(*table, m), rel=1e-4)
    assert found.p_greater == pytest.approx(stats.norm.sf(found.statistic), rel=1e-9)
    assert found.p_less == pytest.approx(stats.norm.cdf(found.statistic), rel=1e-9)
    assert unconditional._statistics(
        np.array([table[0]]), np.array([table[0] + table[1]]), table[2], m
    ) == pytest.approx([found.statistic])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("correction", [0.0, 1.0])
def test_tangos_interval_inverts_its_test(table, correction):
    b, c, n = table
    z = stats.norm.isf(LEVEL)
    found = binary.tango_interval(b, c, n, LEVEL, correction)
    if -1 < found.low != 0:
        assert score(b, c, n, found.low, correction) == pytest.approx(z, rel=1e-3)
    if found.high < 1 and found.high != 0:
        assert score(c, b, n, -found.high, correction) == pytest.approx(z, rel=1e-3)
    assert (found.method, found.confidence) == ("tango_edwards" if correction else "tango", 0.95)


def test_tangos_interval_at_its_ends():
    assert binary.tango_interval(0, 9, 9, LEVEL).low == -1.0
    assert binary.tango_interval(9, 0, 9, LEVEL).high == 1.0
    none = binary.tango_interval(0, 0, 40, LEVEL)
    z2 = stats.norm.isf(LEVEL) ** 2
    assert none.high == pytest.approx(z2 / (40 + z2), abs=1e-9)  # n m / sqrt(n m (1 - m)) = z
    assert none.low == pytest.approx(-none.high)
    assert binary.tango_statistic(0, 0, 40, 0.0) == 0.0
    assert (binary.tango_statistic(3, 0, 3, 1.0), binary.tango_statistic(0, 0, 5, 1.0)) == (0.0, -math.inf)


@pytest.mark.parametrize("table", [(3, 3, 6), (2, 6, 8), (1, 4, 5)])
def test_fay_and_lumbards_limit_where_every_item_disagrees(table):
    """The rate of disagreement is surely 1 at most: the limit is that of 2 B - 1 with Clopper-Pearson's B."""
    b, c, n = table
    found = binary.fay_lumbard(b, c, n, LEVEL)
    assert found.low == pytest.approx(2 * stats.beta.ppf(LEVEL, b, c + 1) - 1, abs=1e-9)
    assert found.high == pytest.approx(-binary.fay_lumbard(c, b, n, LEVEL).low)
    assert (found.confidence, found.method) == (0.95, "fay_lumbard")


@pytest.mark.parametrize("table", [(12, 3, 40), (3, 12, 40), (5, 5, 30), (7, 0, 20), (0, 7, 20), (0, 0, 9)])
@pytest.mark.parametrize("midp", [False, True])
def test_fay_and_lumbards_limit_by_drawing_both_laws(table, midp):
    """T (2 B - 1), T the rate of disagreement and B the share of wins; mid-p draws either end of both."""
    b, c, n = table
    s, rng = b + c, np.random.default_rng(4)

    def drawn(first, second):
        chosen = rng.random(400_000) < 0.5 if midp else np.ones(400_000, dtype=bool)
        laws = [
            np.zeros(400_000) if x == 0 else np.ones(400_000) if y == 0 else rng.beta(x, y, 400_000)
            for x, y in (first, second)
        ]
        return np.where(chosen, *laws)

    share = drawn((b, c + 1), (b + 1, c))
    wins = np.mean(share <= 0.5) < LEVEL
    most = (s + 1, n - s)
    rate = drawn((s, n - s + 1), most) if midp or wins else drawn(most, most)
    found = binary.fay_lumbard(b, c, n, LEVEL, midp=midp)
    assert found.low == pytest.approx(np.quantile(rate * (2 * share - 1), LEVEL), abs=0.004)


def test_intervals_on_request_by_their_formulas():
    a, b, c, n = 50, 12, 5, 100
    z = stats.norm.isf(LEVEL)
    pairs = from_counts(b, c, n, a)

    def around(name, centre, se):
        found = requested_interval(name, pairs, LEVEL)
        assert (found.low, found.high) == pytest.approx((centre - z * se, centre + z * se))
        assert (found.confidence, found.method) == (0.95, name)

    around("wald", 0.07, math.sqrt(17 - 49 / 100) / 100)
    around("agresti_min", 7 / 102, math.sqrt(18 - 49 / 102) / 102)
    up, down = 13 / 102, 6 / 102
    around("bonett_price", up - down, math.sqrt((up + down - (up - down) ** 2) / 102))
    new, old = 0.62, 0.55
    wilson = [stats.binomtest(k, n).proportion_ci(0.95, "wilson") for k in (62, 55)]
    d = n - a - b - c
    phi = max(a * d - b * c - n / 2, 0) / math.sqrt(62 * 38 * 55 * 45)
    down_new, up_old = new - wilson[0].low, wilson[1].high - old
    up_new, down_old = wilson[0].high - new, old - wilson[1].low
    found = requested_interval("newcombe", pairs, LEVEL)
    assert found.low == pytest.approx(0.07 - math.sqrt(down_new**2 - 2 * phi * down_new * up_old + up_old**2))
    assert found.high == pytest.approx(
        0.07 + math.sqrt(up_new**2 - 2 * phi * up_new * down_old + down_old**2)
    )
    # the same table where smaller is better: a pass is 0, a failure -1
    turned = pair(pairs.baseline - 1, pairs.candidate - 1)
    assert requested_interval("newcombe", turned, LEVEL) == found


def test_newcombes_correlation_is_not_corrected_where_it_is_negative():
    a, b, c, d = 2, 12, 9, 1
    low_new, high_new = stats.binomtest(14, 24).proportion_ci(0.95, "wilson")
    low_old, high_old = stats.binomtest(11, 24).proportion_ci(0.95, "wilson")
    phi = (a * d - b * c) / math.sqrt(14 * 10 * 11 * 13)
    one, two = 14 / 24 - low_new, high_old - 11 / 24
    found = requested_interval("newcombe", from_counts(b, c, 24, a), LEVEL)
    assert found.low == pytest.approx(3 / 24 - math.sqrt(one**2 - 2 * phi * one * two + two**2))
    assert found.high == pytest.approx(
        3 / 24 + math.hypot(high_new - 14 / 24, 11 / 24 - low_old) * math.sqrt(
            1 - 2 * phi * (high_new - 14 / 24) * (11 / 24 - low_old)
            / ((high_new - 14 / 24) ** 2 + (11 / 24 - low_old) ** 2)
        )
    )  # fmt: skip


@pytest.mark.parametrize("m", [-1.0, -1.5, 1.0, 1.5])
def test_margins_beyond_what_is_possible(m):
    assert unconditional.p_greater(5, 2, 20, m, 1e-4) == (1.0 if m > 0 else 1e-4)
    assert unconditional.p_greater(0, 20, 20, m, 1e-4) == 1.0
    assert unconditional.p_greater(0, 0, 20, 0.0, 1e-4) == 1.0


@pytest.mark.parametrize(
    ("level", "g"),
    [(0.025, 1e-4), (0.005, 1e-4), (0.00499, 1e-6), (1e-4, 1e-6), (1e-5, 1e-7)],
)
def test_what_the_nuisance_set_costs(level, g):
    assert unconditional.berger_boos_g(level) == pytest.approx(g)


def by_enumeration(b, c, n, m, g):
    """max over the plausible rates of P(T >= t) + g, every table of n items counted."""
    seen = binary.tango_statistic(b, c, n, m)
    inside = np.array([
        (x, y) for x in range(n + 1) for y in range(n + 1 - x)
        if binary.tango_statistic(x, y, n, m) >= seen - 1e-9 * max(1, abs(seen))
    ])  # fmt: skip
    low, high = stats.binomtest(b + c, n).proportion_ci(1 - g)
    best = 0.0
    for psi in np.linspace(max(low, abs(m)), max(high, abs(m)), 4001):
        cells = [(psi + m) / 2, (psi - m) / 2, 1 - psi]
        rows = np.column_stack([inside, n - inside.sum(axis=1)])
        best = max(best, stats.multinomial.pmf(rows, n, np.clip(cells, 0, 1) / np.sum(cells)).sum())
    return best + g


@pytest.mark.parametrize(
    ("b", "c", "n", "m"),
    [(6, 1, 14, 0.1), (2, 4, 14, -0.3), (5, 0, 12, 0.0), (0, 0, 15, -0.2), (9, 3, 12, 0.2)],
)
def test_the_exact_unconditional_test_by_enumeration(b, c, n, m):
    expected = by_enumeration(b, c, n, m, 1e-4)
    assert unconditional.p_greater(b, c, n, m, 1e-4) == pytest.approx(expected, abs=3e-5)


@pytest.mark.parametrize("m", [0.0, 0.1, -0.1])
def test_the_two_sides_of_the_exact_unconditional_test(m):
    found = run("exact_unconditional", from_counts(6, 1, 30), m, LEVEL)
    assert found.p_greater == unconditional.p_greater(6, 1, 30, m, 1e-4)
    assert found.p_less == unconditional.p_greater(1, 6, 30, -m, 1e-4)
    spent = 1e-4 if m == 0 else 0  # one nuisance set serves both tails at 0
    assert found.p_two_sided == pytest.approx(2 * min(found.p_greater, found.p_less) - spent)
    low, high = found.interval.low, found.interval.high
    assert unconditional.p_greater(6, 1, 30, low, 1e-4) < LEVEL + 1e-6
    assert unconditional.p_greater(6, 1, 30, low + 1e-4, 1e-4) >= LEVEL
    assert unconditional.p_greater(1, 6, 30, -high, 1e-4) < LEVEL + 1e-6
    assert unconditional.p_greater(1, 6, 30, -high + 1e-4, 1e-4) >= LEVEL


def test_tango_stands_in_from_5001_discordant_pairs_on(monkeypatch):
    assert unconditional.MOST_DISCORDANT == 5000
    monkeypatch.setattr(unconditional, "MOST_DISCORDANT", 9)
    exact, stand_in = (run("exact_unconditional", from_counts(b, 2, 40), 0.05, LEVEL) for b in (7, 8))
    assert (exact.cautions, [c.code for c in stand_in.cautions]) == ((), ["tango_for_many_discordant"])
    assert stand_in.p_greater == run("tango", from_counts(8, 2, 40), 0.05, LEVEL).p_greater


def test_the_least_wins_that_reject_are_those_of_the_binomial_law():
    for level in (0.025, 0.2, 2.0**-5, 1e-4):
        s = np.arange(0, 41)
        found = power._critical_wins(s, level)
        for size, wins in zip(s, found, strict=True):
            rejected = [b for b in range(size + 1) if stats.binom.sf(b - 1, size, 0.5) < level]
            assert wins == min(rejected, default=size + 1)


@pytest.mark.parametrize(
    ("n", "discordant", "delta"), [(30, 0.4, -0.2), (60, 1.0, 0.3), (25, 0.3, 0.3), (40, 0.05, 0.05)]
)
def test_power_by_every_table(n, discordant, delta):
    s = np.arange(n + 1)
    wins = power._critical_wins(s, LEVEL)
    share = (discordant + delta) / 2 / discordant
    expected = stats.binom.pmf(s, n, discordant) @ stats.binom.sf(wins - 1, s, share)
    assert power.mcnemar_power(n, discordant, delta, LEVEL) == pytest.approx(expected, rel=1e-7)


def test_sample_sizes_and_effects_are_one_formula():
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    assert power.smallest_effect(0.09, 400, 0.025) == pytest.approx(z * 0.3 / 20)
    assert power.smallest_effect(0.09, 400, 0.025, 0.9) == pytest.approx(
        (stats.norm.isf(0.025) + stats.norm.ppf(0.9)) * 0.3 / 20
    )
    assert power.items_needed(z**-2 * 100, 1.0, 0.025) == 100  # no item more by rounding
    assert power.items_needed(z**-2 * 100.001, 1.0, 0.025) == 101
    assert power.items_needed(z**-2 * 0.5, 1.0, 0.025) == 2
    expected = stats.norm.sf(stats.norm.isf(0.025) - 0.02 / math.sqrt(0.09 / 400))
    assert power.normal_power(0.09, 400, 0.02, 0.025) == pytest.approx(expected)
    assert [power.normal_power(0.0, 9, effect, 0.025) for effect in (-0.1, 0.0, 0.1)] == [0.0, 0.0, 1.0]
    assert power.binary_variance(0.2, 0.1) == pytest.approx(0.19)
    assert power.mcnemar_items_needed(0.2, 0.0, LEVEL) is None


@pytest.mark.parametrize(("psi", "delta", "wanted"), [(0.3, 0.2, 0.8), (1.0, 0.9, 0.8), (0.1, 0.1, 0.5)])
def test_the_items_that_exact_mcnemar_needs_are_the_first(psi, delta, wanted):
    n = power.mcnemar_items_needed(psi, delta, LEVEL, wanted)
    assert power.mcnemar_power(n, psi, delta, LEVEL) >= wanted
    assert all(power.mcnemar_power(k, psi, delta, LEVEL) < wanted for k in range(max(1, n - 40), n))


def test_a_pass_is_known_by_either_side():
    """Newcombe's interval needs to know who passes on both: 1, unless smaller was better and a pass is 0."""
    for b, c in ((6, 0), (0, 6)):
        pairs = from_counts(b, c, 30)
        found = requested_interval("newcombe", pairs, LEVEL)
        one, none = (stats.binomtest(k, 30).proportion_ci(0.95, "wilson") for k in (6, 0))
        # without a common pass or with no failure of one side there is no correlation to correct for
        up, down = (one, none) if b else (none, one)
        delta, new, old = (b - c) / 30, b / 30, c / 30
        assert found.low == pytest.approx(delta - math.hypot(new - up.low, down.high - old))
        assert found.high == pytest.approx(delta + math.hypot(up.high - new, old - down.low))


@pytest.mark.parametrize("midp", [False, True])
def test_the_melded_limit_agrees_with_its_p_on_either_side_of_the_level(midp):
    """Its lower limit is above 0 exactly where p < level; 2^-5 and 2^-6 lie beside a level each."""
    method = "mcnemar_midp" if midp else "mcnemar_exact"
    for b, c in ((5, 0), (6, 0), (8, 1), (9, 1), (13, 4), (1, 0), (0, 0)):
        for level in (0.4, 0.03125, 0.025, 0.0156):
            p = run(method, from_counts(b, c, 60), 0.0, level).p_greater
            assert (binary.fay_lumbard(b, c, 60, level, midp=midp).low > 0) == (p < level)


def test_one_win_of_one_item():
    """Of the rate of disagreement it is known that it is 1 at most, and of the wins that p = 1 / 2."""
    found = binary.fay_lumbard(1, 0, 1, 0.4)
    assert found.low == pytest.approx(2 * 0.4 - 1)
    assert found.high == 1.0
    none = binary.fay_lumbard(0, 0, 12, 0.05)
    assert (none.low, none.high) == (
        pytest.approx(-(1 - 0.05 ** (1 / 12))),
        pytest.approx(1 - 0.05 ** (1 / 12)),
    )


def test_estimates_are_shares_of_all_items():
    for method in ("exact_unconditional", "tango", "mcnemar_exact"):
        found = run(method, from_counts(9, 4, 40), 0.0, LEVEL)
        assert (found.estimate, found.estimand_value, found.n) == (5 / 40, 5 / 40, 40)

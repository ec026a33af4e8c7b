"""Where procedures stop, and what they say there."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from gate.estimands import estimand_of
from gate.stats import resampling, single
from gate.stats.binary_intervals import INTERVALS, requested_interval
from gate.stats.methods import METHODS, assurance, named_tests
from gate.stats.pairs import from_counts, from_differences, pair
from gate.stats.procedures import run
from gate.stats.reference import reference
from gate.stats.seeding import enough_resamples
from gate.values import GateError

LEVEL = 0.025


def codes(result):
    return [caution.code for caution in result.cautions]


def test_defaults_follow_kind_margin_and_assurance():
    assert estimand_of("binary").default_test(0.0, "standard") == "mcnemar_exact"
    assert (
        estimand_of("binary").default_test(0.01, "standard")
        == estimand_of("binary").default_test(-0.02, "standard")
        == "exact_unconditional"
    )
    assert (
        estimand_of("graded").default_test(0.1, "standard")
        == estimand_of("binary", averaged=True).default_test(0.0, "standard")
        == "t_guarded"
    )
    assert estimand_of("binary").default_test(0.0, "guaranteed") == "gaffke"


def test_a_tolerance_is_proven_by_n_alone():
    short, enough = (run("exact_unconditional", from_counts(0, 0, n), -0.02, LEVEL) for n in (182, 183))
    assert short.p_greater > LEVEL > enough.p_greater
    assert enough.interval.low > -0.02
    assert not enough.insufficient
    assert not run("gaffke", from_counts(0, 0, 200), -0.02, LEVEL).insufficient


def test_no_disagreement_has_the_interval_that_n_allows():
    result = run("mcnemar_exact", from_counts(0, 0, 50), 0.0, LEVEL)
    assert "no disagreements" in result.insufficient
    assert (result.p_greater, result.p_two_sided) == (1.0, 1.0)
    assert result.interval.low == pytest.approx(-0.071122, abs=1e-6)


def test_a_clean_sweep_that_cannot_reach_the_level_is_named():
    result = run("mcnemar_exact", from_counts(5, 0, 100), 0.0, LEVEL)
    assert result.smallest_p == 2**-5
    assert "clean sweep of the 5" in result.cautions[0].message
    assert not codes(run("mcnemar_exact", from_counts(6, 0, 100), 0.0, LEVEL))


def test_chi_square_says_when_it_has_too_few_pairs():
    for method in ("mcnemar_chi2", "mcnemar_edwards"):
        assert "few_discordant" in codes(run(method, from_counts(14, 10, 100), 0.0, LEVEL))
        assert "few_discordant" not in codes(run(method, from_counts(15, 10, 100), 0.0, LEVEL))


def test_one_sided_p_of_chi_square_is_half_or_its_complement():
    ahead, behind = (run("mcnemar_chi2", from_counts(*t, 200), 0.0, LEVEL) for t in ((30, 12), (12, 30)))
    assert ahead.p_greater == pytest.approx(ahead.p_two_sided / 2)
    assert behind.p_greater == pytest.approx(1 - behind.p_two_sided / 2)
    level = run("mcnemar_edwards", from_counts(9, 9, 50), 0.0, LEVEL)
    assert level.p_two_sided == 1.0


def test_exact_mcnemar_beyond_a_thousand_discordant_pairs():
    result = run("mcnemar_exact", from_counts(1500, 1000, 9000), 0.0, LEVEL)
    assert 0 < result.p_two_sided < 1e-20
    sweep = run("mcnemar_exact", from_counts(4000, 0, 9000), 0.0, LEVEL)
    assert 0 < sweep.p_greater < 1e-300
    million = run("mcnemar_exact", from_counts(501_000, 499_000, 1_100_000), 0.0, LEVEL)
    assert million.p_two_sided == pytest.approx(0.0455, abs=2e-4)


def test_tango_stands_in_above_five_thousand_discordant_pairs():
    result = run("exact_unconditional", from_counts(2700, 2400, 60_000), 0.001, LEVEL)
    assert codes(result) == ["tango_for_many_discordant"]
    assert result.method == "exact_unconditional"


@pytest.mark.parametrize("method", [m.id for m in named_tests("pairs") if not m.margin])
def test_tests_that_take_no_margin_say_which_do(method):
    with pytest.raises(GateError) as caught:
        run(method, from_counts(18, 8, 200), 0.01, LEVEL)
    assert caught.value.code == "no_margin"
    assert "exact_unconditional" in caught.value.help


def test_pass_fail_tests_refuse_graded_scores():
    with pytest.raises(GateError) as caught:
        run("mcnemar_exact", pair([0, 0.5, 1], [1, 0.5, 0]), 0.0, LEVEL)
    assert caught.value.code == "wrong_kind"


def test_scores_outside_the_declared_scale_are_an_error():
    pairs = pair([1.0, 2.0, 6.0], [2.0, 3.0, 4.0])
    with pytest.raises(GateError, match="found 6"):
        run("gaffke", pairs, 0.0, LEVEL, scale=(1.0, 5.0))
    with pytest.raises(GateError) as caught:
        run("gaffke", pairs, 0.0, LEVEL)
    assert caught.value.code == "needs_scale"


def test_a_scale_serves_both_directions():
    old, new = np.tile([1.0, 2.0, 5.0, 4.0], 10), np.tile([2.0, 2.0, 4.0, 5.0], 10)
    one, two = (
        run("gaffke", pair(old, new), 0.0, LEVEL, scale=(1, 5)),
        run("gaffke", pair(-new, -old), 0.0, LEVEL, scale=(1, 5)),
    )
    assert one.p_greater == pytest.approx(two.p_greater)


def test_the_bootstrap_is_refused_below_fifty_items_and_names_another_test():
    d = np.random.default_rng(3).normal(0.3, 1, 49)
    for method in ("bootstrap", "bootstrap_bca", "bootstrap_t"):
        result = run(method, from_differences(d), 0.0, LEVEL)
        assert "at least 50 items (found 49)" in result.insufficient
        assert "t_guarded" in result.insufficient
        assert result.interval.low < result.interval.high
    assert not run("bootstrap", from_differences([*d, 0.2]), 0.0, LEVEL).insufficient


def test_seeds_as_units_want_five_and_both_tests():
    deltas = [0.012, 0.011, 0.014, 0.009, 0.013, 0.012]
    result = run("bca_sign_flip", from_differences(deltas), 0.0, LEVEL)
    assert result.p_greater == pytest.approx(
        max(2**-6, run("bootstrap_bca", from_differences(deltas), 0.0, LEVEL).p_greater)
    )
    assert not result.insufficient
    assert run("bca_sign_flip", from_differences(deltas[:4]), 0.0, LEVEL).insufficient
    five = run("bca_sign_flip", from_differences(deltas[:5]), 0.0, LEVEL)
    assert five.p_greater >= 2**-5
    assert not five.insufficient
    assert "smallest_p" in codes(five)


def test_few_changed_items_are_no_proof_of_a_gain():
    d = [0.0] * 100 + [0.5] * 9
    for method in ("t_guarded", "paired_t", "bootstrap"):
        assert "only 9 differences" in run(method, from_differences(d), 0.0, LEVEL).insufficient
    assert not run("sign_flip", from_differences(d), 0.0, LEVEL).insufficient
    assert not run("t_guarded", from_differences([*d, 0.5]), 0.0, LEVEL).insufficient


def test_few_changed_items_against_a_tolerance_rest_on_the_range():
    old = np.linspace(100, 900, 400)
    unchanged = run("t_guarded", pair(old, old), -40.0, LEVEL)
    assert not unchanged.insufficient
    assert unchanged.p_greater < LEVEL
    assert -40 < unchanged.interval.low < 0 < unchanged.interval.high
    assert "few_changed" in codes(unchanged)
    few = run("t_guarded", pair(old[::10], old[::10]), -40.0, LEVEL)
    assert few.p_greater > LEVEL
    constant = run("t_guarded", pair(np.zeros(400), np.zeros(400)), -0.1, LEVEL)
    assert constant.insufficient
    declared = run("t_guarded", pair(np.zeros(400), np.zeros(400)), -0.1, LEVEL, scale=(0, 1))
    assert declared.p_greater < LEVEL


def test_intervals_stay_inside_the_scale():
    result = run("t_guarded", pair([0, 0, 0, 0, 1], [1, 1, 1, 1, 1]), 0.0, LEVEL)
    assert -1 <= result.interval.low <= result.interval.high <= 1
    rated = run("paired_t", pair([1, 1, 5, 1], [5, 5, 1, 5]), 0.0, LEVEL, scale=(1, 5))
    assert (rated.interval.low, rated.interval.high) == (-4, 4)


def test_one_item_proves_nothing():
    for method in (m.id for m in named_tests("pairs")):
        result = run(method, from_counts(1, 0, 1), 0.0, LEVEL, scale=(0, 1))
        assert result.p_greater > LEVEL
        assert result.interval.low <= 0
        assert result.interval.high > result.interval.low


def test_the_unseen_tail_is_priced():
    old = np.tile([0.5, 0.6, 0.7, 0.8], 50)
    new = old + np.tile([0.02, 0.03, -0.01, 0.05], 50)
    result = run("t_guarded", pair(old, new), 0.0, LEVEL, scale=(0, 1))
    message = next(c.message for c in result.cautions if c.code == "unseen_tail")
    assert "-0.01, was seen 50 times" in message
    assert f"{1 - LEVEL ** (1 / 200):.2%}" in message
    assert f"{1 / 201:.4g}" in message
    assert "tail_fragile" not in codes(result)
    fragile = run("t_guarded", pair(old[:60], new[:60]), 0.0, LEVEL, scale=(0, 1))
    assert fragile.p_greater < LEVEL
    assert "tail_fragile" in codes(fragile)
    assert "unseen_tail" not in codes(run("t_guarded", pair(old, new), 0.0, LEVEL))


def test_rank_tests_name_their_estimand_and_stop_where_the_mean_disagrees():
    d = [0.1] * 80 + [-0.5] * 20
    for method, estimand in (
        ("wilcoxon", "pseudo_median"),
        ("wilcoxon_pratt", "pseudo_median"),
        ("sign", "median"),
    ):
        result = run(method, from_differences(d), 0.0, LEVEL)
        assert result.estimand == estimand
        assert result.estimand_value == pytest.approx(0.1)
        assert result.estimate < 0
        assert "disagree in sign" in result.insufficient
        assert "signs_disagree" in codes(result)


def test_resamples_follow_the_level_and_a_close_p():
    assert enough_resamples(9_999, 0.025) == 9_999
    assert enough_resamples(9_999, 0.0025) == 9_999
    assert enough_resamples(9_999, 0.0002) == 99_999
    assert enough_resamples(9_999, 0.00001) == 1_999_999
    d = np.random.default_rng(0).normal(0.29, 1, 50)
    close = run(
        "bootstrap", from_differences(d), 0.0, run("bootstrap", from_differences(d), 0.0, 0.2).p_greater
    )
    assert close.resamples > 9_999
    assert close.seed != 0


def test_a_close_p_raises_resamples_also_where_items_are_many():
    d = np.random.default_rng(0).normal(0.0, 1, 30_000)
    d += 1.96 * d.std() / np.sqrt(d.size) - d.mean()
    result = run("bootstrap", from_differences(d), 0.0, LEVEL)
    assert result.resamples > 9_999


def test_row_order_and_system_decide_the_seed_and_nothing_else_does():
    d = np.random.default_rng(1).normal(0.1, 1, 60)
    one, two = (
        run("bootstrap", from_differences(d), 0.0, LEVEL),
        run("bootstrap", from_differences(d[::-1]), 0.0, LEVEL),
    )
    assert one == two
    assert run("bootstrap", from_differences(-d), 0.0, LEVEL).seed != one.seed


def test_bootstrap_limits_and_p_follow_the_counting_rule():
    means = np.arange(1.0, 10_000.0)
    outcome = resampling.percentile_counts(means, 250.0, LEVEL)
    assert (outcome.low, outcome.high) == (250.0, 9750.0)
    assert outcome.greater == 251 / 10_000


def test_relative_margins_keep_their_bounds():
    old = np.tile([0.5, 0.8, 1.0], 40)
    new = np.tile([0.6, 0.8, 0.9], 40)
    result = run("gaffke", pair(old, new, new - 1.1 * old), 0.0, LEVEL, scale=(0, 1))
    assert result.interval.low >= -1.1
    assert pair(old, new, new - 1.1 * old).ratio == pytest.approx(1.1)
    assert math.isnan(pair(old, new, new * old).ratio)


def test_requested_intervals_and_their_degenerate_points():
    for name in INTERVALS:
        found = requested_interval(name, from_counts(12, 5, 100, 50), LEVEL)
        assert -1 <= found.low < 0.07 < found.high <= 1
    assert requested_interval("wald", from_counts(0, 0, 50), LEVEL).low == 0.0
    for b, c, n in ((50, 0, 50), (0, 50, 50), (0, 0, 50)):
        for name in INTERVALS:
            found = requested_interval(name, from_counts(b, c, n), LEVEL)
            assert -1 <= found.low <= found.high <= 1


def test_lower_is_better_pass_fail():
    pairs = pair([-1.0] * 9 + [0.0] * 21, [0.0] * 9 + [0.0] * 20 + [-1.0])
    assert (pairs.b, pairs.c, pairs.binary) == (9, 1, True)
    assert requested_interval("newcombe", pairs, LEVEL).low > 0


def test_reference_values_on_pass_fail_and_constant_sides():
    found = reference(from_counts(18, 8, 200, 113))
    assert found.mcnemar_exact_p == pytest.approx(0.0755, abs=5e-5)
    assert found.mcnemar_chi2_p == pytest.approx(0.0776, abs=5e-5)
    assert found.unpaired_p == pytest.approx(0.3004, abs=5e-5)
    assert (found.bootstrap_low, found.bootstrap_high) == (0.0, 0.1)
    flat = reference(pair(np.ones(30), np.ones(30)))
    assert (flat.unpaired_p, flat.correlation, flat.sd_difference) == (None, None, 0.0)
    alone = reference(pair([0.3], [0.4]))
    assert (alone.bootstrap_low, alone.sd_difference) == (None, None)


def test_the_unpaired_test_and_the_correlation_of_scores_that_lie_apart():
    rng = np.random.default_rng(6)
    old, new = rng.normal(5, 1, 40), rng.normal(5.4, 3, 40)
    found = reference(pair(old, new))
    assert found.unpaired_p == pytest.approx(stats.ttest_ind(old, new, equal_var=False).pvalue)
    assert found.correlation == pytest.approx(stats.pearsonr(old, new).statistic)
    assert found.sd_difference == pytest.approx((new - old).std(ddof=1))
    assert (found.mcnemar_exact_p, found.mcnemar_chi2_p) == (None, None)
    one_flat = reference(pair(np.ones(40), new))
    assert one_flat.unpaired_p == pytest.approx(stats.ttest_1samp(new, 1).pvalue)
    assert one_flat.correlation is None
    assert reference(pair(new, np.ones(40))).correlation is None
    assert reference(pair([0.3] * 5, [0.4] * 5)).unpaired_p is None
    assert reference(pair([0.3], [0.4])).unpaired_p is None
    two = reference(pair([1.0, 2.0], [2.0, 4.0]))
    assert (two.correlation, two.sd_difference) == (pytest.approx(1.0), pytest.approx(math.sqrt(0.5)))
    before, after = (
        np.repeat([0.0, 1.0, 1.0, 0.0], [7, 4, 20, 9]),
        np.repeat([1.0, 0.0, 1.0, 0.0], [7, 4, 20, 9]),
    )
    assert reference(pair(before, after)).correlation == pytest.approx(np.corrcoef(before, after)[0, 1])


def test_one_sample_limits():
    assert single.proportion([0.0] * 100, LEVEL).interval.high == pytest.approx(0.03622, abs=1e-5)
    found = single.mean([0.2, 0.4, 0.6, 0.4], LEVEL)
    assert (found.interval.low, found.interval.high) == (
        pytest.approx(0.14018, abs=1e-4),
        pytest.approx(0.65982, abs=1e-4),
    )
    assert single.mean([0.5] * 30, LEVEL).insufficient
    assert single.mean([0.5] * 30, LEVEL, scale=(0, 1)).interval.low < 0.5
    assert single.proportion_from_counts(0, 0, LEVEL).insufficient


def test_equal_values_leave_what_n_items_can_hide_between_them_and_the_ends_of_the_scale():
    unseen = 1 - LEVEL ** (1 / 30)
    found = single.mean([4.0] * 30, LEVEL, scale=(1, 9))
    assert (found.interval.low, found.interval.high) == pytest.approx((4 - 3 * unseen, 4 + 5 * unseen))
    assert (found.estimate, found.insufficient, found.interval.confidence) == (4.0, "", 0.95)
    assert "one item has no spread" in single.mean([4.0], LEVEL, scale=(1, 9)).insufficient
    assert "all 2 values are equal" in single.mean([4.0, 4.0], LEVEL).insufficient
    assert single.mean([], LEVEL).insufficient == "no items"
    cut = single.mean([1.0, 9.0], LEVEL, scale=(1, 9)).interval
    assert (cut.low, cut.high) == (1, 9)
    assert single.proportion_from_counts(3, 12, LEVEL).estimate == 0.25


@pytest.mark.parametrize(
    ("d", "told"),
    [
        ([0.4] * 8 + [9.0] + [0.0] * 2, True),  # three different values
        ([0.4] * 10 + [9.0], False),  # two
        ([0.4] * 8 + [0.5] + [0.0] * 2, False),  # passes
        ([-0.4] * 8 + [9.0] + [0.0] * 2, False),  # without the gain it fails as well
        ([0.4, 9.0] + [0.0] * 9, False),  # two changed items
    ],
)
def test_an_outlying_gain_is_named_only_where_it_is_what_prevents_a_pass(d, told):
    for method in ("t_guarded", "paired_t"):
        assert ("gain_widens_interval" in codes(run(method, from_differences(d), 0.0, LEVEL))) is told


def test_a_tail_is_told_with_what_was_seen_of_it():
    def told(d, scale=(0, 1)):
        result = run("t_guarded", pair(np.full(len(d), 0.5), 0.5 + np.array(d)), 0.0, LEVEL, scale=scale)
        return next((c.message for c in result.cautions if c.code == "unseen_tail"), "")

    assert "the worst loss, -0.2, was seen once;" in told([-0.2] + [0.1] * 30 + [0.05] * 30)
    assert "was seen 2 times" in told([-0.2] * 2 + [0.1] * 30 + [0.05] * 30)
    assert "no item lost anything" in told([0.0] + [0.1] * 30 + [0.05] * 30)
    shares = told([0.0] + [0.1] * 30 + [0.05] * 30)
    assert f"up to {1 - LEVEL ** (1 / 61):.2%} of items like these" in shares
    assert f"would move the mean by {1 / 62:.4g}" in shares
    worst = [-1.0] + [0.0] * 30 + [1.0] * 30
    result = run("t_guarded", pair([1.0] + [0.0] * 60, np.array([0.0] * 31 + [1.0] * 30)), 0.0, LEVEL)
    assert (len(worst), "unseen_tail" in codes(result)) == (61, False)  # the worst there is was seen


def test_what_a_bound_rests_on():
    nominal = {method.id: method.breaks for method in METHODS.values() if method.breaks}
    for method in ("mcnemar_exact", "exact_unconditional", "gaffke", "cluster_gaffke"):
        assert assurance(method, 0.025) == "bounded by 0.025"
        told = assurance(method, 0.025, plugged_in=True)
        assert told.startswith(f"held to a nominal 0.025 ({method}: the bound is a share of the observed")
    for method, why in nominal.items():
        assert assurance(method, 0.01) == f"held to a nominal 0.01 ({method}: {why})"
        assert assurance(method, 0.01, plugged_in=True) == assurance(method, 0.01)
    assert "its error is not known" in assurance("new", 0.01)
    assert METHODS.keys() == nominal.keys() | {
        "mcnemar_exact",
        "exact_unconditional",
        "gaffke",
        "cluster_gaffke",
    }


def test_what_one_small_p_of_a_family_is_multiplied_by():
    from gate.stats.multiplicity import adjust, factor

    for size in (1, 2, 5):
        for method in ("none", "bonferroni", "holm", "hochberg", "bh", "by"):
            first = adjust([1e-6] + [1.0] * (size - 1), method)[0]
            assert factor(size, method) == pytest.approx(first / 1e-6)


def test_pairs_refuse_what_does_not_pair():
    for arguments in (
        ([], []),
        ([1.0], [1.0, 2.0]),
        ([1.0, math.nan], [1.0, 2.0]),
        ([1.0], [2.0], [1.0, 1.0]),
    ):
        with pytest.raises(ValueError, match=r"pair|finite|one value"):
            pair(*arguments)
    with pytest.raises(ValueError, match="add up"):
        from_counts(3, 3, 5)


def test_unknown_tests_and_levels_are_errors():
    with pytest.raises(GateError, match="there is no test"):
        run("mcnemer", from_counts(1, 1, 4), 0.0, LEVEL)
    with pytest.raises(GateError, match="level"):
        run("sign", from_counts(1, 1, 4), 0.0, 0.7)


def test_scipy_stats_is_never_imported_and_special_only_when_used():
    script = (
        "import sys, gate.stats.procedures as r, gate.stats.pairs as p, gate.stats.clusters as c\n"
        "assert not [m for m in sys.modules if m.startswith('scipy')]\n"
        "for m in r.named_tests('pairs'): r.run(m.id, p.from_counts(20, 9, 80), 0.0, 0.025)\n"
        "assert 'scipy.special' in sys.modules and 'scipy.stats' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

"""Spread, limits, drift, heterogeneity and mix: scipy, statsmodels, published tables, seeded calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from gate.stats.control import drift, prediction_factor, prediction_limits
from gate.stats.heterogeneity import heterogeneity
from gate.stats.mix_shift import mix_shift, size_classes
from gate.stats.spread_change import SpreadChange, brown_forsythe, deviations, weighted_median

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 6))


# --- spread


def away(d):
    return np.abs(d - np.median(d))


@pytest.mark.parametrize("seed", range(4))
def test_one_earlier_cycle_is_welchs_t_on_the_deviations(seed):
    rng = np.random.default_rng(seed)
    now, past = rng.standard_t(3, 80) * (1 + seed / 4), rng.normal(0, 1, 130)
    found = brown_forsythe(deviations(now), [deviations(past)])
    wanted = stats.ttest_ind(away(now), away(past), equal_var=False)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.ratio == pytest.approx(now.std(ddof=1) / past.std(ddof=1))
    assert found.cycles == 1


def test_with_equal_sizes_it_is_close_to_levenes_test_around_the_median():
    rng = np.random.default_rng(5)
    now, past = rng.normal(0, 1.2, 400), rng.normal(0, 1, 400)
    found = brown_forsythe(deviations(now), [deviations(past)])
    assert found.p == pytest.approx(stats.levene(now, past, center="median").pvalue, rel=0.02)


def test_earlier_cycles_keep_their_own_medians_and_are_pooled():
    rng = np.random.default_rng(6)
    past = [rng.normal(shift, 1, n) for shift, n in ((0, 50), (4, 70), (-2, 31))]
    now = rng.normal(1, 1.3, 60)
    found = brown_forsythe(deviations(now), [deviations(d) for d in past])
    pooled = np.concatenate([away(d) for d in past])
    assert found.p == pytest.approx(stats.ttest_ind(away(now), pooled, equal_var=False).pvalue, rel=1e-9)
    within = sum((d.size - 1) * d.var(ddof=1) for d in past) / sum(d.size - 1 for d in past)
    assert found.ratio == pytest.approx(now.std(ddof=1) / math.sqrt(within))


@given(st.lists(st.integers(-2, 2).map(float), min_size=2, max_size=40))
def test_counts_say_what_the_values_say(values):
    distinct, counts = np.unique(values, return_counts=True)
    one, other = deviations(values), deviations(distinct[::-1], counts[::-1])
    assert (one.n, other.n) == (len(values), len(values))
    assert other.sd == pytest.approx(one.sd, abs=1e-12)
    assert other.mean == pytest.approx(one.mean, abs=1e-12)
    assert other.variance == pytest.approx(one.variance, abs=1e-12)
    assert weighted_median(distinct, counts) == np.median(values)
    assert one.variance == pytest.approx(np.var(away(np.array(values)), ddof=1), abs=1e-12)


def test_without_a_past_nothing_is_said():
    assert brown_forsythe(deviations([0.0, 1.0]), []) is None


def test_flat_cycles():
    flat, wide = deviations([1.0] * 20), deviations([0.0, 1.0] * 10)
    assert brown_forsythe(flat, [flat, flat]) == SpreadChange(1.0, 1.0, 2)
    assert brown_forsythe(deviations([3.0] * 5), [flat]).p == 1.0
    grown = brown_forsythe(wide, [flat])
    assert grown.ratio is None
    assert grown.p < 1e-300  # both are constant: |d - median| is 0 there and .5 here
    assert grown.alarm
    assert brown_forsythe(flat, [wide]).ratio == 0


@pytest.mark.parametrize(
    ("p", "ratio", "alarm"),
    [
        (0.00999, 1.26, True),
        (0.01, 1.26, False),
        (0.001, 1.25, False),
        (0.001, 1.2500001, True),
        (0.001, 0.8, False),
        (0.001, 0.7999999, True),
        (0.001, None, True),
    ],
)
def test_an_alarm_is_unlikely_and_large(p, ratio, alarm):
    assert SpreadChange(p, ratio, 3).alarm is alarm


def alarms(rng, draw, h, scale, replicates):
    hits = 0
    for _ in range(replicates):
        past = [deviations(draw(rng, 1.0)) for _ in range(h)]
        hits += brown_forsythe(deviations(draw(rng, scale)), past).p < 0.01
    return hits / replicates


def pass_fail(rng, scale, n=500, rate=0.12):
    """Differences whose variance is scale^2 times that of 12 % disagreement."""
    return rng.choice([-1.0, 0.0, 1.0], n, p=[rate * scale**2 / 2, 1 - rate * scale**2, rate * scale**2 / 2])


def normal(rng, scale):
    return scale * rng.standard_normal(500)


def heavy(rng, scale):
    return scale * rng.standard_t(3, 500)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "h", "in_control", "quarter"),
    [
        (pass_fail, 5, 0.014, 0.87),
        (pass_fail, 1, 0.003, 0.67),
        (normal, 5, 0.019, 1.0),
        (heavy, 3, 0.009, 0.96),
    ],
)
def test_the_spread_test_where_the_f_test_fails(draw, h, in_control, quarter):
    """Nominal 1 %: the F test alarms on 17 % of unchanged pass/fail cycles and never stops on heavy tails."""
    rng = np.random.default_rng(h)
    assert alarms(rng, draw, h, 1.0, 3000) < max(0.016, in_control + 0.006)
    assert alarms(rng, draw, h, 1.25, 400) > quarter - 0.15
    assert alarms(rng, draw, h, 1.5, 200) > 0.97


def test_the_spread_test_holds_and_sees_at_a_glance():
    rng = np.random.default_rng(2)
    assert alarms(rng, pass_fail, 5, 1.0, 300) <= 0.04
    assert alarms(rng, pass_fail, 5, 1.5, 60) > 0.95


# --- limits and drift

FACTORS = {
    3: (11.460221787430006, 4.968275423500661),
    4: (6.530335133487581, 3.5580831366787105),
    5: (5.043533235864474, 3.0414432275832715),
    8: (3.7117625553083893, 2.508062764889134),
    10: (3.408456271119659, 2.372570448294244),
    20: (2.931585605707665, 2.14471144374911),
    30: (2.801949087977716, 2.079037381103783),
}


@pytest.mark.parametrize("h", FACTORS)
def test_the_limits_as_published(h):
    assert prediction_factor(h, 0.01) == pytest.approx(FACTORS[h][0], rel=1e-9)
    assert prediction_factor(h, 0.05) == pytest.approx(FACTORS[h][1], rel=1e-9)
    assert prediction_factor(h) == pytest.approx(stats.t.ppf(0.995, h - 1) * math.sqrt(1 + 1 / h))


def test_the_limits_are_the_mean_and_so_many_deviations():
    past = [0.02, 0.034, 0.008, 0.027, 0.015]
    found = prediction_limits(past)
    reach = prediction_factor(5) * np.std(past, ddof=1)
    assert (found.low, found.high) == pytest.approx((np.mean(past) - reach, np.mean(past) + reach))
    assert (found.centre, found.cycles) == (pytest.approx(np.mean(past)), 5)
    assert found.hold(found.low)
    assert found.hold(found.high)
    assert not found.hold(math.nextafter(found.high, 1))
    assert not found.hold(math.nextafter(found.low, -1))


@pytest.mark.parametrize("past", [[], [0.1], [0.1, 0.1, 0.1], [0.1 + 0.2, 0.3]])
def test_no_limits_without_spread(past):
    assert prediction_limits(past) is None


@pytest.mark.parametrize("h", [2, 3, 5, 10])
def test_the_next_delta_is_outside_as_often_as_it_is_said(h):
    rng = np.random.default_rng(h)
    replicates = 4000
    outside = 0
    for row in rng.standard_normal((replicates, h + 1)):
        outside += not prediction_limits(row[:-1].tolist(), 0.05).hold(row[-1])
    assert abs(outside - 0.05 * replicates) < 4 * math.sqrt(0.05 * 0.95 * replicates)


def test_scores_by_their_definition():
    deltas = [0.021, 0.034, 0.008, 0.027, 0.015, 0.041, 0.1]
    found = drift(deltas)
    level, wanted = 0.0, []
    for t in range(3, 8):
        before = np.array(deltas[: t - 1])
        x = (deltas[t - 1] - before.mean()) / (before.std(ddof=1) * math.sqrt(1 + 1 / (t - 1)))
        wanted.append(stats.norm.ppf(stats.t.cdf(x, t - 2)))
        level = 0.2 * wanted[-1] + 0.8 * level
        assert found.smoothed[t - 3] == pytest.approx(level)
    assert found.scores == pytest.approx(wanted)
    assert found.limits[0] == pytest.approx(2.86 * 0.2)
    assert found.limits[-1] < 2.86 * math.sqrt(0.2 / 1.8)


def test_drift_needs_three_cycles_and_survives_equal_ones():
    assert drift([0.1, 0.2]).scores == ()
    assert not drift([]).alarm
    assert drift([0.1, 0.1, 0.1]).scores == (0.0,)
    jump = drift([0.1, 0.1, 0.2])
    assert jump.scores[0] > 30
    assert jump.alarm
    assert drift([0.1, 0.1, 0.0]).scores[0] < -30


@given(st.lists(numbers, min_size=3, max_size=30), st.floats(0.01, 100), st.floats(-10, 10))
def test_scores_do_not_depend_on_the_unit(deltas, scale, shift):
    if np.std(deltas[:2]) < 1e-3:
        deltas = [0.0, 1.0, *deltas]
    moved = [scale * d + shift for d in deltas]
    assert drift(moved).scores == pytest.approx(drift(deltas).scores, abs=1e-4)
    assert drift([-d for d in deltas]).scores == pytest.approx([-q for q in drift(deltas).scores])


def test_five_percent_false_alarms_in_twenty_cycles():
    rng = np.random.default_rng(7)
    replicates = 1500
    false = seen = naive = 0
    for row in rng.standard_normal((replicates, 40)):
        found = drift(row[:20].tolist())
        false += any(abs(e) > c for e, c in zip(found.smoothed, found.limits, strict=True))
        row[20:] += 1.0
        after = drift(row.tolist())
        seen += any(abs(e) > c for e, c in zip(after.smoothed[18:], after.limits[18:], strict=True))
        naive += any(abs(q) > 3 for q in after.scores[18:])
    assert 0.035 < false / replicates < 0.066
    assert seen / replicates > 0.45
    assert naive < 0.5 * seen


# --- heterogeneity

DELTAS = [0.021, 0.034, 0.008, 0.027, 0.015, 0.041]
ERRORS = [0.007, 0.0068, 0.0071, 0.0069, 0.007, 0.0072]


def test_heterogeneity_as_published():
    found = heterogeneity(DELTAS, ERRORS)
    assert found.q == pytest.approx(14.825147630616758)
    assert found.p == pytest.approx(0.011136174942959504)
    assert found.tau2 == pytest.approx(9.62144028350872e-05)
    assert found.tau == pytest.approx(0.009808894067889979)
    assert found.i2 == pytest.approx(0.6627352303950049)
    assert found.fixed_mean == pytest.approx(0.02436640494222698)
    assert found.mean == pytest.approx(0.024341737305188516)
    assert found.next_delta() == pytest.approx((-0.006125346542056754, 0.05480882115243378))
    low, high = found.next_delta(next_se=0.007)
    assert low < found.next_delta()[0]
    assert high > found.next_delta()[1]
    assert high - found.mean == pytest.approx(
        stats.t.ppf(0.975, 4) * math.sqrt(found.tau2 + found.se**2 + 0.007**2)
    )


@pytest.mark.parametrize("seed", range(12))
def test_heterogeneity_as_statsmodels_has_it(seed):
    rng = np.random.default_rng(seed)
    k = 3 + seed
    deltas, errors = rng.normal(0.02, 0.5, k), rng.uniform(0.01, 0.1, k)
    found = heterogeneity(deltas.tolist(), errors.tolist())
    wanted = combine_effects(deltas, errors**2, method_re="dl")
    assert wanted.tau2 > 0  # it does not stop at 0
    assert (found.q, found.tau2) == pytest.approx((wanted.q, wanted.tau2))
    assert (found.fixed_mean, found.mean) == pytest.approx((wanted.mean_effect_fe, wanted.mean_effect_re))
    assert (found.se, found.i2) == pytest.approx((wanted.sd_eff_w_re, wanted.i2))
    assert found.p == pytest.approx(stats.chi2.sf(found.q, k - 1), rel=1e-6)


def test_no_heterogeneity_is_none():
    found = heterogeneity([0.1, 0.11, 0.09], [0.1, 0.2, 0.1])
    assert (found.tau2, found.i2) == (0.0, 0.0)
    assert found.mean == found.fixed_mean


@pytest.mark.parametrize(
    ("deltas", "errors"),
    [([0.1], [0.1]), ([0.1, 0.2], [0.1, 0.0]), ([0.1, 0.2], [0.1]), ([0.1, 0.2], [0.1, math.nan])],
)
def test_heterogeneity_of_too_little(deltas, errors):
    assert heterogeneity(deltas, errors) is None


def test_two_cycles_predict_nothing():
    assert heterogeneity(DELTAS[:2], ERRORS[:2]).next_delta() is None
    assert heterogeneity(DELTAS[:3], ERRORS[:3]).next_delta() is not None
    assert heterogeneity([0.1, 0.1], [0.1, 0.1]).i2 == 0.0


# --- the mix of inputs


def test_the_mix_as_scipy_has_it():
    now, past = {"de": 40, "en": 130, "fr": 30}, [{"de": 50, "en": 150}, {"en": 160, "fr": 40, "de": 60}]
    found = mix_shift(now, past)
    table = [[110, 310, 40], [40, 130, 30]]
    assert found.p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    shares = np.array(table) / np.sum(table, axis=1, keepdims=True)
    assert found.moved == pytest.approx(0.5 * np.abs(shares[0] - shares[1]).sum())
    assert found.largest == "fr"
    assert (found.share_before, found.share_now) == pytest.approx((40 / 460, 0.15))
    halved = stats.chi2.sf(stats.chi2_contingency(table, correction=False).statistic / 2, 2)
    assert mix_shift(now, past, design_effect=2.0).p == pytest.approx(halved)
    assert mix_shift(now, past, design_effect=0.5).p == found.p


def test_equal_mixes_and_new_categories():
    same = mix_shift({"a": 10, "b": 20}, [{"a": 100, "b": 200}])
    assert (same.p, same.moved) == (1.0, 0.0)
    new = mix_shift({"c": 300}, [{"a": 100, "b": 200}])
    assert new.moved == pytest.approx(1.0)
    assert new.alarm
    assert mix_shift({}, [{"a": 1}]) is None
    assert mix_shift({"a": 1}, []) is None
    assert mix_shift({"a": 500}, [{"a": 90}]).p == 1.0


def test_rare_categories_are_put_together():
    now = {"big": 100, **{f"rare{i}": 1 for i in range(30)}}
    past = [{"big": 100, **{f"other{i}": 1 for i in range(30)}}]
    assert mix_shift(now, past).p == pytest.approx(1.0)  # 30 rare ones then and now
    few = mix_shift({"x": 50, "y": 50, "z": 1}, [{"x": 50, "y": 49, "w": 2}])
    assert few.p == pytest.approx(
        stats.chi2_contingency([[51, 49], [50, 51]], correction=False).pvalue, abs=0.2
    )
    assert mix_shift({"x": 2}, [{"y": 2}]).p == 1.0  # too few of anything


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 60), min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 60), min_size=1),
)
def test_a_mix_has_a_p_and_a_share(now, past):
    found = mix_shift(now, [past])
    assert 0 < found.p <= 1
    assert 0 <= found.moved <= 1 + 1e-12
    assert mix_shift(past, [now]).p == pytest.approx(found.p)
    assert mix_shift(past, [now]).moved == pytest.approx(found.moved)


@pytest.mark.parametrize(("p", "now", "alarm"), [(0.0, 100, True), (0.0, 99, False)])
def test_a_shift_of_a_tenth_alarms(p, now, alarm):
    del p
    found = mix_shift({"a": 500 + now, "b": 500 - now}, [{"a": 5000, "b": 5000}])
    assert (found.alarm, found.p < 0.001) == (alarm, True)


def test_the_mix_holds_its_level():
    rng = np.random.default_rng(8)
    shares = [0.4, 0.3, 0.2, 0.05, 0.03, 0.02]
    replicates = 2000
    low = 0
    for _ in range(replicates):
        draw = [dict(zip("abcdef", rng.multinomial(150, shares).tolist(), strict=True)) for _ in range(4)]
        low += mix_shift(draw[0], draw[1:]).p < 0.05
    assert low / replicates < 0.07


def test_clusters_by_size():
    assert size_classes([1, 2, 2, 3, 4, 5, 8, 9, 17]) == {
        "1": 1, "2": 2, "3-4": 2, "5-8": 2, "9-16": 1, "17-32": 1,
    }  # fmt: skip
    assert size_classes([]) == {}

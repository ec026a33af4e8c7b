"""Judged scores corrected by people: invariances, what the weight means, what is too little."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gate.stats.pairs import from_differences
from gate.stats.prediction_powered import judged_pairs, prediction_powered
from gate.stats.procedures import run
from gate.stats.results import Settings

LEVEL = 0.025


def columns(n=80, many=300, seed=0, gain=0.3, error=0.4):
    rng = np.random.default_rng(seed)
    total = n + many
    human_old = rng.normal(size=total)
    human_new = human_old + gain + 0.8 * rng.normal(size=total)
    judge_old, judge_new = (x + error * rng.normal(size=total) for x in (human_old, human_new))
    human_old[n:], human_new[n:] = math.nan, math.nan
    return judge_old, judge_new, human_old, human_new


def powered(given, m=0.0, weight=1.0):
    return prediction_powered(judged_pairs(*given), Settings(m, LEVEL), weight)


def test_a_good_judge_is_worth_human_scores_and_a_bad_one_costs_some():
    good, bad = powered(columns(error=0.1)), powered(columns(error=3.0))
    assert good.equivalent_human > 200
    assert bad.equivalent_human < 80
    assert good.test.p_greater < good.human_only.p_greater


def test_a_judge_that_likes_one_side_changes_nothing():
    old, new, human_old, human_new = columns()
    one, two = powered((old, new, human_old, human_new)), powered((old, new + 5, human_old, human_new))
    assert two.test.estimate == pytest.approx(one.test.estimate)
    assert two.test.p_greater == pytest.approx(one.test.p_greater)
    assert two.judge_delta == pytest.approx(one.judge_delta + 5)
    assert two.judge_bias == pytest.approx(one.judge_bias + 5)


def test_weight_zero_is_the_t_test_of_the_human_scores():
    old, new, human_old, human_new = columns()
    found = powered((old, new, human_old, human_new), weight=0.0)
    people = run("paired_t", from_differences((human_new - human_old)[:80]), 0.0, LEVEL)
    assert found.test.p_greater == pytest.approx(people.p_greater)
    assert found.test.interval.low == pytest.approx(people.interval.low)
    assert found.equivalent_human == pytest.approx(80)


def test_exchange_order_and_margin():
    given = columns()
    one = powered(given, 0.1)
    old, new, human_old, human_new = given
    assert one.test.interval.confidence == pytest.approx(0.95)
    assert one.test.p_two_sided == pytest.approx(2 * min(one.test.p_greater, one.test.p_less))
    mirror = powered((new, old, human_new, human_old), -0.1)
    assert mirror.test.estimate == pytest.approx(-one.test.estimate)
    assert mirror.test.p_less == pytest.approx(one.test.p_greater)
    order = np.random.default_rng(3).permutation(old.size)
    assert powered(tuple(column[order] for column in given), 0.1) == one
    assert powered(given, one.test.interval.low).test.p_greater == pytest.approx(LEVEL)


def test_unbiased_and_near_its_level_with_a_judge_that_is_wrong():
    rejected, estimates = 0, []
    for seed in range(800):
        old, new, human_old, human_new = columns(60, 200, seed, gain=0.0)
        test = powered((old, new + 0.5 * new**2, human_old, human_new)).test
        rejected += test.p_greater < LEVEL
        estimates.append(test.estimate)
    assert abs(np.mean(estimates)) < 4 * np.std(estimates) / math.sqrt(800)
    assert 5 <= rejected <= 36  # 20 expected; 4 standard errors


@pytest.mark.parametrize(("n", "reason"), [(49, "at least 50 items"), (50, "")])
def test_fewest_human_scores(n, reason):
    found = powered(columns(n))
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


@pytest.mark.parametrize(("corrected", "enough"), [(9, False), (10, True)])
def test_people_must_have_corrected_the_judge_often_enough(corrected, enough):
    old, new, human_old, human_new = columns(error=0.0)
    human_old[:80], human_new[:80] = old[:80], new[:80]
    human_new[:corrected] += 1
    found = powered((old, new, human_old, human_new))
    assert (not found.test.insufficient) == enough


def test_a_human_score_on_one_side_only_is_no_human_score():
    old, new, human_old, human_new = columns()
    human_old[100:105] = 0.5
    rows = judged_pairs(old, new, human_old, human_new)
    assert (rows.human.size, rows.judged.size, rows.one_sided) == (80, 300, 5)


@pytest.mark.parametrize(("n", "many"), [(0, 200), (1, 200), (80, 0), (80, 1)])
def test_both_parts_are_needed(n, many):
    found = powered(columns(n, many))
    assert "at least two" in found.test.insufficient
    assert (found.test.p_greater, found.test.p_less) == (1.0, 1.0)
    assert math.isinf(found.test.interval.low)
    assert (found.test.p_two_sided, found.test.interval.confidence) == (1.0, pytest.approx(0.95))
    old, new, human_old, human_new = columns(n, many)
    off = (new - old) - (human_new - human_old)
    assert found.judge_bias == pytest.approx(off[:n].mean() if n else math.nan, nan_ok=True)


def test_no_spread_at_all_is_no_pass():
    ones, seen = np.ones(100), np.where(np.arange(100) < 60, 1.0, math.nan)
    found = powered((0 * ones, ones, 0 * seen, seen))
    assert found.test.insufficient
    assert found.test.p_greater == 1.0


@pytest.mark.parametrize(("given", "words"), [
    (([1.0], [1.0], [1.0], [1.0, 2.0]), "one value an item"), (([], [], [], []), "one value an item"),
    (([math.nan], [1.0], [1.0], [1.0]), "judge's scores must be finite"),
    (([1.0, 1.0], [1.0, math.inf], [1.0, 1.0], [1.0, 1.0]), "judge's scores must be finite"),
])  # fmt: skip
def test_columns_that_do_not_fit(given, words):
    with pytest.raises(ValueError, match=words):
        judged_pairs(*given)

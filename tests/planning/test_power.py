"""Power and sample sizes, against enumeration, scipy, statsmodels and the published tables."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial, norm
from statsmodels.stats.power import normal_sample_size_one_tail

from gate.planning.design import Planned, needs, row, together
from gate.planning.plan import Prices, Question, expected_cost, gating_planned, plan
from gate.planning.rule_power import Spread, least_items, observed_rule
from gate.planning.variances import Variances, declared
from gate.stats.power import mcnemar_power
from gate.values import GateError


def by_hand(n: int, psi: float, gain: float, margin: float, level: float) -> float:
    """The chance summed over every table, with scipy's multinomial law and binomial test."""
    b_rate, c_rate = (psi + gain) / 2, (psi - gain) / 2
    total = 0.0
    for b, c in product(range(n + 1), repeat=2):
        reaches = 0 < b + c <= n and (b - c) / n >= margin - 1e-12
        if reaches and binomtest(b, b + c, 0.5, alternative="greater").pvalue < level:
            total += multinomial.pmf([b, c, n - b - c], n, [b_rate, c_rate, 1 - psi])
    return total


@pytest.mark.parametrize(
    ("n", "psi", "gain", "margin"), [(30, 0.3, 0.2, 0.0), (30, 0.3, 0.2, 0.15), (45, 0.2, 0.0, 0.1)]
)
def test_the_observed_rule_is_enumerated_exactly(n: int, psi: float, gain: float, margin: float) -> None:
    assert mcnemar_power(n, psi, gain, 0.025, margin) == pytest.approx(
        by_hand(n, psi, gain, margin, 0.025), abs=1e-9
    )


@pytest.mark.parametrize(("n", "power"), [(200, 0.213914), (400, 0.4436), (800, 0.771919), (2000, 0.9926)])
def test_power_of_exact_mcnemar_is_the_published_one(n: int, power: float) -> None:
    """Published two-sided at .05; the wrong side adds less than .001 at n = 200 and nothing above."""
    assert mcnemar_power(n, 0.0927, 0.03, 0.025) == pytest.approx(power, abs=1e-3 if n == 200 else 1e-4)


def test_at_the_margin_itself_the_observed_rule_is_a_coin_toss() -> None:
    assert mcnemar_power(5000, 0.1, 0.02, 0.025, 0.02) == pytest.approx(0.5, abs=0.03)


def test_a_graded_rule_without_margin_needs_what_statsmodels_says() -> None:
    rule = Planned("g", "observed", 0.0, 0.2, 0.025, Variances(0.64, 0.0, "", binary=False))
    found = needs((rule,), 1, 0.8)[0]
    expected = normal_sample_size_one_tail(0.2, 0.8, 0.025, std_null=0.8, std_alternative=0.8)
    assert found.items == math.ceil(expected)


def test_a_margin_counts_as_the_larger_of_two_bounds() -> None:
    """Large n: the margin binds, P(Z >= (m - g) / se); small n: significance does."""
    spread = Spread(1.0, exact=False)
    assert observed_rule(spread, 10_000, 0.03, 0.025, 0.025) == pytest.approx(norm.sf(-0.5), rel=1e-9)
    assert observed_rule(spread, 400, 0.03, 0.025, 0.025) == pytest.approx(norm.sf(1.959964 - 0.6), rel=1e-6)


def test_runs_replace_items_only_as_far_as_the_noise_is_of_runs() -> None:
    """Var = item + run / K: with item 0.1 and run 0.3, one run needs twice the items of three."""
    rule = Planned("g", "observed", 0.0, 0.1, 0.025, Variances(0.1, 0.3, "", binary=False))
    by_runs = needs((rule,), 1, 0.8)[0].by_runs
    n = (1.959964 + 0.841621) ** 2 / 0.01
    assert by_runs[1] == math.ceil(n * 0.4)
    assert by_runs[3] == math.ceil(n * 0.2)
    assert by_runs[10] == math.ceil(n * 0.13)


def test_each_rule_is_planned_so_that_all_pass_together() -> None:
    spread = Variances(1.0, 0.0, "", binary=False)
    gating = Planned("gating", "observed", 0.0, 0.1, 0.025, spread)
    rails = [Planned(f"rail{k}", "non_inferior", 0.2, 0.0, 0.025, spread) for k in range(3)]
    found = needs((gating, *rails), 1, 0.8)
    assert [need.target for need in found] == pytest.approx([0.95] * 4)
    # non-inferiority: (1.959964 + 1.644854)^2 / 0.2^2
    assert found[1].items == math.ceil((1.959964 + 1.644854) ** 2 / 0.04)
    largest = max(need.items for need in found if need.items is not None)
    low, independent = row((gating, *rails), largest, 1, 0.8).together
    assert 0.8 <= low <= independent


def test_the_chance_of_all_is_bounded_and_multiplied() -> None:
    assert together((0.9, 0.8)) == (pytest.approx(0.7), pytest.approx(0.72))


def test_expected_discordant_pairs_are_rate_times_items() -> None:
    rule = Planned("g", "observed", 0.0, 0.04, 0.025, Variances(0.1, 0.0, "", binary=True, splits=False))
    need = needs((rule,), 1, 0.8)[0]
    assert need.items is not None
    assert need.expected == (pytest.approx(need.items * 0.07), pytest.approx(need.items * 0.03))


def test_a_plan_looks_at_what_was_asked_for() -> None:
    known = declared(binary=True, discordance=0.1, sd=None)
    assert known is not None
    question = Question(items=500, prices=Prices(1000.0, 100.0, 0.5, 0.5))
    found = plan((gating_planned("gating", 0.02, "observed", 0.025, known, question),), question)
    assert [r.n for r in found.rows] == [125, 250, 500, 1000, 2000]
    assert found.needs[0].planned.gain == 0.04
    middle = found.rows[2]
    assert found.costs[2] == pytest.approx(
        0.5 * middle.no_gain * 1000 + 0.5 * (1 - middle.chances[0]) * 100 + 250
    )
    assert found.seen.normal == math.ceil((1.959964 + 0.841621) ** 2 * (0.1 - 0.0004) / 0.0004)


def test_costs_are_what_each_mistake_costs_times_how_often_it_happens() -> None:
    prices = Prices(false_promotion=1000, missed_promotion=200, item=2, good=0.25)
    assert expected_cost(prices, 10, 0.02, 0.9) == pytest.approx(0.75 * 0.02 * 1000 + 0.25 * 0.1 * 200 + 20)


def test_a_plan_without_a_gain_to_plan_for_is_refused() -> None:
    known = Variances(1.0, 0.0, "", binary=False)
    with pytest.raises(GateError, match="no gain to plan for"):
        gating_planned("gating", 0.0, "observed", 0.025, known, Question())


def test_a_gain_below_the_margin_is_not_reached_by_any_number_of_items() -> None:
    known = Variances(1.0, 0.0, "", binary=False)
    question = Question(gain=0.05)
    with pytest.raises(GateError, match="no number of items"):
        plan((gating_planned("gating", 0.1, "observed", 0.025, known, question),), question)


def test_least_items_is_the_first_that_reaches() -> None:
    assert least_items(lambda n: 1 - 1 / n, 0.99) == 100
    assert least_items(lambda _: 0.5, 0.8, most=1000) is None


def test_nothing_may_be_assumed_of_graded_scores() -> None:
    assert declared(binary=False, discordance=None, sd=None) is None
    found = declared(binary=False, discordance=None, sd=0.5)
    assert found is not None
    assert np.isclose(found.item, 0.25)

"""The published figures, found again through the public command and the public functions.

The constants are the ones readers know from the literature on paired gates; where a figure is printed with
few digits, the test rounds to as many.
"""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest
from black_box import BINARY, Answer, decide, policy
from seed_data import (
    DRAWS,
    POPULATION,
    POWER_SIZES,
    count_table,
    counts_of,
    power_pairs,
    repeat_table,
    rows_of,
    seed_pairs,
    seed_table,
)

from gate.stats import power
from gate.stats.binary import mcnemar_exact

VARIANCE = 0.0918
REACH = statistics.NormalDist().inv_cdf(0.975) + statistics.NormalDist().inv_cdf(0.8)


def margin(value: float) -> dict[str, object]:
    return policy(gating={"margin": value})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return decide(tmp_path_factory.mktemp("eval-200"), BINARY, *seed_table("eval-200"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return decide(tmp_path_factory.mktemp("eval-2000"), BINARY, *seed_table("eval-2000"))


@pytest.fixture(scope="module")
def gain(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    wanted = policy(items={"repeat": "run"})
    return decide(tmp_path_factory.mktemp("gain"), wanted, *repeat_table(0.63))


@pytest.fixture(scope="module")
def null(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    wanted = policy(items={"repeat": "run"})
    return decide(tmp_path_factory.mktemp("null"), wanted, *repeat_table(0.60))


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    tables = rows_of(seed_pairs(*POPULATION))
    return decide(tmp_path_factory.mktemp("population"), BINARY, *tables, suffix=".csv")


# eval-200


def test_eval_200_counts_and_means(small: Answer) -> None:
    found = small.gating
    assert (found["n"], found["discordant"]) == (200, {"only_candidate": 18, "only_baseline": 8})
    assert found["baseline"] == pytest.approx(0.605, abs=1e-12)
    assert found["candidate"] == pytest.approx(0.655, abs=1e-12)
    assert found["delta"] == pytest.approx(0.050, abs=1e-12)


def test_eval_200_p_values(small: Answer) -> None:
    found, shown = small.gating, small.gating["reference"]
    exact = 2 * sum(math.comb(26, k) for k in range(18, 27)) / 2**26
    assert found["p_two_sided"] == pytest.approx(exact, rel=1e-12)
    assert found["p_value"] == pytest.approx(exact / 2, rel=1e-12)
    assert round(exact, 4) == 0.0755
    assert round(shown["mcnemar_exact_p"], 4) == 0.0755
    assert round(shown["mcnemar_chi2_p"], 4) == 0.0776
    assert round(shown["unpaired_p"], 4) == 0.3004


def test_eval_200_bootstrap_interval(small: Answer) -> None:
    shown = small.gating["reference"]
    assert (round(shown["bootstrap_low"], 3), round(shown["bootstrap_high"], 3)) == (0.000, 0.100)


def test_eval_200_cannot_answer_and_says_how_many_items_would(small: Answer) -> None:
    assert (small.code, small.verdict) == (3, "inconclusive")
    values = [1] * 18 + [-1] * 8 + [0] * 174
    needed = math.ceil(REACH**2 * statistics.variance(values) / 0.01**2)
    assert small.gating["items_needed"] == needed
    assert small.report is not None
    enough = math.ceil(REACH**2 * statistics.variance(values) / 0.05**2)
    assert small.report["next_step"] == (
        f"score about {enough} new items if you believe in 5.0 points, or {needed:,} to see as little as "
        "1.0 points, and look at them alone: this look has used its whole level"
    )
    assert small.gating["seed_reading"] == "cannot_answer"
    assert small.gating["interval"]["low"] < 0 < small.gating["interval"]["high"]


def test_eval_200_the_four_lines_are_in_the_summary(small: Answer) -> None:
    for text in ("+0.0500", "18", "8", "0.0755", "not measured"):
        assert text in small.markdown
    first, second = small.markdown.splitlines()[:2]
    assert "inconclusive" in first
    assert second


# eval-2000


def test_eval_2000_counts_and_p(large: Answer) -> None:
    found = large.gating
    assert found["discordant"] == {"only_candidate": 121, "only_baseline": 69}
    assert (round(found["baseline"], 3), round(found["candidate"], 3)) == (0.587, 0.613)
    assert found["delta"] == pytest.approx(0.026, abs=1e-12)
    exact = 2 * sum(math.comb(190, k) for k in range(121, 191)) / 2**190
    assert found["p_two_sided"] == pytest.approx(exact, rel=1e-9)
    assert round(exact, 4) == 0.0002
    assert round(found["reference"]["mcnemar_chi2_p"], 4) == 0.0002
    assert round(found["reference"]["unpaired_p"], 4) == 0.0933


def test_eval_2000_bootstrap_interval(large: Answer) -> None:
    shown = large.gating["reference"]
    assert shown["bootstrap_low"] == pytest.approx(0.013, abs=0.0011)
    assert shown["bootstrap_high"] == pytest.approx(0.038, abs=0.0016)


def test_eval_2000_what_pairing_buys(large: Answer) -> None:
    found = large.gating
    assert round(found["sd_difference"] / math.sqrt(2000), 4) == 0.0069
    assert round(math.sqrt(2 * found["baseline"] * (1 - found["baseline"]) / 2000), 4) == 0.0156
    assert round(found["correlation"], 3) == 0.803


def test_eval_2000_promotes_at_one_point(large: Answer) -> None:
    assert (large.code, large.verdict) == (0, "promote")
    assert large.gating["seed_reading"] == "publish"
    assert large.gating["margin_rules"] == {"observed": True, "tested": True}


def test_eval_2000_blocks_at_five_points(tmp_path: Path) -> None:
    answer = decide(tmp_path, margin(0.05), *seed_table("eval-2000"))
    assert (answer.code, answer.verdict) == (1, "block")
    assert answer.gating["interval"]["high"] < 0.05
    assert "real but below the margin" in answer.markdown


def test_a_tiny_real_gain_on_200_000_items_is_below_the_margin(tmp_path: Path) -> None:
    answer = decide(tmp_path, BINARY, *count_table(1000, 800, 120_000, 200_000), suffix=".csv")
    assert (answer.code, answer.verdict) == (1, "block")
    assert answer.gating["delta"] == pytest.approx(0.001, abs=1e-12)
    assert answer.gating["p_two_sided"] < 1e-5
    assert "real but below the margin" in answer.out


# 500 items, 53 against 40


def test_illustrative_500(tmp_path: Path) -> None:
    wanted = policy(gating={"interval": "wald"})
    answer = decide(tmp_path, wanted, *count_table(53, 40, 317, 500))
    found = answer.gating
    assert (round(found["baseline"], 3), round(found["candidate"], 3)) == (0.714, 0.740)
    assert found["delta"] == pytest.approx(0.026, abs=1e-12)
    assert round(found["p_two_sided"], 2) == 0.21
    shown = found["interval_requested"]
    assert (round(100 * shown["low"], 1), round(100 * shown["high"], 1)) == (-1.2, 6.4)
    assert (answer.code, answer.verdict) == (3, "inconclusive")


# repeats


def test_repeats_gain_lies_mostly_on_flaky_items(gain: Answer) -> None:
    found, flaky = gain.gating, gain.gating["flaky"]
    assert gain.report is not None
    assert (found["n"], gain.report["pairing"]["repeats_baseline"]) == (2000, 5)
    assert round(100 * found["delta"], 2) == 2.51
    assert (flaky["flagged"], flaky["items"]) == (382, 2000)
    assert round(100 * flaky["delta_share"]) == 67
    assert round(100 * flaky["variance_share"]) == 65
    points = {name: round(100 * flaky[name], 2) for name in ("flagged_mean", "stable_mean")}
    assert points == {"flagged_mean": 8.80, "stable_mean": 1.03}
    assert round(100 * flaky["flagged_contribution"], 2) == 1.68
    assert round(100 * flaky["stable_contribution"], 2) == 0.83
    assert "gain_on_flaky_items" in gain.cautions()
    assert "67 %" in gain.markdown or "67%" in gain.markdown


def test_repeats_gain_interval_and_verdict(gain: Answer) -> None:
    shown = gain.gating["reference"]
    assert 100 * shown["bootstrap_low"] == pytest.approx(1.78, abs=0.07)
    assert 100 * shown["bootstrap_high"] == pytest.approx(3.21, abs=0.07)
    assert (gain.code, gain.verdict) == (0, "promote")


def test_repeats_without_any_difference(null: Answer) -> None:
    found, flaky = null.gating, null.gating["flaky"]
    assert round(100 * found["delta"], 2) == 0.17
    assert flaky["flagged"] == 376
    assert round(100 * flaky["variance_share"]) == 68
    shown = found["reference"]
    assert 100 * shown["bootstrap_low"] == pytest.approx(-0.53, abs=0.07)
    assert 100 * shown["bootstrap_high"] == pytest.approx(0.88, abs=0.07)
    assert found["seed_reading"] == "cannot_answer"
    assert null.verdict == "block"  # the whole interval ends below one point


# planning


def test_mde_table() -> None:
    sizes = (200, 400, 800, 1200, 2000, 5000)
    found = [round(100 * power.smallest_effect(VARIANCE, n, 0.025), 1) for n in sizes]
    assert found == [6.0, 4.2, 3.0, 2.5, 1.9, 1.2]


def test_items_for_a_claim_are_ceilings() -> None:
    pairs = seed_pairs(*POPULATION)
    b, c = counts_of(pairs)
    rate, delta = (b + c) / len(pairs), (b - c) / len(pairs)
    variance = rate - delta**2
    assert round(variance, 4) == VARIANCE
    exact = [REACH**2 * variance / (points / 100) ** 2 for points in (1, 2, 3, 5)]
    assert [round(n) for n in exact] == [7206, 1801, 801, 288]
    found = [power.items_needed(variance, points / 100, 0.025) for points in (1, 2, 3, 5)]
    assert found == [math.ceil(n) for n in exact]


def test_items_at_a_variance_of_one_ninth() -> None:
    assert power.items_needed(1 / 9, 0.03, 0.025) == 969


def two_sided(b: int, c: int) -> float:
    """Twice the upper tail of a fair coin, by whole numbers."""
    total, most = b + c, max(b, c)
    return min(1.0, 2 * sum(math.comb(total, k) for k in range(most, total + 1)) / 2**total)


def test_power_at_three_points() -> None:
    shares = []
    for n in POWER_SIZES:
        counts = [counts_of(power_pairs(n, repetition)) for repetition in range(200)]
        shares.append(sum(two_sided(b, c) < 0.05 for b, c in counts) / 200)
        for b, c in counts[:5]:
            assert mcnemar_exact(b, c, n, 0.0, 0.025).p_two_sided == pytest.approx(two_sided(b, c), rel=1e-9)
        planned = power.mcnemar_power(n, VARIANCE + 0.03**2, 0.03, 0.025)
        assert planned == pytest.approx(shares[-1], abs=0.08), "four standard errors of 200 draws and less"
    assert [f"{share:.2f}" for share in shares] == ["0.21", "0.47", "0.78", "0.90", "1.00"]


def test_twenty_draws_of_200_items(tmp_path: Path) -> None:
    deltas = []
    for seed in DRAWS:
        answer = decide(tmp_path, BINARY, *rows_of(seed_pairs(200, seed)))
        assert answer.code in {0, 1, 3}
        if answer.gating["delta"] <= 0:
            assert answer.verdict != "promote"
        deltas.append(round(100 * answer.gating["delta"], 1))
    assert sorted(deltas) == [
        *(-0.5, 0.0, 1.0, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0),
        *(3.5, 4.5, 4.5, 5.0, 5.0, 6.5, 6.5, 6.5, 7.0, 7.5),
    ]
    assert sum(delta <= 0 for delta in deltas) == 2


def test_population(population: Answer) -> None:
    found = population.gating
    assert (round(found["baseline"], 3), round(found["candidate"], 3)) == (0.601, 0.631)
    assert round(found["delta"], 3) == 0.030
    assert round(found["sd_difference"] ** 2, 4) == VARIANCE
    assert (population.code, population.verdict) == (0, "promote")

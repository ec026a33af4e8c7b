"""The model of a re-run, against arithmetic and against exact enumeration."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from gate.planning.chances import chance, rerun_mde
from gate.planning.noise import noise_of, share_for_discordance
from gate.planning.planting import Plant, largest, plant
from gate.planning.trials import Trials
from gate.planning.world import rerun
from gate.stats.rates import Rate
from gate.stats.seeding import generator

from .worlds import BINARY, passfail, world


def test_noise_of_repeats_is_the_share_of_pairs_of_runs_that_differ() -> None:
    runs = np.array([[1, 0], [1, 1], [0, 0], [1, 1]], dtype=float)
    found = noise_of(runs)
    assert found.source == "repeats"
    assert found.difference_variance == pytest.approx(1 / 4)  # one item of four has runs that differ
    assert found.share == pytest.approx((1 / 8) / (5 / 8 * 3 / 8))


def test_repeats_beat_whatever_is_declared() -> None:
    runs = np.array([[1, 0], [1, 1], [0, 0]], dtype=float)
    assert noise_of(runs, 0.9) == noise_of(runs)


def test_a_declared_discordance_is_what_two_runs_show(tmp_path: Path) -> None:
    found = world(tmp_path, passfail(200, 140), discordance=0.1)
    assert found.noise[None, "ok"].difference_variance == pytest.approx(0.1)
    differ = [np.mean(a != b) for a, b in (rerun(found, generator(k))[None, "ok"] for k in range(300))]
    assert np.mean(differ) == pytest.approx(0.1, abs=4 * np.std(differ) / np.sqrt(300))


def test_no_system_disagrees_with_itself_more_than_chance_does() -> None:
    assert share_for_discordance(np.array([[1.0], [0.0]]), 0.9) == 1.0


def test_a_rerun_keeps_the_mean_and_has_the_estimated_spread(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    skill = rng.normal(3, 1, 150)
    rows = [
        {"id": f"q{k}", "run": r, "score": round(float(skill[k] + rng.normal(0, 0.7)), 3)}
        for k, r in product(range(150), range(4))
    ]
    policy = (
        "version: 1\nname: x\nitems: {repeat: run}\n"
        "gating: {metric: score, kind: graded, direction: higher, margin: 0.1}\n"
    )
    found = world(tmp_path, rows, policy)
    key = (None, "score")
    # by hand: unbiased within-item variance, twice (two sides), over four runs
    values = np.array([float(str(row["score"])) for row in rows]).reshape(150, 4)
    expected = 2 * values.var(axis=1, ddof=1).mean() / 4
    pairs = [rerun(found, generator(k))[key] for k in range(300)]
    gains = np.array([b.mean(axis=1) - a.mean(axis=1) for a, b in pairs])
    assert gains.var(axis=1).mean() == pytest.approx(expected, rel=0.03)
    assert np.mean([a.mean() for a, _ in pairs]) == pytest.approx(values.mean(), abs=0.01)
    assert set(np.unique(pairs[0][0])) <= set(np.unique(values))


def test_metrics_of_one_item_stay_together(tmp_path: Path) -> None:
    rows = [{"id": f"q{k}", "ok": k % 2, "cost": 10 + k % 2} for k in range(60)]
    policy = BINARY + (
        "guardrails: [{metric: cost, kind: graded, direction: lower, mode: non_inferior, tolerance: 1}]\n"
    )
    found = rerun(world(tmp_path, rows, policy), generator(1))
    for side in (0, 1):
        assert np.array_equal(found[None, "cost"][side], 10 + found[None, "ok"][side])


def exact_chance(n: int, passing: int, redraw: float, gain: float, margin: float) -> float:
    """P(the rule passes), over all (b, c), from the definition of the model and scipy's binomial test."""
    p = passing / n
    law = np.zeros((n + 1, n + 1))
    law[0, 0] = 1.0
    for value, count in ((1, passing), (0, n - passing)):
        first = (1 - redraw) * value + redraw * p
        second = first + (1 - first) * gain / (1 - p)
        b, c = (1 - first) * second, first * (1 - second)
        for _ in range(count):
            moved = law * (1 - b - c)
            moved[1:, :] += law[:-1, :] * b
            moved[:, 1:] += law[:, :-1] * c
            law = moved
    total = 0.0
    for wins, losses in product(range(n + 1), repeat=2):
        if wins + losses and (wins - losses) / n >= margin - 1e-12 and law[wins, losses] > 1e-12:
            p_value = binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue
            total += law[wins, losses] * (p_value < 0.025)
    return total


@pytest.mark.parametrize(
    ("gain", "trials"),
    [(0.12, 120), *(pytest.param(gain, 2000, marks=pytest.mark.slow) for gain in (0.0, 0.05, 0.1, 0.15))],
)
def test_simulated_chances_agree_with_exact_enumeration(tmp_path: Path, gain: float, trials: int) -> None:
    found = world(tmp_path, passfail(60, 40), discordance=0.12)
    redraw = found.noise[None, "ok"].redraw
    exact = exact_chance(60, 40, redraw, gain, 0.05)
    simulated = chance(found, 0.025, trials, "x", gain, lambda _: None)
    error = np.sqrt(max(exact * (1 - exact), 0.01) / trials)
    assert simulated.passed.share == pytest.approx(exact, abs=4 * error)
    counts = simulated.passed.count + simulated.failed.count + simulated.inconclusive.count
    assert counts == trials


def test_the_same_world_gives_the_same_chances(tmp_path: Path) -> None:
    found = world(tmp_path, passfail(60, 40), discordance=0.12)
    rows = [chance(found, 0.025, 5, "x", 0.1, lambda _: None) for _ in range(2)]
    assert rows[0] == rows[1]


def test_the_mde_of_a_rerun_is_the_published_formula(tmp_path: Path) -> None:
    found = world(tmp_path, passfail(1000, 600), discordance=0.1)
    # (1.959964 + 0.841621) sqrt(0.1 / 1000)
    assert rerun_mde(found, (None, "ok"), 0.025) == pytest.approx(2.801585 * 0.01, rel=1e-5)


@pytest.mark.parametrize("size", [0.1, -0.1])
def test_a_planted_change_has_its_size_on_average(tmp_path: Path, size: float) -> None:
    found = world(tmp_path, passfail(400, 240))
    key = (None, "ok")
    means = []
    for k in range(200):
        rng = generator(k)
        means.append(plant(found, Plant(key, size), rerun(found, rng)[key][1], rng).mean())
    assert np.mean(means) == pytest.approx(0.6 + size, abs=4 * np.std(means) / np.sqrt(200))
    assert largest(found, key, gain=True) == pytest.approx(0.4)
    assert largest(found, key, gain=False) == pytest.approx(0.6)


def test_a_planted_change_stays_inside_its_slice(tmp_path: Path) -> None:
    found = world(tmp_path, passfail(40, 20))
    mask = np.arange(40) < 10
    runs = np.ones((40, 1))
    changed = plant(found, Plant((None, "ok"), -0.5, mask), runs, generator(1))
    assert changed[~mask].all()
    assert not changed[mask].all()


@pytest.mark.parametrize(("count", "trials"), [(0, 200), (5, 200), (100, 200), (200, 200)])
def test_wilson_limits_are_where_the_score_test_turns(count: int, trials: int) -> None:
    low, high = Rate(count, trials).interval()
    for end in (low, high):
        if 0 < end < 1:
            score = abs(count / trials - end) / np.sqrt(end * (1 - end) / trials)
            assert score == pytest.approx(1.959964, rel=1e-6)
    assert binom.cdf(count, trials, low) > 0.9 or count == 0


def test_kept_answers_are_the_answers(tmp_path: Path) -> None:
    """A world of few values keeps answers by the multiset of rows; deciding every pair anew agrees."""
    small = world(tmp_path, passfail(40, 25), share=0.3)
    kept, anew = Trials(small, small.policy, 0.025), Trials(small, small.policy, 0.025)
    anew._known = None
    plants = [Plant((None, "ok"), 0.2)]
    assert [kept.answer(k, plants) for k in range(12)] == [anew.answer(k, plants) for k in range(12)]

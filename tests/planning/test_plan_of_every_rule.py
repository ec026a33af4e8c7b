"""Plans of the test really used, of rules that no items make pass, and of the margin that costs least."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import BINARY, command, policy, write_policy, write_rows
from scipy.stats import norm

from gate.planning.plan import Prices, Question, gating_planned, plan
from gate.planning.standing import standing_rules
from gate.planning.variances import Variances, declared
from gate.planning.world import world_of
from gate.policy.load import loads
from gate.stats.power import mcnemar_power, smallest_gain, unconditional_power
from gate.stats.unconditional import berger_boos_g, p_greater

LEVEL = 0.025


@pytest.mark.parametrize(
    ("n", "null", "psi", "delta", "expected"),
    [
        (60, 0.0, 0.2, 0.12, 0.5535268578169001),
        (100, 0.0, 0.1, 0.05, 0.3327323812675995),
        (100, 0.02, 0.2, 0.1, 0.42088034027406146),
    ],
)
def test_power_of_the_unconditional_test(
    n: int, null: float, psi: float, delta: float, expected: float
) -> None:
    """Values of an independent enumeration."""
    assert unconditional_power(n, psi, delta, null, LEVEL) == pytest.approx(expected, abs=5e-4)


def test_it_is_what_all_tables_of_fifteen_items_add_up_to() -> None:
    n, psi, delta, null = 15, 0.5, 0.3, -0.1
    win, loss = (psi + delta) / 2, (psi - delta) / 2
    total = 0.0
    for b, c in itertools.product(range(n + 1), repeat=2):
        if b + c <= n and p_greater(b, c, n, null, berger_boos_g(LEVEL)) < LEVEL:
            ways = math.comb(n, b) * math.comb(n - b, c)
            total += ways * win**b * loss**c * (1 - psi) ** (n - b - c)
    assert unconditional_power(n, psi, delta, null, LEVEL) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "psi", "expected"),
    [
        (200, 0.1, 0.06402694191309155),
        (500, 0.2, 0.05744409032794642),
        (1000, 0.1, 0.028736902148802215),
        (50, 0.1, 0.1535224275751334),
        (500, 0.004, 0.01577),
    ],
)
def test_the_smallest_gain_that_exact_mcnemar_sees(n: int, psi: float, expected: float) -> None:
    """Values of an independent enumeration; the last is where the normal formula says half of it."""
    found = smallest_gain(n, psi, LEVEL)
    assert found == pytest.approx(expected, abs=1e-7 if psi > 0.004 else 6e-6)
    assert found is not None
    assert mcnemar_power(n, max(psi, found), found, LEVEL) == pytest.approx(0.8, abs=1e-6)


def test_no_gain_is_seen_on_four_items() -> None:
    assert smallest_gain(4, 0.5, LEVEL) is None


def question(**more: Any) -> Question:
    return Question(items=800, gain=0.04, prices=Prices(20_000.0, 5_000.0, 0.4), **more)


def test_the_recommended_margin_is_the_cheapest_of_a_table() -> None:
    known = declared(binary=True, discordance=0.1, sd=None)
    assert known is not None
    found = plan((gating_planned("gating", 0.02, "observed", LEVEL, known, question()),), question())
    assert [row.margin for row in found.margins] == pytest.approx([0.005 * k for k in range(9)])
    for row in found.margins:
        assert row.false_promotion == mcnemar_power(800, 0.1, 0.0, LEVEL, row.margin)
        assert row.missed == pytest.approx(1 - mcnemar_power(800, 0.1, 0.04, LEVEL, row.margin))
        mistakes = 0.5 * row.false_promotion * 20_000 + 0.5 * row.missed * 5_000
        assert row.cost == pytest.approx(mistakes + 0.4 * 800)
    assert found.best is not None
    assert found.best.cost <= min(row.cost for row in found.margins) + 0.01


def test_dear_mistakes_move_the_margin() -> None:
    """Where a false promotion is a thousand times as dear as a missed one the margin is larger."""
    known = Variances(1.0, 0.0, "", binary=False)
    best = []
    for prices in (Prices(1_000_000.0, 1_000.0), Prices(1_000.0, 1_000_000.0)):
        asked = Question(items=8_000, gain=0.1, prices=prices)
        found = plan((gating_planned("gating", 0.05, "observed", LEVEL, known, asked),), asked).best
        assert found is not None
        best.append(found.margin)
    assert best[0] > best[1]


def test_retrains_that_differ_are_integrated_over() -> None:
    """Normal true gains and normal noise: the observed delta is normal with both variances."""
    known = Variances(1.0, 0.0, "", binary=False)
    asked = Question(items=400, gain=0.4, prices=Prices(1.0, 1.0), retrain_sd=0.05)
    found = plan((gating_planned("gating", 0.2, "observed", LEVEL, known, asked),), asked)
    error = math.sqrt(1 / 400 + 0.05**2)
    for row in found.margins:
        bound = max(row.margin, -norm.ppf(LEVEL) / 20)
        assert row.false_promotion == pytest.approx(norm.sf(bound / error), abs=1e-6)
        assert row.missed == pytest.approx(norm.cdf((bound - 0.4) / error), abs=1e-6)


def test_costs_without_a_margin_end_in_one() -> None:
    words = ["plan", "--gain", "0.04", "--items", "800", "--cost-false", "20000", "--cost-missed", "5000"]
    done = command(*words, "--json", "-")
    assert done.code == 0, done.err
    assert json.loads(done.out)["recommended_margin"] in {0.01, 0.015, 0.02}
    assert "recommended margin" in command(*words).out
    assert "--cost-false" in command("plan", "--gain", "0.04").error


def test_vetoes_limits_churn_and_slices_are_in_the_rows(tmp_path: Path) -> None:
    """An unchanged candidate, whose noise is known from four runs of each item."""
    rng = np.random.default_rng(4)
    rows = [
        {"id": f"q{k}", "run": r, "correct": int(rng.random() < 0.8), "lang": "de" if k % 4 else "en"}
        for k in range(200)
        for r in range(4)
    ]
    rail = {"metric": "correct", "kind": "binary", "direction": "higher"}
    wanted = policy(
        BINARY,
        items={"repeat": "run"},
        guardrails=[
            rail | {"mode": "no_regression"},
            rail | {"mode": "limit", "min": 0.8},
            rail | {"mode": "churn", "max": 0.9},
        ],
        slices={"by": ["lang"], "min_items": 30},
    )
    path = write_rows(tmp_path / "baseline.jsonl", rows)
    loaded = loads(json.dumps(wanted)).policy
    world = world_of(loaded, str(path), {})
    laws = {rule.rule: rule.chance for rule in standing_rules(loaded, world, LEVEL)}
    assert laws["guardrail:correct:no_regression"](200) == 1 - LEVEL
    mean = world.expected((None, "correct"))
    limit = norm.sf((0.8 - mean) / math.sqrt(mean * (1 - mean) / 200))
    assert laws["guardrail:correct:limit"](200) == pytest.approx(limit, abs=0.02)
    assert laws["guardrail:correct:churn"](200) > 0.999
    assert laws["slice:lang=en"](200) == 1 - LEVEL  # 50 items
    assert laws["slice:lang=en"](100) == 1.0  # 25 items are reported, not gated
    out = command("plan", "--policy", write_policy(tmp_path / "g.yaml", wanted), "--baseline", path).out
    assert "guardrail:correct:limit" in out
    assert "not planned" not in out


def test_a_veto_that_must_see_a_loss_passes_nothing_while_it_cannot(tmp_path: Path) -> None:
    rail = {
        "metric": "correct",
        "kind": "binary",
        "direction": "higher",
        "mode": "no_regression",
        "detect": 0.02,
    }
    wanted = policy(BINARY, guardrails=[rail])
    rows = [{"id": f"q{k}", "correct": int(k % 5 > 0)} for k in range(300)]
    world = world_of(loads(json.dumps(wanted)).policy, str(write_rows(tmp_path / "b.jsonl", rows)), {})
    (veto,) = standing_rules(world.policy, world, LEVEL)
    assert veto.chance(100) == 0.0
    assert veto.chance(1_000_000) == 1 - LEVEL


def pilot(tmp_path: Path, wanted: dict[str, Any], rows: list[list[dict[str, Any]]]) -> dict[str, Any]:
    files = [
        write_rows(tmp_path / f"{side}.jsonl", side_rows) for side, side_rows in zip("ab", rows, strict=True)
    ]
    rules = write_policy(tmp_path / "gate.yaml", wanted)
    done = command("plan", "--policy", rules, "--baseline", files[0], "--candidate", files[1], "--json", "-")
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def test_a_pilot_in_clusters_is_planned_by_its_clusters(tmp_path: Path) -> None:
    """Items of a cluster change together: ten of a kind are one, so ten times as many are needed."""

    def sides(size: int) -> list[list[dict[str, Any]]]:
        signs = np.random.default_rng(8).choice([-1.0, 1.0], 60)
        return [
            [
                {"id": f"q{k}", "score": 5.0 + side * float(signs[k // size]), "doc": f"d{k // size}"}
                for k in range(60 * size)
            ]
            for side in (0, 1)
        ]

    wanted = {
        "version": 1,
        "name": "p",
        "gating": {"metric": "score", "kind": "graded", "direction": "higher", "margin": 0.2},
        "items": {"cluster": "doc"},
    }
    needed = []
    for size in (1, 10):
        (tmp_path / str(size)).mkdir()
        needed.append(pilot(tmp_path / str(size), wanted, sides(size))["rules"][0]["items"])
    assert needed[1] == pytest.approx(10 * needed[0], rel=0.02)


def test_a_pilot_of_the_whole_set_is_planned_by_its_own_error(tmp_path: Path) -> None:
    """AUC: (z + z)^2 times the variance of DeLong, whatever the size of the pilot."""
    rng = np.random.default_rng(5)
    label = (np.arange(400) % 4 == 0).astype(int)
    sides = [
        [{"id": str(k), "label": int(label[k]), "score": float(label[k] + rng.normal())} for k in range(400)]
        for _ in range(2)
    ]
    gating = {"metric": "score", "kind": "auc", "direction": "higher", "margin": 0.01}
    found = pilot(tmp_path, {"version": 1, "name": "p", "gating": gating, "items": {"label": "label"}}, sides)
    rules = write_policy(
        tmp_path / "gate.yaml", {"version": 1, "name": "p", "gating": gating, "items": {"label": "label"}}
    )
    run = command(
        "run",
        "--policy",
        rules,
        "--baseline",
        tmp_path / "a.jsonl",
        "--candidate",
        tmp_path / "b.jsonl",
        "--json",
        "-",
    )
    mde = json.loads(run.out)["gating"]["mde"]
    row = found["rows"][2]
    assert row["mde"] == pytest.approx(mde * math.sqrt(400 / row["items"]), rel=1e-6)


def test_the_plan_says_whether_a_judge_pays(tmp_path: Path) -> None:
    """A judge that agrees with people is worth more of their scores; one that knows nothing costs only."""
    rng = np.random.default_rng(6)
    gating = {"metric": "judge", "kind": "judged", "human": "people", "direction": "higher", "margin": 0.1}
    said = []
    for noise in (0.05, 10.0):
        sides = []
        for shift in (0.0, 0.2):
            truth = rng.normal(5 + shift, 1, 600)
            judge = truth + rng.normal(0, noise, 600)
            sides.append(
                [
                    {
                        "id": f"i{k}",
                        "judge": round(float(judge[k]), 4),
                        "people": round(float(truth[k]), 4) if k < 100 else None,
                    }
                    for k in range(600)
                ]
            )
        place = tmp_path / str(noise)
        place.mkdir()
        said.append(pilot(place, {"version": 1, "name": "p", "gating": gating}, sides)["rules"][0]["spread"])
    assert "the judge pays" in said[0]
    assert "does not pay" in said[1]


def test_a_history_tells_what_a_retrain_adds(tmp_path: Path) -> None:
    """Four nights with true gains of -2, 0, 2 and 4 points: DerSimonian and Laird by hand."""
    rng = np.random.default_rng(9)
    rules = write_policy(tmp_path / "gate.yaml", policy(BINARY, gating={"margin": 0.02}))
    history = tmp_path / "h.jsonl"
    assert command("history", "init", history).code == 0
    deltas, errors = [], []
    for night, gain in enumerate((-0.06, 0.0, 0.06, 0.12)):
        chance = rng.beta(8, 2, 800)
        old, new = (rng.random(800) < np.clip(chance + shift, 0, 1) for shift in (0.0, gain))
        files = [
            write_rows(
                tmp_path / f"{side}{night}.jsonl",
                [{"id": f"{night}-{k}", "correct": int(v)} for k, v in enumerate(values)],
            )
            for side, values in (("a", old), ("b", new))
        ]
        done = command(
            *("run", "--policy", rules, "--baseline", files[0], "--candidate", files[1]), "--history", history
        )
        assert done.code != 2, done.err
        difference = new.astype(float) - old.astype(float)
        deltas.append(difference.mean())
        errors.append(difference.std(ddof=1) / math.sqrt(800))
        if night == 1:
            words = ["plan", "--policy", rules, "--baseline", files[0], "--history", history]
            assert "3 cycles" in command(*words).error
    weights = 1 / np.array(errors) ** 2
    q = float(weights @ (np.array(deltas) - weights @ deltas / weights.sum()) ** 2)
    tau = math.sqrt((q - 3) / (weights.sum() - (weights**2).sum() / weights.sum()))
    costs = ["--cost-false", "1000", "--cost-missed", "1000"]
    found = command(
        "plan", "--policy", rules, "--baseline", files[0], "--history", history, *costs, "--json", "-"
    )
    assert json.loads(found.out)["retrain_sd"] == pytest.approx(tau, rel=1e-6)

"""A policy that does not fit its data is doubted aloud, by run, check and init; honest ones are not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, GRADED, Answer, command, decide, policy, write_policy, write_rows

from gate.artifacts.directions import direction_by_name

DOUBTS = {
    "margin_out_of_reach",
    "bound_guards_nothing",
    "bound_in_another_unit",
    "perfect_candidate",
    "direction_contradicts_name",
}
Rows = list[dict[str, Any]]


def rows(metric: str, values: list[float]) -> Rows:
    return [{"id": f"q{k}", metric: value} for k, value in enumerate(values)]


def passes(n: int, of: int) -> list[float]:
    return [1] * n + [0] * (of - n)


def spread(mean: float, sd: float, n: int = 60, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [round(rng.gauss(mean, sd), 2) for _ in range(n)]


def doubted(answer: Answer) -> set[str]:
    return answer.cautions() & DOUBTS


@pytest.mark.parametrize(
    ("margin", "rule", "reachable"),
    [
        (0.35, "observed", True),  # 65 of 100 pass: 0.35 is left, and reached by a candidate that passes all
        (0.36, "observed", False),
        (0.9, "observed", False),
        (0.34, "tested", True),
        (0.35, "tested", False),  # a gain above it cannot be
        ({"relative": 0.53}, "observed", True),  # 0.3445
        ({"relative": 0.54}, "observed", False),  # 0.351
    ],
)
def test_a_margin_that_no_candidate_can_reach(
    tmp_path: Path, margin: object, rule: str, reachable: bool
) -> None:
    wanted = policy(BINARY, gating={"margin": margin, "margin_rule": rule})
    found = decide(tmp_path, wanted, rows("correct", passes(65, 100)), rows("correct", passes(75, 100)))
    assert doubted(found) == (set() if reachable else {"margin_out_of_reach"})


@pytest.mark.parametrize(("margin", "reachable"), [(1.0, True), (1.1, False)])
def test_a_scale_says_what_is_left(tmp_path: Path, margin: float, reachable: bool) -> None:
    """Lower is better on [1, 5]: from a mean of 2 one point is left."""
    wanted = policy(GRADED, gating={"direction": "lower", "scale": [1, 5], "margin": margin})
    wanted["gating"]["metric"] = "grade"
    found = decide(tmp_path, wanted, rows("grade", [1.0, 3.0] * 30), rows("grade", [2.0] * 60))
    assert doubted(found) == (set() if reachable else {"margin_out_of_reach"})


@pytest.mark.parametrize(
    ("tolerance", "direction", "codes"),
    [
        (0.65, "higher", set()),  # all 65 that pass are lost: shown by a loss of 0.65
        (0.66, "higher", {"bound_guards_nothing"}),
        (0.35, "lower", set()),
        (0.36, "lower", {"bound_guards_nothing"}),
    ],
)
def test_a_tolerance_that_nothing_can_break(
    tmp_path: Path, tolerance: float, direction: str, codes: set[str]
) -> None:
    rail = {"metric": "other", "kind": "binary", "direction": direction, "tolerance": tolerance}
    both = rows("correct", passes(50, 100))
    sides = [[{**row, "other": value} for row, value in zip(both, passes(65, 100), strict=True)]] * 2
    sides[1] = [{**row, "correct": 1 if row["id"] < "q6" else 0} for row in sides[1]]
    found = decide(tmp_path, policy(guardrails=[rail]), *sides)
    assert doubted(found) == codes


@pytest.mark.parametrize(
    ("values", "margin", "codes"),
    [
        (spread(65, 10), 0.01, {"bound_in_another_unit"}),  # percent, and one percent written as a share
        (spread(300, 40), 0.1, {"bound_in_another_unit"}),  # milliseconds
        (spread(65, 10), 0.5, set()),  # half a point
        (spread(300, 40), 5.0, set()),
        ([50.0] * 59 + [80.0], 0.1, {"bound_in_another_unit"}),  # 50 is 500 x 0.1
        ([49.9] * 59 + [80.0], 0.1, set()),
        ([10.0, 10.1] * 30, 0.01, {"bound_in_another_unit"}),  # 10 is the least that is called large
        ([9.9] * 60, 0.01, set()),
        (spread(4, 0.5), 0.05, set()),  # a grade of 1 to 5
        ([0.2, 0.9] * 30, 1.0, {"bound_in_another_unit"}),  # one point of a share
        ([0.2, 0.9] * 30, 0.99, set()),
        ([0.2, 1.1] * 30, 1.0, set()),
        (spread(65, 10), {"relative": 0.01}, set()),
        (spread(65, 10), 0.0, set()),
    ],
)
def test_a_bound_in_another_unit(
    tmp_path: Path, values: list[float], margin: object, codes: set[str]
) -> None:
    rng = random.Random(2)
    other = [value + rng.choice([-3, 3]) for value in values]
    found = decide(
        tmp_path, policy(GRADED, gating={"margin": margin}), rows("score", values), rows("score", other)
    )
    assert doubted(found) == codes


def test_a_small_bound_that_the_items_can_see_is_none(tmp_path: Path) -> None:
    """Perplexity about 20 that moves by 0.001: a margin of 0.01 is what such a run can show."""
    rng = random.Random(3)
    old = spread(20, 5)
    new = [value - 0.02 + rng.uniform(-0.002, 0.002) for value in old]
    wanted = policy(GRADED, gating={"metric": "perplexity", "direction": "lower", "margin": 0.01})
    found = decide(tmp_path, wanted, rows("perplexity", old), rows("perplexity", new))
    assert (found.verdict, doubted(found)) == ("promote", set())


@pytest.mark.parametrize(
    ("limit", "values", "codes"),
    [
        ({"min": 0.85}, spread(90, 2), {"bound_in_another_unit"}),
        ({"min": 85}, spread(90, 2), set()),
        ({"min": 0.85}, [0.9] * 60, set()),
        ({"max": 500}, [0.9] * 60, {"bound_in_another_unit"}),  # milliseconds against seconds
        ({"max": 449}, [0.9] * 60, set()),  # 450 is 500 x 0.9
    ],
)
def test_a_limit_in_another_unit(
    tmp_path: Path, limit: dict[str, float], values: list[float], codes: set[str]
) -> None:
    rail = {"metric": "size", "kind": "graded", "direction": "lower", "mode": "limit", **limit}
    rail["direction"] = "higher" if "min" in limit else "lower"
    sides = [
        [{"id": f"q{k}", "correct": int(k % 3 > less), "size": v} for k, v in enumerate(values)]
        for less in (1, 0)
    ]
    assert doubted(decide(tmp_path, policy(guardrails=[rail]), *sides)) == codes


@pytest.mark.parametrize(
    ("limit", "codes"),
    [
        ({"max": 1}, {"bound_guards_nothing"}),
        ({"max": 0.99}, set()),
        ({"max": 5, "kind": "graded", "scale": [0, 5]}, {"bound_guards_nothing"}),
        ({"max": 4.9, "kind": "graded", "scale": [0, 5]}, set()),
    ],
)
def test_a_limit_that_nothing_can_break(tmp_path: Path, limit: dict[str, Any], codes: set[str]) -> None:
    rail = {"metric": "unsafe", "kind": "binary", "direction": "lower", "mode": "limit", **limit}
    sides = [[{"id": k, "correct": int(k % 3 > less), "unsafe": 0} for k in range(60)] for less in (1, 0)]
    assert doubted(decide(tmp_path, policy(guardrails=[rail]), *sides)) == codes


@pytest.mark.parametrize(
    ("before", "after", "of", "codes"),
    [
        (49, 100, 100, {"perfect_candidate"}),
        (50, 100, 100, set()),  # half is not few
        (49, 99, 100, set()),
        (4, 10, 10, {"perfect_candidate"}),
        (4, 9, 9, set()),
    ],
)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_all_pass_where_few_did(
    tmp_path: Path, before: int, after: int, of: int, codes: set[str], better: str
) -> None:
    def side(n: int) -> Rows:
        return rows("graded_by_rule", passes(n, of) if better == "higher" else passes(of - n, of))

    wanted = policy(gating={"metric": "graded_by_rule", "direction": better})
    assert doubted(decide(tmp_path, wanted, side(before), side(after))) == codes


@pytest.mark.parametrize(
    ("metric", "direction", "codes"),
    [
        ("latency_ms", "higher", {"direction_contradicts_name"}),
        ("latency_ms", "lower", set()),
        ("accuracy", "lower", {"direction_contradicts_name"}),
        ("tokens_per_second", "higher", set()),
        ("time_saved", "higher", set()),
        ("banana", "lower", set()),
    ],
)
def test_a_direction_against_the_name(tmp_path: Path, metric: str, direction: str, codes: set[str]) -> None:
    wanted = policy(GRADED, gating={"metric": metric, "direction": direction, "margin": 1})
    sides = [rows(metric, spread(30, 5, seed=seed)) for seed in (1, 2)]
    assert doubted(decide(tmp_path, wanted, *sides)) == codes
    bare = policy(GRADED, gating={"metric": "points", "margin": 1}, watch=[metric])
    both = [[{**row, "points": k % 7 + 1.5} for k, row in enumerate(side)] for side in sides]
    assert doubted(decide(tmp_path, bare, *both)) == set()  # a bare watch claims no direction


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("tokens_per_second", None),
        ("on_time", None),
        ("error_free", None),
        ("cost_per_1k_tokens", "lower"),
        ("seconds_in_queue", "lower"),
        ("not_correct", None),
    ],
)
def test_words_that_turn_another_round(name: str, direction: str | None) -> None:
    assert direction_by_name(name) == direction


def test_check_says_it_of_a_baseline(tmp_path: Path) -> None:
    rails = [
        {"metric": "latency_ms", "kind": "graded", "direction": "higher", "tolerance": 0.1},
        {"metric": "unsafe", "kind": "binary", "direction": "lower", "mode": "limit", "max": 1},
    ]
    wanted = policy(gating={"margin": 0.9}, guardrails=rails)
    path = write_policy(tmp_path / "gate.yaml", wanted)
    table = [
        {"id": k, "correct": int(k % 3 > 0), "latency_ms": ms, "unsafe": 0}
        for k, ms in enumerate(spread(300, 40))
    ]
    file = write_rows(tmp_path / "a.jsonl", table)
    found = command("check", path, "--baseline", file, "--simulations", "10")
    assert found.code == 0
    for code in ("margin_out_of_reach", "bound_in_another_unit", "bound_guards_nothing"):
        assert f"  {code}: g" in found.out
    assert "  direction_contradicts_name: 'latency_ms' is read as higher is better" in found.out
    honest = write_policy(tmp_path / "gate.yaml", policy(gating={"margin": 0.05}))
    found = command("check", honest, "--baseline", file, "--simulations", "10")
    assert not [code for code in DOUBTS if code in found.out]


def test_init_and_compare_say_that_all_pass(tmp_path: Path) -> None:
    files = [write_rows(tmp_path / f"{n}.jsonl", rows("correct", passes(n, 60))) for n in (20, 60, 30)]
    for name in ("init", "compare"):
        found = command(name, *files[:2])
        assert "all 60 items have the best value 1.0000 in the candidate, 20 in the baseline" in found.out
        assert "aution" not in command(name, files[0], files[2]).out.replace("# CAUTION: MDE", "")

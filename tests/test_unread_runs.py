"""Runs that may have failed on one side only: inconclusive from p < .01 on, and never a footnote."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from black_box import BINARY, Answer, decide, policy
from scipy import stats

from gate.stats.fisher import fisher_two_sided


@pytest.mark.parametrize("sizes", [(40, 40), (80, 80), (200, 190), (3, 500)])
def test_fisher_against_another_implementation(sizes: tuple[int, int]) -> None:
    n, m = sizes
    for a in range(0, n + 1, max(1, n // 9)):
        for b in range(0, m + 1, max(1, m // 9)):
            expected = stats.fisher_exact([[a, n - a], [b, m - b]])[1]
            assert fisher_two_sided(a, n, b, m) == pytest.approx(expected, rel=1e-9)


def run(
    before: int,
    after: int,
    cell: Any,
    fine: Any,
    name: str = "exception",
    layout: str = ".jsonl",
    **keys: Any,
) -> Answer:
    """80 items; the cell stands in the first ones of each side. The candidate gains 10 items of its own."""
    sides = [
        [{"id": f"q{k}", "correct": int(k >= wrong), name: cell if k < filled else fine} for k in range(80)]
        for wrong, filled in ((40, before), (30, after))
    ]
    with TemporaryDirectory() as folder:
        return decide(Path(folder), policy(BINARY, **keys), *sides, suffix=layout)


@pytest.mark.parametrize(("count", "verdict"), [(6, "promote"), (7, "promote"), (8, "inconclusive")])
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_an_error_column_filled_unevenly(count: int, verdict: str, side: str) -> None:
    """Of 80 against none of 80: 7 have a two-sided p of .0138, 8 of .0067."""
    filled = (count, 0) if side == "baseline" else (0, count)
    answer = run(*filled, "boom", None)
    assert answer.verdict == verdict
    text = f"exception is filled ('boom') in {filled[0]} of 80 baseline runs and in {filled[1]} of 80"
    assert text in answer.out
    assert "completed: {exception: ['*']}" in answer.out


def test_the_same_on_both_sides_is_a_property_of_the_items() -> None:
    answer = run(20, 20, "boom", None)
    assert answer.verdict == "promote"
    assert "exception" not in answer.out


def test_alike_on_both_sides_is_a_caution() -> None:
    answer = run(20, 18, "boom", None)
    assert answer.verdict == "promote"
    assert "counts as completed" in answer.out


@pytest.mark.parametrize(
    ("before", "after", "verdict"), [(1, 0, "inconclusive"), (0, 1, "inconclusive"), (1, 9, "promote")]
)
def test_an_unknown_status_on_one_side(before: int, after: int, verdict: str) -> None:
    """On both sides it stays a caution, whatever the numbers: solved and unsolved are words too."""
    answer = run(before, after, "shelved", "ok", name="status")
    assert answer.verdict == verdict
    assert "shelved" in answer.out


def test_what_the_policy_says_decides() -> None:
    assert run(9, 0, "boom", None, artifacts={"completed": {"exception": ["*"]}}).verdict == "promote"
    failed = run(9, 0, "boom", None, artifacts={"failed": {"exception": ["*"]}})
    assert failed.code == 2
    assert "9 of 80 baseline runs failed" in failed.err


def test_a_block_stays_a_block() -> None:
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "limit", "min": 0.9}
    answer = run(20, 0, "boom", None, guardrails=[rail])
    assert answer.verdict == "block"


SAID = [
    *[("final_status", "ok", "timeout"), ("agent_state", "FINISHED", "ERROR"), ("end_reason", "done", "oom")],
    *[("outcome", "pass", "error"), ("result", "pass", "Timeout"), ("run.outcome", "pass", "aborted")],
    *[("llm_error", None, "boom"), ("last_exception", "", "KeyError"), ("exception_class", "N/A", "E")],
    *[("fail_reason", None, "infra"), ("infra_failure", False, True), ("errorType", "none", "Overloaded")],
    *[("skipped", False, True), ("is_timeout", 0, 1), ("timed_out", 0, 1), ("was_killed", "False", "True")],
    *[("exit_code", 0, 137), ("returncode", 1, 124), ("return_code", 0, -9), ("exit_status", "0", "143")],
]
"""A column, what stands there in runs that completed, and in those that did not."""
SILENT = [
    *[("exit_code", 0, 1), ("us_state", "ok", "error"), ("answer", "ok", "timeout"), ("retries", 0, 3)],
    *[
        ("outcome", "pass", "fail"),
        ("absolute_error", 0.1, 0.9),
        ("compile_error", None, "x"),
        ("failed", 0, 1),
    ],
    *[("result", "Paris", "Rome"), ("agent_failure", False, True), ("judge_reason", "good", "bad")],
]


@pytest.mark.parametrize(("name", "fine", "cell"), SAID)
@pytest.mark.parametrize("layout", [".jsonl", ".csv"])
def test_columns_by_which_tools_say_that_a_run_broke(name: str, fine: Any, cell: Any, layout: str) -> None:
    assert run(0, 8, cell, fine, name, layout=layout).verdict == "inconclusive"
    assert run(0, 0, cell, fine, name, layout=layout).verdict == "promote"
    assert run(8, 8, cell, fine, name, layout=layout).verdict == "promote"


@pytest.mark.parametrize(("name", "fine", "cell"), SILENT)
def test_columns_of_results_and_of_measurements_say_nothing(name: str, fine: Any, cell: Any) -> None:
    assert run(0, 30, cell, fine, name).verdict == "promote"


@pytest.mark.parametrize("depth", [1, 2, 5, 6])
@pytest.mark.parametrize("key", ["error", "status", "status.code"])
def test_nested_objects_are_looked_through(depth: int, key: str) -> None:
    def nested(word: str | None) -> Any:
        inner: Any = {"code": word} if "." in key else word
        for name in (key.partition(".")[0], *"abcdef"[: depth - 1]):
            inner = {name: inner}
        return inner

    assert run(0, 8, nested("timeout"), nested(None), "meta").verdict == "inconclusive"
    assert run(8, 8, nested("timeout"), nested(None), "meta").verdict == "promote"

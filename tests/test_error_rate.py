"""``error_rate``: the share of runs that failed, as a rule of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, decide, policy, write_rows

N = 300
RAIL = {"metric": "error_rate", "kind": "binary", "direction": "lower", "tolerance": 0.03}
ITEMS = {"max_error_rate": 0.5, "missing": "drop", "max_missing": 0.5}


def rows(failed: int, *, wrong: int = 60, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"q{k:03d}", "correct": int(k >= wrong), "status": "error" if k < failed else "ok"} | more
        for k in range(N)
    ]


def wanted(**more: Any) -> dict[str, Any]:
    return policy(BINARY, guardrails=[RAIL | more], items=ITEMS)


def test_the_share_of_failed_runs_is_compared_over_all_items(tmp_path: Path) -> None:
    """3 and 33 of 300, whatever is left of the other metric."""
    answer = decide(tmp_path, wanted(), rows(3), rows(33))
    block = answer.rule("guardrail:error_rate")
    assert (block["baseline"], block["candidate"], block["n"]) == (3 / N, 33 / N, N)
    assert block["discordant"] == {"only_baseline": 30, "only_candidate": 0}
    assert block["method"] == "exact_unconditional"
    assert answer.status("guardrail:error_rate") == "fail"
    assert answer.gating["n"] == N - 33


def test_as_many_failures_are_within_the_tolerance(tmp_path: Path) -> None:
    assert decide(tmp_path, wanted(), rows(3), rows(2)).status("guardrail:error_rate") == "pass"


def test_an_item_that_a_side_lacks_failed_there(tmp_path: Path) -> None:
    block = decide(tmp_path, wanted(), rows(0), rows(0)[:-20]).rule("guardrail:error_rate")
    assert (block["baseline"], block["candidate"], block["n"]) == (0.0, 20 / N, N)


def test_of_several_runs_it_is_the_share(tmp_path: Path) -> None:
    sides = [[row | {"run": k} for k in range(4) for row in rows(failed * (k == 0))] for failed in (0, 30)]
    several = policy(wanted(), items=ITEMS | {"repeat": "run"})
    block = decide(tmp_path, several, *sides).rule("guardrail:error_rate")
    assert block["candidate"] == pytest.approx(30 / (4 * N), abs=1e-12)


def test_a_file_that_does_not_say_which_runs_failed_proves_nothing(tmp_path: Path) -> None:
    """Otherwise no run seems to have failed, and the guardrail would pass."""
    silent = [{key: value for key, value in row.items() if key != "status"} for row in rows(0)]
    assert "does not say which" in decide(tmp_path, wanted(), rows(0), silent).error
    assert "baseline file" in decide(tmp_path, wanted(), silent, rows(0)).error
    limit = policy(wanted(), guardrails=[RAIL | {"mode": "limit", "max": 0.05, "tolerance": None}])
    del limit["guardrails"][0]["tolerance"]
    assert decide(tmp_path, limit, silent, rows(3)).status("guardrail:error_rate") == "pass"
    assert decide(tmp_path, limit, silent, rows(30)).status("guardrail:error_rate") == "fail"
    assert "candidate file" in decide(tmp_path, limit, rows(0), silent).error


def test_the_policys_own_words_say_it_too(tmp_path: Path) -> None:
    sides = [
        [{"id": f"q{k}", "correct": int(k % 5 > 0), "ended": "lost" if k < n else "fine"} for k in range(N)]
        for n in (3, 60)
    ]
    told = wanted() | {"artifacts": {"failed": {"ended": ["lost"]}, "completed": {"ended": ["fine"]}}}
    block = decide(tmp_path, told, *sides).rule("guardrail:error_rate")
    assert (block["baseline"], block["candidate"]) == (3 / N, 60 / N)


def test_a_column_of_that_name_is_read_where_the_policy_maps_it_or_it_is_graded(tmp_path: Path) -> None:
    column = [rows(0, error_rate=value) for value in (0.0, 1.0)]
    mapped = wanted() | {"artifacts": {"mapping": {"error_rate": "error_rate"}}}
    assert decide(tmp_path, mapped, *column).rule("guardrail:error_rate")["candidate"] == 1.0
    graded = [rows(0, error_rate=value) for value in (0.25, 0.5)]
    assert decide(tmp_path, wanted(kind="graded"), *graded).rule("guardrail:error_rate")["candidate"] == 0.5


def test_to_watch_it_is_to_ask_the_same(tmp_path: Path) -> None:
    answer = decide(tmp_path, wanted() | {"watch": ["error_rate"]}, rows(3), rows(33))
    assert answer.rule("watch:error_rate")["candidate"] == pytest.approx(33 / N)
    assert "metric_not_read" not in answer.cautions()


def test_a_baseline_that_does_not_tell_is_shown_as_unknown_beside_a_limit(tmp_path: Path) -> None:
    """Neither 0 failures, nor the candidate's own."""
    silent = [{key: value for key, value in row.items() if key != "status"} for row in rows(0)]
    limit = policy(BINARY, guardrails=[RAIL | {"mode": "limit", "max": 0.05}], items=ITEMS)
    del limit["guardrails"][0]["tolerance"]
    block = decide(tmp_path, limit, silent, rows(3)).rule("guardrail:error_rate")
    assert (block.get("baseline"), block["candidate"]) == (None, 3 / N)
    limit["guardrails"][0]["set"] = "own"
    alone = write_rows(tmp_path / "own.jsonl", [row | {"id": f"s{k}"} for k, row in enumerate(rows(9))])
    answer = decide(tmp_path, limit, rows(0), rows(0), "--set", "own", "-", alone)
    block = answer.rule("guardrail:error_rate:own")
    assert (block.get("baseline"), block["candidate"]) == (None, 9 / N)

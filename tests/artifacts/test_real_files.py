"""Files that today's tools wrote, and what plain arithmetic says about them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gate.artifacts import ItemTable, read
from gate.artifacts.compatibility import comparable
from gate.values import GateError

from . import tools
from .helpers import ask, refusal, table, values, write
from .tools import even

REAL = Path(__file__).parent / "real"


def right(i: int, side: str) -> bool:
    return (i * 7 + 3) % 5 != 0 if side == "baseline" else (i * 11 + 2) % 7 != 0


def real(name: str, metric: str, kind: str = "binary") -> ItemTable:
    return read(str(REAL / name), ask(metrics={metric: kind}))


@pytest.mark.parametrize("side", ["baseline", "candidate"])
@pytest.mark.parametrize("layout", ["reruns-{}.xml", "reruns-xdist-{}.xml", "reruns-{}.json"])
def test_a_rerun_test_counts_by_its_last_attempt(layout: str, side: str) -> None:
    found = real("pytest/" + layout.format(side), "passed")
    by_name = {key.rpartition("::")[2]: value for key, value in values(found, "passed").items()}
    assert [by_name[f"test_num[{i}]"] for i in range(24)] == [right(i, side) for i in range(24)]
    assert (by_name["test_flaky"], by_name["test_always_bad"]) == (1, 0)
    assert by_name["test_fail_and_teardown"] == 0
    assert (by_name["test_xpass"], by_name["test_xpass_strict"], by_name["test_xfail"]) == (1, 0, None)
    failed = {key.rpartition("::")[2] for key in found.ids[found.failed]}
    broken = {"test_setup_error", "test_teardown_error"}
    assert failed == broken | ({"test_teardown_in_c"} if side == "candidate" else set())
    assert "tests_rerun" in dict(found.cautions)


@pytest.mark.parametrize("repeat", [None, "repeat"])
def test_reruns_that_the_counts_do_not_prove_are_refused(repeat: str | None) -> None:
    path = str(REAL / "pytest/reruns-and-subtests.xml")
    with pytest.raises(GateError, match="failed attempts are written as passed") as caught:
        read(path, ask(metrics={"passed": "binary"}, repeat=repeat))
    assert caught.value.code == "duplicate_ids"


def test_promptfoo_says_itself_that_a_grader_broke(tmp_path: Path) -> None:
    found = real("promptfoo/grader-error.jsonl", "success")
    assert dict(found.cautions)["grader_errors"].startswith("in 5 of 5 results")
    text = (REAL / "promptfoo/grader-error.jsonl").read_text(encoding="utf-8")
    reworded = text.replace("Could not extract JSON from llm-rubric response", "429 Too Many Requests")
    assert "grader_errors" in dict(table(tmp_path, reworded, metrics={"success": "binary"}).cautions)


def test_deepeval_metrics_that_raised_and_a_cache() -> None:
    exact = [real(f"deepeval/{side}.json", "Exact") for side in ("baseline", "candidate")]
    for found, side in zip(exact, ("baseline", "candidate"), strict=True):
        assert values(found, "Exact") == {f"Question {i}": float(right(i, side)) for i in range(24)}
    found = real("deepeval/candidate.json", "Relevancy", "graded")
    expected = {f"Question {i}": None if i == 5 else (i * 7 + 5) % 10 / 10 for i in range(24)}
    assert values(found, "Relevancy") == expected
    with pytest.raises(GateError, match="a cache of DeepEval"):
        real("deepeval/cache.json", "Exact")


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_human_eval_samples_are_repeats(side: str) -> None:
    found = real(f"human_eval/{side}.jsonl", "passed")
    rows = zip(found.ids, found.repeats if found.repeats is not None else (), strict=True)
    expected = [right(int(key[2:]) + int(repeat) - 1, side) for key, repeat in rows]
    assert len(expected) == 36
    assert np.array_equal(found.values["passed"], np.array(expected, dtype=float))


def test_rows_under_their_ids_are_no_averages(tmp_path: Path) -> None:
    by_item = {f"00{i}": {"score": int(even(i)), "n": i} for i in range(6)}  # pandas, orient="index"
    error = refusal(tmp_path, json.dumps(by_item))
    assert (error.code, "orient='records'" in error.help) == ("rows_by_key", True)
    by_column = {name: {str(i): i for i in range(6)} for name in ("id", "n", "score", "topic")}
    assert refusal(tmp_path, json.dumps(by_column)).code == "rows_by_key"


def test_another_expected_answer_is_not_comparable(tmp_path: Path) -> None:
    samples = [sample | {"target": "A"} for sample in tools.inspect_samples(4, 2, even)]
    changed = [samples[0] | {"target": "B"}, *samples[1:]]
    request = ask(metrics={"match": "binary"})
    one, other = (
        read(write(tmp_path, name, tools.inspect_eval(rows)), request)
        for name, rows in (("a", samples), ("b", changed))
    )
    comparable(one, one)
    with pytest.raises(GateError, match="the expected answer differs"):
        comparable(one, other)
    run = json.loads((REAL / "deepeval/baseline.json").read_text(encoding="utf-8"))
    first = real("deepeval/baseline.json", "Exact")
    run["testRunData"]["testCases"][7]["expectedOutput"] = "another"
    second = table(tmp_path, json.dumps(run), metrics={"Exact": "binary"})
    with pytest.raises(GateError, match=r"differs for 1 items of the same id \('Question 7'\)"):
        comparable(first, second)

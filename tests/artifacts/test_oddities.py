"""Values and answers that may be none, on one side only: said on top of every format, and unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from black_box import GRADED, Answer, command, decide, policy

from . import tools

PLAIN = [4, 5, 6, 7, 8, 9, 10]
SHARES = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.97]
N = 42


def look(folder: Path, value: float, counts: tuple[int, int], others: list[Any]) -> Answer:
    """The value stands in the first items of each side, everywhere else the others in turn."""
    sides = [
        [{"id": f"q{i}", "score": value if i < count else others[(i + side) % len(others)]} for i in range(N)]
        for side, count in enumerate(counts)
    ]
    return decide(folder, policy(GRADED), *sides)


@pytest.mark.parametrize(
    ("value", "counts", "others", "said"),
    [
        (-1, (12, 0), PLAIN, True),
        (-1, (0, 1), PLAIN, True),
        (-1, (12, 1), PLAIN, True),
        (-1, (12, 9), PLAIN, False),
        (-1, (12, 12), PLAIN, False),
        (-1, (3, 0), [0, 0.5, 1], True),
        (-1, (3, 0), [-0.5, 0, 1], False),
        (-999, (3, 0), PLAIN, True),
        (0, (12, 0), PLAIN, True),
        (0, (0, 6), PLAIN, True),
        (0, (12, 1), PLAIN, False),
        (0, (0, 5), PLAIN, False),
        (0, (12, 0), [-1.5, 2, 3], False),
        (0, (12, 0), [0.5, 1, 3], False),
        (99, (3, 0), PLAIN, True),
        (999, (3, 0), PLAIN, True),
        (9999, (0, 3), SHARES, True),
        (99, (3, 0), [10, 98, 60], False),
        (99, (3, 0), [10, 100, 60], False),
        (-7, (12, 0), PLAIN, False),
        (-1000, (12, 0), PLAIN, True),
        (-991, (12, 0), PLAIN, False),
        (-1e9, (0, 2), PLAIN, True),
        (-1e9, (0, 1), PLAIN, False),
        (2**31 - 1, (3, 0), PLAIN, True),
        (-0.5, (12, 0), [0.001, 0.002, 0.003], False),
        (-1, (12, 0), [5], False),
    ],
)
def test_a_sentinel_on_one_side(
    tmp_path: Path, value: float, counts: tuple[int, int], others: list[Any], said: bool
) -> None:
    """6 of 42 against none of 42 has Fisher's p .026, 5 of .055; 12 against 1 has .002, 12 against 9 .62."""
    answer = look(tmp_path, value, counts, others)
    assert ("sentinel_values" in answer.cautions()) is said
    if said:
        side = int(counts[1] > counts[0])
        who = ("baseline", "candidate")[side]
        text = f"{counts[side]} {who} values are {value:g} while all others lie in"
        assert f"{text} {min(others)}..{max(others)}" in answer.markdown.split("<details")[0]
        assert f"! 'score': {text}" in answer.out


def test_no_value_is_changed(tmp_path: Path) -> None:
    answer = look(tmp_path, -1, (12, 0), PLAIN)
    means = [(12 * -1 + sum(PLAIN[i % 7] for i in range(12, N))) / N, 7]
    assert (answer.gating["baseline"], answer.gating["candidate"]) == pytest.approx(means)


def test_compare_and_init_say_it_too(tmp_path: Path) -> None:
    look(tmp_path, -1, (12, 0), PLAIN)
    files = [tmp_path / "baseline.jsonl", tmp_path / "candidate.jsonl"]
    text = "'score': 12 baseline values are -1 while all others lie in 4..10"
    assert f"warning: {text}" in command("compare", *files).out
    assert f"# CAUTION: {text}" in command("init", *files).out


def lm_eval(empty: int, **changes: Any) -> str:
    rows = [json.loads(line) for line in tools.lm_eval(40, tools.even).split("\n")[:-1]]
    return "".join(json.dumps(row | (changes if i < empty else {})) + "\n" for i, row in enumerate(rows))


def promptfoo(empty: int, **changes: Any) -> str:
    rows = [tools.promptfoo_row(i, tools.even(i), response={"output": "a"}) for i in range(40)]
    return str(tools.promptfoo([row | (changes if i < empty else {}) for i, row in enumerate(rows)]))


def inspect(empty: int, **changes: Any) -> str:
    said = {"completion": "a", "choices": [{"message": {"role": "assistant", "content": "a"}}]}
    samples = [sample | {"output": said} for sample in tools.inspect_samples(40, 1, tools.even)]
    samples = [sample | (changes if i < empty else {}) for i, sample in enumerate(samples)]
    return str(tools.inspect_json(samples))


def deepeval(empty: int, **changes: Any) -> str:
    told = {"name": "Tone", "score": 0.5, "threshold": 0.5, "success": True}
    case = {"success": True, "metricsData": [told], "actualOutput": "a"}
    cases = [case | {"name": f"c{i}", "input": f"q{i}"} | (changes if i < empty else {}) for i in range(40)]
    return json.dumps({"testCases": cases})


def human_eval(empty: int, **changes: Any) -> str:
    rows = [{"task_id": f"HumanEval/{i}", "completion": "x", "passed": i % 2 == 0} for i in range(40)]
    rows = [
        row | {"result": "passed" if row["passed"] else "failed"} | (changes if i < empty else {})
        for i, row in enumerate(rows)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def silent(content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content} | more
    return {"output": {"completion": "", "choices": [{"message": message}]}}


EMPTY = "answers are empty"
LIMIT = "runs hit a limit"


@pytest.mark.parametrize(
    ("made", "metric", "changes", "what"),
    [
        (lm_eval, "acc", {"resps": [[""]]}, EMPTY),
        (lm_eval, "acc", {"filtered_resps": [" "]}, EMPTY),
        (lm_eval, "acc", {"resps": [[["-1.5", "False"]]]}, ""),
        (promptfoo, "success", {"response": {"output": ""}}, EMPTY),
        (promptfoo, "success", {"response": {"output": {"a": 1}}}, ""),
        (promptfoo, "success", {"response": {}}, ""),
        (inspect, "match", silent(""), EMPTY),
        (inspect, "match", silent([{"type": "text", "text": "\n"}]), EMPTY),
        (inspect, "match", silent([{"type": "image", "image": "x"}]), ""),
        (inspect, "match", silent("", tool_calls=[{"id": "x"}]), ""),
        (inspect, "match", {"limit": {"type": "token", "limit": 9}}, LIMIT),
        (inspect, "match", {"limit": None}, ""),
        (deepeval, "success", {"actualOutput": ""}, EMPTY),
        (human_eval, "passed", {"completion": ""}, EMPTY),
    ],
)
@pytest.mark.parametrize("counts", [(12, 0), (0, 2), (12, 1), (5, 5)])
def test_empty_answers_and_limits(
    tmp_path: Path, made: Any, metric: str, changes: dict[str, Any], what: str, counts: tuple[int, int]
) -> None:
    """12 of 40 against 1 of 40 has Fisher's p .001; the same on both sides is a property of the items."""
    paths = []
    for name, count in zip(("a", "b"), counts, strict=True):
        path = tmp_path / name
        path.write_text(made(count, **changes))
        paths.append(path)
    wanted = policy(gating={"metric": metric})
    answer = decide(tmp_path, wanted, *paths)
    shown = [str(count or "none") for count in counts]
    text = f"! {shown[0]} of 40 baseline {what} and {shown[1]} of 40 of the candidate's"
    assert (text in answer.out) is (bool(what) and counts != (5, 5)), answer.out + answer.err
    if not what:
        assert not {"empty_answers", "limits_hit"} & answer.cautions()

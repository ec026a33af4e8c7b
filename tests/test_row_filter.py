"""``artifacts.where`` chooses what is compared; it hides no run that failed. Names are no runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, Answer, Rows, command, decide, policy, write_rows

N = 40


def sides(**columns: Any) -> tuple[Rows, Rows]:
    """The candidate gains 14 items; columns by side and item."""
    made: list[Rows] = [
        [
            {"id": f"q{i}", "correct": int(side == 1 or i % 3 > 0)}
            | {name: of(side, i) for name, of in columns.items()}
            for i in range(N)
        ]
        for side in (0, 1)
    ]
    return made[0], made[1]


def broke(side: int, i: int) -> bool:
    """Nine runs of the candidate."""
    return side == 1 and i < 9


def run(folder: Path, rows: tuple[Rows, Rows], where: dict[str, Any], **items: Any) -> Answer:
    loose = {"missing": "drop", "max_missing": 0.5}
    wanted = policy(BINARY, items=loose | items, artifacts={"where": where})
    return decide(folder, wanted, *rows)


@pytest.mark.parametrize(
    "column",
    ["status", "run.state", "error", "info.exception", "finish_reason", "outcome", "isValid", "correct"],
)
def test_columns_that_tell_of_runs_choose_no_rows(tmp_path: Path, column: str) -> None:
    rows = sides(
        **{column: lambda side, i: "boom" if broke(side, i) else "ok"} if column != "correct" else {}
    )
    answer = run(tmp_path, rows, {column: "1" if column == "correct" else "ok"})
    assert f"chooses rows by '{column}'" in answer.error


def test_nor_by_another_name(tmp_path: Path) -> None:
    rows = sides(status=lambda side, i: "boom" if broke(side, i) else "ok")
    wanted = policy(BINARY, artifacts={"where": {"group": "ok"}, "mapping": {"group": "status"}})
    assert "chooses rows by 'group'" in decide(tmp_path, wanted, *rows).error
    rows = sides(phase=lambda side, i: "boom" if broke(side, i) else "ok")
    wanted = policy(BINARY, artifacts={"where": {"phase": "ok"}, "failed": {"phase": ["boom"]}})
    assert "chooses rows by 'phase'" in decide(tmp_path, wanted, *rows).error


@pytest.mark.parametrize(
    ("word", "telling"),
    [
        ("crashed", {}),
        ("a", {"error": lambda s, i: "boom" if broke(s, i) else None}),
        ("a", {"status": lambda s, i: "timeout" if broke(s, i) else "ok"}),
        ("a", {"exception": lambda s, i: "boom" if broke(s, i) else None}),
        ("a", {"status": lambda s, i: "shelved" if broke(s, i) else "ok"}),
    ],
    ids=["by its word", "error", "status", "unread", "unknown"],
)
def test_failed_runs_are_not_left_out_on_one_side(tmp_path: Path, word: str, telling: dict[str, Any]) -> None:
    rows = sides(phase=lambda side, i: word if broke(side, i) else "b", **telling)
    error = run(tmp_path, rows, {"phase": "b"}).error
    assert "leaves out 9 items of the candidate whose runs failed ('q0'" in error
    turned = run(tmp_path, rows[::-1], {"phase": "b"}).error
    assert "leaves out 9 items of the baseline whose runs failed" in turned


def test_a_property_of_the_items_may_choose(tmp_path: Path) -> None:
    """Items 9 to 39 of which the candidate gains 10; the same failed runs lie beside on both sides."""
    rows = sides(split=lambda _, i: "dev" if i < 9 else "test", error=lambda _, i: "boom" if i < 9 else None)
    answer = run(tmp_path, rows, {"split": "test"}, missing="error", max_missing=0)
    assert answer.verdict == "promote"
    assert answer.gating["n"] == N - 9
    assert "artifacts.where reads 31 of 40 baseline rows and 31 of 40 candidate rows" in str(answer.report)
    assert "rows_left_out_unequal" not in answer.cautions()


def test_a_failed_run_of_another_metric_hides_nothing(tmp_path: Path) -> None:
    rows = sides(name=lambda *_: "correctness")
    more = [{"id": f"q{i}", "correct": None, "name": "tone", "error": "boom"} for i in range(N)]
    both = ([*rows[0]], [*rows[1], *more[:9]])
    answer = run(tmp_path, both, {"name": "correctness"})
    assert answer.verdict == "promote"
    assert "! artifacts.where reads 40 of 40 baseline rows and 40 of 49 candidate rows" in answer.out
    assert "rows_left_out_unequal" in answer.cautions()


def long_form(folder: Path, column: str, words: tuple[str, str]) -> Answer:
    """The first metric gains, the second one falls; their mean gains."""
    made = [
        [
            {"id": f"q{i}", column: word, "value": float(value)}
            for i in range(N)
            for word, value in zip(words, (side, 0.25 * side + i % 2 / 8), strict=True)
        ]
        for side in (0, 1)
    ]
    gating = {"metric": "value", "kind": "graded", "direction": "higher", "margin": 0.05}
    return decide(folder, policy(BINARY, gating=gating, items={"repeat": column}), *made)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("name", ("correctness", "hallucination")),
        ("feedback.key", ("correctness", "tone")),
        ("metricName", ("f1", "rouge1")),
        ("scorer", ("em", "bleu-2")),
    ],
)
def test_names_of_metrics_number_no_runs(tmp_path: Path, column: str, words: tuple[str, str]) -> None:
    answer = long_form(tmp_path, column, words)
    assert "words that number no runs" in answer.error
    assert f"where: {{{column}: {min(words)}}}" in answer.err


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("name", ("run-1", "run-2")),
        ("name", ("a", "b")),
        ("name", ("1", "2")),
        ("name", ("3f9c2a11", "77b0c9de")),
        ("annotator", ("ann", "bob")),
        ("variant", ("typos", "case")),
    ],
)
def test_what_numbers_runs_or_names_who_ran_them_is_averaged(
    tmp_path: Path, column: str, words: tuple[str, str]
) -> None:
    answer = long_form(tmp_path, column, words)
    assert answer.verdict == "promote"
    assert ("repeats_by_name" in answer.cautions()) is (column != "name")


def test_names_on_the_candidate_side_alone(tmp_path: Path) -> None:
    rows = [
        [{"id": f"q{i}", "name": word, "correct": side} for i in range(N) for word in words]
        for side, words in enumerate((("1", "2"), ("tone", "truth")))
    ]
    answer = decide(tmp_path, policy(BINARY, items={"repeat": "name"}), *rows)
    assert "candidate.jsonl" in answer.error


def test_a_first_look_claims_nothing_where_run_is_inconclusive(tmp_path: Path) -> None:
    rows = sides(exception=lambda side, i: "boom" if broke(side, i) else None)
    files = [write_rows(tmp_path / f"{side}.jsonl", made) for side, made in enumerate(rows)]
    assert decide(tmp_path, BINARY, *rows).verdict == "inconclusive"
    look = command("compare", *files).out
    assert "warning: exception is filled" in look
    assert "nothing: gate run is inconclusive" in look
    assert "would be cleared" not in look
    assert "# CAUTION: exception is filled" in command("init", *files).out
    assert "# CAUTION: nothing could be claimed" in command("init", files[0], files[0]).out


def test_a_first_look_can_choose_rows(tmp_path: Path) -> None:
    rows = [
        [
            {"id": f"q{i}", "name": name, "part": part, "value": (i + side) % 2 if name == "tone" else i % 5}
            for i in range(12)
            for name in ("tone", "truth")
            for part in ("a", "b")
        ]
        for side in (0, 1)
    ]
    files = [write_rows(tmp_path / f"{side}.jsonl", made) for side, made in enumerate(rows)]
    refused = command("compare", *files)
    assert refused.code == 2
    chosen = ["--where", "name=tone", "--where", "part=a"]
    found = command("compare", *files, *chosen)
    assert found.code == 0, found.err
    assert "(jsonl, 12 items by id)" in found.out
    assert "value: pass/fail" in found.out
    assert "reads 12 of 48 baseline rows" in found.out
    assert "--where name=tone --where part=a" in found.out.splitlines()[-1]
    proposed = command("init", *files, *chosen).out
    assert "artifacts: {where: {name: tone, part: a}}" in proposed
    wanted = tmp_path / "gate.yaml"
    wanted.write_text(
        proposed.replace("  margin: ", "  margin: 0.1 ").replace("direction: ", "direction: higher ", 1)
    )
    assert command("check", wanted).code == 0
    assert command("compare", *files, "--where", "name").code == 2
    assert "no row" in command("compare", *files, "--where", "name=rhyme").err
    assert "tells how runs ended" in command("init", *files, "--where", "value=1").err


@pytest.mark.parametrize(
    ("field", "refused"),
    [
        *[("state", True), ("status", True), ("best", True), ("run.status", True), ("score", True)],
        *[("name", False), ("score_name", False), ("status.name", False), ("kind", False)],
    ],
)
def test_a_selector_takes_no_run_by_how_it_ended(tmp_path: Path, field: str, refused: bool) -> None:
    rows: Any = sides(runs=lambda side, i: [{field: "acc", "value": int(side == 1 or i % 3 > 0)}])
    wanted = policy(BINARY, artifacts={"mapping": {"correct": f"runs[{field}=acc].value"}})
    answer = decide(tmp_path, wanted, *([{k: r[k] for k in ("id", "runs")} for r in side] for side in rows))
    if refused:
        assert f"selects by '{field}'" in answer.error
    else:
        assert answer.verdict == "promote"


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
@pytest.mark.parametrize("path", ["runs[kind=acc].score", "run.list.0.score"])
@pytest.mark.parametrize(("failed", "verdict"), [(0, "promote"), (9, "inconclusive")])
def test_what_stands_beside_a_selected_value_is_read(
    tmp_path: Path, failed: int, verdict: str, path: str, suffix: str
) -> None:
    """9 of 40 against none: two-sided p .0024."""
    files = []
    for side in (0, 1):
        entries = [
            [{"kind": "acc", "score": int(side == 1 or i % 3 > 0), "error": ["", "boom"][side * failed > i]}]
            for i in range(N)
        ]
        rows = [{"id": f"q{i}", "runs": one, "run": {"list": one}} for i, one in enumerate(entries)]
        files.append(tmp_path / f"{side}{suffix}")
        text = json.dumps(rows) if suffix == ".json" else "".join(json.dumps(r) + "\n" for r in rows)
        files[-1].write_text(text, encoding="utf-8")
    wanted = policy(BINARY, artifacts={"mapping": {"correct": path}})
    assert decide(tmp_path, wanted, *files).verdict == verdict

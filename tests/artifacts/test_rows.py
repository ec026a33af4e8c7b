"""Rows chosen by a word (``artifacts.where``), and entries of a list chosen by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.artifacts import json_lines

from .helpers import jsonl, refusal, table

LONG = [
    {"id": f"q{i}", "name": name, "score": score}
    for i in range(6)
    for name, score in (("correct", i % 2), ("rude", 1))
]
CSV = "id,name,score\n" + "".join(f"{r['id']},{r['name']},{r['score']}\n" for r in LONG)
WANTED = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("text", [jsonl(LONG), json.dumps(LONG), CSV], ids=["jsonl", "json", "csv"])
def test_only_the_rows_with_the_word_are_read(tmp_path: Path, text: str) -> None:
    found = table(tmp_path, text, where={"name": ("correct",)})
    assert found.ids.tolist() == [f"q{i}" for i in range(6)]
    assert found.values["score"].tolist() == WANTED
    if found.lines is not None:
        step = 1 if text == jsonl(LONG) else 2
        assert found.lines.tolist() == [step + 2 * i for i in range(6)]


def test_large_files_are_filtered_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "QUICK_BYTES", 1)
    assert table(tmp_path, jsonl(LONG), where={"name": ("correct",)}).values["score"].tolist() == WANTED


def test_several_words_and_columns(tmp_path: Path) -> None:
    found = table(tmp_path, jsonl(LONG), repeat="name", where={"name": ("correct", "rude"), "id": ("q1",)})
    assert len(found) == 2


@pytest.mark.parametrize(
    ("cell", "word"), [(True, "true"), (3, "3"), (3.0, "3"), ("3", "3")], ids=["bool", "int", "float", "text"]
)
def test_words_may_be_numbers_and_booleans(tmp_path: Path, cell: Any, word: str) -> None:
    rows = [{"id": "a", "score": 1, "kind": cell}, {"id": "b", "score": 1, "kind": None}]
    assert table(tmp_path, jsonl(rows), where={"kind": (word,)}).ids.tolist() == ["a"]


def test_a_filter_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    error = refusal(tmp_path, jsonl(LONG), where={"name": ("Correct",)})
    assert error.code == "no_rows"
    assert "'Correct'" in error.message
    assert "'rude'" in error.message
    assert refusal(tmp_path, jsonl(LONG), where={"nome": ("x",)}).code == "missing_column"


@pytest.mark.parametrize("least", [1, 1 << 30], ids=["large", "small"])
def test_doubled_ids_are_told_of_the_filter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr(json_lines, "QUICK_BYTES", least)
    assert "where: {name: correct}" in (refusal(tmp_path, jsonl(LONG)).help or "")


@pytest.mark.parametrize("runs", [("1", "2"), ("run-a1", "run-a2"), ("a", "b")])
def test_numbered_runs_are_told_of_repeats(tmp_path: Path, runs: tuple[str, str]) -> None:
    rows = [{"id": f"q{i}", "name": run, "score": 1} for i in range(6) for run in runs]
    assert "items.repeat" in (refusal(tmp_path, jsonl(rows)).help or "")


def stats(*pairs: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"name": {"name": name, "split": "test"}, "mean": mean} for name, mean in pairs]


def helm(path: str, rows: list[dict[str, Any]], folder: Path) -> Any:
    return table(folder, json.dumps(rows), mapping={"score": path})


ROWS = [
    {"id": "a", "stats": stats(("n", 4), ("em", 1))},
    {"id": "b", "stats": stats(("em", 0), ("n", 5))},
]


def test_an_entry_is_selected_by_name_wherever_it_stands(tmp_path: Path) -> None:
    assert helm("stats[name.name=em].mean", ROWS, tmp_path).values["score"].tolist() == [1.0, 0.0]
    deep = [{"id": row["id"], "run": {"out": row}} for row in ROWS]
    found = helm("run.out.stats[name.name=em].mean", deep, tmp_path)
    assert found.values["score"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("layout", [json.dumps, jsonl], ids=["json", "jsonl"])
def test_a_position_among_named_entries_is_refused(tmp_path: Path, layout: Any) -> None:
    error = refusal(tmp_path, layout(ROWS), mapping={"score": "stats.1.mean"})
    assert error.code == "position_of_named"
    assert "[name.name=em]" in (error.help or "")


def test_positions_of_nameless_entries_stay(tmp_path: Path) -> None:
    for entries in ([0, 1], [{"name": "a", "v": 0}], [{"v": 0}, {"v": 1}], [{"name": "a"}, {"name": "a"}]):
        rows = [{"id": "a", "score": 1, "list": entries}]
        assert len(table(tmp_path, json.dumps(rows), mapping={"extra": "list.0"}, columns=("extra",))) == 1


def test_a_selector_must_select_one(tmp_path: Path) -> None:
    rows = [{"id": "a", "stats": stats(("em", 1), ("em", 0))}]
    error = refusal(tmp_path, json.dumps(rows), mapping={"score": "stats[name.name=em].mean"})
    assert error.code == "selector_ambiguous"
    error = refusal(tmp_path, json.dumps(rows), mapping={"score": "stats[name.name=f1].mean"})
    assert error.code == "missing_metric"

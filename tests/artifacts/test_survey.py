"""A first look guesses what a person would guess, and asks nothing of a policy."""

from __future__ import annotations

import json
from pathlib import Path

from gate.artifacts import Survey, survey
from gate.artifacts.survey import SAMPLE_BYTES

from . import tools
from .helpers import jsonl, write
from .tools import even


def look(folder: Path, content: str | bytes) -> Survey:
    return survey(write(folder, "a", content))


def metrics(found: Survey) -> dict[str, tuple[str, str | None]]:
    return {metric.name: (metric.kind, metric.direction) for metric in found.metrics}


def test_mapped_rows(tmp_path: Path) -> None:
    rows = [
        {
            "sample_id": f"q{i}",
            "run": i % 2,
            "correct": even(i),
            "latency_ms": i * 1.5,
            "lang": "ab"[i % 2],
            "note": f"n{i}",
        }
        for i in range(8)
    ]
    found = look(tmp_path, jsonl(rows))
    assert (found.format, found.rows, found.id, found.own_ids) == ("jsonl", 8, "sample_id", False)
    assert metrics(found) == {
        "run": ("binary", None),
        "correct": ("binary", "higher"),
        "latency_ms": ("graded", "lower"),
    }
    assert found.columns == ("lang",)
    assert found.repeat is None


def test_repeats_and_clusters(tmp_path: Path) -> None:
    rows = [{"id": i // 2, "run": i % 2, "score": i % 3, "conversation": f"c{i // 4}"} for i in range(12)]
    found = look(tmp_path, jsonl(rows))
    assert (found.id, found.repeat, found.clusters) == ("id", "run", ("conversation",))


def test_missing_cells_do_not_hide_a_metric(tmp_path: Path) -> None:
    found = look(tmp_path, "id,score,cost\na,1,\nb,NaN,0.5\nc,0,n/a\n")
    assert metrics(found) == {"score": ("binary", "higher"), "cost": ("graded", "lower")}
    assert [metric.values for metric in found.metrics] == [2, 1]


def test_nested_rows(tmp_path: Path) -> None:
    rows = [{"sample": {"id": i}, "scores": {"acc": {"value": i % 2}}} for i in range(4)]
    found = look(tmp_path, json.dumps({"run": {}, "results": rows}))
    assert found.id == "sample.id"
    assert "scores.acc.value" in metrics(found)


def test_tools_know_their_metrics(tmp_path: Path) -> None:
    found = look(
        tmp_path, tools.lm_eval(4, even, filters=("strict-match", "flexible-extract"), metric="exact_match")
    )
    assert list(metrics(found)) == ["exact_match,strict-match", "exact_match,flexible-extract"]
    assert (found.own_ids, found.id) == (True, None)
    found = look(tmp_path, tools.inspect_eval(tools.inspect_samples(4, 2, even)))
    assert found.own_repeats
    assert list(metrics(found)) == ["match", "both.exact", "both.len"]
    assert found.clusters == ("metadata.topic",)
    found = look(tmp_path, tools.junit([("a", "passed"), ("b", "failure")]))
    assert metrics(found) == {
        "passed": ("binary", "higher"),
        "time": ("graded", "lower"),
        "score": ("graded", "higher"),
    }


def test_promptfoo_systems(tmp_path: Path) -> None:
    rows = [
        tools.promptfoo_row(i, even(i), promptIdx=k, provider={"id": f"p{k}"})
        for i in range(4)
        for k in range(2)
    ]
    path = write(tmp_path, "a", tools.promptfoo(rows))
    assert survey(path).systems == ("p0 / Q {{n}}", "p1 / Q {{n}}")
    assert survey(path, system="1").rows == 4
    assert metrics(survey(path))["tone"] == ("graded", "higher")  # named scores are those of assertions


def test_only_the_beginning_of_large_files_is_read(tmp_path: Path) -> None:
    row = json.dumps({"id": "item", "score": 1, "note": "x" * 1000}) + "\n"
    found = look(tmp_path, row * (SAMPLE_BYTES // len(row) + 10))
    assert found.rows is None
    assert metrics(found) == {"score": ("binary", "higher")}

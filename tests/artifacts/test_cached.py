"""What answers from a cache took and cost is missing, in every format that says that they come from one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import GRADED, Answer, command, decide, policy

from gate.artifacts import json_lines

from . import tools
from .helpers import jsonl, table

N = 40
ROWS = [{"id": f"q{i}", "latency_ms": 5.0 + i, "score": i / 4, "cached": i % 2 == 0} for i in range(8)]
CSV = "id,latency_ms,score,cached\n" + "".join(",".join(map(str, row.values())) + "\n" for row in ROWS)
NESTED = [{**row, "response": {"cached": row.pop("cached")}} for row in [dict(row) for row in ROWS]]


@pytest.mark.parametrize(
    "text", [jsonl(ROWS), json.dumps(ROWS), CSV, jsonl(NESTED)], ids=["jsonl", "json", "csv", "nested"]
)
@pytest.mark.parametrize("least", [0, 1 << 30], ids=["large", "small"])
def test_only_time_and_cost_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, least: int
) -> None:
    monkeypatch.setattr(json_lines, "QUICK_BYTES", least)
    found = table(tmp_path, text, metrics={"latency_ms": "graded", "score": "graded"})
    assert np.isnan(found.values["latency_ms"]).tolist() == [True, False] * 4
    assert found.missing["latency_ms"].examples[0][2] == "cached"
    assert not np.isnan(found.values["score"]).any()
    assert not found.failed.any()
    assert found.unread == ()


@pytest.mark.parametrize("name", ["cached", "from_cache", "cacheHit"])
def test_a_renamed_metric_is_still_time(tmp_path: Path, name: str) -> None:
    rows = [{"id": row["id"], "x": row["score"], name: row["cached"]} for row in ROWS]
    found = table(tmp_path, jsonl(rows), metrics={"latency": "graded"}, mapping={"latency": "x"})
    assert int(np.isnan(found.values["latency"]).sum()) == 4
    found = table(tmp_path, jsonl(rows), metrics={"quality": "graded"}, mapping={"quality": "x"})
    assert not np.isnan(found.values["quality"]).any()


def run(folder: Path, cached: tuple[int, int], metric: str, *sections: Any) -> Answer:
    paths = []
    for side, count in enumerate(cached):
        rows = []
        for i in range(N):
            hit = i < count
            row = tools.promptfoo_row(i, side == 1 or i % 3 > 0, response={"output": "a", "cached": hit})
            rows.append(row | {"latencyMs": 5 if hit else 900 + i * 7 % 50, "cost": 0 if hit else 0.01})
        path = folder / f"{'ab'[side]}.json"
        path.write_text(str(tools.promptfoo(rows)))
        paths.append(path)
    kind = "binary" if metric == "success" else "graded"
    way_ = "higher" if metric == "success" else "lower"
    gating = {"metric": metric, "kind": kind, "direction": way_, "margin": 0.01}
    return decide(folder, policy(GRADED, gating=gating, **dict(sections)), *paths)


@pytest.mark.parametrize("cached", [(0, N), (N, N), (0, 1), (1, 0)])
@pytest.mark.parametrize("metric", ["latencyMs", "cost"])
def test_a_rule_on_what_a_cache_took_is_refused(tmp_path: Path, cached: tuple[int, int], metric: str) -> None:
    error = run(tmp_path, cached, metric).error
    assert f"rows have no usable number for {metric}" in error
    assert "cached" in error
    assert "without a cache" in error
    rail = {"metric": metric, "kind": "graded", "direction": "lower", "tolerance": 1}
    assert "cached" in run(tmp_path, cached, "success", ("guardrails", [rail])).error


def test_quality_is_compared_with_or_without_a_cache(tmp_path: Path) -> None:
    """14 of 40 items only the candidate passes: one-sided p 2^-14."""
    for cached in ((0, N), (N, N)):
        assert run(tmp_path, cached, "success").verdict == "promote"
        for name in ("compare", "init"):
            answer = command(name, tmp_path / "a.json", tmp_path / "b.json", "--metric", "success")
            assert answer.code == 0, answer.err
        refused = command("compare", tmp_path / "a.json", tmp_path / "b.json", "--metric", "latencyMs")
        assert refused.code == 2


def test_without_a_cache_nothing_changes(tmp_path: Path) -> None:
    answer = run(tmp_path, (0, 0), "latencyMs")
    assert answer.code in {1, 3}
    assert "cached" not in answer.out

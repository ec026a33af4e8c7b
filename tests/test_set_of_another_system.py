"""A named set whose results are another system's is no evidence about this one: it is said on top."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from black_box import command, with_reports, write_policy

from tests.artifacts.tools import inspect_json, inspect_samples

RAIL = {"metric": "match", "kind": "binary", "direction": "higher", "mode": "no_regression", "set": "safety"}
POLICY = {
    "version": 1,
    "name": "p",
    "gating": {"metric": "match", "kind": "binary", "direction": "higher", "margin": 0.0},
    "guardrails": [RAIL],
    "items": {"min": 4},
}


def log(place: Path, name: str, model: str, first: int) -> Path:
    samples: list[Any] = inspect_samples(40, 1, lambda k: (k + first) % 5 > 0)
    for sample in samples:
        sample["id"] = f"{first}{sample['id']}"
    run = {"task": "t", "task_version": 0, "model": model, "dataset": {"name": f"d{first}", "samples": 40}}
    run["scorers"] = [{"name": "match", "options": {"judge": "j-1"}}]
    path = place / f"{name}.json"
    path.write_text(inspect_json(samples, eval=run), encoding="utf-8")
    return path


@pytest.mark.parametrize(("model", "said"), [("new", False), ("other", True)])
def test_it_is_said_where_the_files_tell(tmp_path: Path, model: str, said: bool) -> None:
    main = [log(tmp_path, "a", "old", 0), log(tmp_path, "b", "new", 0)]
    named = [log(tmp_path, "c", "old", 7), log(tmp_path, "d", model, 7)]
    reports = tmp_path / "report"
    done = command(
        *("run", "--policy", write_policy(tmp_path / "gate.yaml", POLICY), "--baseline", main[0]),
        *("--candidate", main[1], "--set", "safety", *named, "--report-dir", reports),
    )
    answer = with_reports(done, reports)
    assert ("set_of_another_system" in answer.cautions()) is said

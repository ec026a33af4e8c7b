"""HumanEval ``*_results.jsonl``: ``task_id`` with ``passed``; several rows of a task are its samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.json_lines import json_lines
from gate.artifacts.oddities import EMPTY
from gate.artifacts.records import Records
from gate.artifacts.table import ReadRequest
from gate.artifacts.tool_runs import Context, Run, contradiction, records
from gate.safe import quoted

_TEXTS = frozenset({"task_id", "completion", "result", "completion_id", "prompt", "solution"})


def load(content: Content, request: ReadRequest | None) -> Records:
    """All samples. Other numeric columns that runners add are metrics as well."""
    runs = []
    for line, row in json_lines(content):
        _refuse_contradiction(row, content.where(line))
        metrics: dict[str, Any] = {"passed": row.get("passed")}
        metrics |= {name: cell for name, cell in row.items() if name not in _TEXTS and _is_value(cell)}
        runs.append(Run(row.get("task_id"), metrics, row, line=line))
    context = Context(
        format="human_eval",
        path=content.path,
        repeats_by_order=True,
        directions={"passed": "higher"},
        noted={EMPTY: [isinstance(run.raw, dict) and run.raw.get("completion") == "" for run in runs]},
    )
    return records(runs, request, context)


def _is_value(cell: Any) -> bool:
    return cell is None or isinstance(cell, int | float) or not isinstance(cell, str | list | dict)


def _refuse_contradiction(row: Mapping[str, Any], where: str) -> None:
    """``passed`` and ``result`` say the same; words of other runners say nothing."""
    said, passed = str(row.get("result")), row.get("passed")
    if passed is (said != "passed") and said.startswith(("passed", "failed", "timed out")):
        raise contradiction(f"passed is {passed}, but result is {quoted(said)}", where)

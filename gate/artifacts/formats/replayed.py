"""Artifacts of ``gate replay``: a first line about the whole file, then a row for each run of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.json_lines import json_lines
from gate.artifacts.records import Records
from gate.artifacts.run_words import said
from gate.artifacts.table import ReadRequest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, records
from gate.values import GateError

SCHEMA = "gate.replay/1"
MEASURED = ("latency_ms", "input_tokens", "output_tokens", "cost", "faults")
"""What is told of a run beside its scores. Only latency_ms differs from one replay to the next."""
_FACTS = {"dataset": "suite", "dataset_digest": "suite_digest"} | {
    name: name for name in ("window", "system_digest")
}
_HELP = "give the file as gate replay wrote it; runs of two suites are never pooled into one verdict"
Row = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """All runs of one replay."""
    lines = json_lines(content)
    _, head = next(lines)
    scorers = head.get("scorers")
    if not isinstance(scorers, Mapping) or not isinstance(head.get("system"), str):
        raise _invalid("its first line does not say which system was scored by what", content.where(1))
    metrics = (*scorers, *MEASURED)
    runs = [_run(row, line, metrics, content) for line, row in lines]
    context = Context(
        format="replay",
        path=content.path,
        facts={
            **{fact: head[key] for fact, key in _FACTS.items() if head.get(key) is not None},
            "scorer": {name: str(digest) for name, digest in scorers.items()},
            **time_fact([head.get("time")]),
        },
        extra={"case_digest": [run.raw.get("case_digest") for run in runs]},
        directions={"latency_ms": "lower", "cost": "lower", "faults": "lower"},
        system=head["system"],
    )
    if not runs:
        raise GateError("no_items", "there are no runs in it", where=content.path, help=_HELP)
    return records(runs, request, context)


def _run(row: Row, line: int, metrics: tuple[str, ...], content: Content) -> Run:
    if "schema" in row:
        raise _invalid("a second replay begins here", content.where(line), "suites_pooled")
    repeat, status = row.get("repeat"), row.get("status")
    if not isinstance(repeat, int) or not isinstance(status, str):
        raise _invalid("a row does not say which run it is and how it ended", content.where(line))
    found = dict(_metrics(row, metrics))
    failed = said(status) not in {"ran", "passed"}
    return Run(row.get("id"), found, row, failed=failed, repeat=str(repeat), line=line)


def _metrics(row: Row, metrics: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield from ((name, row[name]) for name in metrics if name in row)


def _invalid(message: str, where: str, code: str = "invalid_report") -> GateError:
    return GateError(code, message, where=where, help=_HELP)

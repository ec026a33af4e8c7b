"""EvalPlus and BigCodeBench ``*_eval_results.json``: tasks with the status of each sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.records import Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, records
from gate.safe import quoted
from gate.values import GateError

_PASSED = frozenset({"pass", "passed", "success"})
_FAILED = frozenset({"fail", "failed", "timeout", "timed out"})


def load(content: Content, request: ReadRequest | None) -> Records:
    """``base``, ``plus`` (base and plus tests pass, as the tool counts it), or BigCodeBench's ``pass``."""
    document = content.document()
    refuse_doubled(document, content.path, None)
    tasks = document["eval"]
    refuse_doubled(tasks, content.path, None)
    runs = [run for task, samples in tasks.items() for run in _runs(task, samples, content.path)]
    context = Context(
        format="evalplus",
        path=content.path,
        place=lambda row: f"sample {row + 1}",
        facts=({"dataset_digest": document["hash"]} if isinstance(document.get("hash"), str) else {})
        | time_fact([document.get("date")]),
        repeats_by_order=True,
        directions=dict.fromkeys(("base", "plus", "pass"), "higher"),
    )
    return records(runs, request, context)


def _runs(task: str, samples: Any, path: str) -> Iterator[Run]:
    if isinstance(samples, Mapping):
        yield from _old_runs(task, samples, path)
        return
    for sample in samples if isinstance(samples, list) else [samples]:
        if not isinstance(sample, Mapping):
            raise _odd(task, path)
        refuse_doubled(sample, f"{path} (task {quoted(task)})", None)
        yield Run(task, _metrics(sample), sample)


def _old_runs(task: str, samples: Mapping[str, Any], path: str) -> Iterator[Run]:
    """The layout up to 0.1: ``{nfiles, base: [[status, [..]], ...], plus: [...]}``."""
    base, plus = samples.get("base"), samples.get("plus") or []
    if not isinstance(base, list) or not isinstance(plus, list) or (plus and len(plus) != len(base)):
        raise _odd(task, path)
    for index, entry in enumerate(base):
        found = {"base_status": _status_of(entry)}
        if plus:
            found["plus_status"] = _status_of(plus[index])
        yield Run(task, _metrics(found), found)


def _status_of(entry: Any) -> Any:
    return entry[0] if isinstance(entry, list) and entry else entry


def _metrics(sample: Mapping[str, Any]) -> dict[str, Any]:
    if "status" in sample and "base_status" not in sample:
        return {"pass": _value(sample["status"])}
    base = _value(sample.get("base_status"))
    plus = sample.get("plus_status")
    if plus is None:
        return {"base": base}
    both = _value(plus)
    return {"base": base, "plus": 0 if base == 0 else both}


def _value(status: Any) -> Any:
    if isinstance(status, str) and status.lower() in _PASSED:
        return 1
    if isinstance(status, str) and status.lower() in _FAILED:
        return 0
    return NoNumber(status[:40]) if isinstance(status, str) else None


def _odd(task: str, path: str) -> GateError:
    return GateError("invalid_json", f"task {quoted(task)} holds no list of samples", where=path)

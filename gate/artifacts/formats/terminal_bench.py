"""terminal-bench results.json: one entry a trial, with a verdict that is null where agent or verifier broke.

Its lists of ids count such tasks as unresolved, and name a task of several trials in both; they are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.records import ABSENT, Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, accepted_columns, contradiction, records
from gate.safe import examples, quoted
from gate.values import GateError

VERDICT = "is_resolved"
"""How the policy accepts trials without a verdict as 0: ``completed: {is_resolved: ['*']}``."""
STRICT, COMPLETED = "resolved", "resolved_of_completed"
_OF_THE_AGENT = frozenset(
    {"unset", "none", "agent_timeout", "context_length_exceeded", "output_length_exceeded"}
)
"""Modes of failure that are the agent's own: with a verdict they are results."""
Trial = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """All trials; those of one task are its repeats."""
    document = content.document()
    refuse_doubled(document, content.path, None)
    trials = document["results"]
    for index, trial in enumerate(trials):
        _check(trial, f"{content.path} (trial {index + 1})")
    _refuse_contradictions(document, trials, content.path)
    fine = VERDICT in accepted_columns(request)
    runs = [_run(trial, fine=fine) for trial in trials]
    without = sum(trial[VERDICT] is None for trial in trials)
    text = f"{without} of {len(trials)} trials have no verdict (is_resolved null); they count as "
    context = Context(
        format="terminal_bench",
        path=content.path,
        place=lambda row: f"trial {row + 1}",
        cautions=(("no_verdict", text + ("0" if fine else "failed runs")),) if without else (),
        facts=time_fact(trial.get("trial_started_at") for trial in trials),
        evidence={"failure_mode": [_doubt(trial) for trial in trials]},
        directions={STRICT: "higher"},
        repeats_by_order=True,
    )
    return records(runs, request, context)


def _check(trial: Any, where: str) -> None:
    refuse_doubled(trial, where, None)
    if not isinstance(trial, dict) or not isinstance(trial.get("task_id"), str) or VERDICT not in trial:
        raise GateError("invalid_report", "a trial without task_id or is_resolved", where=where)
    if trial[VERDICT] is not None and not isinstance(trial[VERDICT], bool):
        found = quoted(str(trial[VERDICT]))
        raise GateError(
            "invalid_report", f"is_resolved is not true, false or null (found {found})", where=where
        )


def _refuse_contradictions(document: Mapping[str, Any], trials: list[Trial], path: str) -> None:
    listed = document.get("resolved_ids")
    if not isinstance(listed, list) or not all(isinstance(task, str) for task in listed):
        return
    resolved = {trial["task_id"] for trial in trials if trial[VERDICT]}
    different = sorted(resolved.symmetric_difference(listed))
    if different:
        raise contradiction(f"results and resolved_ids disagree on {examples(different)}", path)


def _run(trial: Trial, *, fine: bool) -> Run:
    verdict = trial[VERDICT]
    strict = int(bool(verdict))
    completed = NoNumber("no verdict") if verdict is None else strict
    failed = verdict is None and not fine
    return Run(trial["task_id"], {STRICT: strict}, {**trial, COMPLETED: completed}, failed=failed)


def _doubt(trial: Trial) -> Any:
    """What may say that an unresolved trial broke."""
    mode = trial.get("failure_mode")
    doubtful = trial[VERDICT] is False and isinstance(mode, str) and mode not in _OF_THE_AGENT
    return mode if doubtful else ABSENT

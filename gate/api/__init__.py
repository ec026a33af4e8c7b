"""The gate for Python: results in, the typed report out. No exit, no output, no state of its own.

>>> from gate import compare, evaluate, load_policy
>>> baseline = [{"id": f"q{i}", "correct": i % 3 > 0} for i in range(300)]
>>> candidate = [{"id": f"q{i}", "correct": i % 3 > 0 or i % 9 == 0} for i in range(300)]
>>> policy = load_policy({"version": 1, "name": "demo", "gating": {
...     "metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.02}})
>>> report = evaluate(policy, baseline, candidate)
>>> report.verdict.value, report.gating.delta
('promote', 0.11333333333333333)
>>> compare(baseline, candidate).gating.discordant
Discordant(only_candidate=34, only_baseline=0)
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any

import gate.report.model
from gate.api.results import Results, named
from gate.planning.first_look import FirstLook, first_look, look_document
from gate.planning.look_text import look_lines
from gate.planning.proposal import propose
from gate.policy.load import LoadedPolicy, load, loads
from gate.run import Files, Request
from gate.run import evaluate as decide
from gate.run.blocks import gating
from gate.values import GateError, Status, __version__

__all__ = ["Gate", "Look", "Report", "Results", "compare", "evaluate", "load_policy"]


class Report(gate.report.model.Report, frozen=True):
    """The report of :func:`evaluate`, which notebooks show as a page."""

    def plain(self) -> gate.report.model.Report:
        """The same without these functions, as the rest of the gate has it."""
        return gate.report.model.Report(**_fields(self))

    def to_markdown(self) -> str:
        """As a job summary shows it."""
        from gate.report.markdown import markdown  # noqa: PLC0415 - templates are for those who print

        return markdown(self.plain())

    def to_html(self) -> str:
        """One self-contained page."""
        from gate.report.html import html  # noqa: PLC0415

        return html(self.plain())

    def to_json(self) -> str:
        """``gate.report/1``, as ``gate run --json`` writes it."""
        return gate.report.model.to_json(self.plain())

    def _repr_html_(self) -> str:
        return _framed(self.to_html())

    def __str__(self) -> str:
        from gate.report.text import text  # noqa: PLC0415

        return text(self.plain())


@dataclass(frozen=True, slots=True)
class Look:
    """What :func:`compare` found. It has no verdict: nobody agreed on a policy before."""

    found: FirstLook

    @property
    def gating(self) -> gate.report.model.Gating:
        """The leading metric, as the gating block of a report."""
        return gating(self.found.gating, Status.REPORTED)

    def to_dict(self) -> dict[str, Any]:
        """``gate.compare/1``, as ``gate compare --json`` writes it."""
        return look_document(self.found)

    def __str__(self) -> str:
        return "\n".join(look_lines(self.found))


def load_policy(policy: str | PathLike[str] | Mapping[str, Any]) -> LoadedPolicy:
    """A checked policy from a file or from the same keys as a mapping.

    Errors: GateError with file, line and help where something in it is wrong.
    """
    if isinstance(policy, Mapping):
        try:
            return loads(json.dumps(policy, indent=1), "policy")
        except (TypeError, ValueError, RecursionError) as error:
            raise GateError("invalid_policy", f"a value cannot be read ({error})", where="policy") from None
    return load(policy)


def compare(
    baseline: Results, candidate: Results, *, metric: str | None = None, missing: str = "error"
) -> Look:
    """A first look at two tables of results, without a policy.

    metric: the column that leads, needed where several could be meant. missing: items without a result are
    refused ("error"), read least favourably ("worst") or left out ("drop"). Errors: GateError.
    """
    files = Files(named(baseline, "baseline"), named(candidate, "candidate"))
    return Look(first_look(propose(files.baseline, files.candidate, metric), files, missing))


def evaluate(
    policy: LoadedPolicy | str | PathLike[str] | Mapping[str, Any],
    baseline: Results,
    candidate: Results,
    *,
    history: str | PathLike[str] | None = None,
    sets: Mapping[str, tuple[Results, Results]] | None = None,
    labels: Results | None = None,
    cycle: str | None = None,
    baseline_id: str | None = None,
    read_only: bool = False,
) -> Report:
    """Decide one candidate, as ``gate run`` does with the same options.

    history: the record of past decisions, which is read and appended; nothing else is written. sets: named
    item sets (baseline, candidate) beside the main one. labels: gold labels by id, for tables of predictions.
    Errors: GateError where nothing can be decided.
    """
    request = Request(
        loaded=policy if isinstance(policy, LoadedPolicy) else load_policy(policy),
        baseline=named(baseline, "baseline"),
        candidates=(named(candidate, "candidate"),),
        sets={
            name: Files(named(one, f"{name}.baseline"), named(other, f"{name}.candidate"))
            for name, (one, other) in (sets or {}).items()
        },
        labels=None if labels is None else named(labels, "labels"),
        history=None if history is None else os.fspath(history),
        read_only=read_only,
        cycle=cycle,
        baseline_id=baseline_id,
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        tool_version=__version__,
    )
    found = decide(request)
    assert isinstance(found, gate.report.model.Report)  # one candidate
    return Report(**_fields(found))


def _fields(report: gate.report.model.Report) -> dict[str, Any]:
    return {name: getattr(report, name) for name in report.__struct_fields__}


@dataclass(frozen=True, slots=True)
class Gate:
    """One policy with its ledger of looks, for loops that try one candidate after another.

    Every look is recorded in ``history`` and spends its part of alpha (``cycles.looks``), so the hundredth
    variant pays for ninety-nine looks. Errors: GateError where the policy keeps no ledger.
    """

    policy: LoadedPolicy
    history: str | PathLike[str]

    def __post_init__(self) -> None:
        if self.policy.policy.cycles.looks is None:
            raise GateError(
                "no_ledger",
                "this policy does not say how many looks may be taken",
                where=self.policy.where("cycles"),
                help="declare them: cycles: {looks: 100}; start the history with gate history init",
            )

    def look(self, baseline: Results, candidate: Results, *, cycle: str | None = None) -> Report:
        """Decide one candidate, at the level that is left for this look."""
        return evaluate(self.policy, baseline, candidate, history=self.history, cycle=cycle)


def _framed(page: str) -> str:
    """A page inside a notebook's page, where neither's styles reach the other."""
    from html import escape  # noqa: PLC0415

    return f'<iframe srcdoc="{escape(page)}" width="100%" height="640" style="border:0" sandbox></iframe>'

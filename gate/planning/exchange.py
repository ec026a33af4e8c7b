"""Two real runs with items drawn anew or with their sides exchanged, decided by the gate's own rules."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.cycles.assess import Outcome
from gate.cycles.looks import Look
from gate.pairing.model import IndexArray, PairedMetric, PairedTable
from gate.planning.world import refuse_kinds
from gate.policy.model import Policy
from gate.run.intake import ItemSet
from gate.run.pipeline import judge_look
from gate.run.request import Request
from gate.run.summary import for_history
from gate.values import GateError

FEW_VALUES = 8
MOST_KEPT = 50_000


def refuse_policy(policy: Policy) -> None:
    """What cannot be simulated by exchanging the sides of items."""
    refuse_kinds(policy)
    named = {rule.set for rule in (policy.gating, *policy.guardrails) if rule.set is not None}
    if named:
        raise GateError(
            "not_available",
            f"the policy has rules for the item set {sorted(named)[0]!r}: one set of items can be replayed",
            help="replay a copy of the policy without the rules of named sets",
        )


def exchanged(table: PairedTable, rows: IndexArray, swap: BoolArray) -> PairedTable:
    """The rows of these items, with baseline and candidate exchanged where ``swap`` says so."""
    return replace(
        table,
        ids=table.ids[rows],
        metrics={name: _exchanged(metric, rows, swap) for name, metric in table.metrics.items()},
        columns={name: column[rows] for name, column in table.columns.items()},
        shown={name: column[rows] for name, column in table.shown.items()},
        clusters=None if table.clusters is None else table.clusters[rows],
        positive=None if table.positive is None else table.positive[rows],
    )


def _exchanged(metric: PairedMetric, rows: IndexArray, swap: BoolArray) -> PairedMetric:
    old, new = metric.baseline[rows], metric.candidate[rows]
    runs = metric.runs
    if runs is not None:
        first, second = (_widened(side[rows], max(side.shape[1] for side in runs)) for side in runs)
        runs = (np.where(swap[:, None], second, first), np.where(swap[:, None], first, second))
    return replace(
        metric,
        baseline=np.where(swap, new, old),
        candidate=np.where(swap, old, new),
        runs=runs,
        other=None if metric.other is None else _exchanged(metric.other, rows, swap),
    )


def _widened(runs: FloatArray, width: int) -> FloatArray:
    gap = np.full((len(runs), width - runs.shape[1]), np.nan)
    return np.hstack([runs, gap])


@dataclass(slots=True)
class Answers:
    """The gate's answer to one look at a table.

    No digit of a decision depends on ids or on the order of rows: where rows are a few values alone, tables
    with the same multiset of rows have one answer, which is kept.
    """

    request: Request
    _known: dict[bytes, Outcome] = field(default_factory=dict)

    def outcome(self, found: ItemSet, table: PairedTable, look: Look) -> Outcome:
        """Every rule at the look's level, and what the history holds against it."""
        name = self._name(table, look)
        known = None if name is None else self._known.get(name)
        if known is None:
            judged = judge_look(self.request, {None: replace(found, table=table)}, look)
            known = for_history(
                judged, revealed=False, digests=self.request.loaded.policy.cycles.on_alarm == "hold"
            )
            if name is not None and len(self._known) < MOST_KEPT:
                self._known[name] = known
        return known

    def _name(self, table: PairedTable, look: Look) -> bytes | None:
        """What the answer depends on; None where that is more than a few values a row."""
        policy = self.request.loaded.policy
        if policy.slices is not None or policy.items.must_pass is not None or table.clusters is not None:
            return None
        metrics = [metric for _, metric in sorted(table.metrics.items())]
        if any(metric.runs is not None or metric.other is not None for metric in metrics):
            return None
        codes = _codes([side for metric in metrics for side in (metric.baseline, metric.candidate)])
        if codes is None:
            return None
        place = (look.attempt.cycle, look.level, [fault.code for fault in look.faults], table.identical)
        return hashlib.sha256(repr(place).encode() + np.sort(codes).tobytes()).digest()


def _codes(columns: Sequence[FloatArray]) -> IndexArray | None:
    """One number a row for all its values; None where a number cannot hold them."""
    total = np.zeros(len(columns[0]), dtype=np.int64)
    if (FEW_VALUES + 1) ** len(columns) >= 2**62:
        return None
    digest = hashlib.sha256()
    for column in columns:
        values = np.unique(column)
        if len(values) > FEW_VALUES:
            return None
        digest.update(values.tobytes() + b"|")
        total = total * (FEW_VALUES + 1) + np.searchsorted(values, column)
    # the first row stands for which values the numbers mean
    return np.append(total, int.from_bytes(digest.digest()[:7], "big"))

"""One metric's values per item, and how results that are not there are read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray, Missing
from gate.errors import GateError, quoted
from gate.pairing.model import IndexArray, MetricRule, PairedMetric, PairingRules
from gate.pairing.side import Side


@dataclass(frozen=True, slots=True)
class _Runs:
    """One side of one metric on the aligned items: sum and extremes over the valid runs, their number."""

    total: FloatArray
    lowest: FloatArray
    highest: FloatArray
    valid: FloatArray
    expected: int


def paired_metric(
    name: str,
    rule: MetricRule,
    sides: tuple[Side, Side],
    rows: tuple[IndexArray, IndexArray],
    rules: PairingRules,
) -> PairedMetric:
    """Both readings of a metric: the policy's own first, the other honest one in ``other``.

    Errors: missing values under ``items.missing: error``; "worst" asked for where the worst is unknown.
    """
    used = [side for side in sides if not (rule.candidate_only and side.name == "baseline")]
    if rules.missing == "error":
        for side in used:
            _refuse_missing(name, side)
    runs = tuple(_runs(name, side, row) for side, row in zip(sides, rows, strict=True))
    averaged = any(run.expected > 1 for run in runs) and rules.reduce == "mean"
    dropped = _dropped(rule, runs, rules.reduce, averaged=averaged)
    incomplete = _incomplete(rule, runs)
    lost = int(incomplete.sum())
    if not lost:
        return dropped
    failed = any(bool(side.table.failed.any()) for side in used)
    known = rule.worst is not None
    worst = _worst(rule, runs, rules.reduce, averaged=averaged) if known else None
    if rules.missing != "drop" and worst is None:
        raise GateError(
            "worst_unknown",
            f"{lost} items lack a result for {name}, and the worst possible {name} is not declared",
            where=sides[1].path,
            help=f"declare scale: [lowest, highest] for {name}, or set items.missing: drop",
        )
    if rules.missing == "drop" or worst is None:
        return replace(dropped, incomplete=lost, reading="drop", failed=failed, other=worst)
    return replace(worst, incomplete=lost, reading="worst", failed=failed, other=dropped)


def missing_share(metrics: dict[str, PairedMetric], n_items: int) -> float:
    """Largest share of items that any metric lacks a result for, on either side."""
    return max((metric.incomplete / n_items for metric in metrics.values()), default=0.0)


def _refuse_missing(name: str, side: Side) -> None:
    if name not in side.table.values:
        return
    lost = np.isnan(side.table.values[name]) & ~side.table.failed
    if not bool(lost.any()):
        return
    note = side.table.missing.get(name, Missing(0, ()))
    found = ", ".join(
        f"{quoted(item)} {place}: {what}".replace("  ", " ") for item, place, what in note.examples
    )
    raise GateError(
        "missing_values",
        f"{int(lost.sum())} {side.name} rows have no usable number for {name} ({found})",
        where=side.path,
        help="score these items again; items.missing: worst or drop with items.max_missing "
        "accepts a stated share",
    )


def _runs(name: str, side: Side, row: IndexArray) -> _Runs:
    values = side.table.values.get(name)
    if values is None:
        empty = np.zeros(len(row))
        return _Runs(empty, empty, empty, empty, side.repeats)
    ok = np.isfinite(values) & ~side.table.failed
    if side.repeats == 1:
        return _single_run(values, ok, row)
    groups, kept, n = side.groups[ok], values[ok], len(side.ids)
    by_value = np.lexsort((kept, groups))  # so that the order of rows changes no digit of a sum
    groups, kept = groups[by_value], kept[by_value]
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(lowest, groups, kept)
    np.maximum.at(highest, groups, kept)
    total = np.bincount(groups, kept, n).astype(np.float64)
    valid = np.bincount(groups, minlength=n).astype(np.float64)
    return _Runs(
        total=_placed(total, row),
        lowest=_placed(lowest, row),
        highest=_placed(highest, row),
        valid=_placed(valid, row),
        expected=side.repeats,
    )


def _single_run(values: FloatArray, ok: BoolArray, row: IndexArray) -> _Runs:
    placed = _placed(np.where(ok, values, 0.0), row)
    return _Runs(placed, placed, placed, _placed(ok.astype(np.float64), row), 1)


def _placed(values: FloatArray, row: IndexArray) -> FloatArray:
    """The side's values in the order of the paired items, 0 where the side does not hold the item."""
    here = row >= 0
    if bool(here.all()):
        return np.asarray(values[row], dtype=np.float64)
    placed = np.zeros(len(row))
    placed[here] = values[row[here]]
    return placed


def _incomplete(rule: MetricRule, runs: tuple[_Runs, ...]) -> BoolArray:
    short = [run.valid < run.expected for run in runs]
    return short[1] if rule.candidate_only else short[0] | short[1]


def _dropped(rule: MetricRule, runs: tuple[_Runs, ...], reduce: str, *, averaged: bool) -> PairedMetric:
    """Failed or missing runs left out; NaN only where a side has no run left."""
    sides = []
    for run in runs:
        some = run.valid > 0
        value = _reduced(rule, run, reduce)
        sides.append(np.where(some, value, np.nan))
    counts = [(run.total, run.valid) for run in runs]
    return _metric(rule, sides, counts, averaged=averaged)


def _worst(rule: MetricRule, runs: tuple[_Runs, ...], reduce: str, *, averaged: bool) -> PairedMetric:
    """Each missing run read least favourably to the candidate: its own worst, the baseline's best."""
    sides, counts = [], []
    for run, fill in zip(runs, (rule.best, rule.worst), strict=True):
        assert fill is not None
        short = run.valid < run.expected
        filled = _Runs(
            total=run.total + (run.expected - run.valid) * fill,
            lowest=np.where(short, np.minimum(np.where(run.valid > 0, run.lowest, np.inf), fill), run.lowest),
            highest=np.where(
                short, np.maximum(np.where(run.valid > 0, run.highest, -np.inf), fill), run.highest
            ),
            valid=np.full(len(run.valid), float(run.expected)),
            expected=run.expected,
        )
        sides.append(_reduced(rule, filled, reduce))
        counts.append((filled.total, filled.valid))
    return _metric(rule, sides, counts, averaged=averaged)


def _reduced(rule: MetricRule, run: _Runs, reduce: str) -> FloatArray:
    """One value per item from its runs: the mean, or the worst run (pass^K for pass/fail)."""
    if reduce == "worst" or (reduce == "pass_all" and rule.kind == "binary"):
        return run.lowest if rule.direction == "higher" else run.highest
    return run.total / np.maximum(run.valid, 1.0)


def _metric(
    rule: MetricRule,
    sides: list[FloatArray],
    counts: list[tuple[FloatArray, FloatArray]],
    *,
    averaged: bool,
) -> PairedMetric:
    if not (averaged and rule.kind == "binary"):
        return PairedMetric(sides[0], sides[1], averaged=averaged)
    return PairedMetric(
        sides[0],
        sides[1],
        averaged=True,
        passes_baseline=counts[0][0],
        passes_candidate=counts[1][0],
        runs_baseline=counts[0][1],
        runs_candidate=counts[1][1],
    )

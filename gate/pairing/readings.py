"""One metric's values per item, and how results that are not there are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gate.artifacts.table import FloatArray, Missing
from gate.pairing.model import NO_FILE, IndexArray, MetricRule, PairedMetric, PairingRules
from gate.pairing.side import Side
from gate.safe import examples, quoted
from gate.stats.pass_k import pass_at_k, pass_hat_k
from gate.values import GateError

ERROR_RATE: Final = "error_rate"
"""A pass/fail metric of this name is made of the runs, unless ``artifacts.mapping`` names a column for it."""


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
    if rule.made == ERROR_RATE:
        return failed_runs(rule, sides, rows)
    if rule.partial:
        return metric_of_runs(rule, (_runs(name, sides[0], rows[0]), _runs(name, sides[1], rows[1])), "mean")
    used = [side for side in sides if not (rule.candidate_only and side.name == "baseline")]
    if rules.missing == "error":
        for side in used:
            _refuse_missing(name, side)
            _refuse_uneven(side)
    runs = (_runs(name, sides[0], rows[0]), _runs(name, sides[1], rows[1]))
    if not rule.candidate_only and not is_mean(rule.kind, rules.reduce):
        _refuse_unequal(name, runs, sides, rules)
    dropped = metric_of_runs(rule, runs, rules.reduce)
    counted = runs[1:] if rule.candidate_only else runs
    lost = int(np.isnan(np.hstack(counted)).any(axis=1).sum())
    if not lost:
        return dropped
    filled = _worst(rule, runs)
    worst = None if filled is None else metric_of_runs(rule, filled, rules.reduce)
    failed = any(bool(side.table.failed.any()) for side in used)
    if rules.missing == "drop":
        first, reading, other = dropped, "drop", worst
    elif worst is None:
        raise _worst_unknown(name, lost, sides[1].path)
    else:
        first, reading, other = worst, "worst", dropped
    share = _missing_share(counted)
    return replace(first, incomplete=lost, missing_share=share, reading=reading, failed=failed, other=other)


def failed_runs(
    rule: MetricRule, sides: tuple[Side, Side], rows: tuple[IndexArray, IndexArray]
) -> PairedMetric:
    """1 where a run failed, 0 where it completed, whatever else is missing; an item that a side lacks failed.

    Errors: a file does not say which runs failed, so that none seems to have.
    """
    for side in sides[1:] if rule.candidate_only else sides:
        if not side.table.failures_told:
            raise GateError(
                "failures_untold",
                f"{ERROR_RATE} is the share of runs that failed, and the {side.name} file does not say which "
                "did",
                where=side.path,
                help="write a column status (ok, error), or name the one that says it in artifacts.failed",
            )
    first, second = (_failures(side, row) for side, row in zip(sides, rows, strict=True))
    return metric_of_runs(rule, (first, second), "mean")


def _failures(side: Side, row: IndexArray) -> FloatArray:
    """[items, runs] of the aligned items; NaN where the file, if there is one, does not tell."""
    if side.path == NO_FILE or not side.table.failures_told:
        return np.full((len(row), side.repeats), np.nan)
    failed = replace(side.table, failed=np.zeros_like(side.table.failed))
    failed = replace(failed, values={ERROR_RATE: side.table.failed.astype(np.float64)})
    found = _runs(ERROR_RATE, replace(side, table=failed), row)
    found[row < 0, 0] = 1.0
    return found


def _worst_unknown(name: str, lost: int, path: str) -> GateError:
    return GateError(
        "worst_unknown",
        f"{lost} items lack a result for {name}, and the worst possible {name} is not declared",
        where=path,
        help=f"declare scale: [lowest, highest] for {name}, or set items.missing: drop",
    )


def missing_share(metrics: dict[str, PairedMetric]) -> float:
    """The largest share of items without any result on a side, or of runs of one side, in any metric."""
    return max(metric.missing_share for metric in metrics.values())


def _missing_share(runs: Sequence[FloatArray]) -> float:
    """A run that failed is one missing run; an item is missing when none of its runs is left."""
    gaps = [np.isnan(side) for side in runs]
    items = np.logical_or.reduce([side.all(axis=1) for side in gaps])
    return max(float(items.mean()), *(float(side.mean()) for side in gaps))


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
    hit = any(what == "cached" for _, _, what in note.examples)
    cached = "answers from a cache have no time or cost of their own: " if hit else ""
    raise GateError(
        "missing_values",
        f"{int(lost.sum())} {side.name} rows have no usable number for {name} ({found})",
        where=side.path,
        help=f"{cached}score these items again{' without a cache' if cached else ''}; "
        "items.missing: worst or drop with items.max_missing accepts a stated share",
    )


def _refuse_uneven(side: Side) -> None:
    """A side that leaves out some runs of some items could leave out the ones that failed."""
    short = side.runs < side.repeats
    if not bool(short.any()):
        return
    names = [str(item) for item in side.ids[short]]
    raise GateError(
        "uneven_repeats",
        f"{len(names)} items have fewer than {side.repeats} runs in the {side.name} file ({examples(names)})",
        where=side.path,
        help="run every item equally often; items.missing: worst or drop with items.max_missing "
        "accepts a stated share of missing runs",
    )


def _refuse_unequal(
    name: str, runs: tuple[FloatArray, FloatArray], sides: tuple[Side, Side], rules: PairingRules
) -> None:
    """The worst of five runs is lower than the worst of one whatever the system: it takes as many a side.

    Under "worst" and "error" every run counts, those that are missing too; under "drop" those that are left.
    """
    if rules.missing == "drop":
        counts = [(~np.isnan(side)).sum(axis=1) for side in runs]
        unequal = (counts[0] != counts[1]) & (counts[0] > 0) & (counts[1] > 0)
        if not bool(unequal.any()):
            return
        found = f"{int(unequal.sum())} items have other numbers of runs on the two sides"
    elif runs[0].shape[1] != runs[1].shape[1]:
        found = f"{runs[0].shape[1]} in the baseline, {runs[1].shape[1]} in the candidate"
    else:
        return
    raise GateError(
        "unequal_runs",
        f"items.reduce: {rules.reduce} needs equally many runs of {name} on both sides ({found})",
        where=sides[1].path,
        help="run both systems equally often, or compare means with items.reduce: mean",
    )


def _runs(name: str, side: Side, row: IndexArray) -> FloatArray:
    """[items, runs] of the aligned items, ascending within an item, NaN where there is no result.

    Ascending, so that the order of rows in the file changes no digit of a sum.
    """
    values = side.table.values.get(name)
    if values is None:
        return np.full((len(row), side.repeats), np.nan)
    clean = np.where(np.isfinite(values) & ~side.table.failed, values, np.nan)
    here = row >= 0
    if side.repeats == 1:
        return np.where(here, clean[row], np.nan)[:, None]
    runs = np.full((len(row), side.repeats), np.nan)
    order = np.lexsort((clean, side.groups))
    starts = np.cumsum(side.runs) - side.runs
    by_item = np.full((len(side.ids), side.repeats), np.nan)
    groups = side.groups[order]
    by_item[groups, np.arange(len(order)) - starts[groups]] = clean[order]
    runs[here] = by_item[row[here]]
    return runs


def _worst(rule: MetricRule, runs: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray] | None:
    """Each missing run read least favourably to the candidate: its own worst, the baseline's best."""
    if rule.ends is None:
        return None
    low, high = rule.ends
    worst, best = (low, high) if rule.direction == "higher" else (high, low)
    return (np.where(np.isnan(runs[0]), best, runs[0]), np.where(np.isnan(runs[1]), worst, runs[1]))


def metric_of_runs(rule: MetricRule, runs: tuple[FloatArray, FloatArray], reduce: str) -> PairedMetric:
    """One value an item and side from its runs, [items, runs] with NaN where there is no result."""
    repeated = runs[0].shape[1] > 1 or runs[1].shape[1] > 1
    return PairedMetric(
        baseline=_reduced(rule, runs[0], reduce),
        candidate=_reduced(rule, runs[1], reduce),
        averaged=repeated and is_mean(rule.kind, reduce),
        runs=runs if repeated else None,
    )


def is_mean(kind: str, reduce: str) -> bool:
    """Whether repeats become a mean over runs, a number per item also where each run is pass or fail."""
    how, _, k = reduce.partition(":")
    return how == "mean" or bool(k) or (how in {"pass_all", "any"} and kind != "binary")


def _reduced(rule: MetricRule, runs: FloatArray, reduce: str) -> FloatArray:
    """One value per item from its runs: their mean, the worst or best of them, or a chance over k of them.

    pass^k and pass@k are of pass/fail; where lower is better, a run passes that is 0, and the value is the
    chance of the opposite, so that it stays in the metric's unit.
    """
    how, _, k = reduce.partition(":")
    if k and rule.kind == "binary":
        return _of_some(rule, runs, how, int(k))
    if runs.shape[1] == 1:
        return runs[:, 0]
    if is_mean(rule.kind, reduce):
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nansum(runs, axis=1) / (~np.isnan(runs)).sum(axis=1), dtype=np.float64)
    lowest = (rule.direction == "higher") is (how != "any")
    chosen = np.fmin if lowest else np.fmax
    return np.asarray(chosen.reduce(runs, axis=1), dtype=np.float64)


def _of_some(rule: MetricRule, runs: FloatArray, how: str, k: int) -> FloatArray:
    """Whatever the number of runs of an item, which must be at least k; NaN where it has none."""
    total = (~np.isnan(runs)).sum(axis=1)
    good = (runs == (1.0 if rule.direction == "higher" else 0.0)).sum(axis=1)
    known = total > 0
    found = np.full(len(runs), np.nan)
    if bool(known.any()):
        chance = pass_hat_k if how == "pass_hat" else pass_at_k
        found[known] = chance(total[known], good[known], k)
    return found if rule.direction == "higher" else np.asarray(1.0 - found, dtype=np.float64)

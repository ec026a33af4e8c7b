"""The heart of every rule that rests on a test: choose it, run it, and put all that is reported beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gate.compare.clustering import cluster_block
from gate.compare.measure import Bound, Tested, described, run_test
from gate.compare.model import Comparison
from gate.compare.selection import Selection
from gate.compare.setting import Setting, TestChoice
from gate.stats.binary_intervals import requested_interval
from gate.stats.methods import METHODS
from gate.stats.procedures import p_of_counts
from gate.stats.results import TestResult
from gate.values import Caution
from gate.words import p_value

VETOES = frozenset({"no_regression", "slice_no_regression"})
SAME_FILE = (
    "baseline and candidate are the same file, or a copy, and the same system: there is nothing to compare"
)


def compare(
    choice: TestChoice,
    rule_id: str,
    role_mode: tuple[str, str],
    selection: Selection,
    bound: Bound,
    setting: Setting,
    *,
    target: float = 0.0,
) -> Comparison:
    """One deciding test of H0 "delta <= bound.null_value" on one selection.

    role_mode: what the rule is for and how it is decided. target: the gain (or loss) that the set should be
    able to see; 0 takes the observed one. Without any pair the comparison is there, and says so.
    """
    metric = selection.metric
    empty = Comparison(
        rule=rule_id,
        role=role_mode[0],
        mode=role_mode[1],
        metric=choice.metric,
        set=choice.set,
        kind=choice.kind,
        direction=choice.direction,
        method="none",
        n=selection.n,
        level=setting.level,
        reading=metric.reading,
        incomplete=metric.incomplete,
        insufficient="no item has a result on both sides",
    )
    if selection.n == 0:
        return empty
    method = method_of(choice, selection, 0.0 if bound.shift else bound.null_value, setting)
    tested = run_test(
        selection, method, bound.null_value, setting.level, shift=bound.shift, scale=choice.bounds()
    )
    beside = described(selection, tested.pairs, setting.level, target)
    return replace(
        empty,
        **beside,
        **_decisive(tested, role_mode[1]),
        insufficient=_data_row(selection, tested.result, setting),
        interval_requested=_requested(choice, tested, setting),
        cautions=(*tested.result.cautions, *_exact_disagrees(choice, tested, role_mode[1], setting)),
        seed_reading=_seed_reading(tested, beside.get("mde"), beside["delta"]),
        clusters=cluster_block(selection),
    )


def method_of(choice: TestChoice, selection: Selection, null_value: float, setting: Setting) -> str:
    """The test's id for this selection."""
    clustered = selection.table.clusters is not None
    return choice.method(selection.metric, null_value, clustered=clustered, seeds=setting.seeds)


def _decisive(tested: Tested, mode: str) -> dict[str, Any]:
    result = tested.result
    harm = mode in VETOES
    return {
        "method": result.method,
        "null_value": tested.null_value,
        "interval": tested.interval,
        "p_value": result.p_less if harm else result.p_greater,
        "p_two_sided": result.p_two_sided,
        "clears_bound": result.interval.low > result.null_value,
        "worse": tested.interval.high < 0,
        "smallest_p": result.smallest_p,
        "estimand": result.estimand,
        "estimand_value": result.estimand_value,
        "resamples": result.resamples,
        "seed": result.seed,
    }


def _data_row(selection: Selection, result: TestResult, setting: Setting) -> str:
    """Why these data cannot carry a claim, whatever the test says; empty if they can."""
    if selection.table.identical:
        return SAME_FILE
    if selection.n < setting.min_items:
        counts = f"{int((selection.gains > 0).sum())} better, {int((selection.gains < 0).sum())} worse"
        return f"{selection.n} items, fewer than items.min {setting.min_items} ({counts})"
    return result.insufficient


def _exact_disagrees(choice: TestChoice, tested: Tested, mode: str, setting: Setting) -> tuple[Caution, ...]:
    """An approximate test of pass/fail that lets the candidate through where the exact one would not."""
    result, pairs = tested.result, tested.pairs
    method = METHODS.get(result.method)
    approximate = method is not None and method.sample == "pairs" and not method.bounded
    if not (choice.kind == "binary" and pairs.binary and approximate) or mode == "watch":
        return ()
    harm = mode in VETOES
    b, c, m = (pairs.c, pairs.b, -result.null_value) if harm else (pairs.b, pairs.c, result.null_value)
    exact_id = "mcnemar_exact" if m == 0 else "exact_unconditional"
    exact = p_of_counts(exact_id, b, c, pairs.n, m, setting.level)
    p = result.p_less if harm else result.p_greater
    if (p < setting.level) is harm or (exact < setting.level) is not harm:
        return ()
    found = f"{result.method} passes (p {p_value(p)}), {exact_id} does not (p {p_value(exact)})"
    return (Caution("exact_test_disagrees", f"{found} at level {setting.level:g}"),)


def _requested(choice: TestChoice, tested: Tested, setting: Setting) -> Any:
    if choice.interval is None or not tested.pairs.binary:
        return None
    return requested_interval(choice.interval, tested.pairs, setting.level)


def _seed_reading(tested: Tested, mde: float | None, delta: float) -> str:
    """The published reading: does the interval exclude 0, and is the delta as large as the MDE?"""
    if tested.interval.low <= 0 <= tested.interval.high:
        return "cannot_answer"
    return "publish" if mde is not None and abs(delta) >= mde else "sign_only"

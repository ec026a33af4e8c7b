"""The heart of every rule that rests on a test: choose it, run it, and put all that is reported beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gate.estimands import Estimand, OneSide, Selection, oriented_pairs
from gate.measure.model import Asked, Evidence, Margin, Tested, Tolerance, Untested, Veto, Visible
from gate.measure.setting import Setting, TestChoice
from gate.measure.words import p_value
from gate.policy.model import Amount, Rule
from gate.stats import power
from gate.stats.binary_intervals import requested_interval
from gate.stats.methods import METHODS
from gate.stats.pairs import Pairs
from gate.stats.procedures import p_of_counts, run
from gate.stats.results import Interval, TestResult
from gate.values import Caution, GateError, Role

SAME_FILE = (
    "baseline and candidate are the same file, or a copy, and the same system: there is nothing to compare"
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A margin or tolerance in effect. amount: in the metric's unit. null_value: where H0 ends.

    shift: for bounds that are a share of each item's baseline, r in "gain - r * baseline" (negative for a
    tolerance).
    """

    amount: float = 0.0
    null_value: float = 0.0
    shift: float = 0.0
    relative: float | None = None
    cautions: tuple[Caution, ...] = ()

    @property
    def tested_null(self) -> float:
        """The null value as the test is told: a share is taken off item by item."""
        return 0.0 if self.shift else self.null_value


@dataclass(frozen=True, slots=True)
class Case:
    """One rule on one selection: everything that measuring needs."""

    asked: Asked
    choice: TestChoice
    estimand: Estimand
    selection: Selection
    setting: Setting

    @property
    def scale(self) -> tuple[float, float] | None:
        """Lowest and highest value that the metric can take, if the policy says so."""
        return self.estimand.ends or self.choice.scale

    def header(self) -> dict[str, Any]:
        """Fields of the comparison that do not depend on its outcome."""
        metric = self.selection.metric
        return {
            "asked": self.asked,
            "n": self.selection.n,
            "reading": metric.reading,
            "incomplete": metric.incomplete,
        }


def choice_of(rule: Rule) -> TestChoice:
    """How a rule of the policy is tested."""
    return TestChoice(rule.test, rule.interval, rule.scale, rule.assurance)


def effective_bound(amount: Amount, case: Case, *, sign: int, where: str) -> Bound:
    """A margin (sign +1) or tolerance (sign -1) as the number it means on these items.

    Errors: a relative bound where the baseline's mean is not above 0, so that a share of it means nothing.
    """
    if isinstance(amount, float):
        return Bound(amount, sign * amount)
    share, mean = amount.relative, baseline_value(case)
    if case.selection.n and mean <= 0:
        what = "mean" if case.estimand.by_item else f"{case.asked.kind}"
        raise GateError(
            "relative_baseline",
            f"{where} is relative, but the baseline's {what} is {mean:g}, so a share of it means nothing",
            help="write the bound in the metric's own unit",
        )
    bound = share * mean
    if case.estimand.relative_by_item:
        return Bound(bound, sign * bound, shift=sign * share, relative=share)
    text = f"{where} is {share:g} of the observed baseline, taken as if it were known exactly: {bound:.6g}"
    return Bound(bound, sign * bound, relative=share, cautions=(Caution("relative_plugged_in", text),))


def baseline_value(case: Case) -> float:
    """The baseline's value on the selected items, in the metric's unit; 0 where it has none."""
    selection = case.selection
    side = OneSide(selection.table, "baseline", selection.positions, selection.baseline)
    return case.estimand.value(side) or 0.0


def compare(
    case: Case, wanted: Margin | Tolerance | Veto | None, bound: Bound, target: float = 0.0
) -> Tested | Untested:
    """One deciding test of H0 "delta <= bound.null_value" on one selection.

    target: the gain (or loss) that the set should be able to see; 0 takes the observed one. Without any pair
    the comparison is there, and says so.
    """
    selection, estimand = case.selection, case.estimand
    if selection.n == 0:
        nothing = "no item has a result on both sides"
        return Untested(**case.header(), method="none", wanted=wanted, insufficient=nothing)
    method = case.choice.method(estimand, bound.tested_null)
    _refuse_mirrored(case, method)
    result = run_test(case, method, bound)
    harm = isinstance(wanted, Veto)
    sides = estimand.sides(selection)
    if math.isnan(sides.delta):
        return Untested(
            **case.header(), method=result.method, wanted=wanted, insufficient=result.insufficient
        )
    return Tested(
        **case.header(),
        method=result.method,
        wanted=wanted,
        sides=sides,
        evidence=_evidence(case, result, bound, harm=harm),
        visible=_visible(case, target if target > 0 else abs(sides.delta)),
        clusters=estimand.unit_facts(selection),
        insufficient=data_row(case, result.insufficient),
        cautions=(*selection.metric.notes, *result.cautions, *_exact_disagrees(case, result, harm=harm)),
    )


def _refuse_mirrored(case: Case, method: str) -> None:
    """Means over other numbers of runs: two equal systems give skewed differences."""
    if METHODS[method].mirrored and case.selection.unequal_runs:
        raise GateError(
            "unequal_runs",
            f"{method} needs as many runs of {case.asked.metric} on both sides: "
            "means of other numbers of runs do not mirror each other where nothing changed",
            help="leave test: out, or run both systems equally often",
        )


def run_test(case: Case, method: str, bound: Bound) -> TestResult:
    """Apply one method of the table at one bound, in the unit of the tested difference.

    With a shift that is gain - shift * baseline, against 0.
    """
    sample = case.estimand.sample(case.selection, bound.shift)
    return run(method, sample, bound.tested_null, case.asked.level, scale=case.scale)


def p_above(case: Case, method: str, bound: Bound) -> float:
    """The one-sided p alone, where the interval is not wanted and would cost the most."""
    sample = case.estimand.sample(case.selection, bound.shift)
    if METHODS[method].form == "counts" and isinstance(sample, Pairs):
        level = case.asked.level
        return p_of_counts(method, sample.b, sample.c, sample.n, bound.tested_null, level)
    return run_test(case, method, bound).p_greater


def plain_interval(result: TestResult, bound: Bound) -> Interval:
    """The interval moved back by a shift's amount, so that it can be read beside the plain difference."""
    found = result.interval
    if not bound.shift:
        return found
    low, high = found.low + bound.null_value, found.high + bound.null_value
    return Interval(low, high, found.confidence, found.method)


def _evidence(case: Case, result: TestResult, bound: Bound, *, harm: bool) -> Evidence:
    return Evidence(
        interval=plain_interval(result, bound),
        p_value=result.p_less if harm else result.p_greater,
        p_two_sided=result.p_two_sided,
        clears_bound=result.interval.low > result.null_value,
        smallest_p=result.smallest_p,
        estimand=result.estimand,
        estimand_value=result.estimand_value,
        resamples=result.resamples,
        seed=result.seed,
        requested=_requested(case, bound),
    )


def _visible(case: Case, effect: float) -> Visible:
    """The smallest effect that is seen, and the items that it takes to see ``effect``."""
    spread, n, level = case.estimand.spread(case.selection), case.selection.n, case.asked.level
    if spread.variance is None:
        return Visible(sd_difference=spread.sd_difference, correlation=spread.correlation)
    needed = power.items_needed(spread.variance, effect, level)
    return Visible(
        mde=power.smallest_effect(spread.variance, n, level),
        items_needed=needed and max(needed, power.fewest_units(level)),
        sd_difference=spread.sd_difference,
        correlation=spread.correlation,
        variance=spread.variance,
    )


def data_row(case: Case, insufficient: str) -> str:
    """Why these data cannot carry a claim, whatever the test says; empty if they can.

    insufficient: what the test itself has to say.
    """
    selection, least = case.selection, case.setting.min_items
    if selection.table.identical:
        return SAME_FILE
    if selection.n < least:
        counts = f" ({int((selection.gains > 0).sum())} better, {int((selection.gains < 0).sum())} worse)"
        counts = counts if case.estimand.by_item else ""
        return f"{selection.n} items, fewer than items.min {least}{counts}"
    return selection.metric.doubt or insufficient


def _exact_disagrees(case: Case, result: TestResult, *, harm: bool) -> tuple[Caution, ...]:
    """An approximate test of pass/fail that lets the candidate through where the exact one would not."""
    method, level = METHODS.get(result.method), case.asked.level
    exact_test = case.estimand.exact_test
    if method is None or method.bounded or method.sample != "pairs" or case.asked.role == Role.WATCH:
        return ()
    pairs = oriented_pairs(case.selection)
    if exact_test is None or not pairs.binary:
        return ()
    b, c, m = (pairs.c, pairs.b, -result.null_value) if harm else (pairs.b, pairs.c, result.null_value)
    exact_id = exact_test(m)
    exact = p_of_counts(exact_id, b, c, pairs.n, m, level)
    p = result.p_less if harm else result.p_greater
    if (p < level) is harm or (exact < level) is not harm:
        return ()
    found = f"{result.method} passes (p {p_value(p)}), {exact_id} does not (p {p_value(exact)})"
    return (Caution("exact_test_disagrees", f"{found} at level {level:g}"),)


def _requested(case: Case, bound: Bound) -> Interval | None:
    if case.choice.interval is None or not case.estimand.pass_fail or bound.shift:
        return None
    return requested_interval(case.choice.interval, oriented_pairs(case.selection), case.asked.level)

"""Where a procedure's answer stops being trustworthy, and the sentence that says so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gate.stats.bounds import Scale, difference_bounds, observed_scale
from gate.stats.gaffke import bounded_p, gaffke
from gate.stats.graded import hall, student
from gate.stats.methods import FEWEST_CHANGED
from gate.stats.moments import moments
from gate.stats.pairs import Pairs
from gate.stats.results import Interval, TestResult
from gate.values import Caution


def too_few_items(result: TestResult, minimum: int, alternative: str) -> TestResult:
    """Refuse below the procedure's own least number of items."""
    if result.n >= minimum or result.insufficient:
        return result
    return replace(
        result,
        insufficient=f"{result.method} needs at least {minimum} items (found {result.n}); {alternative}",
    )


def too_few_changed(result: TestResult, pairs: Pairs, scale: Scale | None, level: float) -> TestResult:
    """Tests of the mean need ten non-zero differences, at a null value of 0 or more.

    Where all of them changed by the same amount the sign-flip test has decided already. Below 0 a tolerance
    can be proven by n alone, but not by a spread that hardly shows: the answer is then
    the larger of the test's own p and that of the bounded-mean test on the declared scale, or else on the
    range of the scores seen.
    """
    changed = 0 if _untouched(pairs) else pairs.nonzero
    if changed >= FEWEST_CHANGED:
        return result
    if result.null_value >= 0 and pairs.ratio == 1.0:
        if changed and pairs.values.size == 1:
            return result
        return result if result.insufficient else replace(result, insufficient=_few_words(changed))
    known = scale or observed_scale(pairs)
    bounds = difference_bounds(pairs, known) if known else None
    if bounds is None:
        return result if result.insufficient else replace(result, insufficient=_few_words(changed))
    return _guarded_by_bounds(result, pairs, bounds, level, declared=scale is not None)


def _untouched(pairs: Pairs) -> bool:
    """No score changed and all are one value, so that a share of the baseline is one difference, too."""
    return pairs.values.size == 1 and bool(np.array_equal(pairs.baseline, pairs.candidate))


def _few_words(changed: int) -> str:
    if changed == 0:
        return "all differences are zero: this set cannot weigh the two systems"
    return (
        f"only {changed} difference{'s are' if changed > 1 else ' is'} not zero; tests of the mean need "
        f"{FEWEST_CHANGED} (gaffke with a declared scale, or sign_flip, do not)"
    )


def _guarded_by_bounds(
    result: TestResult, pairs: Pairs, bounds: Scale, level: float, *, declared: bool
) -> TestResult:
    bounded = gaffke(pairs, result.null_value, level, bounds)
    unknown = math.isinf(result.interval.low) and math.isinf(result.interval.high)
    low, high = bounded.interval.low, bounded.interval.high
    if not unknown:
        low, high = min(low, result.interval.low), max(high, result.interval.high)
    source = "declared scale" if declared else "range of the scores seen (declare the scale to fix it)"
    note = Caution(
        "few_changed",
        f"only {pairs.nonzero} of {pairs.n} differences are not zero: the bound rests on n and the {source}",
    )
    return replace(
        result,
        p_greater=bounded.p_greater if unknown else max(result.p_greater, bounded.p_greater),
        p_less=bounded.p_less if unknown else max(result.p_less, bounded.p_less),
        p_two_sided=bounded.p_two_sided if unknown else max(result.p_two_sided, bounded.p_two_sided),
        interval=Interval(low, high, result.interval.confidence, result.interval.method),
        insufficient="",
        cautions=(*result.cautions, note),
    )


def tail_cautions(result: TestResult, pairs: Pairs, bounds: Scale, level: float) -> TestResult:
    """What a loss that this set never showed could do, and whether the verdict would survive it."""
    least = bounds[0]
    worst, seen = float(pairs.values[0]), int(pairs.counts[0])
    unseen = -math.expm1(math.log(level) / pairs.n)
    notes = []
    if worst > least:
        shown = (
            f"the worst loss, {worst:.4g}, was seen {_times(seen)}" if worst < 0 else "no item lost anything"
        )
        notes.append(
            Caution(
                "unseen_tail",
                f"{shown}; a loss this set never showed could still affect up to {unseen:.2%} of items like "
                "these; "
                f"one such item at the worst score would move the mean by {-least / (pairs.n + 1):.4g}",
            )
        )
    if result.p_greater < level <= bounded_p(pairs.values, pairs.counts, result.null_value, least):
        notes.append(
            Caution(
                "tail_fragile",
                f"{result.method} passes, but the bound that holds for every shape of the differences "
                "(assurance: guaranteed) does not: a few losses at the worst score would undo the claim",
            )
        )
    return replace(result, cautions=(*result.cautions, *notes)) if notes else result


def outlier_caution(result: TestResult, pairs: Pairs, level: float) -> TestResult:
    """Say where one large gain is what keeps t from passing: no t test is monotone in an outlying gain."""
    if result.p_greater < level or pairs.nonzero < 3 or pairs.values.size < 3:
        return result
    x = moments(pairs.values, pairs.counts)
    t = (x.mean - result.null_value) / x.se if x.sd else 0.0
    if t <= 0 or (pairs.values[-1] - x.mean) / x.sd <= math.sqrt(x.n) / t:
        return result
    tests = (student, hall) if result.method == "t_guarded" else (student,)
    if not _passes_winsorised(pairs, result.null_value, level, tests):
        return result
    note = Caution(
        "gain_widens_interval",
        "the largest gains widen the interval so much that less gain would pass; look at those items",
    )
    return replace(result, cautions=(*result.cautions, note))


def _passes_winsorised(pairs: Pairs, m: float, level: float, tests: tuple[object, ...]) -> bool:
    for ceiling in pairs.values[-2:-12:-1]:
        x = moments(pairs.values.clip(max=ceiling), pairs.counts)
        if x.sd and max(test(x).greater(m) for test in tests) < level:  # type: ignore[operator]
            return True
    return False


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def floor_caution(method: str, floor: float, level: float) -> Caution:
    """Data of this size cannot reach the level, whatever they say."""
    return Caution(
        "smallest_p",
        f"even a clean sweep could not reach the level: the smallest p that {method} can give here is "
        f"{floor:.4g}, the level is {level:g}",
    )

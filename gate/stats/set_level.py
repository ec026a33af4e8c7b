"""A metric of the whole set on both sides: its row bootstrap, and where there is too little to claim on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gate.stats.distributions import clip_p
from gate.stats.pairs import Floats
from gate.stats.resampling import Outcome, percentile_counts
from gate.stats.results import Interval, Settings, TestResult
from gate.stats.seeding import LADDER, borderline, enough_resamples, generator, seed_from
from gate.values import Caution

FEWEST_ROWS = 50
FEWEST_OF_A_CLASS = 20
MOST_DRAWS = 500_000_000
"""Row draws that a raised number of resamples may cost."""
FEWEST_RESAMPLES = 1_999
"""What is drawn at least, where the usual number would cost more than ten times as many draws as that."""


@dataclass(frozen=True, slots=True)
class SetLevel:
    """A metric of the whole set on both sides, and the test of candidate - baseline.

    standard_error: of the difference, in the metric's unit; NaN where it is not known.
    """

    baseline: float
    candidate: float
    standard_error: float
    test: TestResult


@dataclass(frozen=True, slots=True)
class Resampling:
    """How a metric of n rows is resampled.

    baseline, candidate: the observed values. draw: B, generator -> B resampled differences candidate -
    baseline. digest: SHA-256 of the sorted rows, from which the seed derives. work: numbers drawn for one
    resample. sign: -1 where a lower value is better. decimals: at which differences are equal. drawn: what
    was drawn already, by number and seed: one null value after another asks for the same differences.
    """

    name: str
    n: int
    baseline: float
    candidate: float
    digest: bytes
    work: int
    draw: Callable[[int, np.random.Generator], Floats]
    sign: int = 1
    decimals: int = 12
    drawn: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False, compare=False)

    def differences(self, count: int, seed: int) -> Floats:
        """So many resampled differences, positive is better."""
        if (count, seed) not in self.drawn:
            found = self.sign * self.draw(count, generator(seed))
            self.drawn[count, seed] = _tidy(found, self.decimals)
        return self.drawn[count, seed]


@dataclass(frozen=True, slots=True)
class WholeSet:
    """A metric of the whole set on n rows, ready for its tests: the sample of the form ``set``.

    tests: method id -> test, from ``Settings``. sides: the observed values of baseline and candidate, NaN
    where they have none. alone: interval of the candidate's own value at a one-sided level, and why there is
    none. too_small: why no rule may rest on so few rows, whatever a test says; empty if they are enough.
    found: the tests that were run.
    """

    n: int
    sides: tuple[float, float]
    tests: Mapping[str, Callable[[Settings], SetLevel]]
    alone: Callable[[float], tuple[Interval, str]]
    too_small: str = ""
    found: dict[tuple[str, Settings], SetLevel] = field(default_factory=dict, repr=False, compare=False)

    def test(self, method_id: str, ask: Settings) -> SetLevel:
        """One test, run once."""
        if (method_id, ask) not in self.found:
            self.found[method_id, ask] = self.tests[method_id](ask)
        return self.found[method_id, ask]

    @property
    def standard_error(self) -> float:
        """Of the difference, by the first test that was run; NaN where it is not known."""
        return next((found.standard_error for found in self.found.values()), math.nan)


def bootstrap_rows(plan: Resampling, ask: Settings) -> SetLevel:
    """Paired row bootstrap of H0 "the metric improves by m or less" (Efron & Tibshirani 1993).

    Rows are drawn with replacement, both systems' results together, and the metric is computed anew on each
    side. p = (1 + #{resampled <= m}) / (B + 1); limits are the k-th resampled difference from each end,
    k = (B + 1) * level. Slightly liberal (.05 to .08 at .05). Resamples that all agree have no spread: p = 1,
    no limits, insufficient.
    """
    null_value, level = ask.null_value, ask.level
    count = enough_resamples(ask.resamples, level)
    if count * plan.work > 10 * MOST_DRAWS:
        count = min(count, enough_resamples(FEWEST_RESAMPLES, level))
    for more in (count, *(step for step in LADDER if step > count)):
        if more > count and more * plan.work > MOST_DRAWS:
            break
        count = more
        used = seed_from(f"bootstrap_rows {plan.name}", count, plan.digest) if ask.seed is None else ask.seed
        deltas = plan.differences(count, used)
        if deltas.min() == deltas.max():
            return no_spread("bootstrap_rows", plan.n, (plan.baseline, plan.candidate), ask, sign=plan.sign)
        outcome = percentile_counts(deltas, null_value, level)
        near = borderline(outcome.greater, level, count) or borderline(outcome.less, level, count)
        if not near:
            break
    result = _result(plan, outcome, ask, count, used)
    if near:
        words = f"p is within the Monte Carlo error of the level even with {count:,} resamples"
        result = replace(result, cautions=(Caution("mc_borderline", words),))
    return SetLevel(plan.baseline, plan.candidate, float(np.std(deltas, ddof=1)), result)


def no_spread(
    method: str, n: int, sides: tuple[float, float], ask: Settings, reason: str = "", *, sign: int = 1
) -> SetLevel:
    """Two systems whose difference shows no spread: p = 1, no limits; never a pass."""
    delta = sign * (sides[1] - sides[0]) + 0.0
    result = TestResult(
        method=method,
        n=n,
        estimate=delta,
        null_value=ask.null_value,
        p_greater=1.0,
        p_less=1.0,
        p_two_sided=1.0,
        interval=Interval(-math.inf, math.inf, 1 - 2 * ask.level, method),
        estimand_value=delta,
        insufficient=reason or "the difference shows no spread: this set cannot weigh the two systems",
    )
    return SetLevel(*sides, math.nan, result)


def one_label(n: int) -> str:
    """Why a metric that needs positives and negatives has no value."""
    return f"all {n} rows have one label: the metric needs positives and negatives"


def too_few_rows(found: SetLevel, n: int, positives: int, negatives: int, fewest_of_a_class: int) -> SetLevel:
    """Refuse below 50 rows and below the fewest positives or negatives; the numbers stay."""
    return insufficient(found, few_rows(n, positives, negatives, fewest_of_a_class))


def few_rows(n: int, positives: int, negatives: int, fewest_of_a_class: int) -> str:
    """Why so few rows carry no claim; empty if they can."""
    if n < FEWEST_ROWS:
        return f"metrics of a whole set need at least {FEWEST_ROWS} rows (found {n})"
    if min(positives, negatives) < fewest_of_a_class:
        few, name = min((positives, "positive"), (negatives, "negative"))
        return f"at least {fewest_of_a_class} {name} rows are needed (found {few})"
    return ""


def too_few_changes(found: SetLevel, changed: int, level: float, what: str) -> SetLevel:
    """Refuse where even a clean sweep of the rows that changed could not reach the level: 2^-changed."""
    floor = 0.5**changed
    if floor < level:
        return found
    return insufficient(
        found,
        f"only {changed} {what}: even if all of them were gains, their exact p would be {floor:.4g} "
        f"(level {level:g})",
    )


def insufficient(found: SetLevel, reason: str) -> SetLevel:
    """With a reason why no claim rests on it; the first reason given stays."""
    if not reason or found.test.insufficient:
        return found
    return replace(found, test=replace(found.test, insufficient=reason))


def _tidy(deltas: Floats, decimals: int) -> Floats:
    """Without the noise beyond the decimals, so that "equal to m" survives."""
    return np.asarray(np.round(deltas, decimals) + 0.0, dtype=np.float64)


def _result(plan: Resampling, outcome: Outcome, ask: Settings, resamples: int, seed: int) -> TestResult:
    delta = round(plan.sign * (plan.candidate - plan.baseline), plan.decimals) + 0.0
    return TestResult(
        method="bootstrap_rows",
        n=plan.n,
        estimate=delta,
        null_value=ask.null_value,
        p_greater=clip_p(outcome.greater),
        p_less=clip_p(outcome.less),
        p_two_sided=clip_p(2 * min(outcome.greater, outcome.less)),
        interval=Interval(outcome.low, outcome.high, 1 - 2 * ask.level, "bootstrap_rows"),
        estimand_value=delta,
        smallest_p=outcome.floor,
        resamples=resamples,
        seed=seed,
    )

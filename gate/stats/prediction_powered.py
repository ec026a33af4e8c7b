"""Judged scores with human scores on a random part of the items: prediction-powered inference for pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import clip_p, t_quantile, t_sf
from gate.stats.graded import t_guarded
from gate.stats.moments import moments
from gate.stats.pairs import Floats, from_differences, tidy
from gate.stats.results import Interval, Settings, TestResult
from gate.stats.set_level import SetLevel, WholeSet
from gate.values import Caution

FEWEST_HUMAN = 50
FEWEST_CORRECTED = 10


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Paired differences candidate - baseline, larger is better, each ascending or in the order of ``human``.

    judged: float64[N], the judge's, on items without a human score. human, judged_too: float64[n], of people
    and of the judge on the items that people scored on both sides. one_sided: items that people scored on one
    side only; they count among the N.
    """

    judged: Floats
    human: Floats
    judged_too: Floats
    one_sided: int


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The prediction-powered test, and what it is worth.

    human_only: the default test of the human scores alone. judge_delta: mean difference as the judge sees it
    on all items; judge_bias: how much too high that is where people looked. equivalent_human: number of human
    scores that would give the same standard error without a judge.
    """

    test: TestResult
    standard_error: float
    human_only: TestResult
    judge_delta: float
    judge_bias: float
    equivalent_human: float


def judged_pairs(
    judge_baseline: npt.ArrayLike,
    judge_candidate: npt.ArrayLike,
    human_baseline: npt.ArrayLike,
    human_candidate: npt.ArrayLike,
) -> JudgedPairs:
    """Make JudgedPairs from one value an item and column; NaN where people did not score.

    Raises ValueError on lengths that differ, no items, or judge's scores that are not finite.
    """
    given = (judge_baseline, judge_candidate, human_baseline, human_candidate)
    old, new, gold_old, gold_new = (np.asarray(column, dtype=np.float64).ravel() for column in given)
    if len({old.size, new.size, gold_old.size, gold_new.size}) > 1 or old.size == 0:
        raise ValueError("the judge's and the human scores must have one value an item")
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        raise ValueError("the judge's scores must be finite")
    seen = np.isfinite(gold_old) & np.isfinite(gold_new)
    judged = tidy(new - old, new, old)
    human = tidy(gold_new[seen] - gold_old[seen], gold_new[seen], gold_old[seen])
    order = np.lexsort((judged[seen], human))
    half = int(np.count_nonzero(np.isfinite(gold_old) ^ np.isfinite(gold_new)))
    return JudgedPairs(np.sort(judged[~seen]), human[order], judged[seen][order], half)


def prediction_powered(rows: JudgedPairs, ask: Settings, weight: float = 1.0) -> PredictionPowered:
    """Prediction-powered t test of H0 "the mean difference by human scores is <= m".

    Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023 (Science 382:669): the judge's mean difference over
    the N items without a human score, corrected by the mean of human - judge over the n items with one.
    Unbiased whatever the judge does, if those n are drawn at random. se^2 is the sum of both variances of a
    mean, referred to
    Student's t with Welch-Satterthwaite degrees of freedom. weight: how far the judge is believed, fixed in
    advance; 1 is the paper's estimate, 0 the human scores alone (Angelopoulos, Duchi & Zrnic 2023).
    Fewer than 50 items with human scores, or fewer than 10 of them corrected by people: insufficient.
    """
    n, many = rows.human.size, rows.judged.size
    judge_delta = float(np.mean(np.concatenate([rows.judged, rows.judged_too])))
    correction = rows.human - weight * rows.judged_too
    if min(n, many) < 2:
        reason = f"{n} items with a human score and {many} without one: both parts need at least two"
        return _nothing(rows, ask, reason, judge_delta)
    one, two, people = moments(weight * rows.judged), moments(correction), moments(rows.human)
    delta, variances = one.mean + two.mean, (one.se**2, two.se**2)
    se = math.sqrt(sum(variances))
    if se == 0:
        return _nothing(rows, ask, "neither part has any spread", judge_delta)
    df = se**4 / (variances[0] ** 2 / (many - 1) + variances[1] ** 2 / (n - 1))
    t, half = (delta - ask.null_value) / se, -t_quantile(ask.level, df) * se
    greater, less = t_sf(t, df), t_sf(-t, df)
    test = TestResult(
        method="prediction_powered",
        n=n + many,
        estimate=delta,
        null_value=ask.null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(delta - half, delta + half, 1 - 2 * ask.level, "prediction_powered"),
        statistic=t,
        estimand_value=delta,
        insufficient=_too_little(rows, correction),
    )
    bias = float(np.mean(rows.judged_too - rows.human))
    human_only = t_guarded(from_differences(rows.human), ask.null_value, ask.level)
    return PredictionPowered(test, se, human_only, judge_delta, bias, people.sd**2 / se**2)


def judged_set(
    judge_baseline: npt.ArrayLike,
    judge_candidate: npt.ArrayLike,
    human_baseline: npt.ArrayLike,
    human_candidate: npt.ArrayLike,
    *,
    lower_is_better: bool = False,
) -> WholeSet:
    """Judged scores as a sample: the prediction-powered test, said with what the judge is worth."""
    columns = (judge_baseline, judge_candidate, human_baseline, human_candidate)
    judge_old, judge_new, old, new = (np.asarray(column, dtype=np.float64).ravel() for column in columns)
    flip = -1.0 if lower_is_better else 1.0
    rows = judged_pairs(flip * judge_old, flip * judge_new, flip * old, flip * new)
    seen = np.isfinite(old) & np.isfinite(new)
    sides = _corrected(judge_old, old, seen), _corrected(judge_new, new, seen)

    def test(ask: Settings) -> SetLevel:
        found = prediction_powered(rows, ask)
        told = replace(found.test, cautions=(_worth(rows, found),)) if seen.any() else found.test
        return SetLevel(*sides, found.standard_error, told)

    def alone(level: float) -> tuple[Interval, str]:
        """Beside a side on which judge and people score 0 everywhere."""
        nothing = np.zeros(judge_new.size)
        one = judged_pairs(nothing, judge_new, np.where(np.isfinite(new), 0.0, np.nan), new)
        found = prediction_powered(one, Settings(0.0, level)).test
        return found.interval, found.insufficient

    too_small = prediction_powered(rows, Settings(0.0, 0.025)).test.insufficient
    return WholeSet(judge_old.size, sides, {"prediction_powered": test}, alone, too_small)


def _corrected(judge: Floats, human: Floats, seen: npt.NDArray[np.bool_]) -> float:
    """The judge's mean where people did not look, corrected by how much it errs where they did."""
    if not 0 < np.count_nonzero(seen) < seen.size:
        return math.nan
    by_judge = math.fsum(np.sort(judge[~seen]).tolist()) / int(np.count_nonzero(~seen))
    return by_judge + math.fsum(np.sort(human[seen] - judge[seen]).tolist()) / int(np.count_nonzero(seen))


def _worth(rows: JudgedPairs, found: PredictionPowered) -> Caution:
    n = rows.human.size
    more = found.equivalent_human - n
    worth = (
        f"it is worth {more:,.0f} more of them" if more >= 1 else "it does not pay: people alone show more"
    )
    return Caution(
        "judged",
        f"people scored {n:,} items on both sides, taken as drawn at random; by the judge alone the "
        f"difference is {found.judge_delta:+.4f}, too high by {found.judge_bias:+.4f} where people "
        f"looked; {worth}",
    )


def _too_little(rows: JudgedPairs, correction: Floats) -> str:
    n, corrected = rows.human.size, int(np.count_nonzero(np.abs(correction) > 1e-12))
    if n < FEWEST_HUMAN:
        return f"at least {FEWEST_HUMAN} items need a human score on both sides (found {n})"
    if corrected < FEWEST_CORRECTED:
        return (
            f"people corrected the judge on {corrected} of {n} items only, so its error is not "
            f"known: at least {FEWEST_CORRECTED} are needed; let people score more items"
        )
    return ""


def _nothing(rows: JudgedPairs, ask: Settings, reason: str, judge_delta: float) -> PredictionPowered:
    unknown = Interval(-math.inf, math.inf, 1 - 2 * ask.level, "prediction_powered")
    estimate = float(np.mean(rows.human)) if rows.human.size else math.nan
    test = TestResult(
        method="prediction_powered",
        n=rows.human.size + rows.judged.size,
        estimate=estimate,
        null_value=ask.null_value,
        p_greater=1.0,
        p_less=1.0,
        p_two_sided=1.0,
        interval=unknown,
        estimand_value=estimate,
        insufficient=reason,
    )
    human_only = test
    if rows.human.size:
        human_only = t_guarded(from_differences(rows.human), ask.null_value, ask.level)
    bias = float(np.mean(rows.judged_too - rows.human)) if rows.human.size else math.nan
    return PredictionPowered(test, math.nan, human_only, judge_delta, bias, float(rows.human.size))

"""Area under the ROC curve: fast paired DeLong test, in whole numbers until the last division."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gate.stats.distributions import clip_p, t_quantile, t_sf
from gate.stats.labelled import LabelledRows
from gate.stats.pairs import Ints
from gate.stats.ranking import auc_metric, bootstrapped, placements
from gate.stats.results import Interval, Settings, TestResult
from gate.stats.set_level import (
    SetLevel,
    WholeSet,
    few_rows,
    no_spread,
    one_label,
    too_few_changes,
    too_few_rows,
)
from gate.values import Caution

FEWEST_FOR_DELONG = 10


def delong(rows: LabelledRows, ask: Settings) -> SetLevel:
    """Paired DeLong test of H0 "AUC(candidate) - AUC(baseline) <= m".

    DeLong, DeLong & Clarke-Pearson 1988 (Biometrics 44:837), by the midranks of Sun & Xu 2014: O(n log n).
    Ties count one half. (delta - m) / se is referred to Student's t with min(positives, negatives) - 1
    degrees of freedom: against the normal law its size reaches .049 at a nominal .025 with 5 positives. The
    interval inverts the test and is cut to [-1, 1]. Scores must come from frozen systems on rows they
    were not fitted to (Demler, Pencina & D'Agostino 2012).
    Degenerate: no spread (identical curves, or two perfect ones) gives p = 1, no limits, and is insufficient.
    """
    n, positives, negatives = rows.n, rows.positives, rows.negatives
    if positives == 0 or negatives == 0:
        return no_spread("delong", n, (math.nan, math.nan), ask, one_label(n))
    old, new = placements(rows.positive, rows.baseline), placements(rows.positive, rows.candidate)
    pairs = 2 * positives * negatives
    before, after = int(old[rows.positive].sum()), int(new[rows.positive].sum())
    moves = new - old
    ups, downs = _Moves.of(moves[rows.positive]), _Moves.of(moves[~rows.positive])
    sides = before / pairs, after / pairs
    variance = ups.variance_of_mean(2 * negatives) + downs.variance_of_mean(2 * positives)
    if variance == 0.0:
        found = no_spread("delong", n, sides, ask, _flat_words(sides))
    else:
        found = _tested(n, sides, (after - before) / pairs, math.sqrt(variance), rows, ask)
    found = too_few_rows(found, n, positives, negatives, FEWEST_FOR_DELONG)
    changed = min(ups.changed, downs.changed)
    return too_few_changes(found, changed, ask.level, "rows of one class changed their place among the other")


def auc_bootstrap(rows: LabelledRows, ask: Settings) -> SetLevel:
    """Row bootstrap of the AUC difference, positives and negatives drawn apart; shown beside ``delong``."""
    return bootstrapped("auc", rows, auc_metric, ask, by_label=True)


def auc_set(rows: LabelledRows) -> WholeSet:
    """The AUC as a sample: DeLong's test and the row bootstrap."""

    def alone(level: float) -> tuple[Interval, str]:
        """DeLong's interval of one AUC: beside a constant score, whose AUC is 1/2 without any spread."""
        constant = replace(rows, baseline=np.zeros(rows.n), plans={})
        found = delong(constant, Settings(0.0, level)).test
        low, high = found.interval.low + 0.5, found.interval.high + 0.5
        return replace(found.interval, low=max(low, 0.0), high=min(high, 1.0)), found.insufficient

    found = delong(rows, Settings(0.0, 0.025))
    return WholeSet(
        rows.n,
        (found.baseline, found.candidate),
        {"delong": lambda ask: delong(rows, ask), "bootstrap_rows": lambda ask: auc_bootstrap(rows, ask)},
        alone,
        few_rows(rows.n, rows.positives, rows.negatives, FEWEST_FOR_DELONG),
    )


@dataclass(frozen=True, slots=True)
class _Moves:
    """Changes of the placements of one class: rows, how many changed, exact sum and sum of squares."""

    n: int
    changed: int
    total: int
    squares: int

    @classmethod
    def of(cls, moves: Ints) -> _Moves:
        return cls(moves.size, int(np.count_nonzero(moves)), int(moves.sum()), _sum_of_squares(moves))

    def variance_of_mean(self, unit: int) -> float:
        """Variance (n - 1) of the moves' mean, in squared units; 0 exactly where all moves are equal."""
        if self.n < 2:
            return 0.0
        return (self.n * self.squares - self.total**2) / (self.n**2 * (self.n - 1) * unit**2)


def _sum_of_squares(values: Ints) -> int:
    """Exact, however large: a million rows fit into 64 bits, many millions only in parts."""
    wide = values.astype(np.int64)
    largest = max(-int(values.min()), int(values.max()), 0)
    if largest**2 * values.size < 2**63:
        return int(np.sum(wide * wide))
    high, low = wide >> 20, wide & (2**20 - 1)
    return (int(np.sum(high * high)) << 40) + (int(np.sum(high * low)) << 21) + int(np.sum(low * low))


def _tested(
    n: int,
    sides: tuple[float, float],
    delta: float,
    se: float,
    rows: LabelledRows,
    ask: Settings,
) -> SetLevel:
    df = min(rows.positives, rows.negatives) - 1
    if df == 0:
        return no_spread("delong", n, sides, ask, "one row of a class has no spread")
    t, half = (delta - ask.null_value) / se, -t_quantile(ask.level, df) * se
    greater, less = t_sf(t, df), t_sf(-t, df)
    result = TestResult(
        method="delong",
        n=n,
        estimate=delta,
        null_value=ask.null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(max(-1.0, delta - half), min(1.0, delta + half), 1 - 2 * ask.level, "delong"),
        statistic=t,
        estimand_value=delta,
        cautions=_ceiling(sides),
    )
    return SetLevel(*sides, se, result)


def _flat_words(sides: tuple[float, float]) -> str:
    if sides[0] == sides[1] and sides[0] in {0.0, 1.0}:
        return f"ceiling: both systems have an AUC of {sides[0]:g}, so this set cannot weigh them"
    if sides[0] == sides[1]:
        return "the two curves are identical row by row: this set cannot weigh the two systems"
    return "every row moved by the same amount: the spread of the difference is unknown"


def _ceiling(sides: tuple[float, float]) -> tuple[Caution, ...]:
    names = [
        name for name, value in zip(("baseline", "candidate"), sides, strict=True) if value in {0.0, 1.0}
    ]
    if not names:
        return ()
    value = sides[0] if names[0] == "baseline" else sides[1]
    words = (
        f"the AUC of the {names[0]} is {value:g} on these rows: at the end of the scale the test has little "
    )
    return (Caution("ceiling", words + "power and its standard error is too small"),)

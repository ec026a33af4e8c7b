"""Ratios of sums (cost per success, tokens per answer): delta method for the difference, Fieller for one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import clip_p, t_quantile, t_sf
from gate.stats.moments import moments
from gate.stats.pairs import Floats
from gate.stats.results import Interval, Settings, TestResult
from gate.stats.set_level import FEWEST_ROWS, SetLevel, WholeSet, insufficient, no_spread, too_few_changes
from gate.values import Caution

LEAST_SIGNAL = 3.0
GOOD_SIGNAL = 10.0


@dataclass(frozen=True, slots=True)
class RatioRows:
    """n items with a numerator and a denominator on each side, float64[n] each, finite; sorted by content."""

    baseline_top: Floats
    baseline_bottom: Floats
    candidate_top: Floats
    candidate_bottom: Floats


def ratio_rows(
    baseline_top: npt.ArrayLike,
    baseline_bottom: npt.ArrayLike,
    candidate_top: npt.ArrayLike,
    candidate_bottom: npt.ArrayLike,
) -> RatioRows:
    """Make RatioRows. Raises ValueError on lengths that differ, no rows, or values that are not finite."""
    given = (baseline_top, baseline_bottom, candidate_top, candidate_bottom)
    columns = [np.asarray(column, dtype=np.float64).ravel() + 0.0 for column in given]
    if len({column.size for column in columns}) > 1 or columns[0].size == 0:
        raise ValueError(f"numerators and denominators must pair up (found {[c.size for c in columns]})")
    if not all(np.isfinite(column).all() for column in columns):
        raise ValueError("numerators and denominators must be finite")
    order = np.lexsort(columns)
    return RatioRows(*(column[order] for column in columns))


def ratio_difference(
    rows: RatioRows, ask: Settings, *, lower_is_better: bool = False, log: bool = False
) -> SetLevel:
    """Delta-method t test of H0 "sum x / sum y improves by m or less" (Cochran 1977, chapter 6).

    With R = sum x / sum y on each side, e_i = (xB - R_B yB) / mean(yB) - (xA - R_A yA) / mean(yA) over the
    paired items, se = sd(e) / sqrt(n), Student's t with n - 1 degrees of freedom. log: of the log ratio
    log R_B - log R_A instead, e_i = xB/mean xB - yB/mean yB - xA/mean xA + yA/mean yA. lower_is_better: the
    difference is baseline - candidate. A sum that is not positive, or a denominator whose mean is less than 3
    standard errors from 0: insufficient; less than 10: a caution.
    """
    n, flip = rows.baseline_top.size, -1.0 if lower_is_better else 1.0
    reason = _no_ratio(rows, log=log)
    if reason:
        return no_spread("ratio_delta", n, (math.nan, math.nan), ask, reason)
    sides = (
        _ratio(rows.baseline_top, rows.baseline_bottom),
        _ratio(rows.candidate_top, rows.candidate_bottom),
    )
    new = _influence(rows.candidate_top, rows.candidate_bottom, sides[1], log=log)
    old = _influence(rows.baseline_top, rows.baseline_bottom, sides[0], log=log)
    delta = flip * (math.log(sides[1] / sides[0]) if log else sides[1] - sides[0])
    spread = moments(flip * (new - old))
    scale = max(float(np.abs(new).max()), float(np.abs(old).max()))
    if spread.sd <= 1e-12 * scale:
        return no_spread("ratio_delta", n, sides, ask)
    t, half = (delta - ask.null_value) / spread.se, -t_quantile(ask.level, n - 1) * spread.se
    greater, less = t_sf(t, n - 1), t_sf(-t, n - 1)
    result = TestResult(
        method="ratio_delta",
        n=n,
        estimate=delta,
        null_value=ask.null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less)),
        interval=Interval(delta - half, delta + half, 1 - 2 * ask.level, "ratio_delta"),
        statistic=t,
        estimand="log_ratio" if log else "mean",
        estimand_value=delta,
        cautions=_weak_denominator(rows),
    )
    return _limits(SetLevel(*sides, spread.se, result), rows, ask.level)


def ratio_set(rows: RatioRows, *, lower_is_better: bool = False) -> WholeSet:
    """The ratio of sums as a sample: the delta method, and Fieller's limits of the candidate's own."""

    def alone(level: float) -> tuple[Interval, str]:
        return fieller(rows.candidate_top, rows.candidate_bottom, level), _no_ratio(rows, log=False)

    def test(ask: Settings) -> SetLevel:
        return ratio_difference(rows, ask, lower_is_better=lower_is_better)

    sides = (math.nan, math.nan)
    if not _no_ratio(rows, log=False):
        old, new = ((top, bottom) for _, top, bottom in _named(rows))
        sides = (_ratio(*old), _ratio(*new))
    return WholeSet(rows.baseline_top.size, sides, {"ratio_delta": test}, alone, _too_weak(rows))


def fieller(top: npt.ArrayLike, bottom: npt.ArrayLike, level: float) -> Interval:
    """Limits of mean(top) / mean(bottom) over n paired items, each side at error `level` (Fieller 1954).

    All r for which Student's t test of mean(top - r bottom) = 0 does not reject. Unbounded where the
    denominator's own mean is not told from 0.
    """
    x, y = (np.asarray(column, dtype=np.float64).ravel() for column in (top, bottom))
    n = x.size
    unknown = Interval(-math.inf, math.inf, 1 - 2 * level, "fieller")
    if n < 2:
        return unknown
    g = t_quantile(level, n - 1) ** 2 / n
    centred_x, centred_y = x - x.mean(), y - y.mean()
    xx, yy, xy = (float(np.sum(a * b)) / (n - 1) for a, b in (
        (centred_x, centred_x), (centred_y, centred_y), (centred_x, centred_y)
    ))  # fmt: skip
    a, b, c = y.mean() ** 2 - g * yy, x.mean() * y.mean() - g * xy, x.mean() ** 2 - g * xx
    if a <= 0:
        return unknown
    root = math.sqrt(max(b * b - a * c, 0.0))
    return Interval(float((b - root) / a), float((b + root) / a), 1 - 2 * level, "fieller")


def _ratio(top: Floats, bottom: Floats) -> float:
    return math.fsum(top.tolist()) / math.fsum(bottom.tolist())


def _influence(top: Floats, bottom: Floats, ratio: float, *, log: bool) -> Floats:
    if log:
        return np.asarray(top / top.mean() - bottom / bottom.mean())
    return np.asarray((top - ratio * bottom) / bottom.mean())


def _no_ratio(rows: RatioRows, *, log: bool) -> str:
    for name, top, bottom in _named(rows):
        below, above = math.fsum(bottom.tolist()), math.fsum(top.tolist())
        if below <= 0:
            return f"the {name}'s denominators add up to {below:g}: the ratio is not defined"
        if log and above <= 0:
            return f"the {name}'s numerators add up to {above:g}: the ratio has no logarithm"
    return ""


def _named(rows: RatioRows) -> tuple[tuple[str, Floats, Floats], ...]:
    return (
        ("baseline", rows.baseline_top, rows.baseline_bottom),
        ("candidate", rows.candidate_top, rows.candidate_bottom),
    )


def _signal(values: Floats) -> float:
    """Mean over its standard error."""
    x = moments(values)
    return x.mean / x.se if x.sd else math.inf


def _weak_denominator(rows: RatioRows) -> tuple[Caution, ...]:
    weak = [(_signal(bottom), name) for name, _, bottom in _named(rows) if _signal(bottom) < GOOD_SIGNAL]
    if not weak:
        return ()
    signal, name = min(weak)
    words = f"the {name}'s denominator is only {signal:.1f} standard errors from 0: the delta method is rough"
    return (Caution("weak_denominator", words),)


def _too_weak(rows: RatioRows) -> str:
    """Why no claim rests on so few items, or on such a denominator."""
    n = rows.baseline_top.size
    if n < FEWEST_ROWS:
        return f"a ratio of sums needs at least {FEWEST_ROWS} items (found {n})"
    signal, name = min((_signal(bottom), name) for name, _, bottom in _named(rows))
    if signal < LEAST_SIGNAL:
        return f"the {name}'s denominator is only {signal:.1f} standard errors from 0; at least 3 are needed"
    return ""


def _limits(found: SetLevel, rows: RatioRows, level: float) -> SetLevel:
    found = insufficient(found, _too_weak(rows))
    changed = (rows.baseline_top != rows.candidate_top) | (rows.baseline_bottom != rows.candidate_bottom)
    return too_few_changes(found, int(np.count_nonzero(changed)), level, "items changed at all")

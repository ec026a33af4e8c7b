"""Difference of a quantile (a median, a p95) between the two systems, by the paired row bootstrap."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gate.stats.labelled import Metric, nothing, row_resampling
from gate.stats.pairs import Floats, Ints, Pairs, decimals_for, pair
from gate.stats.results import Interval, Settings
from gate.stats.set_level import (
    FEWEST_ROWS,
    Resampling,
    SetLevel,
    WholeSet,
    bootstrap_rows,
    insufficient,
    too_few_changes,
)

FEWEST_BEYOND = 10


def quantile_difference(
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    q: float,
    ask: Settings,
    *,
    lower_is_better: bool = False,
) -> SetLevel:
    """Paired row bootstrap of H0 "the q-quantile improves by m or less".

    baseline, candidate: float64[n], one value an item and side, in the metric's own unit and direction; with
    lower_is_better the difference is baseline - candidate. Quantiles by linear interpolation (type 7 of
    Hyndman & Fan 1996). Fewer than 10 items beyond the quantile, on the shorter side, or fewer than 50
    items: insufficient. Conservative where few items lie beyond it.
    """
    whole = quantile_set(baseline, candidate, q, lower_is_better=lower_is_better)
    return whole.test("bootstrap_rows", ask)


def quantile_set(
    baseline: npt.ArrayLike, candidate: npt.ArrayLike, q: float, *, lower_is_better: bool = False
) -> WholeSet:
    """The q-quantile as a sample, with the test of ``quantile_difference``."""
    old, new = (np.asarray(x, dtype=np.float64).ravel() + 0.0 for x in (baseline, candidate))
    rows = pair(old, new)  # checks; sorted by content, so that ids and row order change no digit
    too_small = _too_small(rows.n, q)
    sides = (quantile_metric(rows.baseline, q), quantile_metric(rows.candidate, q))
    plan = _plan(rows, q, sides, sign=-1 if lower_is_better else 1)

    def test(ask: Settings) -> SetLevel:
        found = insufficient(bootstrap_rows(plan, ask), too_small)
        return too_few_changes(found, rows.nonzero, ask.level, "items changed at all")

    def alone(level: float) -> tuple[Interval, str]:
        found = bootstrap_rows(_plan(rows, q, (nothing, sides[1])), Settings(0.0, level)).test
        return found.interval, found.insufficient

    return WholeSet(rows.n, (plan.baseline, plan.candidate), {"bootstrap_rows": test}, alone, too_small)


def _plan(rows: Pairs, q: float, sides: tuple[Metric, Metric], *, sign: int = 1) -> Resampling:
    return row_resampling(
        f"quantile {q!r}",
        sides,
        np.ones(rows.n, dtype=np.int64),
        np.zeros(rows.n, dtype=np.int64),
        rows.digest(),
        sign=sign,
        decimals=decimals_for(rows.baseline, rows.candidate),
    )


def _too_small(n: int, q: float) -> str:
    """Why so few items carry no claim."""
    beyond = math.floor(n * min(q, 1 - q) + 1e-9)
    if n < FEWEST_ROWS:
        return f"a quantile needs at least {FEWEST_ROWS} items (found {n})"
    if beyond < FEWEST_BEYOND:
        return f"{FEWEST_BEYOND} items must lie beyond the {q:g} quantile (found {beyond} of {n} items)"
    return ""


def quantile_metric(values: Floats, q: float) -> Metric:
    """The q-quantile (0 < q < 1, type 7) as a function of how often each value occurs."""
    order = np.argsort(values)
    ordered = values[order]

    def value(times: Ints) -> Floats:
        through = np.cumsum(times[..., order], axis=-1)
        at = (int(through.flat[-1]) - 1) * q
        low = math.floor(at)
        below, above = (ordered[np.argmax(through > rank, axis=-1)] for rank in (low, math.ceil(at)))
        return np.asarray(below + (at - low) * (above - below), dtype=np.float64)

    return value

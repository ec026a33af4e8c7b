"""Difference of a quantile (a median, a p95) between the two systems, by the paired row bootstrap."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gate.stats.labelled import Metric, row_resampling
from gate.stats.pairs import Floats, Ints, decimals_for, pair
from gate.stats.results import Settings
from gate.stats.set_level import FEWEST_ROWS, SetLevel, bootstrap_rows, insufficient, too_few_changes

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
    old, new = (np.asarray(x, dtype=np.float64).ravel() + 0.0 for x in (baseline, candidate))
    rows = pair(old, new)  # checks; sorted by content, so that ids and row order change no digit
    plan = row_resampling(
        f"quantile {q!r}",
        (quantile_metric(rows.baseline, q), quantile_metric(rows.candidate, q)),
        np.ones(rows.n, dtype=np.int64),
        np.zeros(rows.n, dtype=np.int64),
        rows.digest(),
        sign=-1 if lower_is_better else 1,
        decimals=decimals_for(rows.baseline, rows.candidate),
    )
    found = bootstrap_rows(plan, ask)
    beyond = math.floor(rows.n * min(q, 1 - q) + 1e-9)
    if rows.n < FEWEST_ROWS:
        found = insufficient(found, f"a quantile needs at least {FEWEST_ROWS} items (found {rows.n})")
    elif beyond < FEWEST_BEYOND:
        words = f"{FEWEST_BEYOND} items must lie beyond the {q:g} quantile (found {beyond} of {rows.n} items)"
        found = insufficient(found, words)
    return too_few_changes(found, rows.nonzero, ask.level, "items changed at all")


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

"""K runs of each item: what re-running contributes to the noise and to the gain.

Runs are averaged per item before pairing; they are never rows of their own and never a majority vote.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gate.stats.pairs import Floats

FEWEST_RUNS = 4  # below it no item can have two passes and two failures


@dataclass(frozen=True, slots=True)
class Flaky:
    """Items on which a system disagrees with itself: at least two passes and two failures on a side.

    status: ``measured``, ``not measurable`` (fewer than 4 runs, or scores that are not pass/fail) or
    ``not measured`` (one run). The three numbers: flagged items, their share of the variance of d (about the
    overall mean), their share of delta (None where delta is 0). Means and contributions are in the metric's
    unit; flagged_contribution + stable_contribution = delta.
    """

    status: Literal["measured", "not measurable", "not measured"]
    items: int
    flagged: int = 0
    variance_share: float | None = None
    delta_share: float | None = None
    flagged_mean: float | None = None
    stable_mean: float | None = None
    flagged_contribution: float | None = None
    stable_contribution: float | None = None


@dataclass(frozen=True, slots=True)
class RunNoise:
    """Variance of the item differences, split into items and runs (method of moments).

    v_run: mean over items of the two runs-to-runs variances added up; v_item: what is left, floored at 0.
    se: standard error of delta now; se_twice_runs, se_twice_items: with twice as many of either; se_floor:
    with infinitely many runs. Squared units of the metric for v_*, its unit for se_*.
    """

    runs: float
    v_run: float
    v_item: float
    se: float
    se_twice_runs: float
    se_twice_items: float
    se_floor: float


def flaky(baseline_runs: npt.ArrayLike, candidate_runs: npt.ArrayLike) -> Flaky:
    """Strata of the items by integer counts min(k, K - k) >= 2 on either side.

    baseline_runs, candidate_runs: [n, K] pass/fail scores of the same items, NaN where a run is missing.
    """
    old, new = _runs(baseline_runs), _runs(candidate_runs)
    n = old.shape[0]
    most = int(max(_count(old).max(), _count(new).max()))
    if most <= 1:
        return Flaky("not measured", n)
    if most < FEWEST_RUNS or not (_pass_fail(old) and _pass_fail(new)):
        return Flaky("not measurable", n)
    flagged = _unstable(old) | _unstable(new)
    d = np.nanmean(new, axis=1) - np.nanmean(old, axis=1)
    total, squares = float(d.sum()), (d - d.mean()) ** 2
    inside = float(d[flagged].sum())
    return Flaky(
        "measured",
        n,
        int(flagged.sum()),
        variance_share=float(squares[flagged].sum() / squares.sum()) if squares.sum() > 0 else None,
        delta_share=inside / total if abs(total) > 1e-12 * n else None,
        flagged_mean=float(d[flagged].mean()) if flagged.any() else None,
        stable_mean=float(d[~flagged].mean()) if not flagged.all() else None,
        flagged_contribution=inside / n,
        stable_contribution=(total - inside) / n,
    )


def run_noise(baseline_runs: npt.ArrayLike, candidate_runs: npt.ArrayLike) -> RunNoise | None:
    """Decomposition, or None where no item has two runs on both sides or there is only one item.

    Shapes as ``flaky``; any scores. Unequal numbers of runs are handled per item.
    """
    old, new = _runs(baseline_runs), _runs(candidate_runs)
    n_old, n_new = _count(old), _count(new)
    repeated = (n_old >= 2) & (n_new >= 2)
    n = old.shape[0]
    if n < 2 or not repeated.any():
        return None
    d = np.nanmean(new, axis=1) - np.nanmean(old, axis=1)
    v_old = np.nanvar(old[repeated], axis=1, ddof=1)
    v_new = np.nanvar(new[repeated], axis=1, ddof=1)
    v_run = float(np.mean(v_old + v_new))
    noise = float(np.mean(v_old) * np.mean(1 / n_old) + np.mean(v_new) * np.mean(1 / n_new))
    total = float(np.var(d, ddof=1))
    v_item = max(0.0, total - noise)
    return RunNoise(
        runs=v_run / noise if noise > 0 else float(np.mean(0.5 * (n_old + n_new))),
        v_run=v_run,
        v_item=v_item,
        se=math.sqrt(total / n),
        se_twice_runs=math.sqrt((v_item + noise / 2) / n),
        se_twice_items=math.sqrt(total / (2 * n)),
        se_floor=math.sqrt(v_item / n),
    )


def _runs(values: npt.ArrayLike) -> Floats:
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim == 1:
        runs = runs[:, None]
    if runs.ndim != 2 or runs.shape[0] == 0 or (_count(runs) == 0).any():
        raise ValueError("runs must be an [items, runs] array with at least one run an item")
    return runs


def _count(runs: Floats) -> npt.NDArray[np.int64]:
    return np.asarray((~np.isnan(runs)).sum(axis=1), dtype=np.int64)


def _pass_fail(runs: Floats) -> bool:
    found = runs[~np.isnan(runs)]
    return bool(np.isin(found, (0.0, 1.0)).all() or np.isin(found, (0.0, -1.0)).all())


def _unstable(runs: Floats) -> npt.NDArray[np.bool_]:
    nonzero = np.asarray((np.nan_to_num(runs) != 0).sum(axis=1), dtype=np.int64)
    return np.asarray(np.minimum(nonzero, _count(runs) - nonzero) >= 2, dtype=np.bool_)

"""pass^k and pass@k from more runs than k: unbiased, one value an item, graded in [0, 1]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gate.stats.pairs import Floats, Ints
from gate.values import GateError


def pass_hat_k(runs: npt.ArrayLike, passes: npt.ArrayLike, k: int) -> Floats:
    """Chance that k runs of an item all pass, C(c, k) / C(K, k) with c passes in K runs (Yao et al. 2024).

    runs, passes: whole numbers, one an item; float64[n] in [0, 1]. Unbiased for p^k, also where items have
    different numbers of runs. Raises GateError ``k_beyond_runs`` where an item has fewer than k runs.
    """
    total, good = _checked(runs, passes, k)
    return _all_of(good, total, k)


def pass_at_k(runs: npt.ArrayLike, passes: npt.ArrayLike, k: int) -> Floats:
    """Chance that at least one of k runs passes, 1 - C(K - c, k) / C(K, k) (Chen et al. 2021, Codex).

    As ``pass_hat_k``; unbiased for 1 - (1 - p)^k.
    """
    total, good = _checked(runs, passes, k)
    return np.asarray(1.0 - _all_of(total - good, total, k), dtype=np.float64)


def _all_of(some: Ints, total: Ints, k: int) -> Floats:
    """C(some, k) / C(total, k) as a product, so that nothing overflows."""
    steps = np.arange(k)[:, None]
    return np.asarray(np.prod(np.maximum(some - steps, 0) / (total - steps), axis=0), dtype=np.float64)


def _checked(runs: npt.ArrayLike, passes: npt.ArrayLike, k: int) -> tuple[Ints, Ints]:
    total = np.asarray(runs, dtype=np.int64).ravel()
    good = np.asarray(passes, dtype=np.int64).ravel()
    if total.shape != good.shape or total.size == 0 or np.any(good < 0) or np.any(good > total):
        raise ValueError("every item needs its runs and at most as many passes")
    fewest = int(total.min())
    if not 1 <= k <= fewest:
        raise GateError(
            "k_beyond_runs",
            f"k must lie between 1 and the fewest runs of an item on either side, {fewest} (found {k})",
            help="lower k, or run every item at least k times",
        )
    return total, good

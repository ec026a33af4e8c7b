"""The worst of it: the largest loss on any item, and a bound on the mean loss of the worst share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.bounds import Scale
from gate.stats.gaffke import bounded_p
from gate.stats.inversion import upper_limit
from gate.stats.pairs import Floats, from_differences
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class WorstItems:
    """largest: the largest loss on any item. beyond: places of the items that lost more than was allowed."""

    largest: float
    beyond: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TailBound:
    """Mean loss of the worst `share` of items: as observed, and its one-sided limits, each at the level.

    upper: at most this much, whatever the shape of the losses; lower: at least this much. needed: items from
    which the bound says more than the scale does. insufficient: why nothing may be claimed.
    """

    n: int
    share: float
    observed: float
    lower: float
    upper: float
    method: str
    needed: int
    insufficient: str = ""


def worst_items(losses: npt.ArrayLike, allowed: float) -> WorstItems:
    """Items with a loss above `allowed`, the largest losses first, ties by place. A statement on these items.

    losses: float64[n], baseline - candidate where larger is better; rounded so that 0.3 - 0.1 is 0.2.
    """
    loss = np.round(_losses(losses), 12)
    order = np.lexsort((np.arange(loss.size), -loss))
    beyond = order[loss[order] > round(allowed, 12)]
    return WorstItems(float(loss.max()), tuple(int(i) for i in beyond))


def tail_bound(losses: npt.ArrayLike, share: float, scale: Scale, level: float) -> TailBound:
    """Distribution-free limits of the mean loss of the worst share q (CVaR, expected shortfall).

    Losses in scale = (lo, hi), fixed in advance. The band F_n -/+ sqrt(log(1 / level) / (2 n)) holds the
    distribution function on one side with probability 1 - level (Massart 1990); the mean of the worst q under
    its edge bounds the true one (Thomas & Learned-Miller 2019). Says more than the scale from
    n > log(1 / level) / (2 q^2) on; below: insufficient.
    """
    loss = np.sort(_inside(losses, scale))
    n, eps = loss.size, math.sqrt(math.log(1 / level) / (2 * loss.size))
    needed = math.floor(math.log(1 / level) / (2 * share**2)) + 1
    words = f"the worst {share:g} of items needs at least {needed} items for a bound (found {n})"
    return TailBound(
        n=n,
        share=share,
        observed=_worst_mean(loss, share, scale, 0.0),
        lower=_worst_mean(loss, share, scale, -eps),
        upper=_worst_mean(loss, share, scale, eps),
        method="dkw",
        needed=needed,
        insufficient="" if n >= needed else words,
    )


def tail_bound_from(
    losses: npt.ArrayLike, share: float, scale: Scale, level: float, start: float
) -> TailBound:
    """The sharper upper limit where a loss `start`, fixed in advance, marks the beginning of the tail.

    For any start the mean loss of the worst q is at most start + mean(max(loss - start, 0)) / q (Rockafellar
    & Uryasev 2000); Gaffke's limit bounds that mean (Gaffke 2005; no violation known, not proved). The lower
    limit is that of ``tail_bound``. Needs no least n: with few items the limit is the end of the scale.
    """
    low, high = scale
    if not low <= start < high:
        raise GateError(
            "outside_scale", f"from must lie within the scale [{low:g}, {high:g}] (found {start:g})"
        )
    plain = tail_bound(losses, share, scale, level)
    excess = from_differences(np.maximum(_inside(losses, scale) - start, 0.0))
    limit = upper_limit(
        lambda m: bounded_p(-excess.values, excess.counts, -m, start - high), level, 0.0, (0.0, high - start)
    )
    upper = min(high, start + limit / share)
    return TailBound(plain.n, share, plain.observed, plain.lower, upper, "gaffke_excess", 1)


def _worst_mean(ordered: Floats, share: float, scale: Scale, eps: float) -> float:
    """Mean of the worst share where the share of losses above a point is what was seen + eps, in [0, 1]."""
    points = np.concatenate([[scale[0]], ordered, [scale[1]]])
    above = np.clip(np.arange(ordered.size, -1, -1) / ordered.size + eps, 0.0, 1.0)
    return min(scale[1], scale[0] + float(np.sum(np.diff(points) * np.minimum(1.0, above / share))))


def _losses(losses: npt.ArrayLike) -> Floats:
    loss = np.asarray(losses, dtype=np.float64).ravel()
    if loss.size == 0 or not np.isfinite(loss).all():
        raise ValueError("losses must be finite, and at least one")
    return loss + 0.0


def _inside(losses: npt.ArrayLike, scale: Scale) -> Floats:
    loss, slack = _losses(losses), 1e-9 * max(abs(scale[0]), abs(scale[1]))
    outside = (loss < scale[0] - slack) | (loss > scale[1] + slack)
    if outside.any():
        raise GateError(
            "outside_scale",
            f"losses must lie in [{scale[0]:g}, {scale[1]:g}] (found {loss[outside][0]:g})",
            help="correct the scale in the policy or the scores in the file",
        )
    return np.asarray(np.clip(loss, *scale), dtype=np.float64)

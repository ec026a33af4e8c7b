"""How much of a score a re-run renews: the one number that the model of a re-run has for each metric."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.artifacts.table import FloatArray

DEFAULT_SHARE = 0.25
"""Share of a score's variance that a re-run renews where the file has one run an item and nothing is said."""


@dataclass(frozen=True, slots=True)
class Noise:
    """share: of the variance of one run's score over items, the part that a re-run renews, 0 to 1.

    source: ``repeats``, ``declared`` or ``assumed``. variance: of one run's score over all items and
    runs. between: of the items' means as they lie in the file; with one run an item that is ``variance``.
    """

    share: float
    source: str
    variance: float
    between: float

    @property
    def redraw(self) -> float:
        """Chance that a re-run takes its result from the pool of all items instead of from the item's own.

        The means of items then vary by (1 - redraw)^2 between, which has to be (1 - share) variance.
        """
        if self.variance == 0.0:
            return 0.0
        kept = (1.0 - self.share) * self.variance
        return 1.0 if kept <= 0.0 else 1.0 - math.sqrt(min(1.0, kept / self.between))

    @property
    def difference_variance(self) -> float:
        """Variance of the difference of two runs of one system; for pass/fail, how often they differ."""
        return 2.0 * self.variance * self.share


def noise_of(values: FloatArray, declared: float | None = None) -> Noise:
    """The noise of one metric. values: [items, runs], NaN where there is no result.

    With repeats it is estimated by the method of moments (within-item variance, n - 1), whatever is declared.
    declared: the share to take where there are none; None takes the default.
    """
    runs = (~np.isnan(values)).sum(axis=1)
    variance = float(np.nanvar(values))
    between = float(np.var(np.nanmean(values[runs > 0], axis=1)))
    repeated = runs >= 2
    if repeated.any():
        within = float(np.mean(np.nanvar(values[repeated], axis=1, ddof=1)))
        return Noise(min(1.0, within / variance) if variance else 0.0, "repeats", variance, between)
    share = DEFAULT_SHARE if declared is None else declared
    return Noise(min(1.0, share), "assumed" if declared is None else "declared", variance, between)


def share_for_discordance(values: FloatArray, discordance: float) -> float:
    """The share at which two runs of a pass/fail metric differ on ``discordance`` of the items, at most 1."""
    variance = float(np.nanvar(values))
    return 1.0 if variance == 0 else min(1.0, discordance / (2.0 * variance))

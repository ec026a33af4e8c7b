"""How likely a promotion is a false one, and what gain is left after shrinkage. Reported, never decides.

Delta and se are those of the promotion, positive is better, in the metric's unit. After an early stop or a
continued look the adjusted estimate is the delta to use. None of this is a confidence level, and it inherits
every bias of the items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gate.stats.distributions import normal_sf
from gate.stats.heterogeneity import heterogeneity

FEWEST_CANDIDATES = 10
"""Earlier candidates from which their deltas say what to expect of the next one."""


@dataclass(frozen=True, slots=True)
class Worth:
    """not_better: chance that the true gain is 0 or less. gain: what to expect of it, shrunken."""

    not_better: float
    gain: float


@dataclass(frozen=True, slots=True)
class Prior:
    """What earlier candidates were like: mean and variance of their true gains, and how many they were."""

    mean: float
    tau2: float
    candidates: int


def false_promotion_rule(good_share: float, size: float, power: float) -> float:
    """Share of this rule's promotions that are false: (1 - g) a / ((1 - g) a + g power).

    good_share: of candidates that are better, declared. size: chance that one with no gain is promoted;
    power: that one with the declared gain is (Wacholder et al. 2004, JNCI 96:434). Worse candidates are
    promoted less often, so it is at most that. 0 where nothing is ever promoted.
    """
    false, true = (1.0 - good_share) * size, good_share * power
    return false / (false + true) if false + true > 0 else 0.0


def worth_by_declaration(delta: float, se: float, good_share: float, good_gain: float) -> Worth:
    """From a declared share of better candidates whose gains have the mean `good_gain` > 0 (half-normal).

    The others have a gain of exactly 0: a candidate that is worse makes the true chance of "not better"
    smaller. se > 0, good_share in (0, 1).
    """
    tau2 = good_gain**2 * math.pi / 2
    spread2 = se**2 + tau2
    sigma = math.sqrt(se**2 * tau2 / spread2)
    mu = delta * tau2 / spread2
    z = mu / sigma
    # densities relative to that of "no gain", so that far out neither is 0
    log_ratio = 0.5 * math.log(se**2 / spread2) + 0.5 * delta**2 * (1 / se**2 - 1 / spread2)
    log_odds = math.log(good_share / (1.0 - good_share)) + math.log(2.0) + log_ratio + _log_cdf(z)
    not_better = _logistic(-log_odds)
    mean = mu + sigma * math.exp(_log_pdf(z) - _log_cdf(z))  # of a gain above 0
    return Worth(not_better, _logistic(log_odds) * max(0.0, mean))


def worth_by_history(delta: float, se: float, prior: Prior) -> Worth:
    """From the gains of earlier candidates: normal, with the prior's mean and variance (empirical Bayes).

    tau2 = 0: earlier candidates do not differ more than noise, and everything shrinks to their mean.
    """
    if prior.tau2 <= 0:
        return Worth(0.0 if prior.mean > 0 else 1.0, prior.mean)
    kept = prior.tau2 / (prior.tau2 + se**2)
    gain = kept * delta + (1.0 - kept) * prior.mean
    return Worth(normal_sf(gain / (math.sqrt(kept) * se)), gain)


def prior_of(deltas: Sequence[float], errors: Sequence[float]) -> Prior | None:
    """The prior from at least ten earlier candidates, one delta each with its standard error; None below.

    Same metric, items and direction. Variance by DerSimonian & Laird (``heterogeneity``).
    """
    if len(deltas) < FEWEST_CANDIDATES:
        return None
    found = heterogeneity(deltas, errors)
    return None if found is None else Prior(found.mean, found.tau2, found.cycles)


def _logistic(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))


def _log_pdf(z: float) -> float:
    return -0.5 * z * z - 0.5 * math.log(2 * math.pi)


def _log_cdf(z: float) -> float:
    from scipy.special import log_ndtr  # noqa: PLC0415

    return float(log_ndtr(z))

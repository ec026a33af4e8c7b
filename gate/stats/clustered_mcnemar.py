"""McNemar's test for pass/fail items in clusters, in the literature's three forms. None takes a margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gate.stats.cluster_data import Clusters
from gate.stats.cluster_results import cluster_result
from gate.stats.distributions import normal_sf
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.methods import METHODS
from gate.stats.results import Settings, TestResult


def obuchowski(data: Clusters, ask: Settings) -> TestResult:
    """Obuchowski's clustered McNemar test (1998): (J - 1) / J (sum e_j)^2 / sum e_j^2, e_j = b_j - c_j."""
    shrink = math.sqrt((data.count - 1) / data.count)

    def z(m: float) -> float:
        e = data.totals - m * data.sizes
        return shrink * _ratio(float(e.sum()), float(np.sum(e * e)))

    return _score("obuchowski", data, ask, z, data.mean)


def durkalski(data: Clusters, ask: Settings) -> TestResult:
    """Durkalski's (2003) test of the unweighted mean over clusters: another estimand where sizes differ."""
    rates = data.totals / data.sizes

    def z(m: float) -> float:
        return _ratio(float((rates - m).sum()), float(np.sum((rates - m) ** 2)))

    return _score("durkalski", data, ask, z, float(rates.mean()))


def yang(data: Clusters, ask: Settings) -> TestResult:
    """Yang, Sun & Hardin's (2010) modified Obuchowski: the variance averages null and observed centring."""
    shrink = math.sqrt((data.count - 1) / data.count)

    def z(m: float) -> float:
        e = data.totals - m * data.sizes
        return shrink * _ratio(float(e.sum()), 0.5 * float(np.sum(data.residuals**2 + e * e)))

    return _score("yang", data, ask, z, data.mean)


def _score(
    method: str, data: Clusters, ask: Settings, z: Callable[[float], float], estimate: float
) -> TestResult:
    level = ask.level
    at_zero = z(0.0)
    low = lower_limit(lambda m: normal_sf(z(m)), level, 0.0, (-1.0, 1.0))
    high = upper_limit(lambda m: normal_sf(-z(m)), level, 0.0, (-1.0, 1.0))
    result = cluster_result(
        method, data, ask, normal_sf(at_zero), normal_sf(-at_zero), (low, high), statistic=at_zero * at_zero
    )
    return replace(result, estimand=METHODS[method].estimand, estimand_value=estimate)


def _ratio(total: float, squares: float) -> float:
    return total / math.sqrt(squares) if squares > 0 else 0.0

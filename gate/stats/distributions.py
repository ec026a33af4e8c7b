"""Tails and quantiles of the normal, t, beta and binomial laws, scalar in, float out.

``scipy.special`` is imported inside the functions, because importing it costs more than most comparisons;
``scipy.stats`` is never imported. Tails are computed as tails (never as 1 - cdf), so small p stay accurate.
"""

from __future__ import annotations

import math
import sys
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

TINY = sys.float_info.min
_STANDARD = NormalDist()


def clip_p(p: float) -> float:
    """Into (0, 1]: a p-value that underflows is tiny, not zero, and rounding never takes it above one."""
    return min(1.0, max(TINY, p))


def normal_sf(z: float) -> float:
    """P(Z > z) of the standard normal law."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """z with P(Z <= z) = p; -inf and +inf at 0 and 1."""
    if p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return math.inf
    return _STANDARD.inv_cdf(p)


def t_sf(t: float, df: float) -> float:
    """P(T > t) of Student's law with df > 0 degrees of freedom (df need not be an integer)."""
    from scipy.special import betainc  # noqa: PLC0415

    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    # 1 / (1 + t^2/df), written so that neither a large t nor a large df overflows
    ratio = min(abs(t) / math.sqrt(df), 1e100)
    tail = 0.5 * float(betainc(0.5 * df, 0.5, 1.0 / (1.0 + ratio**2)))
    return tail if t >= 0 else 1.0 - tail


def t_quantile(p: float, df: float) -> float:
    """t with P(T <= t) = p; -inf and +inf at 0 and 1."""
    from scipy.special import stdtrit  # noqa: PLC0415

    if p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return math.inf
    # the law is symmetric: taking the lower tail keeps tiny p accurate
    lower = float(stdtrit(df, min(p, 1.0 - p)))
    return lower if p <= 0.5 else -lower


def binomial_sf(k: int, n: int, p: float) -> float:
    """P(Bin(n, p) >= k). One where k <= 0, zero where k > n."""
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    from scipy.special import betainc  # noqa: PLC0415

    return float(betainc(k, n - k + 1, p))


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(Bin(n, p) = k) for 0 < p < 1."""
    if not 0 <= k <= n:
        return 0.0
    log_ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log_ways + k * math.log(p) + (n - k) * math.log1p(-p))


def beta_cdf(a: float, b: float, x: Any) -> Floats:
    """P(Beta(a, b) <= x), vectorised over any real x; a = 0 is a point mass at 0 and b = 0 one at 1."""
    points = np.asarray(x, dtype=np.float64)
    if a <= 0 or b <= 0:
        return np.where(points >= (0.0 if a <= 0 else 1.0), 1.0, 0.0)
    from scipy.special import betainc  # noqa: PLC0415

    return np.asarray(betainc(a, b, np.clip(points, 0.0, 1.0)), dtype=np.float64)


def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function."""
    from scipy.special import betaln  # noqa: PLC0415

    return float(betaln(a, b))


def beta_quantile(a: float, b: float, p: float) -> float:
    """x with P(Beta(a, b) <= x) = p; the point masses as in ``beta_cdf``."""
    if a <= 0:
        return 0.0
    if b <= 0:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415

    return float(betaincinv(a, b, p))


def clopper_pearson(successes: int, n: int, level: float) -> tuple[float, float]:
    """Exact two-sided limits for a proportion, each side at error `level` (Clopper & Pearson 1934)."""
    low = beta_quantile(successes, n - successes + 1, level)
    high = beta_quantile(successes + 1, n - successes, 1.0 - level)
    return low, high

"""Paired pass/fail against zero: McNemar's test in its forms, Tango's score test, and their intervals.

b items only the candidate passes, c only the baseline, n items in all, s = b + c, delta = (b - c) / n.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from gate.stats.distributions import (
    Floats,
    beta_cdf,
    beta_quantile,
    binomial_pmf,
    binomial_sf,
    clip_p,
    log_beta,
    normal_quantile,
    normal_sf,
)
from gate.stats.inversion import lower_limit
from gate.stats.results import Interval, TestResult
from gate.values import Caution


def mcnemar_exact(b: int, c: int, n: int, _null_value: float, level: float) -> TestResult:
    """Exact conditional McNemar test with the interval that agrees with it.

    H0: among the items on which the two systems disagree, the candidate wins at most half.
    p = P(Bin(s, 1/2) >= b); never above its level, and never below 2^-s. The interval is the melded one of
    Fay & Lumbard (2020, Statistics in Medicine): its lower limit is above 0 exactly where p < level.
    Degenerate: s = 0 gives p = 1 and the interval that n alone allows. Takes no margin: conditioning on s
    loses n.
    """
    greater, less = mcnemar_exact_p(b, c), mcnemar_exact_p(c, b)
    interval = fay_lumbard(b, c, n, level)
    return _result("mcnemar_exact", b, c, n, 0.0, greater, less, 2 * min(greater, less), interval, level)


def mcnemar_midp(b: int, c: int, n: int, _null_value: float, level: float) -> TestResult:
    """Mid-p McNemar test: the exact one with half the probability of the observed split.

    H0 as ``mcnemar_exact``. Exceeds its level by at most .0011 at n = 50..500 (Fagerland, Lydersen & Laake
    2013). Two-sided for b = c: 1 - pmf / 2. The interval is the melded one with mid-p laws on both parts.
    """
    half = 0.5 * binomial_pmf(b, b + c, 0.5)
    greater, less = mcnemar_exact_p(b, c) - half, mcnemar_exact_p(c, b) - half
    two = 1.0 - half if b == c else 2 * min(greater, less)
    interval = fay_lumbard(b, c, n, level, midp=True)
    if b + c == 0:
        greater = less = two = 1.0
    return _result("mcnemar_midp", b, c, n, 0.0, greater, less, two, interval, level)


def mcnemar_chi2(b: int, c: int, n: int, _null_value: float, level: float) -> TestResult:
    """McNemar's chi-square (b - c)^2 / s without correction (McNemar 1947); interval: Tango's, which agrees.

    H0: b and c are equally likely. Two-sided p from chi-square with one degree of freedom; one-sided p is
    half of it where delta is above 0, else one minus that half. Below 25 discordant pairs: a caution.
    """
    z = (b - c) / math.sqrt(b + c) if b + c else 0.0
    return _chi_square("mcnemar_chi2", b, c, n, z, level, tango_interval(b, c, n, level))


def mcnemar_edwards(b: int, c: int, n: int, _null_value: float, level: float) -> TestResult:
    """McNemar's chi-square with Edwards' correction, (|b - c| - 1)^2 / s (Edwards 1948).

    As ``mcnemar_chi2``; the interval is Tango's with the same correction, so that it agrees with p.
    """
    size = max(abs(b - c) - 1, 0) / math.sqrt(b + c) if b + c else 0.0
    interval = tango_interval(b, c, n, level, correction=1.0)
    return _chi_square("mcnemar_edwards", b, c, n, math.copysign(size, b - c), level, interval)


def tango(b: int, c: int, n: int, null_value: float, level: float) -> TestResult:
    """Tango's score test of H0 "delta <= m", with the interval that inverts it (Tango 1998; Nam 1997).

    Serves every m in (-1, 1). Asymptotic: its size can reach .05 at a nominal .025 (n = 200, m = .02), which
    is why ``exact_unconditional`` is the default. s = 0 at m = 0 has no statistic: p = 1, insufficient.
    """
    z = tango_statistic(b, c, n, null_value)
    greater, less = normal_sf(z), normal_sf(-z)
    if b + c == 0 and null_value == 0.0:
        greater = less = 1.0
    interval = tango_interval(b, c, n, level)
    return _result(
        "tango", b, c, n, null_value, greater, less, 2 * min(greater, less), interval, level, statistic=z
    )


def mcnemar_exact_p(b: int, c: int, *_: float) -> float:
    """One-sided p of ``mcnemar_exact`` alone."""
    return binomial_sf(b, b + c, 0.5)


def mcnemar_midp_p(b: int, c: int, *_: float) -> float:
    """One-sided p of ``mcnemar_midp`` alone."""
    return binomial_sf(b, b + c, 0.5) - 0.5 * binomial_pmf(b, b + c, 0.5)


def mcnemar_chi2_p(b: int, c: int, *_: float) -> float:
    """One-sided p of ``mcnemar_chi2`` alone."""
    return normal_sf((b - c) / math.sqrt(b + c))


def mcnemar_edwards_p(b: int, c: int, *_: float) -> float:
    """One-sided p of ``mcnemar_edwards`` alone."""
    return normal_sf(math.copysign(max(abs(b - c) - 1, 0) / math.sqrt(b + c), b - c))


def tango_p(b: int, c: int, n: int, null_value: float, _level: float) -> float:
    """One-sided p of ``tango`` alone."""
    return normal_sf(tango_statistic(b, c, n, null_value))


def tango_statistic(b: int, c: int, n: int, m: float, correction: float = 0.0) -> float:
    """Score statistic (b - c - n m) / sd at the restricted maximum-likelihood estimate; falls with m."""
    numerator = b - c - n * m - correction
    big_b = -(b + c) + (2 * n - b + c) * m
    big_c = -c * m * (1 - m)
    root = math.sqrt(max(big_b * big_b - 8 * n * big_c, 0.0))
    q = (root - big_b) / (4 * n)
    variance = n * (2 * q + m * (1 - m))
    if variance <= 1e-12 * n:
        return 0.0 if abs(numerator) < 1e-9 else math.copysign(math.inf, numerator)
    return numerator / math.sqrt(variance)


def tango_interval(b: int, c: int, n: int, level: float, correction: float = 0.0) -> Interval:
    """Limits that invert ``tango_statistic`` on [-1, 1], each side at error `level`."""
    z = -normal_quantile(level)
    low = _tango_lower(b, c, n, z, correction)
    high = -_tango_lower(c, b, n, z, correction)
    return Interval(low, high, 1 - 2 * level, "tango" if correction == 0 else "tango_edwards")


def _tango_lower(b: int, c: int, n: int, z: float, correction: float) -> float:
    if c == n:
        return -1.0
    low, high = -1.0, 1.0
    if correction and b - c - correction > 0 and b + c and (b - c - correction) / math.sqrt(b + c) > z:
        low = 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if tango_statistic(b, c, n, middle, correction) > z:
            low = middle
        else:
            high = middle
    return low


def fay_lumbard(b: int, c: int, n: int, level: float, *, midp: bool = False) -> Interval:
    """Interval for delta that agrees with exact (or mid-p) McNemar: Fay & Lumbard 2020, by quadrature.

    With T the rate of disagreement and B the share of wins in it, both by their Clopper-Pearson
    confidence laws and independent, the limits are quantiles of T (2 B - 1).
    """
    low = _melded_lower(b, c, n, level, midp)
    high = -_melded_lower(c, b, n, level, midp)
    return Interval(low, high, 1 - 2 * level, "fay_lumbard_midp" if midp else "fay_lumbard")


def _melded_lower(b: int, c: int, n: int, level: float, midp: bool) -> float:
    s = b + c
    if b == 0 and not midp:
        return -beta_quantile(s + 1, n - s, 1 - level)
    shares = [(b, c + 1), (b + 1, c)] if midp else [(b, c + 1)]
    below_half = sum(float(beta_cdf(x, y, 0.5)) for x, y in shares) / len(shares)
    positive = below_half < level and s > 0
    # the larger rate of disagreement gives the smaller limit where it is negative, and the other way round
    rates = [(s, n - s + 1), (s + 1, n - s)]
    laws = [_Rate(*rate) for rate in (rates if midp else rates[:1] if positive else rates[1:])]

    def below(x: float) -> float:
        return sum(law.product_below(x, share) for law in laws for share in shares) / len(laws) / len(shares)

    if positive:
        return lower_limit(below, level, 0.0, (0.0, 1.0), tolerance=1e-12)
    if below(-1.0) >= level:
        return -1.0
    return lower_limit(below, level, -1.0, (-1.0, 0.0), tolerance=1e-12)


class _Rate:
    """The confidence law Beta(a, b) of the rate of disagreement T, ready for E[f(T)] by Gauss-Legendre."""

    def __init__(self, a: int, b: int) -> None:
        self.a, self.b = a, b
        self.low, self.high = beta_quantile(a, b, 1e-15), beta_quantile(a, b, 1 - 1e-15)
        self.log_norm = log_beta(a, b) if a > 0 and b > 0 else 0.0

    def product_below(self, x: float, share: tuple[int, int]) -> float:
        """P(T (2 B - 1) <= x) with B ~ Beta(share) independent of T."""
        if self.a <= 0 or self.b <= 0:
            at = self.low
            return float(beta_cdf(*share, 0.5 * (1 + x / at))) if at > 0 else float(x >= 0)
        # |2 B - 1| <= 1, so a T below |x| decides by itself; the integrand has a kink there
        start = min(max(self.low, abs(x)), self.high)
        decided = float(beta_cdf(self.a, self.b, start)) if x > 0 else 0.0
        if start >= self.high:
            return decided
        nodes, weights = _legendre()
        t = 0.5 * (self.high - start) * nodes + 0.5 * (self.high + start)
        density = np.exp((self.a - 1) * np.log(t) + (self.b - 1) * np.log1p(-t) - self.log_norm)
        mass = 0.5 * (self.high - start) * weights * density
        inside = float(np.sum(mass * beta_cdf(*share, 0.5 * (1 + x / t))))
        return inside + decided


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(128)
    return nodes, weights


def _chi_square(
    method: str, b: int, c: int, n: int, z: float, level: float, interval: Interval
) -> TestResult:
    two = math.erfc(abs(z) / math.sqrt(2.0)) if b + c else 1.0
    greater = 0.5 * two if b > c else 1 - 0.5 * two
    less = 0.5 * two if b < c else 1 - 0.5 * two
    if b + c == 0:
        greater = less = 1.0
    result = _result(method, b, c, n, 0.0, greater, less, two, interval, level, statistic=z * z)
    if b + c >= 25:
        return result
    warning = Caution(
        "few_discordant",
        f"the chi-square approximation wants 25 discordant pairs (found {b + c}); "
        "mcnemar_exact has no such limit",
    )
    return _with_cautions(result, warning)


def _result(
    method: str,
    b: int,
    c: int,
    n: int,
    null_value: float,
    greater: float,
    less: float,
    two: float,
    interval: Interval,
    level: float,
    statistic: float | None = None,
) -> TestResult:
    s = b + c
    floor = {"mcnemar_exact": 0.5**s, "mcnemar_midp": 0.5 ** (s + 1)}.get(method)
    cautions: tuple[Caution, ...] = ()
    if floor is not None and s > 0 and floor >= level:
        cautions = (clean_sweep(s, floor, level),)
    return TestResult(
        method=method,
        n=n,
        estimate=(b - c) / n,
        null_value=null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(two),
        interval=interval,
        statistic=statistic,
        estimand_value=(b - c) / n,
        smallest_p=clip_p(floor) if floor is not None else None,
        insufficient=no_disagreement(n) if s == 0 and null_value >= 0 else "",
        cautions=cautions,
    )


def clean_sweep(s: int, floor: float, level: float) -> Caution:
    """The set is too small to reach the level whatever happened on it."""
    return Caution(
        "smallest_p",
        f"even a clean sweep of the {s} discordant item{'s' if s > 1 else ''} could not reach the level "
        f"(smallest possible p {floor:.4g}, level {level:g})",
    )


def no_disagreement(n: int) -> str:
    """What s = 0 means at a null value of 0 or more."""
    return f"no disagreements on {n} items: this set cannot weigh the two systems"


def _with_cautions(result: TestResult, *more: Caution) -> TestResult:
    return replace(result, cautions=result.cautions + more)

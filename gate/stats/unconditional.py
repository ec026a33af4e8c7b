"""Exact unconditional test of paired pass/fail against any margin: Tango ordering, Berger-Boos nuisance set.

Berger & Boos 1994 (JASA 89:1012); Berger & Sidik 2003 (Stat Methods Med Res 12:91); Sidik 2003.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gate.stats.binary import no_disagreement, tango, tango_interval, tango_p, tango_statistic
from gate.stats.distributions import Floats, clip_p, clopper_pearson
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.results import Interval, TestResult
from gate.values import Caution

MOST_DISCORDANT = 5000
GRID, REFINED = 120, 31
SPREAD = 8.5  # standard deviations of s that are enumerated; what lies beyond is below 1e-16


def exact_unconditional(b: int, c: int, n: int, null_value: float, level: float) -> TestResult:
    """Exact unconditional test of H0 "delta <= m" with the interval that inverts it.

    b, c: items only the candidate / only the baseline passes; n items; m in (-1, 1). The p-value is the
    largest probability, over the rates of disagreement that the data leave plausible, of a Tango statistic
    at least as large as the observed one, plus g: 1e-4, or 1e-6 for levels below .005. It never exceeds its
    level. Two-sided at m = 0: both tails and g once.
    Degenerate: s = 0 at m >= 0 is insufficient; at m < 0 the pass is decided by n alone. Above 5,000
    discordant pairs Tango's test answers, whose error is then below .001, and a caution says so.
    """
    if b + c > MOST_DISCORDANT:
        return _by_tango(b, c, n, null_value, level)
    g = berger_boos_g(level)
    greater = p_greater(b, c, n, null_value, g)
    less = p_greater(c, b, n, -null_value, g)
    spent = g if null_value == 0.0 else 0.0  # one nuisance set serves both tails
    return TestResult(
        method="exact_unconditional",
        n=n,
        estimate=(b - c) / n,
        null_value=null_value,
        p_greater=clip_p(greater),
        p_less=clip_p(less),
        p_two_sided=clip_p(2 * min(greater, less) - spent),
        interval=unconditional_interval(b, c, n, null_value, level),
        statistic=tango_statistic(b, c, n, null_value),
        estimand_value=(b - c) / n,
        insufficient=no_disagreement(n) if b + c == 0 and null_value >= 0 else "",
    )


def berger_boos_g(level: float) -> float:
    """What the nuisance set may cost: small beside the level, because it is added to p."""
    return 1e-4 if level >= 0.005 else min(1e-6, level / 100)


def unconditional_interval(b: int, c: int, n: int, null_value: float, level: float) -> Interval:
    """Limits by inverting the test on both sides, anchored at `null_value` so that p and interval agree."""
    g = berger_boos_g(level)
    guess = tango_interval(b, c, n, level)
    step = 0.02 * (guess.high - guess.low)
    low = lower_limit(
        lambda m: p_greater(b, c, n, m, g),
        level,
        null_value,
        (-1.0, 1.0),
        near=(guess.low - 0.5 * step, step),
        tolerance=1e-7,
    )
    high = upper_limit(
        lambda m: p_greater(c, b, n, -m, g),
        level,
        null_value,
        (-1.0, 1.0),
        near=(guess.high + 0.5 * step, step),
        tolerance=1e-7,
    )
    return Interval(low, high, 1 - 2 * level, "exact_unconditional")


def p_greater(b: int, c: int, n: int, m: float, g: float) -> float:
    """One-sided p of H0 "delta <= m": max over psi of P(T >= t_obs | m, psi) + g, at most 1."""
    if m >= 1.0 or (b + c == 0 and m >= 0):
        return 1.0
    if m <= -1.0:
        return 1.0 if c == n else g
    observed = tango_statistic(b, c, n, m)
    low, high = clopper_pearson(b + c, n, g / 2)
    low, high = max(low, abs(m)), max(high, abs(m))
    region = _Region(n, m, observed, low, high)
    psi = np.linspace(low, high, GRID) if high > low else np.array([low])
    tail = region.tail(psi)
    if high > low:
        best = int(np.argmax(tail))
        near = np.linspace(psi[max(best - 1, 0)], psi[min(best + 1, GRID - 1)], REFINED)
        tail = np.append(tail, region.tail(near))
    return min(1.0, float(tail.max()) + g)


def exact_unconditional_p(b: int, c: int, n: int, null_value: float, level: float) -> float:
    """One-sided p of ``exact_unconditional`` alone."""
    if b + c > MOST_DISCORDANT:
        return tango_p(b, c, n, null_value, level)
    return p_greater(b, c, n, null_value, berger_boos_g(level))


class _Region:
    """The tables at least as extreme as the observed one, as the least number of wins for each s.

    For fixed s, T rises with the number of wins, so the region is {b >= wins[s]}: probabilities cost O(n)
    a psi, not O(n^2).
    """

    def __init__(self, n: int, m: float, observed: float, low: float, high: float) -> None:
        self.n, self.m = n, m
        self.first = max(0, _floor(n, low, -SPREAD))
        last = min(n, _floor(n, high, SPREAD) + 1)
        self.s = np.arange(self.first, last + 1)
        self.wins = _least_wins(self.s, n, m, observed)
        up_to = np.arange(0, n + 2, dtype=np.float64)
        self.log_factorial = _log_gamma(up_to + 1)
        self.log_ways = self._log_choose(n, self.s)

    def _log_choose(self, n: int | npt.NDArray[np.int64], k: npt.NDArray[np.int64]) -> Floats:
        table = self.log_factorial
        ways: Floats = table[n] - table[k] - table[n - k]
        return ways

    def tail(self, psi: Floats) -> Floats:
        """P(region) for each rate of disagreement psi in [|m|, 1]."""
        share = np.clip((psi + self.m) / (2 * psi), 1e-300, 1.0)
        loss = np.clip((psi - self.m) / (2 * psi), 1e-300, 1.0)
        conditional = self._conditional(np.log(share)[:, None], np.log(loss)[:, None], share, loss)
        with np.errstate(divide="ignore"):
            rest = np.log1p(-np.minimum(psi, 1 - 1e-16))
        log_mass = self.log_ways + self.s * np.log(psi)[:, None] + (self.n - self.s) * rest[:, None]
        total: Floats = np.einsum("ij,ij->i", np.exp(log_mass), conditional)
        return total

    def _conditional(self, log_share: Floats, log_loss: Floats, share: Floats, loss: Floats) -> Floats:
        """P(Bin(s, share) >= wins[s]) for all s from the first one, by steps of one trial.

        One more trial: P(s+1, w) = P(s, w) + share pmf(w-1; s) and P(s+1, w+1) = P(s, w) - loss pmf(w; s).
        Only the first s needs an incomplete beta function.
        """
        from scipy.special import bdtrc  # noqa: PLC0415

        s, wins = self.s[:-1], self.wins[:-1]
        grows = self.wins[1:] > wins
        at = np.where(grows, wins, wins - 1)
        inside = (at >= 0) & (at <= s)
        at = np.clip(at, 0, s)
        log_pmf = self._log_choose(s, at) + at * log_share + (s - at) * log_loss
        step = np.where(grows, -loss[:, None], share[:, None]) * np.exp(log_pmf) * inside
        start = bdtrc(self.wins[0] - 1, self.first, share) if self.wins[0] > 0 else np.ones_like(share)
        if self.wins[0] > self.first:
            start = np.zeros_like(share)
        tails = np.concatenate([start[:, None], start[:, None] + np.cumsum(step, axis=1)], axis=1)
        return np.asarray(np.clip(tails, 0, 1), dtype=np.float64)


def _least_wins(s: npt.NDArray[np.int64], n: int, m: float, observed: float) -> npt.NDArray[np.int64]:
    """For each s the least b with T(b, s - b) >= observed; s + 1 where there is none. By bisection."""
    threshold = observed - 1e-9 * max(1.0, abs(observed))  # the observed table itself must be inside
    low, high = np.full(s.shape, -1, dtype=np.int64), s + 1
    for _ in range(int(s[-1] + 2).bit_length()):
        middle = (low + high) // 2
        open_ = high - low > 1
        extreme = _statistics(np.clip(middle, 0, s), s, n, m) >= threshold
        high = np.where(open_ & extreme, middle, high)
        low = np.where(open_ & ~extreme, middle, low)
    return high


def _statistics(b: npt.NDArray[np.int64], s: npt.NDArray[np.int64], n: int, m: float) -> Floats:
    """``tango_statistic`` over arrays."""
    c = s - b
    numerator = b - c - n * m
    big_b = -s + (2 * n - b + c) * m
    root = np.sqrt(np.maximum(big_b * big_b + 8.0 * n * c * m * (1 - m), 0.0))
    variance = n * ((root - big_b) / (2 * n) + m * (1 - m))
    flat = variance <= 1e-12 * n
    value = numerator / np.sqrt(np.where(flat, 1.0, variance))
    at_zero = np.where(np.abs(numerator) < 1e-9, 0.0, np.copysign(np.inf, numerator))
    return np.asarray(np.where(flat, at_zero, value), dtype=np.float64)


def _floor(n: int, psi: float, spread: float) -> int:
    return math.floor(n * psi + spread * math.sqrt(n * psi * (1 - psi)) + math.copysign(12, spread))


def _log_gamma(x: Floats) -> Floats:
    from scipy.special import gammaln  # noqa: PLC0415

    return np.asarray(gammaln(x), dtype=np.float64)


def _by_tango(b: int, c: int, n: int, null_value: float, level: float) -> TestResult:
    note = Caution(
        "tango_for_many_discordant",
        f"{b + c} discordant pairs: Tango's score test stands in for the exact unconditional one, "
        "from which it differs by less than .001 at this size",
    )
    result = tango(b, c, n, null_value, level)
    return replace(result, method="exact_unconditional", cautions=(*result.cautions, note))

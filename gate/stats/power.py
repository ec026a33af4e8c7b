"""Sample size, smallest detectable effect and power."""

from __future__ import annotations

import math

import numpy as np

from gate.stats.distributions import normal_quantile
from gate.stats.unconditional import berger_boos_g, p_greater

POWER = 0.8


def smallest_effect(variance: float, n: int, level: float, power: float = POWER) -> float:
    """MDE: (z_{1-level} + z_power) sqrt(Var(d) / n), in the metric's unit (Miller 2024, arXiv 2411.00640)."""
    return _reach(level, power) * math.sqrt(variance / n)


def items_needed(variance: float, effect: float, level: float, power: float = POWER) -> int | None:
    """Items that give `power` to detect `effect` > 0, rounded up, at least 2; None where no number helps."""
    if effect <= 0:
        return None
    if variance <= 0:
        return 2
    ratio = _reach(level, power) / effect
    n = ratio * ratio * variance  # may be inf, where ** would raise
    return max(2, math.ceil(n - 1e-9)) if math.isfinite(n) else None


def fewest_units(level: float) -> int:
    """Least n with 2^-n below the level: fewer items, clusters or seeds cannot pass."""
    n = max(1, math.floor(-math.log2(level)))
    return n if 0.5**n < level else n + 1


def normal_power(variance: float, n: int, effect: float, level: float) -> float:
    """Power of a one-sided z test at `level` for a true mean difference `effect`."""
    if variance <= 0:
        return 1.0 if effect > 0 else 0.0
    from gate.stats.distributions import normal_sf  # noqa: PLC0415

    return normal_sf(-normal_quantile(level) - effect / math.sqrt(variance / n))


def binary_variance(discordant: float, delta: float) -> float:
    """Var(d) of pass/fail differences: rate of disagreement minus delta squared."""
    return discordant - delta * delta


def mcnemar_power(n: int, discordant: float, delta: float, level: float, margin: float = 0.0) -> float:
    """Exact power of the one-sided exact McNemar test at `level`, by enumeration over s.

    n items, rate of disagreement `discordant` >= |delta|, true difference delta. margin: the observed
    difference (b - c) / n must reach it as well.
    """
    if discordant <= 0:
        return 0.0
    s = _likely_discordant(n, discordant)
    reach = np.ceil((s + n * margin) / 2 - 1e-9).astype(np.int64)
    wins = np.maximum(_critical_wins(s, level), reach)
    return _power_of(s, wins, n, discordant, delta)


def smallest_gain(n: int, discordant: float, level: float, power: float = POWER) -> float | None:
    """Smallest true gain that exact McNemar sees with `power`, the rate of disagreement at least the gain.

    By bisection, as the power rises with the gain; None where a gain of 1 is not seen.
    """

    def seen(gain: float) -> bool:
        return mcnemar_power(n, max(discordant, gain), gain, level) >= power

    if not seen(1.0):
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def unconditional_power(n: int, discordant: float, delta: float, null_value: float, level: float) -> float:
    """Exact power of the one-sided exact unconditional test of H0 "delta <= null_value", by enumeration.

    For each number s of discordant pairs the least b that rejects is looked for near that of s - 1.
    """
    g = berger_boos_g(level)
    s = _likely_discordant(n, discordant)
    wins, last = np.empty_like(s), int(s[0]) // 2
    for place, changed in enumerate(s.tolist()):

        def rejects(b: int, changed: int = changed) -> bool:
            return p_greater(b, changed - b, n, null_value, g) < level

        while last > 0 and rejects(min(last - 1, changed)):
            last = min(last - 1, changed)
        while last <= changed and not rejects(last):
            last += 1
        wins[place] = last
    return _power_of(s, wins, n, discordant, delta)


def _likely_discordant(n: int, discordant: float) -> np.typing.NDArray[np.int64]:
    """Numbers of discordant pairs of n; what is left out has no chance that a double could hold beside 1."""
    middle, spread = n * discordant, 10 * math.sqrt(n * discordant * (1 - discordant)) + 12
    return np.arange(max(0, math.floor(middle - spread)), min(n, math.ceil(middle + spread)) + 1)


def _power_of(
    s: np.typing.NDArray[np.int64], wins: np.typing.NDArray[np.int64], n: int, discordant: float, delta: float
) -> float:
    """P(b >= wins(s)) over the law of s = b + c; wins above s: never."""
    from scipy.special import bdtrc, gammaln  # noqa: PLC0415

    rest = math.log1p(-discordant) if discordant < 1 else -math.inf
    with np.errstate(invalid="ignore"):
        missing = np.where(n - s > 0, (n - s) * rest, 0.0)
    log_mass = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1) + s * math.log(discordant) + missing
    share = min(1.0, max(0.0, (discordant + delta) / (2 * discordant)))
    reject = np.where(wins <= s, np.where(wins > 0, bdtrc(np.maximum(wins - 1, 0), s, share), 1.0), 0.0)
    return min(1.0, float(np.sum(np.exp(log_mass) * reject)))


def _critical_wins(s: np.typing.NDArray[np.int64], level: float) -> np.typing.NDArray[np.int64]:
    """Least b with P(Bin(s, 1/2) >= b) < level, s + 1 where there is none."""
    from scipy.special import betainc  # noqa: PLC0415

    low, high = s // 2, s + 1
    for _ in range(int(s[-1] + 2).bit_length()):
        middle = (low + high) // 2
        tail = np.where(middle > 0, betainc(np.maximum(middle, 1), s - middle + 1, 0.5), 1.0)
        high = np.where(tail < level, middle, high)
        low = np.where(tail >= level, middle, low)
    return high


def mcnemar_items_needed(discordant: float, delta: float, level: float, power: float = POWER) -> int | None:
    """Least n from which exact McNemar has `power` (the first: power is not quite monotone)."""
    guess = items_needed(binary_variance(discordant, delta), delta, level, power)
    if guess is None:
        return None
    low, high = 1, 2 * guess + 50
    while mcnemar_power(high, discordant, delta, level) < power:
        low, high = high, 2 * high
    low = max(low, guess // 2)
    while high - low > 64:
        middle = (low + high) // 2
        if mcnemar_power(middle, discordant, delta, level) < power:
            low = middle
        else:
            high = middle
    return next(
        n for n in range(max(1, low - 64), high + 1) if mcnemar_power(n, discordant, delta, level) >= power
    )


def clean_items_needed(tolerance: float, level: float) -> int:
    """Least n without a discordant pair that proves "no worse than -tolerance" by exact_unconditional."""
    g = berger_boos_g(level)
    n = max(1, math.floor(math.log(level) / math.log1p(-tolerance)) - 2)
    while p_greater(0, 0, n, -tolerance, g) >= level:
        n += 1
    return n


def _reach(level: float, power: float) -> float:
    return -normal_quantile(level) + normal_quantile(power)

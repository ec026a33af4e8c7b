"""The arithmetic of looks: levels that add up to the level, how far a streak protects, what retrying does.

``level`` is one-sided everywhere (the policy's two-sided alpha, halved). Derivations: a run of k passing
looks holds exactly one look whose number is a multiple of k, so a promotion in block b needs a pass at
level * share(b); the shares add up to 1, and the union bound needs no independence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

RETRY_RHOS: Final = (0.0, 0.5, 0.9)
_ENUMERATED: Final = 20


def share(block: int, planned: int) -> float:
    """Part of the level that block ``block`` (1, 2, ...) of looks may spend, ``planned`` being planned."""
    return 1.0 / _divisor(block, planned)


def _divisor(block: int, planned: int) -> int:
    if block <= planned:
        return planned + 1
    return (planned + 1) * (block - planned) * (block - planned + 1)


def ledger_level(level: float, look: int, required: int, looks: int) -> float:
    """The level of look number ``look`` on a re-used item set; over all looks, ever, they spend ``level``."""
    return level / _divisor(math.ceil(look / required), math.ceil(looks / required))


def most_looks(level: float, required: int) -> float:
    """N_max: so many looks on fresh windows keep the chance of any false promotion below ``level``."""
    try:
        return math.pow(level, 1 - required)
    except OverflowError:  # more looks than a float can count
        return math.inf


def fresh_level(level: float, required: int, looks: int | None) -> float:
    """The level of every look when ``looks`` are declared on fresh windows."""
    if looks is None or looks <= most_looks(level, required) * (1 + 1e-12):
        return level
    return math.pow(level / looks, 1 / required)


def promotion_chance(pass_chance: float, required: int, looks: int) -> float:
    """P(at least one run of ``required`` passes in ``looks`` independent looks), exact."""
    import numpy as np  # noqa: PLC0415 - see above

    steps = np.diag([pass_chance] * required, 1)  # state: length of the current run; the last one absorbs
    steps[:required, 0] = 1 - pass_chance
    steps[required, required] = 1.0
    return float(np.linalg.matrix_power(steps, looks)[0, required])


def chance_words(chance: float) -> str:
    """A chance as a person reads it. What is possible never has chance 0."""
    return "below 1e-12" if chance < 1e-12 else f"{chance:.2g}"


def expected_cycles(pass_chance: float, required: int) -> float:
    """Mean number of cycles until ``required`` passes in a row."""
    return (1 - pass_chance**required) / (pass_chance**required * (1 - pass_chance))


def retry_risk(looks: int, level: float, rhos: Sequence[float] = RETRY_RHOS) -> dict[str, float]:
    """P(any of ``looks`` null looks passes at ``level``), by correlation between them (equal, normal).

    0: both sides scored anew each time. 0.5: the baseline's results are kept. 0.9: nearly the same candidate.
    """
    return {format(rho, "g"): _any_passes(looks, level, rho) for rho in rhos}


def _any_passes(looks: int, level: float, rho: float) -> float:
    if rho == 0 or looks == 1:
        return -math.expm1(looks * math.log1p(-level))
    import numpy as np  # noqa: PLC0415 - the rest of this module needs no arrays
    from scipy.special import log_ndtr, ndtri  # noqa: PLC0415

    # With a shared normal factor the looks are independent given it; the trapezium rule on a smooth, fast
    # decaying integrand is exact to rounding.
    shared = np.linspace(-12.0, 12.0, 4801)
    bound = (ndtri(1 - level) - math.sqrt(rho) * shared) / math.sqrt(1 - rho)
    some = -np.expm1(looks * log_ndtr(bound))
    density = np.exp(-0.5 * shared**2) / math.sqrt(2 * math.pi)
    return float(np.sum(some * density) * (shared[1] - shared[0]))


def sign_flip_p(deltas: Sequence[float]) -> float:
    """One-sided p of H0 "symmetric around 0": every sign pattern, above 20 deltas 2^20 random ones."""
    import numpy as np  # noqa: PLC0415

    values = np.asarray(deltas, dtype=np.float64)
    if not len(values):
        return 1.0
    tolerance = 1e-12 * float(np.abs(values).sum())  # equal sums must count as equal whatever their rounding
    if len(values) <= _ENUMERATED:
        sums: Any = np.zeros(1)
        for value in values:
            sums = np.concatenate([sums + value, sums - value])
        return float(np.mean(sums >= values.sum() - tolerance))
    signs = np.random.default_rng(0).integers(0, 2, (2**_ENUMERATED // 64, 64, len(values)), dtype=np.int8)
    hits = sum(int(np.sum((2.0 * part - 1) @ values >= values.sum() - tolerance)) for part in signs)
    return (hits + 1) / (2**_ENUMERATED + 1)


def sign_flip_floor(cycles: int) -> float:
    """The least p that ``cycles`` deltas can give, when all of them are above the margin."""
    return 2.0**-cycles


def fewest_cycles(alpha: float) -> int:
    """The least number of unanimous cycles whose sign-flip p is at most ``alpha``."""
    cycles = 1
    while sign_flip_floor(cycles) > alpha:
        cycles += 1
    return cycles

"""The frozen values that every procedure is asked with and returns."""

from __future__ import annotations

from dataclasses import dataclass

from gate.stats.seeding import DEFAULT_RESAMPLES
from gate.values import Caution


@dataclass(frozen=True, slots=True)
class Settings:
    """What a procedure is asked: null value m, one-sided level, declared scale, resamples and seed."""

    null_value: float
    level: float
    scale: tuple[float, float] | None = None
    resamples: int = DEFAULT_RESAMPLES
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """Two-sided interval for the mean (or the named estimand of) candidate - baseline, positive is better.

    confidence: nominal coverage in (0, 1), e.g. 0.95. Ends are in the metric's unit and may be infinite
    where the data cannot bound them.
    """

    low: float
    high: float
    confidence: float
    method: str


@dataclass(frozen=True, slots=True)
class TestResult:
    """One procedure, applied once.

    estimate: observed mean difference, whatever the procedure's own estimand is.
    null_value: m of H0. p_greater: one-sided p against H0 "delta <= m". p_less: one-sided p against
    H0 "delta >= m". p_two_sided: as the procedure's literature defines it (default: twice the smaller).
    interval: confidence 1 - 2 * level, from the same procedure, so that ``interval.low > m`` and
    ``p_greater < level`` are one event wherever the procedure allows it.
    smallest_p: the least one-sided p that data of this size could give (2^-s for exact McNemar), or None.
    resamples, seed: 0 for deterministic procedures.
    """

    __test__ = False  # not a pytest class

    method: str
    n: int
    estimate: float
    null_value: float
    p_greater: float
    p_less: float
    p_two_sided: float
    interval: Interval
    statistic: float | None = None
    estimand: str = "mean"
    estimand_value: float | None = None
    smallest_p: float | None = None
    resamples: int = 0
    seed: int = 0
    insufficient: str = ""
    cautions: tuple[Caution, ...] = ()

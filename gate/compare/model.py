"""What was measured for one rule, before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gate.stats.results import Interval
from gate.values import Caution
from gate.words import number, signed

ROUNDING = 1e-12
"""Differences of decimals carry binary noise; an exact +0.01 must reach a margin of 0.01."""


def at_least(value: float, bound: float) -> bool:
    """``value >= bound`` but for binary noise, which is as small as the numbers are."""
    return value >= bound - ROUNDING * min(1.0, max(abs(value), abs(bound)))


class Change(NamedTuple):
    """One item on which the two systems differ. delta: after direction, positive is better.

    A named tuple: ten thousand of them are made for a large comparison, at a fifth of the cost.
    """

    id: str
    baseline: float
    candidate: float
    delta: float
    shown: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Changes:
    """Items gained and lost, largest first; the counts are complete, the lists are bounded."""

    gained_count: int
    lost_count: int
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Flagged:
    """One flaky item. baseline, candidate: (k, K), runs with the value 1 and runs in all."""

    id: str
    baseline: tuple[int, int]
    candidate: tuple[int, int]
    delta: float


@dataclass(frozen=True, slots=True)
class SignTest:
    """Whether items that change at all get worse more often than better: what one huge value cannot hide.

    worse, changed: items, or clusters where there are any. p_value: exact, in the direction of harm.
    p_adjusted: over the sign tests of the family.
    """

    worse: int
    changed: int
    p_value: float
    p_adjusted: float | None = None

    @property
    def p(self) -> float:
        """The one that counts."""
        return self.p_value if self.p_adjusted is None else self.p_adjusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One metric under one rule.

    baseline, candidate: means in the metric's unit. baseline_error: the standard error of the first. delta:
    candidate - baseline after direction, so that positive is better. share: of the items, what a churn limit
    counts. null_value: m of the deciding H0 in delta's unit. interval: of the deciding test, confidence 1 - 2
    * level. p_value: one-sided; for a veto in the direction of harm. bound: the margin, tolerance, limit or
    share that the policy sets, in the metric's unit. clears_bound: the interval lies above the null value of
    the deciding test. worse: the interval of the plain difference lies below 0. insufficient: why the data
    cannot carry a claim (the data row of the decision), or "". mde: smallest true difference seen 80 % of the
    time at ``level`` (for a veto: the loss missed 20 % of the time at its corrected level). flips: items
    whose candidate result would have to flip for the rule to turn to or from pass. clean_sweep: a veto's p if
    every item (cluster, seed) lost that can; then corrected. sign_test: beside a veto on a mean.
    distribution: of the items' differences. other: the same rule under the other reading of failed runs.
    same_run: both sides are one run, so that there is nothing to compare.
    """

    rule: str
    role: str
    mode: str
    metric: str
    kind: str
    direction: str
    method: str
    n: int
    set: str | None = None
    baseline: float | None = None
    baseline_error: float | None = None
    candidate: float | None = None
    delta: float | None = None
    share: float | None = None
    null_value: float = 0.0
    bound: float | None = None
    relative: float | None = None
    upper_bound: float | None = None
    proven: bool = False
    first: bool = False
    detect: float | None = None
    interval: Interval | None = None
    interval_requested: Interval | None = None
    p_value: float | None = None
    p_two_sided: float | None = None
    p_adjusted: float | None = None
    level: float = 0.0
    clears_bound: bool | None = None
    worse: bool | None = None
    observed_rule: bool | None = None
    tested_rule: bool | None = None
    margin_rule: str | None = None
    suspect_gain: float | None = None
    max_flaky_share: float | None = None
    insufficient: str = ""
    gated: bool = True
    same_run: bool = False
    mde: float | None = None
    items_needed: int | None = None
    sd_difference: float | None = None
    variance: float | None = None
    correlation: float | None = None
    only_candidate: int | None = None
    only_baseline: int | None = None
    smallest_p: float | None = None
    clean_sweep: float | None = None
    sign_test: SignTest | None = None
    estimand: str = "mean"
    estimand_value: float | None = None
    resamples: int = 0
    seed: int = 0
    reading: str = "complete"
    incomplete: int = 0
    reference: Mapping[str, float | None] = field(default_factory=dict)
    flaky: Mapping[str, Any] = field(default_factory=dict)
    flagged: tuple[Flagged, ...] = ()
    distribution: Mapping[str, Any] = field(default_factory=dict)
    flips: int | None = None
    clusters: Mapping[str, Any] = field(default_factory=dict)
    seed_reading: str = ""
    changes: Changes | None = None
    cautions: tuple[Caution, ...] = ()
    other: Comparison | None = None

    def found(self) -> str:
        """The number that this mode decides on, with its name."""
        return {
            "limit": f"value {number(self.candidate)}",
            "churn": f"share lost {number(self.share)}",
            "must_pass": f"{self.only_baseline} newly failing",
        }.get(self.mode, f"delta {signed(self.delta)}")

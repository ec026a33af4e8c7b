"""What was measured for one rule, before anything is decided: ``Tested | Untested | Counted | Limited``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gate.estimands import Sides
from gate.measure.words import number, signed
from gate.policy.kinds import metric_words
from gate.stats.results import Interval
from gate.values import Caution, Direction, Kind, Mode, Role

ROUNDING = 1e-12
"""Differences of decimals carry binary noise; an exact +0.01 must reach a margin of 0.01."""


def at_least(value: float, bound: float) -> bool:
    """``value >= bound`` but for binary noise, which is as small as the numbers are."""
    return value >= bound - ROUNDING * min(1.0, max(abs(value), abs(bound)))


@dataclass(frozen=True, slots=True)
class Asked:
    """The rule that asks, and of which metric. level: one-sided. first: it goes before everything else."""

    rule: str
    role: Role
    mode: Mode
    metric: str
    kind: Kind
    direction: Direction
    level: float
    set: str | None = None
    first: bool = False

    @property
    def named(self) -> str:
        """The metric in a sentence: "AUC of score"."""
        return metric_words(self.metric, self.kind)


@dataclass(frozen=True, slots=True)
class Margin:
    """A gain of so much, in the metric's unit, observed or tested. relative: as a share of the baseline."""

    amount: float
    rule: str = "observed"
    relative: float | None = None
    suspect_gain: float | None = None
    max_flaky_share: float | None = None

    @property
    def null_value(self) -> float:
        """Where the deciding H0 ends."""
        return self.amount if self.rule == "tested" else 0.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """No loss above so much, in the metric's unit, proven."""

    amount: float
    relative: float | None = None

    @property
    def null_value(self) -> float:
        """Where the deciding H0 ends."""
        return -self.amount


@dataclass(frozen=True, slots=True)
class Veto:
    """No loss shown. tolerance: the loss that a slice is asked to be able to see; detect: a guardrail."""

    tolerance: float | None = None
    relative: float | None = None
    detect: float | None = None

    @property
    def null_value(self) -> float:
        """Where the deciding H0 ends."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The candidate's value within limits; proven: its whole interval."""

    least: float | None
    most: float | None
    proven: bool = False


@dataclass(frozen=True, slots=True)
class MostLost:
    """At most this share of the items lost."""

    share: float


@dataclass(frozen=True, slots=True)
class MostOnOne:
    """No item loses more than so much."""

    amount: float


@dataclass(frozen=True, slots=True)
class WorstShare:
    """The worst share of the items loses at most so much on average, proven. begins: of its tail."""

    share: float
    amount: float
    begins: float | None = None


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
class ItemFacts:
    """What the gating rule says of single items. distribution: of their differences.

    flips: items whose candidate result would have to flip for the rule to turn to or from pass; None where
    that is not known.
    """

    flaky: Mapping[str, Any] = field(default_factory=dict)
    flagged: tuple[Flagged, ...] = ()
    distribution: Mapping[str, Any] = field(default_factory=dict)
    flips: int | None = None
    changes: Changes | None = None


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """The deciding test's answer, in delta's unit.

    interval: confidence 1 - 2 * level. p_value: one-sided; for a veto in the
    direction of harm. clears_bound: the interval lies above the null value. smallest_p: the least that data
    of this size could give. estimand, estimand_value: what the interval is about. requested: the interval
    that the policy asks to see beside it.
    """

    interval: Interval
    p_value: float
    p_two_sided: float
    clears_bound: bool
    p_adjusted: float | None = None
    smallest_p: float | None = None
    estimand: str = "mean"
    estimand_value: float | None = None
    resamples: int = 0
    seed: int = 0
    requested: Interval | None = None

    @property
    def p(self) -> float:
        """The p that decides: adjusted where there is a family."""
        return self.p_value if self.p_adjusted is None else self.p_adjusted

    @property
    def worse(self) -> bool:
        """The interval lies below 0."""
        return self.interval.high < 0


@dataclass(frozen=True, slots=True)
class Visible:
    """What these items can see.

    mde: smallest true difference seen 80 % of the time at the level (for a veto: the loss missed 20 % of the
    time at its corrected level). items_needed: for the effect that the rule is about. variance: of an item's
    difference. clean_sweep: a veto's p if every item (cluster, seed) lost that can; then corrected. unable:
    why a veto on the whole set can rest on nothing; empty if it can.
    """

    mde: float | None = None
    items_needed: int | None = None
    sd_difference: float | None = None
    correlation: float | None = None
    variance: float | None = None
    clean_sweep: float | None = None
    unable: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """What only the gating rule says: both margin rules, values for readers of the literature, its items."""

    observed: bool
    tested: bool
    seed_reading: str = ""
    reference: Mapping[str, float | None] = field(default_factory=dict)
    items: ItemFacts = ItemFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every comparison says. n: items. reading: of missing results, of which ``incomplete`` items have.

    insufficient: why the data cannot carry a claim (the data row of the decision), or "". gated: whether it
    can decide. same_run: both sides are one run, so that there is nothing to compare. other: the same rule
    under the other reading of failed runs.
    """

    asked: Asked
    method: str
    n: int
    reading: str = "complete"
    incomplete: int = 0
    insufficient: str = ""
    gated: bool = True
    same_run: bool = False
    cautions: tuple[Caution, ...] = ()
    other: Comparison | None = None

    @property
    def rule(self) -> str:
        """The rule's id."""
        return self.asked.rule

    @property
    def level(self) -> float:
        """One-sided."""
        return self.asked.level

    @property
    def null_value(self) -> float:
        """m of the deciding test's H0 "delta <= m"."""
        return 0.0

    @property
    def delta(self) -> float | None:
        """The observed difference after direction, where there is one."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(Header):
    """A rule that rests on a paired test. wanted: None where it is only watched. sign_test: beside a veto."""

    __test__ = False  # not a pytest class

    wanted: Margin | Tolerance | Veto | None
    sides: Sides
    evidence: Evidence
    visible: Visible = Visible()
    sign_test: SignTest | None = None
    gain: Gain | None = None
    clusters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def null_value(self) -> float:
        """m of the deciding test's H0 "delta <= m"."""
        return 0.0 if self.wanted is None else self.wanted.null_value

    @property
    def delta(self) -> float:
        """The observed difference after direction."""
        return self.sides.delta

    @property
    def found(self) -> str:
        """The number that it is decided on."""
        return signed(self.sides.delta)

    @property
    def named(self) -> str:
        """That number with its name."""
        return f"delta {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Untested(Header):
    """A rule that should rest on a paired test, without any pair."""

    wanted: Margin | Tolerance | Veto | None
    found: str = signed(None)
    named: str = f"delta {signed(None)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Header):
    """Items that got better and worse. wanted: None where none may be lost. delta: None for no item."""

    wanted: MostLost | None
    better: int
    worse: int
    delta: float | None = None
    changes: Changes | None = None

    @property
    def share(self) -> float | None:
        """Of the items, how many are lost; None for no item."""
        return self.worse / self.n if self.n else None

    @property
    def found(self) -> str:
        """The number that it is decided on."""
        return f"{self.worse} newly failing" if self.wanted is None else number(self.share)

    @property
    def named(self) -> str:
        """That number with its name."""
        return self.found if self.wanted is None else f"share lost {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited(Header):
    """The candidate's own value; the baseline's mean stands beside it. interval: of a limit to be proven."""

    wanted: Limits
    baseline: float | None
    candidate: float | None
    interval: Interval | None = None

    @property
    def found(self) -> str:
        """The number that it is decided on."""
        return number(self.candidate)

    @property
    def named(self) -> str:
        """That number with its name."""
        return f"value {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst(Header):
    """The items that lose most. loss: the largest, or the mean of the worst share; None for no item.

    interval: of that mean's change, positive is better. beyond: ids of items that lose more than is allowed.
    """

    wanted: MostOnOne | WorstShare
    loss: float | None
    interval: Interval | None = None
    beyond: tuple[str, ...] = ()

    @property
    def delta(self) -> float | None:
        """The loss as a change."""
        return None if self.loss is None else 0.0 - self.loss

    @property
    def found(self) -> str:
        """The number that it is decided on."""
        return number(self.loss)

    @property
    def named(self) -> str:
        """That number with its name."""
        return f"loss {self.found}"


Comparison = Tested | Untested | Counted | Limited | Worst

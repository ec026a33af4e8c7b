"""Pass/fail against zero, looked at in stages: exact boundaries, p and limits that respect the stopping.

Items come in an order fixed beforehand. Given the numbers of discordant items in the prefixes, wins are
independent coin flips with chance theta (1/2 where nothing is better), so everything is exact given them,
and the level holds for every theta <= 1/2, whatever stages were skipped and whoever did not stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gate.stats.coins import CoinLaw, coin_flips
from gate.stats.distributions import binomial_sf, clip_p
from gate.stats.inversion import lower_limit, upper_limit
from gate.stats.spending import spending

AGREEING = 1.0 + 1e-9
"""A stage's interval has a level a hair above the nominal one, so that a crossing lies above 0 in it."""


@dataclass(frozen=True, slots=True)
class StagedWins:
    """The boundaries of the stages that were reached. All tuples have one value a stage.

    discordant: s_k, items of the prefix on which the two disagree. boundaries: least wins that promote,
    s_k + 1 where none does. spent: chance of having crossed by then under theta = 1/2. nominal: one-sided
    level a_k of that boundary by itself, 0 where there is none.
    """

    discordant: tuple[int, ...]
    boundaries: tuple[int, ...]
    spent: tuple[float, ...]
    nominal: tuple[float, ...]
    level: float

    def crosses(self, stage: int, wins: int) -> bool:
        """Whether so many wins promote at this stage (1 is the first)."""
        return wins >= self.boundaries[stage - 1]

    def interval_level(self, stage: int) -> float | None:
        """One-sided level of the rule's interval at this stage; None: nothing is decided, [-1, 1].

        Repeated confidence intervals (Jennison & Turnbull 1989, JRSS B 51:305): they hold together over all
        stages, whatever the reason to stop.
        """
        nominal = self.nominal[stage - 1]
        return nominal * AGREEING if nominal > 0 else None


def staged_wins(
    discordant: Sequence[int], fractions: Sequence[float], level: float, closed: int = 0
) -> StagedWins:
    """Boundaries of the stages reached so far, from their discordant counts.

    discordant: s_1 <= ... <= s_k of the prefixes. fractions: n_k / N of the same stages. level: one-sided.
    closed: so many first stages promote nothing (too few items); what they do not spend is carried on.
    H0: theta <= 1/2. P(b_k >= c_k at any k) <= level exactly, because all declared stages enter, looked at
    or not. A boundary never depends on later stages. ValueError on counts that fall or do not fit.
    """
    counts = tuple(int(s) for s in discordant)
    if len(counts) != len(fractions) or list(counts) != sorted(counts) or min(counts, default=0) < 0:
        raise ValueError(f"one rising discordant count a stage (found {counts} for {len(fractions)} stages)")
    law, before, spent = _START, 0, 0.0
    boundaries, spents = [], []
    for stage, (s, allowed) in enumerate(zip(counts, spending(fractions, level), strict=True)):
        law = law.plus(coin_flips(s - before, 0.5))
        boundary = s + 1 if stage < closed else _boundary(law, s, allowed - spent)
        spent += law.tail(boundary)
        law, before = law.below(boundary), s
        boundaries.append(boundary)
        spents.append(spent)
    nominal = tuple(binomial_sf(c, s, 0.5) for c, s in zip(boundaries, counts, strict=True))
    return StagedWins(counts, tuple(boundaries), tuple(spents), nominal, level)


def first_crossings(plan: StagedWins, theta: float) -> tuple[float, ...]:
    """P(the boundary is crossed at stage k and not before), a value a stage, for a share theta of wins."""
    laws = _laws(plan, theta)
    return tuple(law.tail(c) for law, c in zip(laws, plan.boundaries, strict=True))


def stagewise_p(plan: StagedWins, stage: int, wins: int, theta: float = 0.5) -> float:
    """P(an outcome at least as good as `wins` at `stage`), outcomes of earlier stages being better.

    At theta = 1/2 the one-sided p-value after stopping (Tsiatis, Rosner & Mehta 1984, Biometrics 40:797).
    At the last stage p <= level exactly where the boundary is crossed.
    """
    total = 0.0
    for k, (law, c) in enumerate(zip(_laws(plan, theta), plan.boundaries, strict=True), start=1):
        if k == stage:
            return clip_p(total + law.tail(wins))
        total += law.tail(c)
    raise ValueError(f"stage {stage} was not reached (found {len(plan.boundaries)} stages)")


def reported_p(p: float, level: float, *, crossed: bool, last: bool) -> float:
    """The p to print at a stop: one that did not cross at an early stage is never below the level."""
    return p if crossed or last else max(p, level)


def stagewise_theta(plan: StagedWins, stage: int, wins: int) -> tuple[float, float]:
    """Limits of the share of wins theta, each side at the plan's level, by inverting ``stagewise_p``."""

    def greater(theta: float) -> float:
        return stagewise_p(plan, stage, wins, theta)

    def less(theta: float) -> float:
        return 1.0 - stagewise_p(plan, stage, wins + 1, theta)

    low = lower_limit(greater, plan.level, 0.5, (0.0, 1.0), tolerance=1e-12)
    return low, upper_limit(less, plan.level, 0.5, (0.0, 1.0), tolerance=1e-12)


def stagewise_median(plan: StagedWins, stage: int, wins: int) -> float:
    """Median-unbiased share of wins: the theta at which half the law lies on either side of the outcome.

    The rate of disagreement times 2 theta - 1 is the gain to print: the naive one is too large after an
    early stop.
    """

    def at_least(theta: float) -> float:
        return 0.5 * (stagewise_p(plan, stage, wins, theta) + stagewise_p(plan, stage, wins + 1, theta))

    return _rising_root(lambda theta: at_least(theta) - 0.5, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class StagedPower:
    """power: chance to cross at any stage. items: expected share of the items that are scored."""

    power: float
    items: float


def staged_power(
    n: int, discordance: float, gain: float, fractions: Sequence[float], level: float, seed: int = 0
) -> StagedPower:
    """Power and expected share of the n items used by the staged test, without futility.

    discordance: rate of disagreement, >= |gain|; gain: true difference. The discordant counts are drawn
    400 times from their law; given them all is exact, which leaves an error of about .001.
    """
    rng = np.random.default_rng(seed)
    sizes = [math.ceil(t * n - 1e-9) for t in fractions]
    shares = [size / n for size in sizes]
    theta = min(1.0, 0.5 * (1.0 + gain / discordance))
    steps = rng.binomial(np.diff([0, *sizes]), discordance, size=(400, len(sizes)))
    power = used = 0.0
    for counts in np.cumsum(steps, axis=1):
        crossed = first_crossings(staged_wins(counts.tolist(), shares, level), theta)
        power += sum(crossed)
        used += 1.0 - sum(p * (1.0 - t) for p, t in zip(crossed, shares, strict=True))
    return StagedPower(power / len(steps), used / len(steps))


_START = CoinLaw(0, np.ones(1))


def _laws(plan: StagedWins, theta: float) -> Iterator[CoinLaw]:
    """The law of the wins at each stage on the paths that have not crossed before."""
    law, before = _START, 0
    for s, boundary in zip(plan.discordant, plan.boundaries, strict=True):
        law = law.plus(coin_flips(s - before, theta))
        yield law
        law, before = law.below(boundary), s


def _boundary(law: CoinLaw, s: int, available: float) -> int:
    """Least wins above s / 2 whose tail fits into what is available; s + 1 where none does."""
    if available <= 0.0:
        return s + 1
    tails = np.cumsum(law.mass[::-1])[::-1]
    fitting = np.flatnonzero(tails <= available)
    least = law.first + (int(fitting[0]) if fitting.size else law.mass.size)
    return min(max(least, s // 2 + 1), s + 1)


def _rising_root(rising: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return 0.5 * (low + high)

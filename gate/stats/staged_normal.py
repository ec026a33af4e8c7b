"""Any other test, looked at in stages: boundaries on z, and p and limits that respect the stopping.

B-values sqrt(t) z have independent increments N(drift dt, dt); the law of the paths that have not crossed is
carried from stage to stage by quadrature (Armitage, McPherson & Rowe 1969, JRSS A 132:235). A test that is no
z-test compares its own p with the nominal level of the stage, and enters here as z = Phi^-1(1 - p).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gate.stats.distributions import Floats, clip_p, normal_sf
from gate.stats.inversion import lower_limit
from gate.stats.spending import spending

FEWEST_GRADED = 100
"""Items below which no stage promotes graded scores: t tests of many small wins are too liberal there."""

FARTHEST = 38.0  # standard deviations; the tail beyond has no float
SPREAD = 9.0  # standard deviations that the quadrature covers
PANEL_NODES, MOST_PANELS = 12, 300


@dataclass(frozen=True, slots=True)
class StagedNormal:
    """boundaries: c_k on the z scale, inf where nothing can be spent. nominal: levels a_k = 1 - Phi(c_k).

    spent: chance of having crossed by each stage when there is no gain. fractions: information n_k / N.
    """

    fractions: tuple[float, ...]
    boundaries: tuple[float, ...]
    nominal: tuple[float, ...]
    spent: tuple[float, ...]
    level: float


def staged_normal(fractions: Sequence[float], level: float) -> StagedNormal:
    """Boundaries that spend the one-sided level over all declared stages, in this order.

    H0: drift <= 0. P(z_k >= c_k at any k) <= level, whatever stages are looked at. They depend on the
    fractions alone, so they are known before any item is scored. Equal fractions are one stage: ValueError.
    """
    shares = tuple(float(t) for t in fractions)
    if len(set(shares)) != len(shares):
        raise ValueError(f"each stage needs items of its own (found {list(shares)})")
    allowed = spending(shares, level)
    paths, at, boundaries = _START, 0.0, []
    for t, step in zip(shares, np.diff([0.0, *allowed]), strict=True):
        arriving = _Arriving(paths, at, t, 0.0)
        boundary = arriving.boundary(float(step))
        boundaries.append(boundary)
        paths, at = arriving.below(boundary), t
    nominal = tuple(normal_sf(c) for c in boundaries)
    return StagedNormal(shares, tuple(boundaries), nominal, allowed, level)


def nuisance_share(nominal: float) -> float:
    """What the exact unconditional test against a margin may give its nuisance set at a stage's level."""
    return min(1e-4, nominal / 100)


def normal_crossings(plan: StagedNormal, drift: float) -> tuple[float, ...]:
    """P(the boundary is crossed at stage k and not before) where the final z has mean `drift`."""
    return tuple(
        arriving.tail(c) for arriving, c in zip(_arrivals(plan, drift), plan.boundaries, strict=True)
    )


def stagewise_normal_p(plan: StagedNormal, stage: int, z: float, drift: float = 0.0) -> float:
    """P(an outcome at least as good as z at `stage` (1 is the first)), earlier stages being better.

    At drift 0 the one-sided p-value after stopping (Tsiatis, Rosner & Mehta 1984).
    """
    total = 0.0
    for k, arriving in enumerate(_arrivals(plan, drift), start=1):
        if k == stage:
            return clip_p(total + arriving.tail(z))
        total += arriving.tail(plan.boundaries[k - 1])
    raise ValueError(f"stage {stage} is not planned (found {len(plan.boundaries)} stages)")


def stagewise_drift(plan: StagedNormal, stage: int, z: float) -> tuple[float, float, float]:
    """Lower limit, median-unbiased estimate and upper limit of the drift, each limit at the plan's level.

    Times sd / sqrt(N) they are in the metric's unit.
    """

    def p(drift: float) -> float:
        return stagewise_normal_p(plan, stage, z, drift)

    low, middle, high = (
        lower_limit(p, target, 0.0, (-FARTHEST, FARTHEST)) for target in (plan.level, 0.5, 1.0 - plan.level)
    )
    return low, middle, high


@dataclass(frozen=True, slots=True)
class _Paths:
    """Where the paths that have not crossed are: nodes on the B scale and the chance that each stands for."""

    nodes: Floats
    chances: Floats


_START = _Paths(np.zeros(1), np.ones(1))


class _Arriving:
    """The law of B at fraction t, from the paths at an earlier fraction."""

    def __init__(self, paths: _Paths, earlier: float, t: float, drift: float) -> None:
        self.t, self.step, self.drift = t, t - earlier, drift
        self.chances = paths.chances
        self.centres = paths.nodes + drift * self.step

    def tail(self, z: float) -> float:
        """P(z or more)."""
        if math.isinf(z):
            return 0.0 if z > 0 else float(np.sum(self.chances))
        from scipy.special import ndtr  # noqa: PLC0415

        away = (z * math.sqrt(self.t) - self.centres) / math.sqrt(self.step)
        return float(np.sum(self.chances * ndtr(-away)))

    def boundary(self, target: float) -> float:
        """The z whose tail is `target`; inf where even the farthest one has more."""
        low, high = -FARTHEST, FARTHEST
        if target <= 0 or self.tail(high) > target:
            return math.inf
        for _ in range(70):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.tail(middle) > target else (low, middle)
        return high

    def below(self, z: float) -> _Paths:
        """The paths that arrive below z, on panels as narrow as one step of the next stage can be."""
        root, centre = math.sqrt(self.t), self.drift * self.t
        low = centre - SPREAD * root
        high = max(low, min(z * root, centre + SPREAD * root))
        panels = min(MOST_PANELS, 8 + math.ceil((high - low) / math.sqrt(self.step)))
        x, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
        width = (high - low) / panels
        nodes = (low + width * (np.arange(panels)[:, None] + 0.5 * (x + 1.0))).ravel()
        away = (nodes[:, None] - self.centres) / math.sqrt(self.step)
        density = np.sum(self.chances * np.exp(-0.5 * away * away), axis=1)
        scale = 0.5 * width / math.sqrt(2 * math.pi * self.step)
        return _Paths(nodes, density * np.tile(weights, panels) * scale)


def _arrivals(plan: StagedNormal, drift: float) -> list[_Arriving]:
    paths, at, found = _START, 0.0, []
    for t, boundary in zip(plan.fractions, plan.boundaries, strict=True):
        arriving = _Arriving(paths, at, t, drift)
        found.append(arriving)
        paths, at = arriving.below(boundary), t
    return found

"""How often the whole policy would promote: an identical candidate, and candidates that are really better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gate.planning.planting import Plant, largest
from gate.planning.trials import Trials
from gate.planning.world import Key, World
from gate.stats.power import smallest_effect
from gate.stats.rates import Rate

Progress = Callable[[str], None]
"""Told after every trial, with what is being worked on."""
STEPS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Chance:
    """What a candidate with a true gain of ``gain`` meets: each answer of the cycle, each rule's passes."""

    label: str
    gain: float
    passed: Rate
    failed: Rate
    inconclusive: Rate
    by_rule: dict[str, Rate]


@dataclass(frozen=True, slots=True)
class Step:
    """The step in which gains are planted. of: ``margin`` or, where the margin is 0, ``MDE``."""

    size: float
    of: str


def step_of(world: World, level: float) -> Step:
    """The margin in the metric's unit; at margin 0 the smallest gain that the set sees 80 % of the time."""
    gating = world.policy.gating
    key: Key = (gating.set, gating.metric)
    margin = gating.margin if isinstance(gating.margin, float) else None
    size = margin if margin is not None else gating.margin.relative * world.expected(key)  # type: ignore[union-attr]
    return Step(size, "margin") if size > 0 else Step(rerun_mde(world, key, level), "MDE")


def rerun_mde(world: World, key: Key, level: float) -> float:
    """MDE between two runs of the same system under the model of a re-run."""
    runs = world.values[key].shape[1]
    variance = world.noise[key].difference_variance / runs
    return smallest_effect(variance, max(world.n_items(key), 1), level)


def chances(world: World, level: float, trials: int, progress: Progress) -> tuple[Chance, ...]:
    """The identical candidate and gains of 1, 2 and 3 steps, at most what the metric has room for."""
    gating = world.policy.gating
    key: Key = (gating.set, gating.metric)
    step, room = step_of(world, level), largest(world, key, gain=True)
    found = []
    for times in STEPS:
        gain = min(times * step.size, room)
        label = "identical, run again" if not times else f"better by {times} x {step.of}"
        found.append(chance(world, level, trials, label, gain, progress))
    return tuple(found)


def identical(world: World, level: float, trials: int, progress: Progress) -> Chance:
    """The row of a candidate that is the baseline, run again."""
    return chance(world, level, trials, "identical, run again", 0.0, progress)


def chance(world: World, level: float, trials: int, label: str, gain: float, progress: Progress) -> Chance:
    """One row: ``trials`` fresh pairs of runs with one true gain on the gating metric."""
    gating = world.policy.gating
    asked = Trials(world, world.policy.model_copy(update={"watch": []}), level)
    wanted = Plant((gating.set, gating.metric), gain)
    outcomes: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    for trial in range(trials):
        found = asked.answer(trial, [wanted])
        outcomes[found.outcome] += 1
        passes.update(rule for rule, status in found.statuses.items() if status in {"pass", "not_gated"})
        rules = found.statuses
        progress(label)
    return Chance(
        label=label,
        gain=gain,
        passed=Rate(outcomes["pass"], trials),
        failed=Rate(outcomes["fail"], trials),
        inconclusive=Rate(outcomes["inconclusive"], trials),
        by_rule={rule: Rate(passes[rule], trials) for rule in rules},
    )

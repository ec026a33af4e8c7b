"""Plant regressions and gains into the user's own baseline: the smallest that each rule catches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gate.artifacts.table import BoolArray
from gate.decide.verdict import FAIL, NOT_GATED, PASS
from gate.measure.every_rule import slices_of
from gate.planning.planting import Plant, largest
from gate.planning.trials import Trials
from gate.planning.world import Key, World
from gate.policy.model import Policy
from gate.policy.rules import MUST_PASS, gating_id, guardrail_ids, named_guardrails, slice_id

TRIALS = 25
CAUGHT = 20
"""20 of 25 plantings: 80 %."""
FINEST, STEPS = 4096, 8
"""Sizes from the largest down to 1/4096 of it, by halving the gap of their logarithms eight times."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Caught:
    """A planted size and the number of the 25 plantings that had the effect; None where no size has it."""

    size: float | None
    count: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule does. unchanged: of 25 candidates that only ran again, how many pass the rule.

    blocks: smallest loss that the rule answers with a fail. stops: smallest loss that does not pass it.
    passes: smallest gain that passes it. A size of 0: an unchanged candidate already has the effect.
    gated: False for a slice that is too small to be gated.
    """

    rule: str
    n: int
    unchanged: int
    blocks: Caught
    stops: Caught
    passes: Caught
    gated: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """One rule, the part of the policy that decides it, and what is planted to move it."""

    rule: str
    policy: Policy
    key: Key
    n: int
    mask: BoolArray | None = None
    asked: str = ""
    """The rule's id under this part of the policy, where that differs."""


def selftest(world: World, level: float, progress: Progress) -> tuple[Finding, ...]:
    """Every rule, in the policy's order."""
    return tuple(_finding(world, target, level, progress) for target in _targets(world))


def faults(findings: tuple[Finding, ...]) -> list[str]:
    """Why the policy is powerless on these items: a rule that can never pass or never fail, or no block."""
    found = []
    for finding in findings:
        if not finding.gated:
            continue
        if finding.passes.size is None:
            found.append(f"{finding.rule} can never pass with {finding.n} items")
        if finding.blocks.size is None:
            found.append(f"{finding.rule} can never fail with {finding.n} items")
    if all(finding.blocks.size is None for finding in findings):
        found.append("no planted loss makes this policy block")
    return found


def _finding(world: World, target: Target, level: float, progress: Progress) -> Finding:
    ask = _Question(world, target, level, progress)
    statuses = [ask.status(0.0, trial) for trial in range(TRIALS)]
    unchanged = sum(status == PASS for status in statuses)
    if NOT_GATED in statuses:
        nothing = Caught(None)
        return Finding(target.rule, target.n, unchanged, nothing, nothing, nothing, gated=False)
    loss = largest(world, target.key, gain=False, mask=target.mask)
    return Finding(
        rule=target.rule,
        n=target.n,
        unchanged=unchanged,
        blocks=ask.smallest(loss, -1, lambda status: status == FAIL),
        stops=ask.smallest(loss, -1, lambda status: status != PASS),
        passes=ask.smallest(_most_gain(world, target), +1, lambda status: status == PASS),
    )


def _most_gain(world: World, target: Target) -> float:
    """A gain above ``suspect_gain`` is not believed, so none of that size is planted for the gating rule."""
    room = largest(world, target.key, gain=True, mask=target.mask)
    suspect = target.policy.gating.suspect_gain
    return room if suspect is None or target.rule != gating_id(target.policy) else min(room, suspect)


class _Question:
    """One rule under one policy, asked about plantings of any size; answers are kept."""

    def __init__(self, world: World, target: Target, level: float, progress: Progress) -> None:
        self._trials, self._target, self._progress = Trials(world, target.policy, level), target, progress
        self._known: dict[tuple[float, int], str] = {}

    def status(self, size: float, trial: int) -> str:
        """The rule's answer in one trial."""
        if (size, trial) not in self._known:
            wanted = Plant(self._target.key, size, self._target.mask)
            found = self._trials.answer(trial, [wanted])
            self._known[size, trial] = found.statuses[self._target.asked or self._target.rule]
            self._progress(self._target.rule)
        return self._known[size, trial]

    def holds(self, size: float, wanted: Callable[[str], bool]) -> bool:
        """Whether 20 of 25 trials have such an answer; stops as soon as that is certain either way."""
        found = 0
        for trial in range(TRIALS):
            found += wanted(self.status(size, trial))
            if found >= CAUGHT:
                return True
            if found + TRIALS - trial - 1 < CAUGHT:
                return False
        return False

    def smallest(self, most: float, sign: int, wanted: Callable[[str], bool]) -> Caught:
        """The smallest size with 20 of 25, to about 3 %; 0 where nothing has to be planted."""
        if self.holds(0.0, wanted):
            return self._caught(0.0, wanted)
        if most <= 0 or not self.holds(sign * most, wanted):
            return Caught(None)
        low, high = most / FINEST, most
        for _ in range(STEPS):
            middle = math.sqrt(low * high)
            if self.holds(sign * middle, wanted):
                high = middle
            else:
                low = middle
        return self._caught(sign * high, wanted)

    def _caught(self, size: float, wanted: Callable[[str], bool]) -> Caught:
        return Caught(abs(size), sum(wanted(self.status(size, trial)) for trial in range(TRIALS)))


def _targets(world: World) -> Iterator[Target]:
    """Each rule with the family that its correction needs, and without the rest, which cannot change it."""
    policy = world.policy
    gating: Key = (policy.gating.set, policy.gating.metric)
    no_must_pass = policy.items.model_copy(update={"must_pass": None})
    alone = policy.model_copy(update={"watch": [], "guardrails": [], "slices": None, "items": no_must_pass})
    yield Target(gating_id(policy), alone, gating, world.n_items(gating))
    yield from _guardrail_targets(world, alone)
    if policy.items.must_pass is not None:
        guarded = alone.model_copy(update={"items": policy.items})
        yield Target(MUST_PASS, guarded, gating, world.n_items(gating))
    yield from _slice_targets(world, alone.model_copy(update={"slices": policy.slices}), gating)


def _guardrail_targets(world: World, alone: Policy) -> Iterator[Target]:
    policy = world.policy
    vetoes = [rail for rail in policy.guardrails if rail.mode == "no_regression"]
    for rule, rail in named_guardrails(policy):
        family = vetoes if rail in vetoes else [rail]
        part = alone.model_copy(update={"guardrails": family})
        asked = guardrail_ids(part)[family.index(rail)]
        key: Key = (rail.set, rail.metric)
        yield Target(rule, part, key, world.n_items(key), asked=asked)


def _slice_targets(world: World, policy: Policy, key: Key) -> Iterator[Target]:
    if policy.slices is None:
        return
    for column in policy.slices.by:
        names, of_item = slices_of(world.tables[key[0]], column)
        for code, name in enumerate(names):
            mask = of_item == code
            yield Target(slice_id(column, name), policy, key, int(mask.sum()), mask)

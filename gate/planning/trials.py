"""One simulated pair of runs, decided by the same code that decides a real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gate.decide import decided, judge, outcome
from gate.measuring import measure
from gate.multiplicity import families
from gate.planning.planting import Plant, plant
from gate.planning.world import World, rerun, tables_of
from gate.policy.model import Policy
from gate.stats.seeding import generator, seed_from

MARK = b"gate planning 1"


@dataclass(frozen=True, slots=True)
class Answer:
    """outcome: of the cycle, pass, fail or inconclusive. statuses: each rule's own answer."""

    outcome: str
    statuses: Mapping[str, str]


def answer(world: World, policy: Policy, level: float, trial: int, plants: Sequence[Plant] = ()) -> Answer:
    """Run both sides afresh, plant what is asked into the candidate, decide.

    policy: the world's own, or a part of it. trial: the number of the trial; the same trial has the same
    noise whatever is planted, so that larger plantings differ from smaller ones by their size alone.
    """
    rng = generator(seed_from("planning", trial, MARK))
    runs = rerun(world, rng)
    for wanted in plants:
        old, new = runs[wanted.key]
        runs[wanted.key] = (old, plant(world, wanted, new, rng))
    measured = measure(policy, tables_of(world, runs), level)
    comparisons, _ = families(measured.comparisons, policy.correction)
    own = {c.rule: judge(c).status for c in comparisons if c.role != "watch"}
    return Answer(outcome(decided(comparisons)), own)

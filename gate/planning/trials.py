"""Simulated pairs of runs, decided by the same code that decides a real one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gate.artifacts.table import FloatArray
from gate.decide.multiplicity import challengers, families
from gate.decide.verdict import decided, judge, outcome
from gate.measure.every_rule import measure
from gate.planning.planting import Plant, plant
from gate.planning.world import Key, World, rerun, tables_of
from gate.policy.model import Policy
from gate.stats.seeding import generator, seed_from
from gate.values import Role

MARK = b"gate planning 1"
FEW_VALUES = 8
MOST_KEPT = 20_000
Runs = Mapping[Key, tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class Answer:
    """outcome: of the cycle, pass, fail or inconclusive. statuses: each rule's own answer."""

    outcome: str
    statuses: Mapping[str, str]


class Trials:
    """One policy (the world's own, or a part of it) in one world.

    No digit of a decision depends on ids or on the order of rows, so two pairs of runs with the same
    multiset of rows have one answer: for scores of few values answers are kept by that multiset.
    """

    def __init__(self, world: World, policy: Policy, level: float) -> None:
        self._world, self._policy, self._level = world, policy, level
        self._keys: list[Key] = sorted(
            {(rule.set, rule.metric) for rule in (policy.gating, *policy.guardrails)}, key=str
        )
        self._known: dict[bytes, Answer] | None = {} if self._few() else None

    def answer(self, trial: int, plants: Sequence[Plant] = ()) -> Answer:
        """Run both sides afresh, plant what is asked into the candidate, decide.

        trial: its number; the same trial has the same noise whatever is planted, so that larger plantings
        differ from smaller ones by their size alone.
        """
        rng = generator(seed_from("planning", trial, MARK))
        runs = rerun(self._world, rng)
        for wanted in plants:
            old, new = runs[wanted.key]
            runs[wanted.key] = (old, plant(self._world, wanted, new, rng))
        if self._known is None:
            return self._decided(runs)
        name = self._multiset(runs)
        if name not in self._known and len(self._known) < MOST_KEPT:
            self._known[name] = self._decided(runs)
        return self._known.get(name) or self._decided(runs)

    def _decided(self, runs: Runs) -> Answer:
        measured = measure(self._policy, tables_of(self._world, runs), self._level)
        policy = self._policy
        comparisons, _ = families(measured.comparisons, policy.correction)
        first = challengers(comparisons[:1], policy.correction, policy.challengers)
        comparisons = (*first, *comparisons[1:])
        own = {c.rule: judge(c).status for c in comparisons if c.asked.role != Role.WATCH}
        return Answer(outcome(decided(comparisons)), own)

    def _few(self) -> bool:
        """Whether rows are values alone (no slices, clusters or named items), and of few values."""
        world, policy = self._world, self._policy
        grouped = policy.slices is not None or policy.items.must_pass is not None
        clustered = any(table.clusters is not None for table in world.tables.values())
        many = any(np.unique(world.values[key]).size > FEW_VALUES for key in self._keys)
        return not (grouped or clustered or many)

    def _multiset(self, runs: Runs) -> bytes:
        sha = hashlib.sha256()
        for name in sorted({key[0] for key in self._keys}, key=str):
            sides = [side for key in self._keys if key[0] == name for side in runs[key]]
            rows = np.hstack([np.sort(side, axis=1) for side in sides])
            sha.update(np.ascontiguousarray(rows[np.lexsort(rows.T)]).tobytes() + b"|")
        return sha.digest()

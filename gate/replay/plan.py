"""Which questions are put in which order, and the digests that tell one replay from another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from gate.replay.cases import Cases, Exchange
from gate.replay.load import LoadedSuite
from gate.replay.names import SIDES
from gate.replay.programs import digest_of, version_of


@dataclass(frozen=True, slots=True)
class Question:
    """One exchange put to one side once. number: its place among all, whatever the order they are put in."""

    number: int
    side: int
    repeat: int
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Plan:
    """suite_digest: what is asked (cases, repeats, seed, timeout); digest: also of whom, and who scores."""

    loaded: LoadedSuite
    cases: Cases
    versions: Mapping[str, str]
    scorer: str | None
    suite_digest: str
    digest: str
    starts: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many questions there are, over both sides."""
        return self.starts[-1] * self.loaded.suite.repeats * 2

    def number(self, case: int, exchange: int, repeat: int, side: int) -> int:
        """The number of a question."""
        return ((self.starts[case] + exchange) * self.loaded.suite.repeats + repeat) * 2 + side

    def questions(self) -> Iterator[Question]:
        """All questions, case by case in a shuffled order, each put to one side and then to the other.

        Order and first side come from the seed and the case alone: whatever drifts hits both sides alike.
        """
        order = []
        for case in range(len(self.cases.ids)):
            for repeat in range(self.loaded.suite.repeats):
                mark = self.chance(self.cases.ids[case], str(repeat))
                order.append((mark >> 1, case, repeat, mark & 1))
        for _, case, repeat, first in sorted(order):
            for index, exchange in enumerate(self.cases.exchanges(case)):
                for side in (first, 1 - first):
                    yield Question(self.number(case, index, repeat, side), side, repeat, exchange)

    def chance(self, *words: str) -> int:
        """A number of 64 bits that the seed and the words decide."""
        text = "\0".join((str(self.loaded.suite.seed), *words))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def seed_of(self, exchange: Exchange, repeat: int) -> int:
        """What both systems are told to draw from: of 31 bits, the same for both."""
        return self.chance("seed", exchange.id, str(repeat)) >> 33


def plan_of(loaded: LoadedSuite, cases: Cases) -> Plan:
    """The plan; files that belong to a system or the scorer are read for their digests."""
    suite = loaded.suite
    versions = {side: version_of(getattr(suite.systems, side), loaded.folder) for side in SIDES}
    scorer = None if suite.scorer is None else version_of(suite.scorer, loaded.folder)
    asked: dict[str, Any] = {
        "cases": cases.sha256,
        "repeats": suite.repeats,
        "seed": suite.seed,
        "timeout": suite.timeout,
    }
    whole = {**asked, "name": suite.name, "systems": versions, "scorer": scorer}
    counts = [max(1, place.turns) for place in cases.places]
    return Plan(
        loaded=loaded,
        cases=cases,
        versions=versions,
        scorer=scorer,
        suite_digest=digest_of(asked),
        digest=digest_of(whole),
        starts=tuple(accumulate(counts, initial=0)),
    )

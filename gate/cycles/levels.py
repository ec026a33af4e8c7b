"""How much of the policy's level a look may spend, and what is claimed for it.

A rule is made of the policy's key ``cycles`` and remembers nothing. Its state is handed in: the number of the
look, which stands open in every record of the history (``look_no``) with the level that it gave (``level``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Final, Protocol

from gate.cycles.attempt import Rules
from gate.cycles.ledger import (
    chance_words,
    fresh_level,
    ledger_level,
    most_looks,
    promotion_chance,
    retry_risk,
)
from gate.values import Caution

MANY: Final = 1e9
HOLDS: Final = "where each test holds its level"


class LevelRule(Protocol):
    """One way to bound, or only to tell, what looking again and again does."""

    def level(self, look: int) -> float:
        """The one-sided level of look number ``look``, 1 for the first."""
        ...

    def retry_risk(self, look: int) -> dict[str, float] | None:
        """Correlation -> chance that one of the looks so far passes by luck; None where that is bounded."""
        ...

    def cautions(self, look: int) -> tuple[Caution, ...]:
        """What is to be said at this look."""
        ...

    def false_promotion(self, looks: int) -> float | dict[str, float]:
        """The chance of a promotion by luck over ``looks`` looks; by correlation where that matters."""
        ...

    def claim(self, looks: int) -> tuple[str, tuple[Caution, ...]]:
        """The same in a sentence, and what the policy leaves open."""
        ...


def level_rule(rules: Rules) -> LevelRule:
    """The rule that the policy asks for."""
    if rules.windows == "fresh":
        return StreakLevel(rules.level, rules.required, rules.looks)
    if rules.looks is None:
        return FixedLevel(rules.level, rules.required)
    return LedgerLevel(rules.level, rules.required, rules.looks)


@dataclass(frozen=True, slots=True)
class FixedLevel:
    """Re-used items and no plan: every look at the plain level, and what that costs is told."""

    plain: float
    required: int

    def level(self, look: int) -> float:  # noqa: ARG002 - whatever its number
        """The plain level."""
        return self.plain

    def retry_risk(self, look: int) -> dict[str, float]:
        """For three correlations between the looks."""
        return retry_risk(look, self.plain)

    def cautions(self, look: int) -> tuple[Caution, ...]:
        """The retry risk from the second look on, and that several passes confirm nothing."""
        found = []
        if look > 1:
            risk = self.retry_risk(look)
            text = f"look {look} at these items: by now one passes by luck with chance {risk['0.9']:.2g} to "
            text += f"{risk['0']:.2g}, {HOLDS}; cycles.looks would bound it"
            found.append(Caution("retry_risk", text))
        if self.required > 1:
            text = f"{self.required} passes on re-used items are not {self.required} confirmations"
            found.append(
                Caution("reused_without_looks", f"{text}: declare cycles.looks, or use fresh windows")
            )
        return tuple(found)

    def false_promotion(self, looks: int) -> dict[str, float]:
        """The retry risk."""
        return retry_risk(looks, self.plain)

    def claim(self, looks: int) -> tuple[str, tuple[Caution, ...]]:
        """What retrying does."""
        chance = self.false_promotion(looks)
        risk = f"{looks} looks at the same items: one passes by luck with chance {chance['0.9']:.2g}"
        risk += f" (nearly the same candidate) to {chance['0']:.2g} (all scored anew), {HOLDS}"
        text = "looks at re-used items are counted but cost nothing"
        return risk, (Caution("looks_undeclared", f"{text}: declare cycles.looks to bound retries"),)


@dataclass(frozen=True, slots=True)
class StreakLevel:
    """Fresh items at every look: several passes in a row are the protection; planned looks may lower it."""

    plain: float
    required: int
    planned: int | None

    def level(self, look: int) -> float:  # noqa: ARG002 - whatever its number
        """One level for all looks."""
        return fresh_level(self.plain, self.required, self.planned)

    @property
    def most(self) -> int | None:
        """So many looks keep a false promotion less likely than the level; None: more than anybody makes."""
        looks = most_looks(self.plain, self.required)
        return floor(looks * (1 + 1e-12)) if looks < MANY else None

    def retry_risk(self, look: int) -> dict[str, float] | None:
        """Looks at items of their own are not correlated."""
        return {"0": self.false_promotion(look)} if self.planned is None else None

    def cautions(self, look: int) -> tuple[Caution, ...]:
        """The chance by now where looks go on without a plan, or beyond it."""
        if self.planned is None and look > 1 and look >= self.required:
            text = f"look {look}: a promotion by luck by now has chance "
            text += f"{chance_words(self.false_promotion(look))} at most; cycles.looks would bound it"
            return (Caution("retry_risk", text),)
        if self.planned is not None and look > self.planned:
            text = (
                f"{self.planned} looks were declared and this is look {look}: a false promotion by now has "
            )
            text += f"chance {chance_words(self.false_promotion(look))}"
            return (Caution("looks_exceeded", text),)
        return ()

    def false_promotion(self, looks: int) -> float:
        """Exact, where each test holds its level."""
        return promotion_chance(self.level(looks), self.required, looks)

    def claim(self, looks: int) -> tuple[str, tuple[Caution, ...]]:
        """The chance over the planned looks, and how many there may be."""
        most, risk = self.most, f"{looks} looks at fresh windows: "
        if looks < self.required:
            risk += f"no promotion is possible before {self.required}"
        else:
            risk += f"a promotion by luck has chance {chance_words(self.false_promotion(looks))} at most"
        risk += f"; {'any number of' if most is None else f'up to {most}'} looks keep the chance of one by "
        risk += f"luck below {self.plain:g}, {HOLDS}"
        if self.planned is not None or most is None or looks <= most:
            return risk, ()
        text = f"beyond {most} looks the chance of a false promotion exceeds {self.plain:g}"
        return risk, (Caution("looks_undeclared", f"{text}: declare cycles.looks"),)


@dataclass(frozen=True, slots=True)
class LedgerLevel:
    """Re-used items and planned looks: each look spends its share, and all looks ever the plain level."""

    plain: float
    required: int
    planned: int

    def level(self, look: int) -> float:
        """Less, look by look, beyond the plan."""
        return ledger_level(self.plain, look, self.required, self.planned)

    def retry_risk(self, look: int) -> None:
        """None: it is bounded."""

    def cautions(self, look: int) -> tuple[Caution, ...]:  # noqa: ARG002
        """None: what a look costs is in its level."""
        return ()

    def false_promotion(self, looks: int) -> float:  # noqa: ARG002 - however many
        """The union bound."""
        return self.plain

    def claim(self, looks: int) -> tuple[str, tuple[Caution, ...]]:
        """The bound, and what each planned look is held to."""
        risk = f"all looks at the same items together: a promotion by luck has chance at most {self.plain:g}"
        risk += f", {HOLDS}; each of the first {looks} looks is held to {self.level(1):.4g}"
        return risk, ()

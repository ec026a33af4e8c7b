"""How far a pass/fail decision is from turning, in items whose candidate result would have to flip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gate.measure.model import Margin, Tested, at_least
from gate.stats.methods import METHODS
from gate.stats.procedures import p_of_counts


@dataclass(frozen=True, slots=True)
class Table:
    """A paired pass/fail table. b: only the candidate passes, c: only the baseline passes."""

    b: int
    c: int
    both_pass: int
    both_fail: int

    @property
    def n(self) -> int:
        """Number of items."""
        return self.b + self.c + self.both_pass + self.both_fail


def flips_to_turn(found: Tested, margin: Margin) -> int | None:
    """Smallest number of such items for a passing rule not to pass any more, or for another one to pass.

    None where it is not known: scores that are not pass/fail, a test that is not one of counts, data that
    cannot carry a claim, a gain too good to be believed, or a rule that no flips can turn.
    """
    method, table, level = METHODS.get(found.method), _table(found), found.level
    if method is None or method.form != "counts" or found.insufficient or _suspect(table, margin):
        return None

    def p_value(test: str, t: Table, null_value: float) -> float:
        return p_of_counts(test, t.b, t.c, t.n, null_value, level)

    def passes(t: Table) -> bool:
        if margin.rule == "observed" and not at_least((t.b - t.c) / t.n, margin.amount):
            return False
        if margin.rule == "tested" and p_value("mcnemar_exact", t, 0.0) >= level:
            return False  # a proven margin is no less than a proven gain
        return p_value(found.method, t, found.null_value) < level

    now = passes(table)
    step, new, back = (_lost, table.both_pass, table.b) if now else (_won, table.both_fail, table.c)

    def new_first(k: int) -> Table:
        return step(table, min(k, new), k - min(k, new))

    def back_first(k: int) -> Table:
        return step(table, k - min(k, back), min(k, back))

    def turned(t: Table) -> bool:
        return passes(t) is not now

    ways = ((_first(way, new + back, turned), way) for way in (new_first, back_first))
    # A suspect gain is no pass, and nor is any larger one.
    return min((k for k, way in ways if k is not None and not _suspect(way(k), margin)), default=None)


def _suspect(t: Table, margin: Margin) -> bool:
    return margin.suspect_gain is not None and (t.b - t.c) / t.n > margin.suspect_gain


def _table(found: Tested) -> Table:
    sides = found.sides
    ones = round(sides.baseline * found.n)
    passed = ones if found.asked.direction == "higher" else found.n - ones
    return Table(sides.better, sides.worse, passed - sides.worse, found.n - passed - sides.better)


def _lost(t: Table, new: int, back: int) -> Table:
    """With so many new losses and gains taken back. A new loss costs more evidence while b - c > 1."""
    return Table(t.b - back, t.c + new, t.both_pass - new, t.both_fail + back)


def _won(t: Table, new: int, back: int) -> Table:
    """With so many new gains and losses taken back, which leave fewer discordant items and more evidence."""
    return Table(t.b + new, t.c - back, t.both_pass + back, t.both_fail - new)


def _first(way: Callable[[int], Table], most: int, turned: Callable[[Table], bool]) -> int | None:
    """The smallest k, up to ``most``, at which the decision has turned: doubling steps, then halving."""
    low, high = 0, min(1, most)
    while not turned(way(high)):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turned(way(middle)) else (middle, high)
    return high

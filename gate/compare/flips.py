"""How far a pass/fail decision is from turning, in items whose candidate result would have to flip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gate.compare.model import Comparison, at_least
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


def flips_to_turn(c: Comparison) -> int | None:
    """Smallest number of such items for a passing rule not to pass any more, or for another one to pass.

    None where it is not known: scores that are not pass/fail, a test that is not one of counts, data that
    cannot carry a claim, a gain too good to be believed, or a rule that no flips can turn.
    """
    method, table, bound = METHODS.get(c.method), _table(c), c.bound
    if method is None or method.form != "counts" or c.insufficient:
        return None
    if table is None or bound is None or _suspect(table, c):
        return None

    def p_value(test: str, found: Table, null_value: float) -> float:
        return p_of_counts(test, found.b, found.c, found.n, null_value, c.level)

    def passes(found: Table) -> bool:
        if found.b + found.c == 0:
            return False
        if c.margin_rule == "observed" and not at_least((found.b - found.c) / found.n, bound):
            return False
        if c.margin_rule == "tested" and p_value("mcnemar_exact", found, 0.0) >= c.level:
            return False  # a proven margin is no less than a proven gain
        return p_value(c.method, found, c.null_value) < c.level

    now = passes(table)
    step, new, back = (_lost, table.both_pass, table.b) if now else (_won, table.both_fail, table.c)

    def new_first(k: int) -> Table:
        return step(table, min(k, new), k - min(k, new))

    def back_first(k: int) -> Table:
        return step(table, k - min(k, back), min(k, back))

    def turned(found: Table) -> bool:
        return passes(found) is not now

    ways = ((_first(way, new + back, turned), way) for way in (new_first, back_first))
    # A suspect gain is no pass, and nor is any larger one.
    return min((k for k, way in ways if k is not None and not _suspect(way(k), c)), default=None)


def _suspect(found: Table, c: Comparison) -> bool:
    return c.suspect_gain is not None and (found.b - found.c) / found.n > c.suspect_gain


def _table(c: Comparison) -> Table | None:
    b, lost = c.only_candidate, c.only_baseline
    if c.kind != "binary" or b is None or lost is None or c.baseline is None:
        return None
    ones = round(c.baseline * c.n)
    passed = ones if c.direction == "higher" else c.n - ones
    return Table(b, lost, passed - lost, c.n - passed - b)


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

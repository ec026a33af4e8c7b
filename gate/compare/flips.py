"""How far a pass/fail decision is from turning, in items whose candidate result would have to flip."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gate.compare.model import Comparison, at_least
from gate.stats import binary, unconditional
from gate.stats.distributions import binomial_pmf, binomial_sf, normal_sf


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


PValue = Callable[[Table, float, float], float]


def flips_to_turn(c: Comparison) -> int | None:
    """Smallest number of such items for a passing rule not to pass any more, or for another one to pass.

    None where it is not known: scores that are not pass/fail, a test that is not one of counts, data that
    cannot carry a claim, a gain too good to be believed, or a rule that no flips can turn.
    """
    p_value = _P_VALUES.get(c.method)
    table = _table(c)
    if p_value is None or table is None or c.insufficient or c.bound is None or _suspect(table, c):
        return None

    def passes(found: Table) -> bool:
        if found.b + found.c == 0 or _suspect(found, c):
            return False
        if c.margin_rule == "observed" and not at_least((found.b - found.c) / found.n, c.bound or 0.0):
            return False
        return p_value(found, c.null_value, c.level) < c.level

    now = passes(table)
    paths = _worse(table) if now else _better(table)
    found = [k for path in paths if (k := _first(path, lambda t: passes(t) is not now)) is not None]
    return min(found, default=None)


def _suspect(found: Table, c: Comparison) -> bool:
    return c.suspect_gain is not None and (found.b - found.c) / found.n > c.suspect_gain


def _table(c: Comparison) -> Table | None:
    counts = (c.only_candidate, c.only_baseline, c.baseline, c.candidate)
    if c.kind != "binary" or any(value is None for value in counts) or not c.n:
        return None
    b, lost = c.only_candidate or 0, c.only_baseline or 0
    ones = round((c.baseline or 0.0) * c.n)
    passed = ones if c.direction == "higher" else c.n - ones
    return Table(b, lost, passed - lost, c.n - passed - b)


Path = Callable[[int], Table | None]


def _worse(t: Table) -> Iterator[Path]:
    """Ways to lose k items. A new loss costs more evidence than a gain taken back while b - c > 1."""

    def losses_first(k: int) -> Table | None:
        new, back = min(k, t.both_pass), max(0, k - t.both_pass)
        return None if back > t.b else Table(t.b - back, t.c + new, t.both_pass - new, t.both_fail + back)

    def gains_back_first(k: int) -> Table | None:
        back, new = min(k, t.b), max(0, k - t.b)
        return (
            None if new > t.both_pass else Table(t.b - back, t.c + new, t.both_pass - new, t.both_fail + back)
        )

    yield from (losses_first, gains_back_first)


def _better(t: Table) -> Iterator[Path]:
    """Ways to win k items: losses taken back leave fewer discordant items, and so more evidence."""

    def losses_back_first(k: int) -> Table | None:
        back, new = min(k, t.c), max(0, k - t.c)
        return (
            None if new > t.both_fail else Table(t.b + new, t.c - back, t.both_pass + back, t.both_fail - new)
        )

    def gains_first(k: int) -> Table | None:
        new, back = min(k, t.both_fail), max(0, k - t.both_fail)
        return None if back > t.c else Table(t.b + new, t.c - back, t.both_pass + back, t.both_fail - new)

    yield from (losses_back_first, gains_first)


def _first(path: Path, turned: Callable[[Table], bool]) -> int | None:
    """The smallest k at which the decision has turned: doubling steps, then halving."""
    low, high = 0, 1
    while (table := path(high)) is not None and not turned(table):
        low, high = high, 2 * high
    if table is None:
        high = _longest(path, low, high)
        last = path(high)
        if high == low or last is None or not turned(last):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        found = path(middle)
        low, high = (low, middle) if found is not None and turned(found) else (middle, high)
    return high


def _longest(path: Path, low: int, high: int) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, high := middle) if path(middle) is None else (middle, high)
    return low


def _exact(t: Table, _null: float, _level: float) -> float:
    return binomial_sf(t.b, t.b + t.c, 0.5)


def _midp(t: Table, _null: float, _level: float) -> float:
    return binomial_sf(t.b, t.b + t.c, 0.5) - 0.5 * binomial_pmf(t.b, t.b + t.c, 0.5)


def _chi2(t: Table, _null: float, _level: float) -> float:
    return normal_sf((t.b - t.c) / math.sqrt(t.b + t.c))


def _edwards(t: Table, _null: float, _level: float) -> float:
    size = max(abs(t.b - t.c) - 1, 0) / math.sqrt(t.b + t.c)
    return normal_sf(math.copysign(size, t.b - t.c))


def _tango(t: Table, null: float, _level: float) -> float:
    return normal_sf(binary.tango_statistic(t.b, t.c, t.n, null))


def _unconditional(t: Table, null: float, level: float) -> float:
    if t.b + t.c > unconditional.MOST_DISCORDANT:
        return _tango(t, null, level)
    return unconditional.p_greater(t.b, t.c, t.n, null, unconditional.berger_boos_g(level))


_P_VALUES: dict[str, PValue] = {
    "mcnemar_exact": _exact,
    "mcnemar_midp": _midp,
    "mcnemar_chi2": _chi2,
    "mcnemar_edwards": _edwards,
    "tango": _tango,
    "exact_unconditional": _unconditional,
}

"""Simulated chances and planted losses as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.measure.words import count, number
from gate.planning.chances import Chance
from gate.planning.plan_text import table
from gate.planning.selftest import TRIALS, Caught, Finding
from gate.planning.world import World
from gate.stats.rates import Rate


def model(world: World) -> Iterator[str]:
    """What the simulation assumes, with its numbers."""
    yield (
        "model: the baseline is run again on both sides. With a chance of its own for each metric an item's "
        "result comes from the pool of all items, else it stays; means are kept, metrics stay correlated, "
        "items are independent."
    )
    if any(table.clusters is not None for table in world.tables.values()):
        yield "  the items of one cluster are run again independently: clusters are noisier than shown"
    for key, noise in world.noise.items():
        differ = f"; two runs differ on {noise.difference_variance:.1%} of the items"
        yield (
            f"  {key[1]}: a re-run renews {noise.share:.0%} of the variance ({noise.source})"
            f"{differ if world.uses[key].kind == 'binary' else ''}"
        )


def chance_table(rows: Sequence[Chance], required: int) -> Iterator[str]:
    """Each candidate's chances, then each rule's, with Wilson's 95 % intervals."""
    trials = rows[0].passed.trials
    word = "promoted" if required == 1 else "passes one cycle"
    yield f"chance of each answer ({count(trials, 'simulated look')} a row, 95 % Wilson intervals):"
    header = ["candidate", "true gain", word, "blocked", "inconclusive"]
    yield from table([header, *(_chance(row) for row in rows)])
    yield ""
    yield "of these looks, each rule by itself passes:"
    rules = list(rows[0].by_rule)
    yield from table([["rule", *(row.label for row in rows)], *(_rule(rule, rows) for rule in rules)])


def sensitivity(around: Sequence[tuple[float, Chance]]) -> Iterator[str]:
    """The identical candidate under less and more noise, where the noise is not measured."""
    if around:
        shown = "; ".join(f"{factor:g} x the noise: {rate(row.passed)}" for factor, row in around)
        yield f"the noise is not measured; the identical candidate at {shown}"


def _chance(row: Chance) -> list[str]:
    return [row.label, number(row.gain), rate(row.passed), rate(row.failed), rate(row.inconclusive)]


def _rule(rule: str, rows: Sequence[Chance]) -> list[str]:
    return [rule, *(f"{row.by_rule[rule].share:.0%}" for row in rows)]


def rate(found: Rate) -> str:
    """``2.5% (1.1-5.7)``."""
    low, high = found.interval()
    return f"{found.share:.1%} ({100 * low:.1f}-{100 * high:.1f})"


def finding_table(findings: Sequence[Finding]) -> Iterator[str]:
    """What each rule catches."""
    header = [
        "rule",
        "items",
        "unchanged passes",
        "stops a loss of",
        "blocks a loss of",
        "passes a gain of",
    ]
    yield from table([header, *(_finding(found) for found in findings)])
    yield (
        f"  {TRIALS} seeded plantings of each size; a size counts when {TRIALS * 4 // 5} of them (80 %) "
        "have the effect. Sizes are in the metric's unit."
    )


def _finding(found: Finding) -> list[str]:
    if not found.gated:
        return [found.rule, f"{found.n:,}", "not gated", "-", "-", "-"]
    return [
        found.rule,
        f"{found.n:,}",
        f"{found.unchanged} of {TRIALS}",
        size(found.stops),
        size(found.blocks),
        size(found.passes),
    ]


def size(found: Caught) -> str:
    """``0.0310 (21 of 25)``; ``any`` where an unchanged candidate is enough."""
    if found.size is None:
        return "never"
    return f"{number(found.size) if found.size else 'any'} ({found.count} of {TRIALS})"

"""Four lessons on made-up results whose truth is known: the new system is better by 3.0 points.

An item has an easiness between 0 and 1. A system reads it with a wobble of 0.08 and passes the item where its
reading stays below its bar: 0.60 for the old system, 0.63 for the new one. The same seeds give the same items
on every machine.
"""

import random

OLD, NEW, WOBBLE, RUNS, CONTESTED = 0.60, 0.63, 0.08, 5, 0.10


def table(values):
    """A row an item."""
    return [{"id": f"item-{number:05d}", "correct": value} for number, value in enumerate(values)]


def pairs(count, seed):
    """Old and new, a row an item on each side."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    sides = [], []
    for _ in range(count):
        easiness = rng.random()
        for side, bar in zip(sides, (OLD, NEW), strict=True):
            side.append(int(easiness + WOBBLE * rng.gauss(0, 1) < bar))
    return table(sides[0]), table(sides[1])


def twenty_draws():
    """Twenty sets of 200 items from one and the same truth."""
    return [pairs(200, seed) for seed in range(100, 120)]


def two_thousand():
    """One set of 2,000 items."""
    return pairs(2000, 20261022)


def five_runs():
    """2,000 items, five runs each by both systems; a tenth of the items has no settled answer."""
    draw, rng = random.Random(20261021), random.Random(555)  # noqa: S311
    items = [(draw.random() < CONTESTED, draw.random()) for _ in range(2000)]
    sides = [], []
    for number, (contested, easiness) in enumerate(items):
        for side, bar in zip(sides, (OLD, NEW), strict=True):
            for run in range(RUNS):
                passed = rng.random() < 0.5 if contested else easiness + WOBBLE * rng.gauss(0, 1) < bar
                side.append({"id": f"item-{number:05d}", "run": run, "correct": int(passed)})
    return sides


def quietly_worse():
    """2,000 items: 69.7 % and 68.9 % on a dashboard. 20 items were lost and 4 gained."""
    both = [(0, 1)] * 4 + [(1, 0)] * 20 + [(1, 1)] * 1374 + [(0, 0)] * 602
    random.Random(1).shuffle(both)  # noqa: S311
    return table(old for old, _ in both), table(new for _, new in both)

"""Data with a known truth: tables from counts, and the synthetic process of the published figures.

The process draws an item's easiness, then one noisy reading of it per system; a system passes an item whose
reading stays below its bar. Everything is a function of the seed, on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

BAR_BASELINE, BAR_CANDIDATE = 0.60, 0.63
NOISE = 0.08
RUNS = 5
AMBIGUOUS = 0.10

Pair = tuple[int, int]
Row = dict[str, Any]

SEEDS = {"eval-200": (200, 20261266), "eval-2000": (2000, 20261022)}
DRAWS = range(100, 120)
POPULATION = (200_000, 7)
POWER_SIZES = (200, 400, 800, 1200, 2000)
ITEMS_SEED, SCORES_SEED = 20261021, 555


def item_id(number: int) -> str:
    """The id of an item by its number."""
    return f"item-{number:05d}"


def count_pairs(b: int, c: int, both: int, n: int) -> list[Pair]:
    """Pairs (baseline, candidate) from counts, in an order that is mixed but always the same.

    b: only the candidate passes; c: only the baseline passes; both: both pass; the rest fails twice.
    """
    neither = n - b - c - both
    assert neither >= 0, "the counts do not fit into n"
    pairs = [(0, 1)] * b + [(1, 0)] * c + [(1, 1)] * both + [(0, 0)] * neither
    random.Random(1_000_003 * n + 1_009 * b + c).shuffle(pairs)
    return pairs


def count_table(b: int, c: int, both: int, n: int, metric: str = "correct") -> tuple[list[Row], list[Row]]:
    """Baseline and candidate rows with exactly these counts."""
    return rows_of(count_pairs(b, c, both, n), metric)


def seed_pairs(n: int, seed: int) -> list[Pair]:
    """Pairs of the published process: easiness, the baseline's noise, the candidate's noise, item by item."""
    source = random.Random(seed)
    return [_one_item(source) for _ in range(n)]


def _one_item(source: random.Random) -> Pair:
    easiness = source.random()
    read = [easiness + NOISE * source.gauss(0, 1) for _ in range(2)]
    return int(read[0] < BAR_BASELINE), int(read[1] < BAR_CANDIDATE)


def seed_table(name: str) -> tuple[list[Row], list[Row]]:
    """Rows of ``eval-200`` or ``eval-2000``."""
    return rows_of(seed_pairs(*SEEDS[name]))


def power_pairs(n: int, repetition: int) -> list[Pair]:
    """One set of the power study."""
    return seed_pairs(n, 900_000 + 1_000 * n + repetition)


def repeat_runs(bar_candidate: float, n: int = 2000) -> list[tuple[list[int], list[int]]]:
    """Per item the five runs of the baseline and of the candidate; a tenth of the items is a coin toss."""
    items_source, source = random.Random(ITEMS_SEED), random.Random(SCORES_SEED)
    items = []
    for _ in range(n):
        contested = items_source.random() < AMBIGUOUS
        items.append((contested, items_source.random()))
    return [
        (_runs(source, *item, bar=BAR_BASELINE), _runs(source, *item, bar=bar_candidate)) for item in items
    ]


def _runs(source: random.Random, contested: bool, easiness: float, bar: float) -> list[int]:
    toss: Callable[[], bool] = lambda: source.random() < 0.5
    read: Callable[[], bool] = lambda: easiness + NOISE * source.gauss(0, 1) < bar
    passes = toss if contested else read
    return [int(passes()) for _ in range(RUNS)]


def repeat_table(bar_candidate: float) -> tuple[list[Row], list[Row]]:
    """Rows of the repeats fixture, one row a run."""
    runs = repeat_runs(bar_candidate)
    sides = ([old for old, _ in runs], [new for _, new in runs])
    return tuple(  # type: ignore[return-value]
        [
            {"id": item_id(number), "run": run, "correct": value}
            for number, values in enumerate(side)
            for run, value in enumerate(values)
        ]
        for side in sides
    )


def rows_of(pairs: Iterable[Sequence[float]], metric: str = "correct") -> tuple[list[Row], list[Row]]:
    """Pairs as two lists of rows."""
    both = list(pairs)
    return (
        [{"id": item_id(k), metric: pair[0]} for k, pair in enumerate(both)],
        [{"id": item_id(k), metric: pair[1]} for k, pair in enumerate(both)],
    )


def counts_of(pairs: Iterable[Pair]) -> tuple[int, int]:
    """(b, c) of pairs."""
    listed = list(pairs)
    return sum(p == (0, 1) for p in listed), sum(p == (1, 0) for p in listed)

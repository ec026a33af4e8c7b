"""Values and answers that stand on one side only and may be none: sentinels, empty answers, limits hit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gate.artifacts.table import FloatArray, ItemTable
from gate.stats.fisher import fisher_two_sided

Caution = tuple[str, str]
_SENTINELS = (
    -1.0,
    -9.0,
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    0.0,
    99.0,
    999.0,
    9999.0,
    99999.0,
    999999.0,
    2.0**31 - 1,
    2.0**32 - 1,
    2.0**63,
    1e9,
)
"""What tools write where there is no result."""
_RARE = 0.05
"""A value or an answer on both sides, or a 0 on one, needs an uneven share: two-sided Fisher p below this."""
EMPTY = "answers are empty"
LIMIT = "runs hit a limit"


def oddities(baseline: ItemTable, candidate: ItemTable, graded: Iterable[str]) -> Iterator[Caution]:
    """Cautions; no value is changed. graded: the metrics that are numbers and no pass/fail."""
    for metric in dict.fromkeys(graded):
        if metric in baseline.values and metric in candidate.values:
            yield from _sentinels(metric, baseline, candidate)
    yield from _one_sided(baseline, candidate)


def _sentinels(metric: str, baseline: ItemTable, candidate: ItemTable) -> Iterator[Caution]:
    """A number that tools write for "no result", apart from all other values, on one side only."""
    tables = (baseline, candidate)
    sides = [table.values[metric] for table in tables]
    sides = [side[np.isfinite(side)] for side in sides]
    for value in (*_SENTINELS, *_below_all(sides)):
        counts = [int((side == value).sum()) for side in sides]
        if not any(counts):
            continue
        others = np.unique(np.concatenate([side[side != value] for side in sides]))
        if not _apart(value, others) or not _uneven(counts, [len(side) for side in sides], value):
            continue
        side = int(counts[1] > counts[0])
        row = int(np.flatnonzero(tables[side].values[metric] == value)[0])
        line = "" if tables[side].lines is None else f":{tables[side].lines[row]}"  # type: ignore[index]
        where = f"item {tables[side].ids[row]!a}, {tables[side].source.path}{line}"
        text = (
            f"{metric!a}: {counts[side]} {('baseline', 'candidate')[side]} values are {value:g} while all "
            f"others lie in {others[0]:g}..{others[-1]:g} (the first is {where}; "
            f"{counts[1 - side] or 'none'} on the other side): if it stands for no result, write null there, "
            "which is a missing result; it was counted as a value"
        )
        yield "sentinel_values", text


def _below_all(sides: Sequence[FloatArray]) -> list[float]:
    """A whole number below 0, a hundred times as large as all others are and there more than once."""
    values = np.concatenate(sides)
    lowest = float(values.min()) if len(values) else 0.0
    others = values[values != lowest]
    far = len(others) > 0 and -lowest >= 100 * float(np.abs(others).max())
    repeated = lowest.is_integer() and int((values == lowest).sum()) > 1
    return [lowest] if far and repeated and lowest not in _SENTINELS else []


def _apart(value: float, others: FloatArray) -> bool:
    """Outside the range of the others; below 0 where they are not, else farther than they are apart."""
    if len(others) < 2 or others[0] <= value <= others[-1]:
        return False
    if value < 0:
        return bool(others[0] >= 0)
    gap = others[0] - value if value < others[0] else value - others[-1]
    return bool(gap >= np.diff(others).max())


def _uneven(counts: Sequence[int], sizes: Sequence[int], value: float) -> bool:
    if value == 0 and all(counts):
        return False
    if value != 0 and not all(counts):
        return True
    return fisher_two_sided(counts[0], sizes[0], counts[1], sizes[1]) < _RARE


def _one_sided(baseline: ItemTable, candidate: ItemTable) -> Iterator[Caution]:
    """Empty answers and limits hit on one side only, or far more often there."""
    for what in sorted({*baseline.noted} & {*candidate.noted}):
        before, after = ((table.noted[what], int((~table.failed).sum())) for table in (baseline, candidate))
        if not before[0] and not after[0]:
            continue
        if before[0] and after[0] and fisher_two_sided(*before, *after) >= _RARE:
            continue
        text = (
            f"{_of(before)} baseline {what} and {_of(after)} of the candidate's: they were scored as they "
            "are; find out why before a difference of the systems is claimed"
        )
        yield "empty_answers" if what == EMPTY else "limits_hit", text


def _of(counts: tuple[int, int]) -> str:
    return f"{counts[0] or 'none'} of {counts[1]}"


def blank(answer: Any) -> bool:
    """No text in it, however deep the lists are."""
    if isinstance(answer, str):
        return not answer.strip()
    if isinstance(answer, Mapping):
        return not answer
    return answer is None or (isinstance(answer, list) and all(map(blank, answer)))

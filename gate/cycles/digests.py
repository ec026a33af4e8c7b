"""What a record keeps of a cycle's item differences and of its inputs: small, and enough for the noise band.

Differences with few distinct values keep all counts, others 33 quantiles; either way the moments that the
tests need are exact. Nothing is ever merged: each cycle keeps its own, of bounded size (``MOST_TEXT``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gate.stats.spread_change import Deviations, deviations

MOST_COUNTED: Final = 24
QUANTILES: Final = 33
MOST_CATEGORIES: Final = 32
LONGEST_NAME: Final = 32
MOST_TEXT: Final = 1_000
MOST_MIX_TEXT: Final = 4_000
REST: Final = ""
"""Category of what the 32 largest leave."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The item differences of one cycle, positive is better, in the metric's unit.

    deviations: for the test of spread. se: of the mean, with clusters where there are any. counts: (value,
    how often), ascending, where at most 24 values occur; quantiles: at 0, 1/32, ... 1 where more do.
    """

    deviations: Deviations
    se: float
    counts: tuple[tuple[float, int], ...] = ()
    quantiles: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """As a record keeps it: at most ``MOST_TEXT`` characters."""
        d = self.deviations
        shape: list[Any] = [list(pair) for pair in self.counts] or list(self.quantiles)
        return _compact([1, d.n, d.sd, d.mean, d.variance, self.se, shape])


def differences_of(
    values: npt.ArrayLike, counts: npt.ArrayLike | None = None, se: float | None = None
) -> Differences:
    """The digest of n >= 2 differences, each `counts` times. se: where items hang together in clusters."""
    points = np.asarray(values, dtype=np.float64).ravel()
    times = np.ones(points.size, np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    distinct, places = np.unique(points, return_inverse=True)
    totals = np.bincount(places, weights=times).astype(np.int64)
    found = deviations(distinct, totals)
    kept = Deviations(found.n, _short(found.sd), _short(found.mean), _short(found.variance))
    error = _short(found.sd / math.sqrt(found.n) if se is None else se)
    if distinct.size <= MOST_COUNTED:
        pairs = zip(distinct.tolist(), totals.tolist(), strict=True)
        return Differences(kept, error, counts=tuple((_short(v), n) for v, n in pairs))
    ranks = np.linspace(0, found.n - 1, QUANTILES)
    reached = np.cumsum(totals)
    below, above = np.floor(ranks), np.ceil(ranks)
    low = distinct[np.searchsorted(reached, below, side="right")]
    high = distinct[np.searchsorted(reached, above, side="right")]
    points = low + (ranks - below) * (high - low)
    return Differences(kept, error, quantiles=tuple(_short(v) for v in points.tolist()))


def read_differences(text: object) -> Differences | None:
    """What ``Differences.text`` wrote; None for anything else: a later version, or no digest at all."""
    if not isinstance(text, str):
        return None
    try:
        version, n, *numbers, shape = json.loads(text)
        sd, mean, variance, se = map(float, numbers)
        if version != 1 or type(n) is not int or n < 2 or not 0 <= sd + mean + variance + se < math.inf:
            return None
        found = Deviations(n, sd, mean, variance)
        if shape and isinstance(shape[0], list):
            return Differences(found, se, counts=tuple((float(v), int(k)) for v, k in shape))
        return Differences(found, se, quantiles=tuple(map(float, shape)))
    except (TypeError, ValueError, RecursionError):
        return None


def mix_text(counts: Mapping[str, int]) -> str:
    """The 32 largest categories and the rest, as a record keeps them; long names are cut and marked."""
    total: dict[str, int] = {}
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for place, (name, count) in enumerate(ordered):
        short = _short_name(name) if place < MOST_CATEGORIES else REST
        total[short] = total.get(short, 0) + count
    return _compact(total)


def read_mix(text: object) -> dict[str, int] | None:
    """What ``mix_text`` wrote; None for anything else."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(type(n) is int and n >= 0 for n in found.values()):
        return None
    return found


def comparable(mixes: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """The mixes over categories that all of them know; what one holds in its rest is in the rest of all."""
    cut = [mix for mix in mixes if REST in mix]
    known = {name for mix in mixes for name in mix}
    for mix in cut:
        known &= mix.keys()
    folded = []
    for mix in mixes:
        counts: dict[str, int] = {}
        for name, count in mix.items():
            place = name if name in known else REST
            counts[place] = counts.get(place, 0) + count
        folded.append(counts)
    return folded


def _short(value: float) -> float:
    """Nine digits: more than any test of spread can tell."""
    return float(f"{value:.9g}") + 0.0


def _short_name(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 8]}~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:7]}"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False, sort_keys=True)

"""Labelled rows: the sample of metrics that are made of the whole set, and how its rows are resampled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gate.stats.pairs import Floats, Ints
from gate.stats.set_level import Resampling

Flags = npt.NDArray[np.bool_]

BLOCK_CELLS = 40_000
"""Counts of rows held at once, so that they stay in the processor's cache."""

Metric = Callable[[Ints], Floats]
"""From how often each row occurs, int64[.., n] over any number of resamples, to the values, float64[..]."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """n rows with a gold label and both systems' scores, in the caller's order; nothing depends on it.

    positive: bool[n]. baseline, candidate: float64[n], finite, a larger score is nearer to the positive
    label; equal scores are ties, and a difference in the last bit is a difference. groups: int64[n], the
    row's group (a query, a case), or None. plans: how their metrics are resampled, made once.
    Build with ``labelled``.
    """

    positive: Flags
    baseline: Floats
    candidate: Floats
    groups: Ints | None = None
    plans: dict[str, Resampling] = field(default_factory=dict, repr=False, compare=False)

    def plan(self, name: str, make: Callable[[], Resampling]) -> Resampling:
        """The plan of that name: sorted once, whatever is asked of it."""
        if name not in self.plans:
            self.plans[name] = make()
        return self.plans[name]

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.positive.size)

    @property
    def positives(self) -> int:
        """Rows with the positive label."""
        return int(np.count_nonzero(self.positive))

    @property
    def negatives(self) -> int:
        """Rows with the negative label."""
        return self.n - self.positives


def labelled(
    labels: npt.ArrayLike,
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
) -> LabelledRows:
    """Make LabelledRows. labels: 0/1 or booleans; groups: one label a row, of any type that sorts.

    Raises ValueError where lengths differ, there are no rows, a score is not finite or a label is neither 0
    nor 1: faults of the caller, which has already refused them with the ids of the items.
    """
    old, new = np.asarray(baseline, dtype=np.float64).ravel(), np.asarray(candidate, dtype=np.float64).ravel()
    given = np.asarray(labels).ravel()
    if not given.size == old.size == new.size or given.size == 0:
        raise ValueError(f"labels and scores must pair up (found {given.size}, {old.size} and {new.size})")
    positive = given == 1
    if not np.all(positive | (given == 0)):
        raise ValueError("labels must be 0 or 1")
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        raise ValueError("scores must be finite")
    codes = None
    if groups is not None:
        codes = np.unique(np.asarray(groups), return_inverse=True)[1].ravel().astype(np.int64)
        if codes.size != given.size:
            raise ValueError(f"groups must have one label a row (found {codes.size} for {given.size})")
    return LabelledRows(np.asarray(positive, dtype=np.bool_), old, new, codes)


def distinct_rows(rows: LabelledRows) -> tuple[LabelledRows, Ints, bytes]:
    """Rows that differ, in an order that depends on their content only, how often each occurs, and a digest.

    Groups are left aside.
    """
    old, new = rows.baseline + 0.0, rows.candidate + 0.0  # + 0.0 turns -0.0 into 0.0
    order = np.lexsort((new, old, rows.positive))
    positive, old, new = rows.positive[order], old[order], new[order]
    starts = np.ones(rows.n, dtype=np.bool_)
    starts[1:] = (positive[1:] != positive[:-1]) | (old[1:] != old[:-1]) | (new[1:] != new[:-1])
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, rows.n)).astype(np.int64)
    found = LabelledRows(positive[first], old[first], new[first])
    sha = hashlib.sha256(b"gate labelled rows 1")
    for column in (found.positive.astype("u1"), found.baseline, found.candidate, counts):
        sha.update(np.ascontiguousarray(column).tobytes())
    return found, counts, sha.digest()


def nothing(times: Ints) -> Floats:
    """The metric that is always 0: what stands beside one side alone."""
    return np.zeros(times.shape[:-1])


def row_resampling(
    name: str,
    sides: tuple[Metric, Metric],
    counts: Ints,
    strata: Ints,
    digest: bytes,
    *,
    sign: int = 1,
    decimals: int = 12,
) -> Resampling:
    """Rows drawn with replacement within their stratum. sides: the metric on the baseline, on the candidate.

    counts: how often each row occurs in the data, int64[n]; strata: int64[n]; the rest as ``Resampling``.
    Memory does not grow with n times the number of resamples.
    """
    baseline, candidate = sides
    parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    step = max(1, BLOCK_CELLS // counts.size)

    def draw(count: int, rng: np.random.Generator) -> Floats:
        found = np.empty(count)
        for start in range(0, count, step):
            rows = min(step, count - start)
            times = np.empty((rows, counts.size), dtype=np.int64)
            for part in parts:
                times[:, part] = _drawn(counts[part], rows, rng)
            found[start : start + rows] = candidate(times) - baseline(times)
        return found

    n = int(counts.sum())
    values = float(baseline(counts)), float(candidate(counts))
    return Resampling(name, n, *values, digest, n, draw, sign, decimals)


def _drawn(counts: Ints, rows: int, rng: np.random.Generator) -> Ints:
    """How often each row occurs when as many as there are are drawn with replacement; int64[rows, size]."""
    total = int(counts.sum())
    if counts.size * 8 <= total:  # few distinct rows: draw how often, not which
        return rng.multinomial(total, counts / total, size=rows)
    chosen = rng.integers(0, total, size=(rows, total))
    if counts.size < total:
        chosen = np.searchsorted(np.cumsum(counts), chosen, "right")
    chosen += counts.size * np.arange(rows)[:, None]
    return np.bincount(chosen.ravel(), minlength=rows * counts.size).reshape(rows, counts.size)

"""The input of every procedure: paired scores in an order that depends on nothing but the scores."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """n pairs, oriented so that larger is better and sorted, so that ids and row order change no digit.

    baseline, candidate: float64[n], finite. differences: float64[n], candidate - baseline unless the caller
    gave its own (a relative margin tests gain - r * baseline); rounded to 12 decimals so that ties and zeros
    are those of the numbers a person wrote, and ascending. values, counts: the distinct differences and how
    often each occurs. binary: both sides hold only 0 and 1 (or 0 and -1, where smaller was better).
    ratio: difference = candidate - ratio * baseline (1 unless a margin is relative; NaN
    where the caller's differences are of no such form). Build with ``pair``; the arrays are read-only.
    """

    baseline: Floats
    candidate: Floats
    differences: Floats
    values: Floats
    counts: Ints
    binary: bool
    ratio: float = 1.0
    _digest: list[bytes] = field(default_factory=list, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.differences.size)

    @property
    def b(self) -> int:
        """Pairs on which the candidate is better (pass/fail: only the candidate passes)."""
        return int(self.counts[self.values > 0].sum())

    @property
    def c(self) -> int:
        """Pairs on which the baseline is better (pass/fail: only the baseline passes)."""
        return int(self.counts[self.values < 0].sum())

    @property
    def nonzero(self) -> int:
        """Pairs that differ at all."""
        return int(self.counts[self.values != 0].sum())

    def mean(self) -> float:
        """Observed mean difference."""
        return mean_of(self.values, self.counts)

    def digest(self) -> bytes:
        """SHA-256 of the sorted multiset of paired rows; the seed of resampling comes from it."""
        if not self._digest:
            self._digest.append(self._compute_digest())
        return self._digest[0]

    def _compute_digest(self) -> bytes:
        rows = (self.differences, self.baseline, self.candidate)
        starts = np.flatnonzero(_row_starts(rows))
        counts = np.diff(np.append(starts, self.n))
        sha = hashlib.sha256(b"gate pairs 1")
        for column in rows:
            sha.update(np.ascontiguousarray(column[starts], dtype="<f8").tobytes())
        sha.update(counts.astype("<i8").tobytes())
        return sha.digest()


def pair(
    baseline: npt.ArrayLike, candidate: npt.ArrayLike, differences: npt.ArrayLike | None = None
) -> Pairs:
    """Make Pairs from two equally long vectors in any common order.

    differences: only where the tested difference is not candidate - baseline.
    Raises ValueError on shapes that do not fit, no rows at all or values that are not finite: those are
    faults of the caller, which has already refused them with the ids of the items.
    """
    old = np.asarray(baseline, dtype=np.float64).ravel() + 0.0  # + 0.0 turns -0.0 into 0.0
    new = np.asarray(candidate, dtype=np.float64).ravel() + 0.0
    if old.shape != new.shape or old.size == 0:
        raise ValueError(f"baseline and candidate must pair up (found {old.size} and {new.size} values)")
    counted = _by_counting(old, new) if differences is None else None
    if counted is not None:
        return _frozen(*counted, 1.0)
    delta = _difference(old, new, differences)
    ratio = 1.0 if differences is None else _ratio(old, new, delta)
    order = _row_order(old, new, delta)
    old, new, delta = old[order], new[order], delta[order]
    return _frozen(old, new, delta, *_runs(delta), _is_binary(old, new), ratio)


def _frozen(
    old: Floats, new: Floats, delta: Floats, values: Floats, counts: Ints, binary: bool, ratio: float
) -> Pairs:
    for array in (old, new, delta, values, counts):
        array.flags.writeable = False
    return Pairs(old, new, delta, values, counts, binary and ratio == 1.0, ratio)


def _difference(old: Floats, new: Floats, given: npt.ArrayLike | None) -> Floats:
    delta = new - old if given is None else np.asarray(given, dtype=np.float64).ravel()
    if delta.shape != old.shape:
        raise ValueError(f"differences must have one value a pair (found {delta.size} for {old.size})")
    if not (np.isfinite(old).all() and np.isfinite(new).all() and np.isfinite(delta).all()):
        raise ValueError("scores and their differences must be finite")
    return tidy(delta, new, old)


def _row_order(old: Floats, new: Floats, delta: Floats) -> npt.NDArray[np.intp]:
    order = np.argsort(delta)
    ordered = delta[order]
    if np.all(ordered[1:] > ordered[:-1]):
        return order
    return np.lexsort((new, old, delta))


def _ratio(old: Floats, new: Floats, delta: Floats) -> float:
    """r of delta = new - r * old, or NaN."""
    scale = float(np.max(np.abs(old)))
    if scale == 0.0:
        return 1.0 if np.allclose(delta, new, rtol=0, atol=1e-9) else math.nan
    x = old / scale
    r = float(np.sum(x * (new - delta)) / scale / np.sum(x * x))
    return r if float(np.max(np.abs(new - r * old - delta))) <= 1e-9 * scale else math.nan


def from_counts(b: int, c: int, n: int, both_pass: int = 0) -> Pairs:
    """Pairs of a pass/fail table: b only the candidate passes, c only the baseline, n items."""
    both_fail = n - b - c - both_pass
    if min(b, c, both_pass, both_fail) < 0:
        raise ValueError(f"the cells must add up to n (found b={b}, c={c}, both={both_pass}, n={n})")
    baseline = np.repeat([0.0, 1.0, 1.0, 0.0], [b, c, both_pass, both_fail])
    candidate = np.repeat([1.0, 0.0, 1.0, 0.0], [b, c, both_pass, both_fail])
    return pair(baseline, candidate)


def from_differences(differences: npt.ArrayLike) -> Pairs:
    """Pairs of which only the differences are known (baseline 0)."""
    d = np.asarray(differences, dtype=np.float64).ravel()
    return pair(np.zeros_like(d), d)


def decimals_for(*scales: npt.NDArray[np.float64]) -> int:
    """How many decimals are meaningful: 12 for scores of ordinary size, else about 15 digits."""
    largest = max((float(np.max(np.abs(x))) for x in scales if x.size), default=0.0)
    if not math.isfinite(largest) or largest == 0.0 or 1e-3 <= largest < 1e3:
        return 12
    return max(-300, min(300, 14 - math.floor(math.log10(largest))))


def tidy(differences: Floats, *scales: Floats) -> Floats:
    """Differences rounded so that 0.12 - 0.10 and 0.10 - 0.08 are the same number.

    scales: the two scores behind each difference. Each pair is rounded by its own scores: one huge value
    must not round the other pairs' differences away.
    """
    size = np.abs(scales[0] if scales else differences)
    for other in scales[1:]:
        size = np.maximum(size, np.abs(other))
    ordinary = ((size >= 1e-3) & (size < 1e3)) | (size == 0)
    if ordinary.all():
        return _rounded(differences, 12)
    rounded = np.empty_like(differences)
    rounded[ordinary] = _rounded(differences[ordinary], 12)
    special = np.flatnonzero(~ordinary)
    decades = np.floor(np.log10(size[special])).astype(np.int64)
    for decade in np.unique(decades):
        where = special[decades == decade]
        rounded[where] = _rounded(differences[where], max(-300, min(300, 14 - int(decade))))
    return rounded


def _rounded(values: Floats, decimals: int) -> Floats:
    if -22 <= decimals <= 22:
        return np.asarray(np.round(values, decimals) + 0.0, dtype=np.float64)
    # 10**decimals is exact up to 22 only; scale by a power of two instead
    shift = math.floor(math.log2(10.0) * (decimals - 12))
    rounded: Floats = np.ldexp(np.round(np.ldexp(values, shift), 12), -shift)
    return rounded + 0.0


def mean_of(values: Floats, counts: Ints) -> float:
    """Mean of a multiset, to the last digit or so."""
    n = int(counts.sum())
    if values.size <= 1000:
        return math.fsum((values * counts).tolist()) / n
    mean = float(np.sum(values * counts)) / n
    return mean + float(np.sum((values - mean) * counts)) / n


def _is_binary(old: Floats, new: Floats) -> bool:
    low, high = min(old.min(), new.min()), max(old.max(), new.max())
    if (low, high) not in {(0.0, 1.0), (-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0)}:
        return False
    return all(bool(np.all((side == low) | (side == high))) for side in (old, new))


def _by_counting(old: Floats, new: Floats) -> tuple[Floats, Floats, Floats, Floats, Ints, bool] | None:
    """Sorted rows of data with few distinct scores, by counting cells: no sort of a million rows."""
    left, right = _coded(old), _coded(new)
    if left is None or right is None:
        return None
    (olds, old_codes), (news, new_codes) = left, right
    counts = np.bincount(old_codes * np.int16(news.size) + new_codes, minlength=olds.size * news.size)
    first, second = np.repeat(olds, news.size), np.tile(news, olds.size)
    delta = tidy(second - first, second, first)
    order = np.lexsort((second, first, delta))
    order = order[counts[order] > 0]
    first, second, delta, counts = first[order], second[order], delta[order], counts[order]
    values, places = np.unique(delta, return_inverse=True)
    totals = np.zeros(values.size, dtype=np.int64)
    np.add.at(totals, places, counts)
    columns = (np.repeat(column, counts) for column in (first, second, delta))
    return (*columns, values, totals, _is_binary(first, second))  # type: ignore[return-value]


def _coded(values: Floats, most: int = 32) -> tuple[Floats, npt.NDArray[np.int16]] | None:
    """Distinct values and each value's place among them, or None where there are more than `most`."""
    if values.size < 4 * most:
        return None
    distinct = np.unique(values[: 16 * most])
    while distinct.size <= most and np.isfinite(distinct).all():
        codes = _places(values, distinct)
        if (
            distinct.size == 2
            and np.count_nonzero(values == distinct[0]) + np.count_nonzero(codes) == values.size
        ):
            return distinct, codes
        wrong = values[distinct[codes] != values]
        if wrong.size == 0:
            return distinct, codes
        distinct = np.union1d(distinct, wrong[: 16 * most])
    return None


def _places(values: Floats, distinct: Floats) -> npt.NDArray[np.int16]:
    if distinct.size == 1:
        return np.zeros(values.size, dtype=np.int16)
    if distinct.size == 2:
        return np.asarray(values == distinct[1], dtype=np.int16)
    if np.array_equal(distinct, np.round(distinct)) and distinct[-1] - distinct[0] < 1000:
        return _integer_places(values, distinct)
    places = np.searchsorted(distinct, values).astype(np.int16)
    return np.asarray(np.minimum(places, distinct.size - 1), dtype=np.int16)


def _integer_places(values: Floats, distinct: Floats) -> npt.NDArray[np.int16]:
    """As searching, but by a table; the caller checks every place, so other numbers may get any."""
    low, width = int(distinct[0]), int(distinct[-1] - distinct[0]) + 1
    table = np.zeros(width, dtype=np.int16)
    table[distinct.astype(np.int64) - low] = np.arange(distinct.size)
    with np.errstate(invalid="ignore"):
        return table[np.clip(values.astype(np.int32) - low, 0, width - 1)]


def _row_starts(columns: tuple[Floats, ...]) -> npt.NDArray[np.bool_]:
    starts = np.ones(columns[0].size, dtype=np.bool_)
    if starts.size > 1:
        starts[1:] = False
        for column in columns:
            starts[1:] |= column[1:] != column[:-1]
    return starts


def _runs(ordered: Floats) -> tuple[Floats, Ints]:
    starts = np.flatnonzero(_row_starts((ordered,)))
    return ordered[starts], np.diff(np.append(starts, ordered.size)).astype(np.int64)

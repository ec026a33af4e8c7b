"""Sort a million ids by code point without a million comparisons in Python."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

WIDEST = 96
"""Bytes of the longest id that is sorted as a matrix of bytes."""
Order = NDArray[np.int64]
Matrix = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts as one row of bytes each, their line end included, zeros behind. widths: bytes of each."""

    matrix: Matrix
    widths: NDArray[np.int64] | None

    def joined(self, order: Order | None) -> bytes:
        """The texts in another order, a line each."""
        matrix = self.matrix if order is None else self.matrix.take(order, axis=0)
        if self.widths is None:
            return matrix.tobytes()
        widths = self.widths if order is None else self.widths[order]
        return matrix[np.arange(matrix.shape[1]) < widths[:, None]].tobytes()


def count_byte(data: bytes, byte: str) -> int:
    """How often a byte occurs; numpy counts a frequent one several times as fast as ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord(byte)))


_PLAIN = bytes({*range(ord("!"), ord("~") + 1)} - {*range(ord("A"), ord("Z") + 1)} | {ord("\n")})


def all_plain(joined: bytes) -> bool:
    """Whether no line is empty and all are visible ASCII without capitals."""
    return not (joined.translate(None, _PLAIN) or joined.startswith(b"\n") or b"\n\n" in joined)


def rows_of(joined: bytes, count: int) -> Rows | None:
    """``count`` lines as rows; None if there are more or fewer lines, or one is too wide."""
    codes = np.frombuffer(joined, dtype=np.uint8)
    if codes.size % count == 0 and codes.size // count <= WIDEST:
        matrix = codes.reshape(count, -1)
        if (matrix[:, -1] == ord("\n")).all() and count_byte(joined, "\n") == count:
            return Rows(matrix, None)
    ends = np.flatnonzero(codes == ord("\n"))
    if ends.size != count:
        return None
    widths = np.diff(ends, prepend=-1)
    widest = int(widths.max())
    if widest > WIDEST:
        return None
    padded = np.zeros((count, widest), dtype=np.uint8)
    padded[np.arange(widest) < widths[:, None]] = codes
    return Rows(padded, widths)


@dataclass(frozen=True, slots=True)
class Sorted:
    """order: rows by text (None: as they are). same: True where a row equals the one before it."""

    order: Order | None
    same: NDArray[np.bool_]

    def ranks(self) -> Order:
        """Of each row: equal numbers for equal texts, ascending like the texts."""
        steps: Order = np.cumsum(~self.same, dtype=np.int64)
        if self.order is None:
            return steps
        ranks = np.empty_like(steps)
        ranks[self.order] = steps
        return ranks


def sort_rows(rows: Rows) -> Sorted:
    """By bytes. A line end sorts before all that an id may hold, so a text comes before its continuations.

    As many leading bytes as fit are packed into one number together with the row: sorting numbers is far
    faster than sorting what they point to. The few rows that still tie are settled one by one.
    """
    count = len(rows.matrix)
    index_bits = max(1, (count - 1).bit_length())
    keys, used = _keys(rows.matrix, 63 - index_bits)
    whole = used == rows.matrix.shape[1]
    if bool((keys[1:] > keys[:-1]).all()):
        return Sorted(None, np.zeros(count, dtype=np.bool_))
    packed = (keys << np.uint64(index_bits)) | np.arange(count, dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << index_bits) - 1)).astype(np.int64)
    packed >>= np.uint64(index_bits)
    same = np.zeros(count, dtype=np.bool_)
    same[1:] = packed[1:] == packed[:-1]
    if not whole and same.any():
        same = _settle(rows.matrix, order, same)
    return Sorted(order, same)


def _keys(matrix: Matrix, bits: int) -> tuple[NDArray[np.uint64], int]:
    """(leading bytes of each row as one number of at most ``bits`` bits, how many bytes went into it)."""
    low, high = _extreme(matrix, np.minimum), _extreme(matrix, np.maximum)
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        width = (most - least).bit_length()
        bits -= width
        if bits < 0:
            return keys, column
        if width:
            keys <<= np.uint64(width)
            keys |= (matrix[:, column] - np.uint8(least)).astype(np.uint64)
    return keys, matrix.shape[1]


def _extreme(matrix: Matrix, of: np.ufunc, fold: int = 512) -> NDArray[np.uint8]:
    """The least or largest byte of every column; rows are folded into wide ones, which numpy reduces fast."""
    count, width = matrix.shape
    whole = count // fold * fold
    rows = matrix[whole:]
    if whole:
        folded = of.reduce(matrix[:whole].reshape(-1, fold * width), axis=0)
        rows = np.vstack([folded.reshape(fold, width), rows])
    return np.asarray(of.reduce(rows, axis=0), dtype=np.uint8)


def _settle(matrix: Matrix, order: Order, same: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Sort the runs of rows whose numbers tie by all their bytes, in place; which rows still tie."""
    tied = np.flatnonzero(same)
    starts = tied[np.diff(tied, prepend=-2) > 1] - 1
    ends = tied[np.diff(tied, append=len(order) + 2) > 1] + 1
    still = np.zeros(len(order), dtype=np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        run = sorted((matrix[row].tobytes(), row) for row in order[start:end].tolist())
        order[start:end] = [row for _, row in run]
        still[start + 1 : end] = [one == other for (one, _), (other, _) in pairwise(run)]
    return still

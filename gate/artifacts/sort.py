"""Rows in the order of their ids, by code point: for digests, for duplicates and for pairing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDEST = 96
"""Bytes of the longest id that is sorted as a row of numbers, its line end included."""
Order = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sort:
    """rows: by id, then by repeat; equal ones as they stand. lines: ids in that order, UTF-8, a line each.

    twice: which of the rows, in that order, has the id and repeat of the one before it.
    """

    rows: Order
    lines: bytes
    twice: NDArray[np.bool_]


def sorted_rows(ids: Sequence[str], repeats: Sequence[str] | None) -> Sort:
    """The order of rows whose ids hold neither line ends nor other control characters."""
    text = ("\n".join(ids) + "\n").encode("utf-8")
    matrix = _matrix(np.frombuffer(text, dtype=np.uint8))
    if matrix is None:
        return _one_by_one(ids, repeats)
    words = [word.astype(np.uint64) for word in matrix.view(">u8").T]
    if repeats is not None:
        rank = {repeat: number for number, repeat in enumerate(sorted(set(repeats)))}
        words.append(np.array([rank[repeat] for repeat in repeats], dtype=np.uint64))
    keys = _packed(words)
    rows: Order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    twice = np.zeros(len(rows), dtype=np.bool_)
    twice[1:] = np.logical_and.reduce([key[rows[1:]] == key[rows[:-1]] for key in keys])
    if twice.any():
        rows = np.lexsort(keys[::-1])  # equal ones as they stand
    ordered = matrix.take(rows, axis=0)
    return Sort(rows, ordered[ordered > 0].tobytes(), twice)


def _packed(words: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.uint64]]:
    """The same order in as few words as can be: without bits at either end that are the same in all rows."""
    keys, used = [np.zeros(len(words[0]), dtype=np.uint64)], 0
    for word in words:
        varying = int(np.bitwise_or.reduce(word ^ word[0]))
        low = max(0, (varying & -varying).bit_length() - 1)
        bits = varying.bit_length() - low
        part = (word >> np.uint64(low)) & np.uint64((1 << bits) - 1)
        if used + bits > 63:
            keys.append(part)
            used = bits
        elif bits:
            keys[-1] = (keys[-1] << np.uint64(bits)) | part
            used += bits
    return keys


def _matrix(codes: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """A line as a row of bytes, its end included, zeros behind; None if one is too wide.

    UTF-8 sorts like the code points. A line end sorts before all that an id may hold, so a text comes before
    its continuations.
    """
    widths = np.diff(np.flatnonzero(codes == ord("\n")), prepend=-1)
    least, widest = int(widths.min()), int(widths.max())
    if widest > WIDEST:
        return None
    matrix = np.zeros((len(widths), -(-widest // 8) * 8), dtype=np.uint8)
    if least == widest:
        matrix[:, :widest] = codes.reshape(len(widths), widest)
    else:
        matrix[np.arange(matrix.shape[1]) < widths[:, None]] = codes
    return matrix


def _one_by_one(ids: Sequence[str], repeats: Sequence[str] | None) -> Sort:
    keys = list(zip(ids, ids if repeats is None else repeats, strict=True))
    rows = sorted(range(len(keys)), key=keys.__getitem__)
    twice = [number > 0 and keys[row] == keys[rows[number - 1]] for number, row in enumerate(rows)]
    lines = ("\n".join([ids[row] for row in rows]) + "\n").encode("utf-8")
    return Sort(np.array(rows, dtype=np.int64), lines, np.array(twice, dtype=np.bool_))

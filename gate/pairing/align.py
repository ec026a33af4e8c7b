"""The union of two lists of ids, in sorted order, and where each id stands on either side."""

from __future__ import annotations

import hashlib

import numpy as np

from gate.artifacts.table import ObjectArray
from gate.pairing.model import IndexArray


def align(
    baseline: ObjectArray, candidate: ObjectArray, *, in_order: bool = False
) -> tuple[ObjectArray, IndexArray, IndexArray]:
    """Sorted union of two arrays of distinct ids; per side the position of every id in it, or -1.

    in_order: both are known to be strictly ascending.
    """
    if baseline is candidate or (len(baseline) == len(candidate) and bool((baseline == candidate).all())):
        ids, order = _sorted(baseline, in_order=in_order)
        return ids, order, order
    union = set(baseline)
    union.update(candidate)
    ids = np.empty(len(union), dtype=object)
    ids[:] = sorted(union)
    return ids, _positions(ids, baseline), _positions(ids, candidate)


def ascending(ids: ObjectArray) -> bool:
    """Strictly ascending, and so also without a duplicate: large tables come like this."""
    return bool((ids[:-1] < ids[1:]).all())


def _sorted(ids: ObjectArray, *, in_order: bool) -> tuple[ObjectArray, IndexArray]:
    if in_order or ascending(ids):
        return ids, np.arange(len(ids), dtype=np.int64)
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    return ids[order], order


def _positions(ids: ObjectArray, side: ObjectArray) -> IndexArray:
    index = {item: position for position, item in enumerate(side)}
    return np.fromiter((index.get(item, -1) for item in ids), dtype=np.int64, count=len(ids))


def items_digest(ids: ObjectArray) -> str:
    """SHA-256 over sorted ids, one a line: no id of a file holds a line break."""
    digest = hashlib.sha256()
    for start in range(0, len(ids), 100_000):
        lines = "\n".join(ids[start : start + 100_000].tolist()) + "\n"
        digest.update(lines.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()

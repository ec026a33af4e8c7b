"""The union of two lists of ids, in sorted order, and where each id stands on either side."""

from __future__ import annotations

import hashlib

import numpy as np

from gate.artifacts.table import ObjectArray
from gate.pairing.model import IndexArray


def align(
    baseline: ObjectArray, candidate: ObjectArray, orders: tuple[IndexArray, IndexArray] | None = None
) -> tuple[ObjectArray, IndexArray, IndexArray]:
    """Sorted union of two arrays of distinct ids; per side the position of every id in it, or -1.

    orders: positions of the ids of either side in ascending order, where both are known to have the same ids.
    """
    if orders is not None:
        return baseline[orders[0]], *orders
    union = set(baseline)
    union.update(candidate)
    ids = np.empty(len(union), dtype=object)
    ids[:] = sorted(union)
    return ids, _positions(ids, baseline), _positions(ids, candidate)


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

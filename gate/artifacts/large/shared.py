"""One array of ids for all tables that hold the same ids in the same order: half the memory of a pair."""

from __future__ import annotations

import hashlib
import threading
import weakref
from typing import cast

import numpy as np

from gate.artifacts.large.bytesort import all_plain, rows_of
from gate.artifacts.table import ObjectArray
from gate.artifacts.texts import objects

_KNOWN: weakref.WeakValueDictionary[str, ObjectArray] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def shared_ids(lines: bytes, count: int) -> tuple[ObjectArray, str]:
    """The ids of ``lines`` (``count`` of them, one a line, each ended), and the SHA-256 of ``lines``.

    The array is read-only, since others may hold it too.
    """
    key = hashlib.sha256(lines).hexdigest()
    with _LOCK:
        known = _KNOWN.get(key)
        if known is None:
            known = _texts(lines, count)
            known.flags.writeable = False
            _KNOWN[key] = known
    return known, key


def _texts(lines: bytes, count: int) -> ObjectArray:
    """Plain ids as an array of numpy's own texts: a third of the time and memory that objects take."""
    rows = rows_of(lines, count) if all_plain(lines) else None
    if rows is None:
        return objects(lines[:-1].decode("utf-8").split("\n"))
    matrix = np.where(rows.matrix == ord("\n"), np.uint8(0), rows.matrix)
    return cast("ObjectArray", matrix.view(f"S{matrix.shape[1]}")[:, 0].astype(np.dtypes.StringDType()))

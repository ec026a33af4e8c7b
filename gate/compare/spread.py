"""How the differences of the items are spread: counts of values, or of bins where there are many values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gate.artifacts.table import FloatArray

MOST_VALUES = 21
MOST_BINS = 40


def distribution(gains: FloatArray) -> dict[str, Any]:
    """``{values, counts}`` of at most 21 distinct differences, else ``{edges, counts}``; positive is better.

    Bins have a round width and 0 is an edge, so that no bin mixes gains and losses; each holds its lower
    edge, the last one both.
    """
    if not len(gains):
        return {}
    values, counts = np.unique(gains, return_counts=True)
    if len(values) <= MOST_VALUES:
        return {"values": values.tolist(), "counts": counts.tolist()}
    width = _round_width(float(values[-1] - values[0]) / MOST_BINS)
    first, last = math.floor(values[0] / width), math.floor(values[-1] / width) + 1
    edges = [float(f"{k * width:.12g}") for k in range(first, last + 1)]
    return {"edges": edges, "counts": np.histogram(gains, np.asarray(edges))[0].tolist()}


def _round_width(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5, 10 times a power of ten that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= least * (1 - 1e-9))

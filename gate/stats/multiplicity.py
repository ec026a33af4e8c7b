"""Adjusted p-values of a family in which one of several tests may decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

METHODS = ("none", "bonferroni", "holm", "hochberg", "bh", "by")


def factor(size: int, method: str) -> float:
    """What the correction multiplies the one small p of a family of this size by, the others being 1."""
    if method == "none":
        return 1.0
    return size * (sum(1 / rank for rank in range(1, size + 1)) if method == "by" else 1.0)


def adjust(p_values: Sequence[float], method: str) -> list[float]:
    """Adjusted p-values in the order given, as R's p.adjust: compare each with the family's level.

    none | bonferroni | holm (Holm 1979) | hochberg (Hochberg 1988, needs positive dependence)
    | bh (Benjamini & Hochberg 1995) | by (Benjamini & Yekutieli 2001). ValueError on any other name.
    """
    if method not in METHODS:
        raise ValueError(f"correction must be one of {', '.join(METHODS)} (found {method!r})")
    k = len(p_values)
    if method == "none" or k == 0:
        return [float(p) for p in p_values]
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, k + 1)
    harmonic = float(np.sum(1.0 / ranks)) if method == "by" else 1.0
    factor = {
        "bonferroni": np.full(k, float(k)),
        "holm": k - ranks + 1.0,
        "hochberg": k - ranks + 1.0,
        "bh": k / ranks,
        "by": k / ranks * harmonic,
    }[method]
    scaled = p[order] * factor
    if method == "holm":
        scaled = np.maximum.accumulate(scaled)
    elif method != "bonferroni":
        scaled = np.minimum.accumulate(scaled[::-1])[::-1]
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(scaled, 1.0)
    return [float(value) for value in adjusted]

"""Paired tables made in memory, so that a rule can be measured on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gate.measure.setting import Setting
from gate.pairing import PairCounts, PairedMetric, PairedTable
from gate.policy.model import Gating, Guardrail

LEVEL, VETO_LEVEL = 0.01, 0.025
"""Two numbers: a look ledger may grant less to claims, and never less to vetoes."""

SETTING = Setting(level=LEVEL, veto_level=VETO_LEVEL, min_items=30)


def blocks(*sizes: tuple[int, float, float]) -> tuple[list[float], list[float]]:
    """Both sides from (n, baseline, candidate)."""
    pairs = [(old, new) for n, old, new in sizes for _ in range(n)]
    return [old for old, _ in pairs], [new for _, new in pairs]


def texts(values: Iterable[Any]) -> Any:
    found = list(values)
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return array


def metric(old: Sequence[float], new: Sequence[float], **more: Any) -> PairedMetric:
    return PairedMetric(np.asarray(old, dtype=float), np.asarray(new, dtype=float), **more)


def table(
    old: Sequence[float],
    new: Sequence[float],
    *,
    clusters: Sequence[int] | None = None,
    shown: Mapping[str, Any] | None = None,
    identical: bool = False,
    **more: Any,
) -> PairedTable:
    """One metric, ``m``, on items q00000, q00001 and so on."""
    return PairedTable(
        ids=texts(f"q{k:05d}" for k in range(len(old))),
        metrics={"m": metric(old, new, **more)},
        columns={},
        shown=shown or {},
        clusters=None if clusters is None else np.asarray(clusters, dtype=np.int64),
        counts=PairCounts(0, 0, 0, 0, 0, 0, 0, None, 1, 1, ""),
        identical=identical,
    )


def repeated(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]], **more: Any) -> PairedTable:
    """Every item as its runs, NaN where one is missing, averaged."""
    runs = (np.asarray(old, dtype=float), np.asarray(new, dtype=float))
    means = [np.nanmean(side, axis=1).tolist() for side in runs]
    return table(means[0], means[1], runs=runs, averaged=True, **more)


def gating_rule(kind: str = "binary", margin: Any = 0.01, **more: Any) -> Gating:
    given = {"metric": "m", "kind": kind, "direction": "higher", "margin": margin}
    return Gating.model_validate(given | more)


def guardrail_rule(mode: str, kind: str = "binary", **more: Any) -> Guardrail:
    given = {"metric": "m", "kind": kind, "direction": "higher", "mode": mode}
    return Guardrail.model_validate(given | more)

"""A ranking metric in each group (a query, a case): groups become the items, and their mean is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gate.artifacts.table import FloatArray, ObjectArray
from gate.estimands.whole_set import Cut, maker
from gate.pairing import PairedTable
from gate.pairing.model import IndexArray, PairedMetric
from gate.stats.labelled import labelled
from gate.stats.ranking import group_values
from gate.values import Caution, GateError


def by_group(
    table: PairedTable, metric: str, group: str, kind: str, cut: Cut, columns: Sequence[str] = ()
) -> PairedTable:
    """The table of groups: their ids in sorted order, and the metric of each, NaN where it has none.

    Without a positive row a group has no recall, no average precision and no lift: it is left out, and said.
    Errors: a row without a group.
    """
    names, rows = table.columns[group], table.metrics[metric]
    without = [str(table.ids[row]) for row, name in enumerate(names) if name is None]
    if without:
        raise GateError(
            "group_missing",
            f"{len(without)} rows have no {group} ({', '.join(without[:5])})",
            help="write the group of every row",
        )
    ids, codes = np.unique(names.astype(str), return_inverse=True)
    values = _values(table, rows, codes, kind, cut)
    found = np.empty(len(ids), dtype=object)
    found[:] = ids.tolist()
    skipped = int(np.isnan(values[1]).sum())
    notes: tuple[Caution, ...] = ()
    if skipped:
        text = f"{skipped} of {len(ids)} groups have no positive row with a result and are left out"
        notes = (Caution("groups_without_positive", text),)
    kept = {name: _of_groups(table.columns[name], codes, len(ids), name) for name in columns}
    made = replace(rows, baseline=values[0], candidate=values[1], other=None, notes=notes)
    return replace(table, ids=found, metrics={metric: made}, columns=kept, shown={}, positive=None)


def _values(
    table: PairedTable, rows: PairedMetric, codes: IndexArray, kind: str, cut: Cut
) -> tuple[FloatArray, FloatArray]:
    assert table.positive is not None, "this kind of metric has gold labels"
    alone = not np.isfinite(rows.baseline).any()  # a limit without a baseline
    first = rows.candidate if alone else rows.baseline
    used = np.flatnonzero(np.isfinite(first) & np.isfinite(rows.candidate))
    baseline, candidate = (np.full(int(codes.max()) + 1, np.nan) for _ in range(2))
    if used.size:
        made = labelled(table.positive[used], first[used], rows.candidate[used], codes[used])
        found = group_values(made, maker(kind, cut), needs_positive=kind != "precision_at_k")
        there = np.unique(codes[used])[found.groups]
        candidate[there] = found.candidate
        if not alone:
            baseline[there] = found.baseline
    return baseline, candidate


def _of_groups(texts: ObjectArray, codes: IndexArray, count: int, name: str) -> ObjectArray:
    """One text a group; a column that differs within a group is no column of groups."""
    found = np.full(count, None, dtype=object)
    found[codes[::-1]] = texts[::-1]
    if bool(np.asarray(found[codes] != texts, dtype=bool).any()):
        raise GateError(
            "column_inconsistent",
            f"{name} is not the same on all rows of a group",
            help=f"{name} must belong to the group: slice by a column that does",
        )
    return found

"""What two files say of each other, before they are paired: cautions, or a GateError."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.artifacts.compatibility import comparable
from gate.artifacts.magnitude import apart
from gate.artifacts.oddities import oddities
from gate.artifacts.rows import left_out, repeats_by_name
from gate.artifacts.table import ItemTable


def beside(
    baseline: ItemTable,
    candidate: ItemTable,
    repeat: str | None,
    graded: Mapping[str, tuple[float, float] | None],
    mapping: Mapping[str, str],
    watched: frozenset[str],
) -> Iterator[tuple[str, str]]:
    """repeat: the column that the policy says numbers the runs. graded: metrics that are no pass/fail,
    with their declared scale.

    mapping: metric -> its name in the files. watched: metrics that decide nothing.
    """
    yield from comparable(baseline, candidate, mapping, watched)
    yield from dict.fromkeys(f for table in (baseline, candidate) for f in repeats_by_name(table, repeat))
    yield from left_out(baseline, candidate)
    yield from oddities(baseline, candidate, graded)
    for metric, scale in graded.items():
        found = apart(metric, baseline, candidate) if scale is None else None
        if found is not None:
            yield "ranges_apart", found

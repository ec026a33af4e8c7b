"""What a record keeps of a cycle for the noise band: its differences and the mix of its inputs."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gate.cycles.band import DIFFERENCES, MIX
from gate.cycles.digests import differences_of, mix_text
from gate.estimands import select
from gate.measure.model import Comparison, Tested
from gate.policy.kinds import KINDS
from gate.policy.model import Policy
from gate.run.identity import Sets


def cycle_digests(policy: Policy, sets: Sets, gating: Comparison) -> dict[str, str]:
    """Keys of a record's state. Metrics of the whole set and of groups have no differences by item."""
    table, found = sets[policy.gating.set].table, {}
    rule = policy.gating
    if KINDS[rule.kind].by_item and rule.group is None and isinstance(gating, Tested) and gating.n >= 2:
        selection = select(table, table.metrics[rule.metric], rule.direction)
        error = gating.clusters.get("cluster_se") if gating.clusters.get("labelled") else None
        found[DIFFERENCES] = differences_of(selection.gains, se=error).text
    columns = policy.slices.by if policy.slices is not None else []
    for column in columns:
        counts = Counter(str(value) for value in table.columns[column] if value is not None)
        found[f"{MIX}{column}"] = mix_text(counts)
    if table.positive is not None:
        yes = int(np.count_nonzero(table.positive))
        found[f"{MIX}label"] = mix_text({"yes": yes, "no": len(table.positive) - yes})
    return found

"""How much the difference of an item varies: from a baseline run again, from a pilot, or as declared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.estimands import select
from gate.pairing import PairedTable
from gate.planning.rule_power import Spread
from gate.planning.world import Key, World
from gate.policy.model import Policy, Rule
from gate.run.intake import Files, item_set
from gate.stats.repeats import run_noise

DEFAULT_DISCORDANCE = 0.10
"""Rate of disagreement that is assumed for pass/fail where nothing is known."""


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance of an item's difference: ``item`` + ``run`` / K with K runs an item and system.

    source: in words. binary: pass/fail as such. splits: the two parts are known apart, so that more runs can
    be weighed against more items.
    """

    item: float
    run: float
    source: str
    binary: bool
    splits: bool = True

    def spread(self, runs: int) -> Spread:
        """With so many runs an item and system; one pass/fail run has an exact law."""
        return Spread(self.item + self.run / runs, exact=self.binary and runs == 1)


def of_rerun(world: World, key: Key) -> Variances:
    """The least it can be: a candidate that differs from the baseline by noise alone."""
    noise, binary = world.noise[key], world.uses[key].kind == "binary"
    words = {"repeats": "estimated from the repeats", "declared": "as declared", "assumed": "assumed"}
    source = f"noise of re-running the baseline, {words[noise.source]}"
    return Variances(0.0, noise.difference_variance, source, binary)


def pilot_variances(policy: Policy, baseline: str, candidate: str) -> dict[Key, Variances]:
    """Every metric of the main files that both sides have, from a pilot candidate."""
    proofs = [rail for rail in policy.guardrails if rail.mode == "non_inferior" and rail.set is None]
    rules: list[Rule] = [rule for rule in (policy.gating, *proofs) if rule.set is None]
    part = policy.model_copy(update={"watch": [], "guardrails": proofs})
    table = item_set(part, None, Files(baseline, candidate)).table
    return {(None, rule.metric): of_pilot(table, rule) for rule in rules}


def of_pilot(table: PairedTable, rule: Rule) -> Variances:
    """From a pilot candidate. Only the spread is used, never the difference itself."""
    metric, binary = table.metrics[rule.metric], rule.kind == "binary"
    selection = select(table, metric, rule.direction)
    gains = selection.gains
    noise = None if metric.runs is None else run_noise(*(side[selection.positions] for side in metric.runs))
    if noise is not None:
        return Variances(noise.v_item, noise.v_run, "spread of the pilot candidate, runs apart", binary)
    total = float(np.var(gains, ddof=1)) if len(gains) > 1 else 0.0
    spread = float(np.mean(gains != 0)) if binary else total
    return Variances(spread, 0.0, "spread of the pilot candidate", binary, splits=False)


def declared(*, binary: bool, discordance: float | None, sd: float | None) -> Variances | None:
    """From the command line; None where it says nothing and nothing may be assumed."""
    if binary:
        source = "assumed" if discordance is None else "declared"
        rate = DEFAULT_DISCORDANCE if discordance is None else discordance
        return Variances(rate, 0.0, f"rate of disagreement, {source}", binary, splits=False)
    return (
        None if sd is None else Variances(sd * sd, 0.0, "standard deviation, declared", binary, splits=False)
    )

"""How much the difference of an item varies: from a baseline run again, from a pilot, or as declared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.estimands import select
from gate.measure.setting import Setting, own_table
from gate.pairing import PairedTable
from gate.planning.rule_power import Spread
from gate.planning.world import Key, World
from gate.policy.kinds import KINDS
from gate.policy.model import Policy, Rule
from gate.run.intake import Files, item_set
from gate.stats.prediction_powered import judged_pairs, prediction_powered
from gate.stats.procedures import run
from gate.stats.repeats import run_noise
from gate.stats.results import Settings
from gate.values import GateError

DEFAULT_DISCORDANCE = 0.10
"""Rate of disagreement that is assumed for pass/fail where nothing is known."""


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance of an item's difference: ``item`` + ``run`` / K with K runs an item and system.

    source: in words. binary: pass/fail as such. splits: the two parts are known apart, so that more runs can
    be weighed against more items. cluster: items in a cluster of the pilot, on average; None without.
    """

    item: float
    run: float
    source: str
    binary: bool
    splits: bool = True
    cluster: float | None = None

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
    items = policy.items
    setting = Setting(0.5, 0.5, 1, cluster_skew=items.cluster_skew, max_cluster=items.max_cluster)
    return {(None, rule.metric): of_pilot(table, rule, setting) for rule in rules}


def of_pilot(table: PairedTable, rule: Rule, setting: Setting) -> Variances:
    """From a pilot candidate. Only the spread is used, never the difference itself."""
    metric, binary = table.metrics[rule.metric], rule.kind == "binary"
    if table.clusters is not None or not KINDS[rule.kind].by_item or rule.group is not None:
        return _by_its_own_error(table, rule, setting)
    selection = select(table, metric, rule.direction)
    gains = selection.gains
    noise = None if metric.runs is None else run_noise(*(side[selection.positions] for side in metric.runs))
    if noise is not None:
        return Variances(noise.v_item, noise.v_run, "spread of the pilot candidate, runs apart", binary)
    total = float(np.var(gains, ddof=1)) if len(gains) > 1 else 0.0
    spread = float(np.mean(gains != 0)) if binary else total
    return Variances(spread, 0.0, "spread of the pilot candidate", binary, splits=False)


def _by_its_own_error(table: PairedTable, rule: Rule, setting: Setting) -> Variances:
    """Where items hang together, or a metric is of the whole set: n times the squared error of the pilot."""
    own = own_table(rule, table)
    estimand = setting.estimand(rule, own, own.metrics[rule.metric])
    selection = select(own, own.metrics[rule.metric], rule.direction)
    if not estimand.by_item:  # its error is known once its test has run
        run(estimand.default_test(0.0, "standard"), estimand.sample(selection, 0.0), 0.0, 0.025)
    variance = estimand.spread(selection).variance
    if variance is None:
        raise GateError(
            "too_few_for_plan",
            f"the pilot is too small to tell how much {rule.metric} varies ({selection.n} items)",
            help="score a larger pilot: at least 6 clusters, 20 rows of each class",
        )
    cluster = None
    if own.clusters is not None:
        cluster = selection.n / len(np.unique(own.clusters[selection.positions]))
    worth = worth_of_people(own, rule) if rule.kind == "judged" else ""
    source = f"standard error of the pilot candidate{worth}"
    return Variances(variance, 0.0, source, binary=False, splits=False, cluster=cluster)


def worth_of_people(table: PairedTable, rule: Rule) -> str:
    """Whether a judge beside people is better than the people alone, in people's scores."""
    judge, people = table.metrics[rule.metric], table.metrics[rule.human or ""]
    both = np.isfinite(judge.baseline) & np.isfinite(judge.candidate)
    scores = (judge.baseline[both], judge.candidate[both], people.baseline[both], people.candidate[both])
    found = prediction_powered(judged_pairs(*scores), Settings(0.0, 0.025))
    asked = int((np.isfinite(scores[2]) & np.isfinite(scores[3])).sum())
    more = found.equivalent_human - asked
    if more < 1:
        return f"; the judge does not pay: {asked} people's scores alone show more"
    return f"; the judge pays: it is worth {more:,.0f} people's scores more than the {asked} that are there"


def declared(*, binary: bool, discordance: float | None, sd: float | None) -> Variances | None:
    """From the command line; None where it says nothing and nothing may be assumed."""
    if binary:
        source = "assumed" if discordance is None else "declared"
        rate = DEFAULT_DISCORDANCE if discordance is None else discordance
        return Variances(rate, 0.0, f"rate of disagreement, {source}", binary, splits=False)
    return (
        None if sd is None else Variances(sd * sd, 0.0, "standard deviation, declared", binary, splits=False)
    )

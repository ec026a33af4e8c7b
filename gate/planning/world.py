"""The baseline's own file as a world in which it can be run again: the model behind every simulation.

A re-run of an item gives, with chance 1 - redraw, one of the item's own results, and otherwise a result of
an item drawn from all (with all its metrics, so that metrics stay correlated). Means are kept, the variance
of a re-run is the one that was estimated or declared, and no value occurs that the file does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray
from gate.measure.sanity import direction_doubts
from gate.pairing import MetricRule, PairedMetric, PairedTable
from gate.pairing.readings import metric_of_runs
from gate.planning.noise import Noise, noise_of, share_for_discordance
from gate.policy.model import Policy, Rule, Systems
from gate.run.intake import Files, item_sets
from gate.values import GateError

Key = tuple[str | None, str]
"""(item set, metric)."""
Tables = Mapping[str | None, PairedTable]


@dataclass(frozen=True, slots=True)
class World:
    """The baseline, ready to be run again. uses: how the policy reads each metric.

    values: [items, runs] per metric; noise: per metric.
    cautions: directions of the policy that the file or a name tells otherwise.
    """

    policy: Policy
    tables: Tables
    uses: Mapping[Key, MetricRule]
    values: Mapping[Key, FloatArray]
    noise: Mapping[Key, Noise]
    cautions: tuple[tuple[str, str], ...] = ()

    def expected(self, key: Key, mask: BoolArray | None = None) -> float:
        """Mean of a re-run over the items of ``mask``; of all where none of them has a result."""
        values, redraw = self.values[key], self.noise[key].redraw
        present = np.isfinite(values[:, 0])
        mean = float(values[present].mean())
        inside = values[present if mask is None else present & mask]
        return (1 - redraw) * (float(inside.mean()) if inside.size else mean) + redraw * mean

    def n_items(self, key: Key) -> int:
        """Items with a result."""
        return int(np.isfinite(self.values[key]).any(axis=1).sum())


def world_of(
    policy: Policy,
    baseline: str,
    sets: Mapping[str, str],
    *,
    share: float | None = None,
    discordance: float | None = None,
) -> World:
    """Read the baseline's files as the policy says. share, discordance: declared noise of a re-run."""
    refuse_kinds(policy)
    _refuse_noise(policy, share, discordance)
    own = _one_system(policy)
    files: dict[str | None, Files] = {None: Files(baseline, baseline)}
    files.update({name: Files(path, path) for name, path in sets.items()})
    found = item_sets(own, files)
    tables = {name: replace(item_set.table, identical=False) for name, item_set in found.items()}
    uses = dict(_uses(policy))
    runs = {key: _runs(tables[key[0]].metrics[key[1]]) for key in uses}
    _refuse_empty(runs)
    noise = {key: noise_of(found, share) for key, found in runs.items()}
    gating: Key = (policy.gating.set, policy.gating.metric)
    if discordance is not None:
        noise[gating] = noise_of(runs[gating], share_for_discordance(runs[gating], discordance))
    values = {key: _without_gaps(found) for key, found in runs.items()}
    doubted = [direction_doubts(own, name, item_set.candidate.directions) for name, item_set in found.items()]
    cautions = dict.fromkeys(caution for cautions in doubted for caution in cautions)
    return World(policy, tables, uses, values, noise, tuple(cautions))


def with_noise(world: World, factor: float) -> World:
    """The same world with the share of every metric that was not measured multiplied: for sensitivity."""
    noise = {
        key: found if found.source == "repeats" else replace(found, share=min(1.0, found.share * factor))
        for key, found in world.noise.items()
    }
    return replace(world, noise=noise)


def rerun(world: World, rng: np.random.Generator) -> dict[Key, tuple[FloatArray, FloatArray]]:
    """Two fresh runs of the baseline on every item: one for each side of the pair."""
    found: dict[Key, tuple[FloatArray, FloatArray]] = {}
    for name in sorted({key[0] for key in world.uses}, key=lambda s: s or ""):
        keys = [key for key in world.uses if key[0] == name]
        sides = [_one_side(world, keys, rng) for _ in range(2)]
        found.update({key: (sides[0][key], sides[1][key]) for key in keys})
    return found


def tables_of(world: World, runs: Mapping[Key, tuple[FloatArray, FloatArray]]) -> Tables:
    """Paired tables with these runs in the place of what the files hold."""
    reduce = world.policy.items.reduction
    metrics: dict[str | None, dict[str, PairedMetric]] = {name: {} for name in world.tables}
    for key, sides in runs.items():
        metrics[key[0]][key[1]] = metric_of_runs(world.uses[key], sides, reduce)
    return {name: replace(table, metrics=metrics[name]) for name, table in world.tables.items()}


def _one_side(world: World, keys: list[Key], rng: np.random.Generator) -> dict[Key, FloatArray]:
    """One coin and one donor an item and run, shared by all metrics of the set."""
    items, widest = len(world.tables[keys[0][0]].ids), max(world.values[key].shape[1] for key in keys)
    coin = rng.random((items, widest))
    donor = rng.integers(0, items, size=(items, widest))
    chosen = rng.random((items, widest))
    found = {}
    for key in keys:
        values = world.values[key]
        present = np.asarray(np.isfinite(values).any(axis=1), dtype=bool)
        pool = np.flatnonzero(present)
        k = values.shape[1]
        other = donor[:, :k] if bool(present.all()) else pool[donor[:, :k] % len(pool)]
        run = np.minimum((chosen[:, :k] * k).astype(np.int64), k - 1)
        source = np.where(coin[:, :k] < world.noise[key].redraw, other, np.arange(items)[:, None])
        drawn = values[source, run]
        found[key] = np.where(present[:, None], drawn, np.nan)
    return found


def _runs(metric: PairedMetric) -> FloatArray:
    """[items, runs] of the candidate's side (both are the baseline's file), NaN where there is no result."""
    honest = metric.other if metric.reading == "worst" and metric.other is not None else metric
    return honest.candidate[:, None] if honest.runs is None else honest.runs[1]


def _without_gaps(runs: FloatArray) -> FloatArray:
    """An item's results repeated where runs are missing; they come first in a row, gaps last."""
    count = np.isfinite(runs).sum(axis=1)
    place = np.arange(runs.shape[1]) % np.maximum(count, 1)[:, None]
    return np.take_along_axis(runs, place, axis=1)


def _uses(policy: Policy) -> Iterator[tuple[Key, MetricRule]]:
    for rule in (*reversed(policy.guardrails), policy.gating):
        yield (rule.set, rule.metric), MetricRule(rule.kind, rule.direction, rule.scale)


def _one_system(policy: Policy) -> Policy:
    """The policy for a file that stands on both sides: the baseline's system on both, nothing watched."""
    system = policy.artifacts.system
    update: dict[str, Any] = {"watch": []}
    if isinstance(system, Systems):
        artifacts = policy.artifacts.model_copy(update={"system": system.baseline})
        update["artifacts"] = artifacts
    return policy.model_copy(update=update)


def not_simulated(rule: Rule) -> bool:
    """Whether the rule's metric is not made of one result an item and run."""
    return rule.kind not in {"binary", "graded"}


def refuse_kinds(policy: Policy) -> None:
    """Runs are simulated item by item, which a metric of labels and ranks is not made of."""
    for rule in (policy.gating, *policy.guardrails):
        if not_simulated(rule):
            raise GateError(
                "not_available",
                f"{rule.metric} is of kind {rule.kind}, and results of that kind cannot be simulated",
                help="gate run says the smallest difference that your items show, and how many are needed",
            )


def _refuse_noise(policy: Policy, share: float | None, discordance: float | None) -> None:
    for name, value in (("--noise", share), ("--discordance", discordance)):
        if value is not None and not 0 <= value <= 1:
            raise GateError("usage", f"{name} is a share, from 0 to 1 (found {value:g})")
    if discordance is not None and policy.gating.kind != "binary":
        raise GateError(
            "usage",
            f"--discordance is for pass/fail, and {policy.gating.metric} is graded",
            help="say --noise SHARE: the share of a score's variance that a re-run renews",
        )


def _refuse_empty(values: Mapping[Key, FloatArray]) -> None:
    for (_, metric), found in values.items():
        if not np.isfinite(found).any():
            raise GateError("no_values", f"the baseline has no result for {metric}")

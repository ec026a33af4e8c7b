"""Two runs of one system: what nothing but a re-run does, and how often the policy takes it for a gain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gate.artifacts.table import BoolArray
from gate.cycles.attempt import rules_of
from gate.cycles.chain import History
from gate.cycles.looks import plan_look
from gate.measure.model import at_least
from gate.pairing.model import IndexArray, PairedTable
from gate.planning.exchange import Answers, exchanged, refuse_policy
from gate.policy.model import Policy
from gate.run.identity import attempt_of
from gate.run.intake import Files, item_sets
from gate.run.request import Request
from gate.stats.noise_floor import NoiseFloor, false_promotions, noise_floor
from gate.stats.rates import Rate
from gate.values import Caution, GateError

SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class ReRun:
    """margin: in the metric's unit. level: one-sided, of a first look. passes: of one look, with every rule.

    required: cycles that a promotion needs. binary: the floor is a share of items.
    """

    metric: str
    binary: bool
    floor: NoiseFloor
    margin: float
    level: float
    passes: Rate
    required: int
    clusters: int | None


def rerun_of(request: Request, replays: int, progress: Callable[[str], None]) -> ReRun:
    """Measure two runs (the request's baseline and candidate) of one system.

    Errors: one file given twice, or no item with a result in both.
    """
    policy = request.loaded.policy
    refuse_policy(policy)
    found = item_sets(policy, {None: Files(request.baseline, request.candidates[0])})[None]
    if found.table.identical:
        raise GateError(
            "same_run",
            "the two files hold one and the same run, which says nothing about noise",
            help="run the system a second time and give both results",
        )
    rules = replace(rules_of(policy), policy_first=False)
    look = plan_look(History((), ()), attempt_of(request, {None: found}), rules)
    answers, table = Answers(request), found.table
    units = _units(table)

    def passed(drawn: IndexArray, swap: BoolArray) -> bool:
        progress("re-runs")
        rows = np.concatenate([units[k] for k in drawn])
        sizes = [len(units[k]) for k in drawn]
        made = exchanged(table, rows, np.repeat(swap, sizes))
        if made.clusters is not None:  # a cluster drawn twice is two clusters
            made = replace(made, clusters=np.repeat(np.arange(len(drawn)), sizes))
        return answers.outcome(found, made, look).status == "pass"

    gating = policy.gating
    old, new = table.metrics[gating.metric].baseline, table.metrics[gating.metric].candidate
    both = np.isfinite(old) & np.isfinite(new)
    if not both.any():
        raise GateError("no_values", f"no item has a result for {gating.metric} in both runs")
    sign = 1.0 if gating.direction == "higher" else -1.0
    runs = sign * np.stack([old[both], new[both]], axis=1)
    binary = bool(np.isin(np.abs(runs), (0.0, 1.0)).all())
    return ReRun(
        gating.metric,
        binary,
        noise_floor(runs + 1.0 if binary and sign < 0 else runs, look.level),
        margin_of(policy, float(np.mean(old[both]))),
        look.level,
        false_promotions(len(units), passed, range(replays), SEED),
        policy.cycles.required,
        None if table.clusters is None else len(units),
    )


def margin_of(policy: Policy, mean: float) -> float:
    """The margin in the metric's unit, beside a baseline of this mean."""
    margin = policy.gating.margin
    return margin if isinstance(margin, float) else margin.relative * abs(mean)


def _units(table: PairedTable) -> list[IndexArray]:
    """Rows that stay together: a cluster's, or each item's own."""
    if table.clusters is None:
        return [np.array([k]) for k in range(len(table.ids))]
    order = np.argsort(table.clusters, kind="stable")
    ends = np.flatnonzero(np.diff(table.clusters[order])) + 1
    return list(np.split(order, ends))


def rerun_lines(found: ReRun) -> Iterator[str]:
    """The same in sentences."""
    floor = found.floor
    yield f"two runs of one system, {floor.n} items, {found.metric}:"
    yield f"  the second run differs by {floor.delta:+.4g} on average; {floor.flipped:.1%} of items differ"
    yield (
        f"  noise floor {floor.floor:.4g}: a re-run is better by more than that with a chance of at most "
        f"{found.level:.4g}"
    )
    if found.clusters is not None:
        yield "  items hang together in clusters, which this floor does not see: the true one is larger"
    yield f"  {_against(floor.floor, found.margin)}"
    low, high = found.passes.interval()
    yield (
        f"  of {found.passes.trials} re-runs on items drawn anew, one look passes {found.passes.count} "
        f"({found.passes.share:.2%}; 95 % interval {low:.2%} to {high:.2%})"
    )
    if found.required > 1:
        yield f"  a promotion needs {found.required} such looks in a row"
    if found.passes.count and low > found.level:
        yield (
            f"  that is more than the level of {found.level:.4g}: the two files are not runs of one system, "
            "or the items are not independent"
        )


def _against(floor: float, margin: float) -> str:
    if at_least(margin, floor):
        return f"the margin of {margin:.4g} is at or above the noise floor"
    return (
        f"the margin of {margin:.4g} lies below the noise floor: a gain of that size is one that a re-run "
        "reaches; use more items, more repeats, or a larger margin"
    )


def rerun_document(found: ReRun) -> dict[str, Any]:
    """``gate.aa/1``."""
    low, high = found.passes.interval()
    return {
        "schema": "gate.aa/1",
        "metric": found.metric,
        "n": found.floor.n,
        "delta": found.floor.delta,
        "flipped": found.floor.flipped,
        "noise_floor": found.floor.floor,
        "sd": found.floor.sd,
        "level": found.level,
        "margin": found.margin,
        "margin_below_floor": not at_least(found.margin, found.floor.floor),
        "passes": {"count": found.passes.count, "trials": found.passes.trials, "low": low, "high": high},
        "required": found.required,
        "seed": SEED,
    }


def floor_note(policy: Policy, floor: float) -> Caution | None:
    """For ``gate check``: the margin beside a measured noise floor; None where it is large enough."""
    margin = policy.gating.margin
    if not isinstance(margin, float):
        text = "the margin is relative, so it cannot be compared with a noise floor: gate aa does, with runs"
        return Caution("noise_floor_unknown", text)
    return None if at_least(margin, floor) else Caution("margin_below_noise", _against(floor, margin))

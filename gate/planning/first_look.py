"""Two files and no policy: what they show, and what a policy could claim on these items."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins

from gate.artifacts import Metric
from gate.estimands import estimand_of, oriented_pairs, select
from gate.measure.every_rule import measure
from gate.measure.model import Comparison, Tested
from gate.planning.proposal import Proposal
from gate.policy.load import loads
from gate.policy.model import Policy
from gate.run.blocks import changes, comparison, gating
from gate.run.intake import Files, ItemSet, item_sets
from gate.stats.procedures import run
from gate.values import Caution, Status

ALPHA = 0.05
LEVEL = ALPHA / 2


@dataclass(frozen=True, slots=True)
class FirstLook:
    """proven: lower end of what a margin's own test bounds, the largest margin that this run proves.

    assumed: the direction is a guess. seen: smallest effect seen 80 % of the time, by metric. means: of the
    baseline, by metric. others: every other metric of both files.
    """

    proposal: Proposal
    files: Files
    gating: Comparison
    pairs: int
    proven: float | None
    assumed: bool
    seen: Mapping[str, float]
    means: Mapping[str, float]
    cautions: tuple[Caution, ...]
    others: tuple[Tested, ...] = ()


def first_look(proposal: Proposal, files: Files, missing: str) -> FirstLook:
    """Measure the gating metric as a policy with margin 0 would, and the spread of all the others."""
    policy = loads(json.dumps(_policy(proposal, missing)), "the proposed policy").policy
    item_set = item_sets(policy, {None: files})[None]
    measured = measure(policy, {None: item_set.table}, LEVEL)
    found = measured.comparisons[0]
    tested = [c for c in measured.comparisons if isinstance(c, Tested)]
    return FirstLook(
        proposal=proposal,
        files=files,
        gating=found,
        pairs=item_set.table.counts.n_pairs,
        proven=_proven(policy, item_set, found),
        assumed=proposal.gating.direction is None,
        others=tuple(c for c in tested if c is not found),
        seen={c.asked.metric: c.visible.mde for c in tested if c.visible.mde is not None},
        means={c.asked.metric: c.sides.baseline for c in tested},
        cautions=(
            *measured.unread.faults.values(),
            *measured.unread.cautions,
            *_incomplete(item_set, found),
            *(Caution(*pair) for pair in (*proposal.cautions, *item_set.cautions, *item_set.table.cautions)),
        ),
    )


def _policy(proposal: Proposal, missing: str) -> dict[str, Any]:
    gating = proposal.gating
    items: dict[str, Any] = {"min": 2, "missing": missing}
    if proposal.id is not None:
        items["id"] = proposal.id
    if proposal.repeat is not None:
        items["repeat"] = proposal.repeat
    if missing != "error":
        items |= {"max_missing": 1.0, "max_error_rate": 1.0}
    made: dict[str, Any] = {
        "version": 1,
        "name": "first look",
        "alpha": ALPHA,
        "gating": {
            "metric": gating.name,
            "kind": gating.kind,
            "direction": gating.direction or "higher",
            "margin": 0.0,
        },
        "watch": [
            {"metric": other.name, "kind": other.kind, "direction": other.direction or "neutral"}
            for other in (*_kept(proposal), *proposal.rails, *proposal.watched, *proposal.unknown)
        ],
        "items": items,
    }
    if proposal.systems is not None:
        baseline, candidate = proposal.systems
        made["artifacts"] = {"system": {"baseline": baseline, "candidate": candidate}}
    if proposal.where:
        made.setdefault("artifacts", {})["where"] = {name: list(w) for name, w in proposal.where.items()}
    return made


def _kept(proposal: Proposal) -> tuple[Metric, ...]:
    return () if proposal.kept is None else (proposal.kept,)


def _proven(policy: Policy, item_set: ItemSet, found: Comparison) -> float | None:
    """The lower limit of the test that a margin or tolerance would be decided by."""
    if not isinstance(found, Tested) or found.n < 2:
        return None
    metric = item_set.table.metrics[policy.gating.metric]
    pairs = oriented_pairs(select(item_set.table, metric, policy.gating.direction))
    method = estimand_of(policy.gating.kind, averaged=metric.averaged).default_test(ALPHA, "standard")
    low = run(method, pairs, 0.0, LEVEL).interval.low
    return low if math.isfinite(low) else None


def _incomplete(item_set: ItemSet, found: Comparison) -> Iterator[Caution]:
    """What is not in the numbers as it lies in the files."""
    counts = item_set.table.counts
    if counts.only_baseline or counts.only_candidate or found.incomplete:
        yield Caution(
            "incomplete",
            f"{found.incomplete} items lack a result ({counts.only_baseline} are only in the baseline, "
            f"{counts.only_candidate} only in the candidate); read as {found.reading}",
        )


def look_document(look: FirstLook) -> dict[str, Any]:
    """``gate.compare/1``: the gating block of a report, and what a policy could claim. No verdict."""
    block = gating(look.gating, Status.REPORTED)
    found: dict[str, Any] = {
        "schema": "gate.compare/1",
        "baseline": str(look.files.baseline),
        "candidate": str(look.files.candidate),
        "format": look.proposal.format,
        "direction_assumed": look.assumed,
        "gating": {
            **to_builtins(comparison(look.gating, Status.REPORTED)),
            "margin": None,
            "flaky": block.flaky,
            "seed_reading": block.seed_reading,
        },
        "changes": changes(look.gating),
        "largest_margin": {"observed": look.gating.delta, "proven": look.proven},
        "smallest_effect_seen": dict(look.seen),
        "cautions": [*look.cautions, *block.cautions],
    }
    plain: dict[str, Any] = to_builtins(found)
    return plain

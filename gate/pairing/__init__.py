"""Two item tables in, one paired table out. Every rule about ids, repeats and missing results lives here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from gate.artifacts.table import BoolArray, ItemTable, ObjectArray
from gate.pairing.align import align, items_digest
from gate.pairing.columns import cluster_codes, merged_column, refuse_unequal, shown_columns
from gate.pairing.gold import positives
from gate.pairing.model import (
    IndexArray,
    MetricRule,
    PairCounts,
    PairedMetric,
    PairedTable,
    PairingRules,
)
from gate.pairing.readings import missing_share, paired_metric
from gate.pairing.side import Side, side_of
from gate.pairing.votes import Counted, preferred
from gate.safe import examples
from gate.values import GateError

__all__ = ["MetricRule", "PairCounts", "PairedMetric", "PairedTable", "PairingRules", "items_digest", "pair"]


def pair(
    baseline: ItemTable,
    candidate: ItemTable,
    rules: PairingRules,
    votes: Mapping[str, Counted] = MappingProxyType({}),
) -> PairedTable:
    """Match the two sides item by item, or say why that is not possible. votes: of the candidate's side.

    Errors: duplicates; no common ids; ids on one side only, missing values or failed runs beyond what the
    policy accepts; cluster, label or ``comparable`` columns that disagree.
    """
    sides = (side_of(baseline, "baseline"), side_of(candidate, "candidate"))
    orders = _known_orders(baseline, candidate)
    ids, *aligned = align(sides[0].ids, sides[1].ids, orders)
    rows = (aligned[0], aligned[1])
    both: BoolArray = (rows[0] >= 0) & (rows[1] >= 0)
    if not bool(both.any()):
        raise _no_common_ids(sides)
    only = (tuple(ids[rows[1] < 0]), tuple(ids[rows[0] < 0]))
    _refuse_one_sided(only, sides, rules)
    for side in sides:
        _refuse_failed_runs(side, rules)
    for column in (*rules.comparable, *([rules.label] if rules.label else [])):
        refuse_unequal(column, sides, rows, ids, both)
    metrics = {name: paired_metric(name, rule, sides, rows, rules) for name, rule in rules.metrics.items()}
    metrics |= {
        name: preferred(metrics[name], rules.metrics[name], found)
        for name, found in votes.items()
        if name in metrics
    }
    _refuse_many_missing(metrics, only, len(ids), sides, rules)
    clusters, n_clusters = cluster_codes(sides, rows, ids)
    columns = {name: merged_column(name, sides, rows, ids) for name in rules.columns}
    digest = baseline.ascending.digest if baseline.ascending and orders else items_digest(ids)
    return PairedTable(
        ids=ids,
        metrics=metrics,
        columns=columns,
        shown=shown_columns(rules.show, sides, rows),
        clusters=clusters,
        counts=_counts(sides, both, only, n_clusters, digest),
        identical=_identical(baseline, candidate),
        cautions=(*baseline.cautions, *candidate.cautions),
        unread=(baseline.unread, candidate.unread),
        runs=(int((~baseline.failed).sum()), int((~candidate.failed).sum())),
        positive=_gold(sides, rows, ids, metrics, rules) if rules.yes_no else None,
    )


def _gold(
    sides: tuple[Side, Side],
    rows: tuple[IndexArray, IndexArray],
    ids: ObjectArray,
    metrics: dict[str, PairedMetric],
    rules: PairingRules,
) -> BoolArray:
    """What the label says of every item that has a result."""
    assert rules.label is not None, "the policy names the column of labels"
    labels = merged_column(rules.label, sides, rows, ids)
    wanted = np.zeros(len(ids), dtype=np.bool_)
    for metric in metrics.values():
        wanted |= np.isfinite(metric.candidate)
    return positives(rules.label, labels, rules.label_words, ids, sides[1].path, wanted)


def _known_orders(baseline: ItemTable, candidate: ItemTable) -> tuple[IndexArray, IndexArray] | None:
    """The rows of both sides in the order of their ids, where these are known to be the same."""
    first, second = baseline.ascending, candidate.ascending
    if first is None or second is None or first.digest != second.digest:
        return None
    return first.rows, second.rows


def _counts(
    sides: tuple[Side, Side],
    both: BoolArray,
    only: tuple[tuple[str, ...], ...],
    n_clusters: int | None,
    digest: str,
) -> PairCounts:
    return PairCounts(
        n_baseline=len(sides[0].ids),
        n_candidate=len(sides[1].ids),
        n_pairs=int(both.sum()),
        only_baseline=len(only[0]),
        only_candidate=len(only[1]),
        errors_baseline=int(sides[0].table.failed.sum()),
        errors_candidate=int(sides[1].table.failed.sum()),
        n_clusters=n_clusters,
        repeats_baseline=sides[0].repeats,
        repeats_candidate=sides[1].repeats,
        items_digest=digest,
    )


def _identical(baseline: ItemTable, candidate: ItemTable) -> bool:
    same_bytes = baseline.source.sha256 == candidate.source.sha256
    return same_bytes and baseline.source.system == candidate.source.system


def _no_common_ids(sides: tuple[Side, Side]) -> GateError:
    found = "; ".join(f"{side.name}: {examples(list(side.ids[:3]), len(side.ids))}" for side in sides)
    return GateError(
        "no_common_ids",
        f"baseline and candidate have no item in common ({found})",
        where=sides[1].path,
        help="re-score the baseline on these items, or name the column that identifies an item in items.id",
    )


def _refuse_one_sided(
    only: tuple[tuple[str, ...], ...], sides: tuple[Side, Side], rules: PairingRules
) -> None:
    if rules.missing != "error" or not (only[0] or only[1]):
        return
    found = "; ".join(
        f"{len(names)} only in the {side.name}: {examples(list(names))}"
        for names, side in zip(only, sides, strict=True)
        if names
    )
    raise GateError(
        "unmatched_ids",
        f"the two files do not hold the same items ({found})",
        where=sides[1].path if only[0] else sides[0].path,
        help="score both systems on the same items; items.missing: worst or drop with items.max_missing "
        "accepts a stated share of missing ones",
    )


def _refuse_failed_runs(side: Side, rules: PairingRules) -> None:
    failed = side.table.failed
    rate = float(failed.mean())
    if rate <= rules.max_error_rate:
        return
    names = list(dict.fromkeys(side.ids[side.groups[failed]].tolist()))
    raise GateError(
        "error_rate",
        f"{int(failed.sum())} of {len(failed)} {side.name} runs failed ({rate:.1%}), more than "
        f"items.max_error_rate {rules.max_error_rate:g} accepts ({examples(names)})",
        where=side.path,
        help="an infrastructure fault is no result: repair it and score these items again, "
        "or set items.max_error_rate to the share you accept",
    )


def _refuse_many_missing(
    metrics: dict[str, PairedMetric],
    only: tuple[tuple[str, ...], ...],
    n_items: int,
    sides: tuple[Side, Side],
    rules: PairingRules,
) -> None:
    if rules.missing == "error":
        return
    one_sided = (len(only[0]) + len(only[1])) / n_items
    share, allowed = one_sided, f"items.max_missing {rules.max_missing:g} accepts"
    if one_sided <= rules.max_missing:  # whole items are few enough; now with the runs that failed
        share = missing_share(metrics)
        if share <= max(rules.max_missing, rules.max_error_rate):
            return
        if rules.max_error_rate > rules.max_missing:
            allowed = f"items.max_error_rate {rules.max_error_rate:g} accepts"
    found = ", ".join(
        f"{len(names)} only in the {side.name}" for names, side in zip(only, sides, strict=True)
    )
    failed = ", ".join(f"{int(side.table.failed.sum())} {side.name}" for side in sides)
    raise GateError(
        "too_many_missing",
        f"{share:.1%} of the items or of the runs of one side have no result, more than {allowed} "
        f"({found}; failed runs: {failed})",
        where=sides[1].path,
        help="score the missing items, or raise items.max_missing to the share you accept",
    )

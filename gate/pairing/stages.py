"""Which items a staged evaluation asks for: an order fixed by digests, so that nobody chooses them.

The universe is the baseline's ids. Stage k is the first n_k ids of the order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from gate.artifacts.digest import Parts, digests
from gate.artifacts.sort import sorted_rows
from gate.artifacts.table import ItemTable, Missing, ReadRequest
from gate.pairing.align import items_digest
from gate.pairing.model import Staged, StageLook, StageRules
from gate.safe import examples
from gate.values import GateError


def stage_order(ids: Iterable[str], decision_digest: str) -> tuple[str, ...]:
    """The ids by SHA-256 of (decision digest, one zero byte, id as UTF-8), ties by id.

    Whoever writes the policy fixes the order before any item is scored, and cannot steer it.
    """
    start = sha256(decision_digest.encode("ascii") + b"\0")

    def place(item: str) -> tuple[bytes, str]:
        digest = start.copy()
        digest.update(item.encode("utf-8", "surrogatepass"))
        return digest.digest(), item

    return tuple(sorted(ids, key=place))


def stage_sizes(items: int, fractions: Sequence[float]) -> tuple[int, ...]:
    """n_k = ceil(t_k N) of each stage; stages of a small set that add no item are one."""
    sizes = {min(items, math.ceil(t * items - 1e-9)) for t in fractions}
    return tuple(sorted(size for size in sizes if size > 0))


def stage_look(order: Sequence[str], fractions: Sequence[float], scored: Collection[str]) -> StageLook:
    """The largest stage whose ids are all in `scored`; what lies beyond it is not looked at.

    order: of the whole universe (``stage_order``). scored: ids of the candidate, distinct.
    Raises GateError ``stage_incomplete`` where not even the first stage is whole.
    """
    have = scored if isinstance(scored, (set, frozenset, dict)) else frozenset(scored)
    sizes = stage_sizes(len(order), fractions)
    whole = next((place for place, item in enumerate(order) if item not in have), len(order))
    stage = sum(size <= whole for size in sizes)
    if stage == 0:
        _refuse(order, sizes, have)
    n = sizes[stage - 1]
    following = tuple(order[n : sizes[stage]]) if stage < len(sizes) else ()
    return StageLook(stage, sizes, tuple(order[:n]), following, len(have) - n)


def _refuse(order: Sequence[str], sizes: Sequence[int], have: Collection[str]) -> None:
    first = order[: sizes[0]] if sizes else ()
    missing = [item for item in first if item not in have]
    raise GateError(
        "stage_incomplete",
        f"the candidate lacks {len(missing)} of the {len(first)} items of the first stage "
        f"(missing: {examples(missing)})"
        if first
        else "there are no items to make stages of (found 0)",
        help="score these items too; `gate stages` prints the ids that a stage asks for",
    )


def first_stage(order: Sequence[str], fractions: Sequence[float]) -> tuple[str, ...]:
    """The ids to score before the first look."""
    sizes = stage_sizes(len(order), fractions)
    return tuple(order[: sizes[0]] if sizes else ())


def list_digest(ids: Iterable[str]) -> str:
    """SHA-256 of a list of ids in its order, each followed by a newline: of its file."""
    digest = sha256()
    for item in ids:
        digest.update(item.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Savings:
    """What stopping at this stage saves: items, their share of all, and money where a cost is declared."""

    items: int
    share: float
    money: float | None = None


def savings(scored: int, items: int, cost_per_item: float | None = None) -> Savings:
    """Against scoring the whole universe of `items`; `scored` is the size of the stage that stopped."""
    left = items - scored
    return Savings(left, left / items, None if cost_per_item is None else left * cost_per_item)


def staged_sides(
    baseline: ItemTable, candidate: ItemTable, rules: StageRules, wanted: ReadRequest
) -> tuple[Staged, ItemTable, ItemTable]:
    """Both sides on the items of the stage that the candidate reaches. wanted: how the candidate was read.

    Raises GateError: stage_incomplete, and stage_foreign for ids that the baseline does not have.
    """
    universe = sorted(set(rules.universe or baseline.ids))
    scored = frozenset(candidate.ids)
    _refuse_foreign(scored.union(baseline.ids).difference(universe))
    if rules.universe:
        scored = scored.intersection(baseline.ids)
    look = stage_look(stage_order(universe, rules.decision_digest), rules.fractions, scored)
    tables = [part_of(candidate, look.prefix[:n], wanted) for n in look.sizes[: look.stage]]
    ids = np.array(universe, dtype=object)
    olds = [part_of(baseline, look.prefix[:n], wanted) for n in look.sizes[: look.stage]]
    known = [table.identity if rules.universe else baseline.identity for table in olds]
    prefixes = tuple(table.identity for table in tables)
    staged = Staged(look, ids, items_digest(ids), prefixes, tuple(known), bool(rules.universe))
    return staged, olds[-1], tables[-1]


def _refuse_foreign(foreign: Collection[str]) -> None:
    if foreign:
        raise GateError(
            "stage_foreign",
            f"{len(foreign)} ids are not among the items that the stages are of: those of the baseline, in a "
            f"replay all cases ({examples(sorted(foreign))})",
            help="score the ids that gate stages prints, and no others",
        )


def part_of(table: ItemTable, ids: Collection[str], wanted: ReadRequest) -> ItemTable:
    """The rows of these ids, as if the file held no others."""
    keep = frozenset(ids)
    mask = np.fromiter((item in keep for item in table.ids), bool, len(table.ids))
    repeats, clusters = (None if c is None else c[mask] for c in (table.repeats, table.clusters))
    parts = Parts(
        ids=table.ids[mask],
        repeats=repeats,
        clusters=clusters,
        failed=table.failed[mask],
        values={name: column[mask] for name, column in table.values.items()},
        columns={name: column[mask] for name, column in table.columns.items()},
    )
    sort = sorted_rows(list(parts.ids), None if repeats is None else list(repeats))
    return replace(
        table,
        ids=parts.ids,
        repeats=repeats,
        clusters=clusters,
        failed=parts.failed,
        values=parts.values,
        columns=parts.columns,
        lines=None if table.lines is None else table.lines[mask],
        missing={name: _still_missing(gaps, parts, name) for name, gaps in table.missing.items()},
        ascending=None,
        **digests(parts, wanted, sort),
    )


def _still_missing(gaps: Missing, parts: Parts, metric: str) -> Missing:
    if not gaps.count:
        return gaps
    kept = frozenset(parts.ids)
    count = int((np.isnan(parts.values[metric]) & ~parts.failed).sum())
    return Missing(count, tuple(example for example in gaps.examples if example[0] in kept))

"""Which items a staged evaluation asks for: an order fixed by digests, so that nobody chooses them.

The universe is the baseline's ids or a declared list. Stage k is the first n_k ids of the order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

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


@dataclass(frozen=True, slots=True)
class StageLook:
    """The stage that a candidate's ids reach.

    stage: 1 is the first. sizes: n_k of every stage. prefix: the ids that are looked at, in their order.
    following: those that the next stage asks for; empty at the last. beyond: ids of the candidate that are
    not read.
    """

    stage: int
    sizes: tuple[int, ...]
    prefix: tuple[str, ...]
    following: tuple[str, ...]
    beyond: int

    @property
    def last(self) -> bool:
        """Whether no stage comes after this one."""
        return self.stage == len(self.sizes)

    @property
    def fractions(self) -> tuple[float, ...]:
        """Information n_k / N of every stage."""
        return tuple(size / self.sizes[-1] for size in self.sizes)


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
        help="score these items too; `gate run --next FILE` writes the ids a stage asks for",
    )


def first_stage(
    order: Sequence[str], fractions: Sequence[float], must_pass: Iterable[str]
) -> tuple[str, ...]:
    """The ids to score before the first look: its stage, and the `must_pass` items at the end of the list."""
    sizes = stage_sizes(len(order), fractions)
    ids = order[: sizes[0]] if sizes else ()
    inside = set(ids)
    return (*ids, *sorted(set(must_pass) - inside))


def list_digest(ids: Iterable[str]) -> str:
    """SHA-256 of a list of ids in its order, each followed by a newline: the file that `--next` writes."""
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

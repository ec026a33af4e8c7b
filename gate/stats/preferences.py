"""Pairwise preferences of judges: one value an item, and a test of whether the place shown decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gate.stats.binary import mcnemar_exact
from gate.stats.pairs import Floats, Ints, Pairs, from_counts, pair
from gate.values import Caution, GateError

BIAS_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Items judged in both orders. first_both, second_both: the place shown first, or second, won both times.

    agree: items with the same verdict in both orders. p_value: two-sided exact McNemar test of H0 "an item
    whose verdict follows the place follows the first as often as the second" (McNemar 1947).
    """

    items: int
    first_both: int
    second_both: int
    agree: int
    p_value: float

    @property
    def agreement(self) -> float:
        """Share of items with the same verdict in both orders."""
        return self.agree / self.items

    @property
    def inconsistency(self) -> float:
        """Share of items on which one and the same place won both times."""
        return (self.first_both + self.second_both) / self.items


@dataclass(frozen=True, slots=True)
class Preferences:
    """n items, each with one value: 1 the candidate is preferred, -1 the baseline, 0 neither, or in between.

    values: float64[n], ascending, in [-1, 1]; their mean is the net preference (wins - losses) / n.
    position: None where items were not judged in both orders; then the place is not controlled, and nothing
    may be claimed unless the policy declares a randomized order.
    """

    values: Floats
    position: PositionBias | None

    @property
    def wins(self) -> int:
        """Items with a value above 0."""
        return int(np.count_nonzero(self.values > 0))

    @property
    def losses(self) -> int:
        """Items with a value below 0."""
        return int(np.count_nonzero(self.values < 0))

    @property
    def ties(self) -> int:
        """Items with the value 0."""
        return int(self.values.size) - self.wins - self.losses

    @property
    def decided(self) -> bool:
        """Whether every value is -1, 0 or 1, so that the exact tests of pass/fail serve."""
        return bool(np.all(np.isin(self.values, (-1.0, 0.0, 1.0))))

    def pairs(self) -> Pairs:
        """The same values as differences of pairs on the scale [0, 1], for every test of pairs.

        Decided values are a pass/fail table with wins b and losses c: at 0, exact McNemar is the sign test.
        """
        if self.decided:
            return from_counts(self.wins, self.losses, int(self.values.size))
        return pair(0.5 * (1 - self.values), 0.5 * (1 + self.values))


def preferences(
    items: npt.ArrayLike,
    preferred: npt.ArrayLike,
    candidate_first: npt.ArrayLike | None = None,
    judges: npt.ArrayLike | None = None,
    *,
    votes: Literal["mean", "majority"] = "mean",
    orders: Literal["consistent", "mean"] = "consistent",
) -> Preferences:
    """The values of ``item_preferences`` and how often the place decided."""
    values, position = item_preferences(items, preferred, candidate_first, judges, votes=votes, orders=orders)
    return Preferences(np.sort(values) + 0.0, position)


def item_preferences(
    items: npt.ArrayLike,
    preferred: npt.ArrayLike,
    candidate_first: npt.ArrayLike | None = None,
    judges: npt.ArrayLike | None = None,
    *,
    votes: Literal["mean", "majority"] = "mean",
    orders: Literal["consistent", "mean"] = "consistent",
) -> tuple[Floats, PositionBias | None]:
    """One value an item, in the items' sorted order, from votes, judges and orders; none is counted twice.

    One row a vote. items, judges: labels of any type that sorts. preferred: 1 candidate, -1 baseline, 0 tie.
    candidate_first: booleans, the order of presentation, or None where it is not known. The votes of an item,
    order and judge are averaged, then the judges of an item and order; ``majority`` takes the sign of that.
    Both orders: ``consistent`` gives 1 or -1 only where they agree or one is a tie, else 0; ``mean`` their
    mean.
    Raises GateError ``orders_differ`` where only some items have both orders; ValueError on columns that do
    not fit.
    """
    vote = np.asarray(preferred, dtype=np.float64).ravel()
    if not np.all(np.isin(vote, (-1.0, 0.0, 1.0))):
        raise ValueError("a preference must be 1, 0 or -1")
    item, judge = _codes(items, vote.size), _codes(judges, vote.size)
    first = None if candidate_first is None else _flags(candidate_first, vote.size)
    place = np.zeros(vote.size, dtype=np.int64) if first is None else first.astype(np.int64)
    cells, verdicts = _averaged(2 * item + place, judge, vote)
    if votes == "majority":
        verdicts = np.sign(verdicts)
    n = int(item.max()) + 1
    by_place = np.full((n, 2), np.nan)
    by_place[cells // 2, cells % 2] = verdicts
    both = ~np.isnan(by_place).any(axis=1)
    if both.any() and not both.all():
        raise GateError(
            "orders_differ",
            f"{int(both.sum())} of {n} items are judged in both orders, the others in one",
            help="judge every item in both orders, or every item in one",
        )
    if not both.any():
        return np.nansum(by_place, axis=1) + 0.0, None
    then, now = by_place[:, 0], by_place[:, 1]  # baseline first, candidate first
    total = then + now
    values = 0.5 * total if orders == "mean" else np.where(then * now < 0, 0.0, np.sign(total))
    return np.round(values, 12) + 0.0, _position(now, then)


def position_bias(first_both: int, second_both: int, items: int, agree: int) -> PositionBias:
    """The test of ``PositionBias`` from counts."""
    p = mcnemar_exact(first_both, second_both, max(items, 1), 0.0, 0.025).p_two_sided
    return PositionBias(items, first_both, second_both, agree, p)


def position_caution(position: PositionBias) -> Caution | None:
    """What to say where the place decides: p below .05."""
    if position.p_value >= BIAS_LEVEL:
        return None
    more = "first" if position.first_both > position.second_both else "second"
    return Caution(
        "position_bias",
        f"the judge prefers what is shown {more}: the first place won both times on {position.first_both} "
        f"items, the second on {position.second_both} (p {position.p_value:.4f}); with both orders on every "
        "item the result stays valid, at a loss of power",
    )


def _position(candidate_first: Floats, baseline_first: Floats) -> PositionBias:
    first = np.count_nonzero((candidate_first > 0) & (baseline_first < 0))
    second = np.count_nonzero((candidate_first < 0) & (baseline_first > 0))
    agree = np.count_nonzero(np.sign(candidate_first) == np.sign(baseline_first))
    return position_bias(int(first), int(second), candidate_first.size, int(agree))


def _averaged(cells: Ints, judge: Ints, vote: Floats) -> tuple[Ints, Floats]:
    """Mean over votes, then over judges, of each cell that occurs; without rounding noise."""
    keys, places = np.unique(cells * (int(judge.max()) + 1) + judge, return_inverse=True)
    by_judge = np.bincount(places, weights=vote) / np.bincount(places)
    found, places = np.unique(keys // (int(judge.max()) + 1), return_inverse=True)
    mean = np.bincount(places, weights=np.round(by_judge, 13)) / np.bincount(places)
    return found.astype(np.int64), np.asarray(np.round(mean, 12) + 0.0, dtype=np.float64)


def _codes(labels: npt.ArrayLike | None, size: int) -> Ints:
    if labels is None:
        return np.zeros(size, dtype=np.int64)
    codes = np.unique(np.asarray(labels), return_inverse=True)[1].ravel().astype(np.int64)
    if codes.size != size or size == 0:
        raise ValueError(f"every vote needs an item and a judge (found {codes.size} for {size})")
    return codes


def _flags(candidate_first: npt.ArrayLike, size: int) -> npt.NDArray[np.bool_]:
    flags = np.asarray(candidate_first).ravel()
    if flags.size != size or not np.all((flags == 0) | (flags == 1)):
        raise ValueError("candidate_first must be true or false for every vote")
    return np.asarray(flags == 1, dtype=np.bool_)

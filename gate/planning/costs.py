"""What a look costs on average: mistakes of both kinds and the items scored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs in one unit of money. good: share of candidates that are truly better by the planned gain."""

    false_promotion: float
    missed_promotion: float
    item: float = 0.0
    good: float = 0.5


def expected_cost(prices: Prices, n: int, false_pass: float, true_pass: float) -> float:
    """Mean cost of one look at n items.

    false_pass: chance that a candidate without gain passes. true_pass: that one with the gain does.
    """
    wrong = (1 - prices.good) * false_pass * prices.false_promotion
    missed = prices.good * (1 - true_pass) * prices.missed_promotion
    return wrong + missed + prices.item * n

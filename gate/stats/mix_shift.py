"""Are these the inputs of earlier cycles: the mix of slices, labels or clusters, now against then."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.stats.distributions import clip_p

SHIFTED_P = 0.001
SHIFTED_SHARE = 0.1
LEAST_EXPECTED = 5.0


@dataclass(frozen=True, slots=True)
class MixShift:
    """p: H0 "one mix". moved: share of items that would have to change category, 0 to 1 (total variation).

    largest: the category whose share moved most, with its share then and now.
    """

    p: float
    moved: float
    largest: str
    share_before: float
    share_now: float

    @property
    def alarm(self) -> bool:
        """Unlikely by chance and at least a tenth of the items."""
        return self.p < SHIFTED_P and self.moved >= SHIFTED_SHARE - 1e-9


def mix_shift(
    now: Mapping[str, int], past: Sequence[Mapping[str, int]], design_effect: float = 1.0
) -> MixShift | None:
    """Pearson's chi-square of this cycle's counts against the pooled earlier ones; None without either.

    now, past: category -> items. design_effect: >= 1, by which items that hang together in clusters count
    less (Rao & Scott 1981): chi-square is divided by it. Categories that expect fewer than five items on a
    side are put together.
    """
    before: Counter[str] = Counter()
    for counts in past:
        before.update(counts)
    n_now, n_before = sum(now.values()), sum(before.values())
    if n_now == 0 or n_before == 0:
        return None
    names = sorted({*now, *before})
    shares = {name: (before[name] / n_before, now.get(name, 0) / n_now) for name in names}
    largest = max(names, key=lambda name: abs(shares[name][1] - shares[name][0]))
    moved = 0.5 * math.fsum(abs(after - old) for old, after in shares.values())
    cells = _cells([(before[name], now.get(name, 0)) for name in names], n_before, n_now)
    p = _chi_square_p(cells, n_before, n_now, design_effect)
    return MixShift(p, moved, largest, *shares[largest])


def size_classes(sizes: Iterable[int]) -> dict[str, int]:
    """Clusters by their size (1, 2, 3-4, 5-8, ...): the mix of clusters whose names are new each time."""
    classes: Counter[str] = Counter()
    for size in sizes:
        top = 1 << max(0, size - 1).bit_length()
        classes[str(top) if top <= 2 else f"{top // 2 + 1}-{top}"] += 1
    return dict(classes)


def _cells(pairs: list[tuple[int, int]], n_before: int, n_now: int) -> list[tuple[int, int]]:
    smaller = min(n_before, n_now) / (n_before + n_now)
    kept = [pair for pair in pairs if sum(pair) * smaller >= LEAST_EXPECTED]
    rare = [pair for pair in pairs if sum(pair) * smaller < LEAST_EXPECTED]
    if not rare:
        return kept
    together = (sum(old for old, _ in rare), sum(new for _, new in rare))
    if sum(together) * smaller >= LEAST_EXPECTED or not kept:
        return [*kept, together]
    least = min(kept, key=sum)  # the rest is too small to stand alone
    kept.remove(least)
    return [*kept, (least[0] + together[0], least[1] + together[1])]


def _chi_square_p(cells: list[tuple[int, int]], n_before: int, n_now: int, design_effect: float) -> float:
    if len(cells) < 2:
        return 1.0
    from scipy.special import chdtrc  # noqa: PLC0415

    statistic = 0.0
    for old, new in cells:
        share = (old + new) / (n_before + n_now)
        for count, n in ((old, n_before), (new, n_now)):
            statistic += (count - n * share) ** 2 / (n * share)
    return clip_p(float(chdtrc(len(cells) - 1, statistic / max(1.0, design_effect))))

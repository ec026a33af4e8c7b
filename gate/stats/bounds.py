"""What a declared scale says about the mean difference."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.stats.pairs import Pairs
from gate.stats.results import Interval, TestResult
from gate.values import GateError

Scale = tuple[float, float]


def difference_bounds(pairs: Pairs, scale: Scale | None) -> Scale | None:
    """(least, largest) difference that scores in scale = [lo, hi] allow; None where nothing is known.

    Zeros and ones imply [0, 1]. The scale may be that of the metric before its direction was turned.
    Raises GateError ``outside_scale`` where a score lies outside the declared scale.
    """
    if scale is None:
        return (-1.0, 1.0) if pairs.binary and observed_scale(pairs) else None
    found = observed_scale(pairs) or (float(pairs.baseline[0]), float(pairs.baseline[0]))
    return bounds_of(found, pairs.ratio, scale)


def bounds_of(observed: Scale, ratio: float, scale: Scale) -> Scale | None:
    """(least, largest) new - ratio * old of scores in the scale; observed: range of both sides' scores."""
    if math.isnan(ratio):
        return None
    low, high = _oriented(observed, scale)
    corners = [new - ratio * old for new in (low, high) for old in (low, high)]
    return min(corners), max(corners)


def observed_scale(pairs: Pairs) -> Scale | None:
    """The range of the scores on both sides, where there is one."""
    low = float(min(pairs.baseline.min(), pairs.candidate.min()))
    high = float(max(pairs.baseline.max(), pairs.candidate.max()))
    return (low, high) if low < high else None


def within(result: TestResult, bounds: Scale | None) -> TestResult:
    """The result with its interval cut to what is possible; estimands other than the mean likewise."""
    if bounds is None:
        return result
    low = min(max(result.interval.low, bounds[0]), bounds[1])
    high = max(min(result.interval.high, bounds[1]), bounds[0])
    if (low, high) == (result.interval.low, result.interval.high):
        return result
    return replace(result, interval=Interval(low, high, result.interval.confidence, result.interval.method))


def _oriented(found: Scale, scale: Scale) -> Scale:
    for low, high in (scale, (-scale[1], -scale[0])):
        slack = 1e-9 * max(abs(low), abs(high))
        if low - slack <= found[0] and found[1] <= high + slack:
            return low, high
    outside = found[0] if found[0] < scale[0] else found[1]
    raise GateError(
        "outside_scale",
        f"scores must lie in the declared scale [{scale[0]:g}, {scale[1]:g}] (found {outside:g})",
        help="correct the scale in the policy or the scores in the file",
    )

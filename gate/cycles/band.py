"""The noise band: does this cycle look like the earlier ones of its metric, in noise, delta and inputs.

An alarm flags or holds a cycle, as the policy says; it never turns a fail into a pass, and a cycle that it
holds neither adds to a streak nor ends it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gate.cycles.digests import Differences, comparable, read_differences, read_mix
from gate.cycles.record import Record
from gate.safe import quoted
from gate.stats.control import FEWEST, Drift, Limits, drift, prediction_limits
from gate.stats.heterogeneity import Heterogeneity, heterogeneity
from gate.stats.mix_shift import MixShift, mix_shift
from gate.stats.spread_change import SpreadChange, brown_forsythe
from gate.values import Caution

ALARMS: Final = frozenset({"noise_changed", "delta_outside_band", "delta_drift", "inputs_shifted"})
REMEMBERED: Final = 10
"""Earlier cycles that this one is compared with; drift and the spread between cycles see all of them."""
DIFFERENCES: Final = "differences"
MIX: Final = "mix:"
"""Keys of a record's state: the digest of the differences, and one for each mix of inputs."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle as the band sees it. delta: None where its numbers were withheld. mixes: by their name."""

    name: str
    delta: float | None
    se: float | None = None
    differences: Differences | None = None
    mixes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Band:
    """What the earlier cycles say about this one. None: there are too few of them.

    cycles: earlier ones with a delta. spread: of the item differences. limits: where this delta was expected.
    drift: of the deltas, this one included. between: how true deltas differ, this one included. next_delta:
    where the next cycle's true delta lies, 95 %. mixes: by name. alarms: empty where nothing is odd.
    """

    cycles: int
    spread: SpreadChange | None
    limits: Limits | None
    drift: Drift
    between: Heterogeneity | None
    next_delta: tuple[float, float] | None
    mixes: Mapping[str, MixShift]
    alarms: tuple[Caution, ...]


def earlier_cycles(records: Iterable[Record], metric: str) -> tuple[Cycle, ...]:
    """The cycles of one metric, oldest first; of several records about one cycle the first stands."""
    found: dict[str, Cycle] = {}
    for record in records:
        if record.kind == "outcome" and record.metric == metric and record.cycle not in found:
            found[record.cycle] = cycle_of(record)
    return tuple(found.values())


def noise_band(now: Cycle, past: Sequence[Cycle]) -> Band:
    """The band of this cycle against earlier ones of the same metric (``earlier_cycles``), oldest first."""
    others = [cycle for cycle in past if cycle.name != now.name]
    near = others[-REMEMBERED:]
    spread = _spread(now, near)
    limits = _limits(now, near)
    course = drift(_deltas([*others, now])) if now.delta is not None else Drift((), (), ())
    between = _between([*others, now])
    mixes = _mixes(now, near)
    return Band(
        cycles=len(_deltas(others)),
        spread=spread,
        limits=limits,
        drift=course,
        between=between,
        next_delta=between.next_delta() if between is not None else None,
        mixes=mixes,
        alarms=tuple(_alarms(now, spread, limits, course, mixes)),
    )


def cycle_of(record: Record) -> Cycle:
    """What a record, or one that is about to be written, says of its cycle."""
    result, state = record.result, record.state
    if result.get("printed") is False:
        return Cycle(record.cycle, None)
    delta, sd, n = (_number(result.get(key)) for key in ("delta", "sd", "n"))
    differences = read_differences(state.get(DIFFERENCES))
    se = differences.se if differences else None
    if se is None and sd is not None and n:
        se = sd / math.sqrt(n)
    mixes = {key[len(MIX) :]: read_mix(value) for key, value in state.items() if key.startswith(MIX)}
    return Cycle(record.cycle, delta, se, differences, {k: mix for k, mix in mixes.items() if mix})


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _deltas(cycles: Sequence[Cycle]) -> list[float]:
    return [cycle.delta for cycle in cycles if cycle.delta is not None]


def _spread(now: Cycle, near: Sequence[Cycle]) -> SpreadChange | None:
    if now.differences is None:
        return None
    past = [cycle.differences.deviations for cycle in near if cycle.differences is not None]
    return brown_forsythe(now.differences.deviations, past)


def _limits(now: Cycle, near: Sequence[Cycle]) -> Limits | None:
    deltas = _deltas(near)
    return prediction_limits(deltas) if now.delta is not None and len(deltas) >= FEWEST else None


def _between(cycles: Sequence[Cycle]) -> Heterogeneity | None:
    known = [(c.delta, c.se) for c in cycles if c.delta is not None and c.se is not None and c.se > 0]
    return heterogeneity([delta for delta, _ in known], [se for _, se in known])


def _mixes(now: Cycle, near: Sequence[Cycle]) -> dict[str, MixShift]:
    found = {}
    for name in sorted(now.mixes):
        present, *past = comparable([now.mixes[name], *(c.mixes[name] for c in near if name in c.mixes)])
        shift = mix_shift(present, past)
        if shift is not None:
            found[name] = shift
    return found


def _alarms(
    now: Cycle,
    spread: SpreadChange | None,
    limits: Limits | None,
    course: Drift,
    mixes: Mapping[str, MixShift],
) -> Iterable[Caution]:
    if spread is not None and spread.alarm:
        size = f"{spread.ratio:.2f} times as wide" if spread.ratio is not None else "wider"
        yield Caution(
            "noise_changed",
            f"the noise changed: the differences of items spread {size} as in {_cycles(spread.cycles)} "
            f"(p {spread.p:.2g}): revalidate the margin",
        )
    if limits is not None and now.delta is not None and not limits.hold(now.delta):
        yield Caution(
            "delta_outside_band",
            f"the delta {now.delta:.4g} lies outside the noise band of {_cycles(limits.cycles)} "
            f"({limits.low:.4g} to {limits.high:.4g}, 99 %): look at what changed before it is believed",
        )
    if course.alarm:
        way = "up" if course.smoothed[-1] > 0 else "down"
        yield Caution(
            "delta_drift",
            f"the deltas of the last cycles drift {way} against the earlier ones "
            f"(smoothed score {course.smoothed[-1]:.2f}, limit {course.limits[-1]:.2f})",
        )
    for name, shift in mixes.items():
        if shift.alarm:
            yield Caution(
                "inputs_shifted",
                f"the inputs changed: {shift.moved:.0%} of the items lie in another {name} than in earlier "
                f"cycles (most: {quoted(shift.largest or 'the rest')}, {shift.share_before:.0%} to "
                f"{shift.share_now:.0%})",
            )


def _cycles(count: int) -> str:
    return "one earlier cycle" if count == 1 else f"{count} earlier cycles"

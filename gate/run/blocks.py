"""What was measured -> the report's blocks: full precision, no time, no machine, nothing worked out."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, cast

from gate.measure.model import (
    Asked,
    Comparison,
    Counted,
    ItemFacts,
    Limited,
    Limits,
    Margin,
    MostLost,
    MostOnOne,
    Tested,
    Tolerance,
    Veto,
    Worst,
    WorstShare,
)
from gate.pairing import PairCounts
from gate.policy.kinds import KINDS
from gate.report import model
from gate.stats.results import Interval
from gate.values import Kind, Status

_SIDES = ("baseline", "candidate", "delta", "sd_difference", "correlation")
_TEST = ("interval", "p_value", "p_two_sided", "p_adjusted", "mde", "items_needed")
_UNKNOWN: dict[str, Any] = dict.fromkeys((*_SIDES, *_TEST))


def comparison(c: Comparison, status: Status) -> model.Comparison:
    """One rule's block."""
    asked = c.asked
    block = _UNKNOWN | {
        "rule": asked.rule,
        "metric": asked.metric,
        "set": asked.set,
        "role": asked.role,
        "mode": asked.mode,
        "kind": asked.kind,
        "direction": asked.direction,
        "method": c.method,
        "n": c.n,
        "null_value": c.null_value,
        "level": c.level,
        "status": status,
        "cautions": c.cautions,
        "insufficient": c.insufficient or None,
        "reading": None if c.reading == "complete" else _reading(c),
    }
    return model.Comparison(**block | _wanted(c) | _found(c))


def _wanted(c: Comparison) -> dict[str, Any]:
    """What the rule asks for, as amounts in effect."""
    match c.wanted:
        case Margin() | Tolerance() as wanted:
            return {"bound": wanted.amount, "relative": wanted.relative}
        case Veto() as wanted:
            return {"bound": wanted.tolerance, "relative": wanted.relative, "detect": wanted.detect}
        case Limits() as wanted:
            return {"bound": wanted.least, "upper_bound": wanted.most}
        case MostLost() as wanted:
            return {"upper_bound": wanted.share}
        case MostOnOne() as wanted:
            return {"bound": wanted.amount}
        case WorstShare() as wanted:
            return {"bound": wanted.amount, "share": wanted.share}
    return {}


def _found(c: Comparison) -> dict[str, Any]:
    """What was measured."""
    match c:
        case Tested():
            return _tested(c)
        case Limited():
            return {"baseline": c.baseline, "candidate": c.candidate, "interval": _interval(c.interval)}
        case Worst():
            return {"delta": c.delta, "interval": _interval(c.interval)}
        case Counted():
            share = None if c.wanted is None else c.share
            return {"delta": c.delta, "share": share, "discordant": _discordant(c.asked, c.better, c.worse)}
    return {}


def _tested(c: Tested) -> dict[str, Any]:
    sides, evidence, visible = c.sides, c.evidence, c.visible
    estimand, value = evidence.estimand, evidence.estimand_value
    return {
        "baseline": sides.baseline,
        "candidate": sides.candidate,
        "delta": sides.delta,
        "discordant": _discordant(c.asked, sides.better, sides.worse),
        "interval": _interval(evidence.interval),
        "interval_requested": _interval(evidence.requested),
        "p_value": evidence.p_value,
        "p_two_sided": evidence.p_two_sided,
        "p_adjusted": evidence.p_adjusted,
        "smallest_p": evidence.smallest_p,
        "estimand": None if estimand == "mean" else model.Estimand(estimand, _finite(value)),
        "resamples": evidence.resamples or None,
        "mde": _finite(visible.mde),
        "items_needed": visible.items_needed,
        "sd_difference": _finite(visible.sd_difference),
        "correlation": _finite(visible.correlation),
        "sign_test": None if c.sign_test is None else model.SignTest(**asdict(c.sign_test)),
        "reference": (c.gain and {key: _finite(value) for key, value in c.gain.reference.items()}) or None,
        "clusters": dict(c.clusters) or None,
    }


def gating(c: Comparison, status: Status) -> model.Gating:
    """The gating rule's block. One without a gain says nothing of single items."""
    block = comparison(c, status)
    gain = c.gain if isinstance(c, Tested) else None
    return model.Gating(
        **{name: getattr(block, name) for name in block.__struct_fields__},
        margin=block.bound,
        margin_rule=c.wanted.rule if isinstance(c.wanted, Margin) else None,
        margin_rules=model.MarginRules(gain.observed, gain.tested) if gain else model.MarginRules(None, None),
        flaky=model.Flaky(**(gain.items.flaky if gain else {})),
        seed_reading=cast("model.SeedReading", gain.seed_reading if gain else ""),
        **(_items(gain.items, challenged=block.p_adjusted is not None) if gain else {}),
    )


def _items(items: ItemFacts, *, challenged: bool) -> dict[str, Any]:
    return {
        "flips": None if challenged else items.flips,
        "distribution": model.Distribution(**items.distribution),
        "flagged": tuple(
            model.Flagged(item.id, model.Runs(*item.baseline), model.Runs(*item.candidate), item.delta)
            for item in items.flagged
        ),
    }


def _discordant(asked: Asked, better: int, worse: int) -> model.Discordant | None:
    return model.Discordant(better, worse) if KINDS[asked.kind].tested_as == Kind.BINARY else None


def _reading(c: Comparison) -> model.Reading:
    other = None if c.other is None else model.OtherReading(c.other.reading, c.other.delta, c.other.n)
    return model.Reading(c.reading, c.incomplete, c.delta, other)


def _interval(found: Interval | None) -> model.Interval | None:
    if found is None:
        return None
    return model.Interval(_finite(found.low), _finite(found.high), found.confidence, found.method)


def pairing(counts: PairCounts) -> model.Pairing:
    """The pairing block."""
    return model.Pairing(**asdict(counts))


def changes(c: Comparison | None) -> model.Changes:
    """Items gained and lost on the gating metric; none where nothing is told of it."""
    found = c.gain.items.changes if isinstance(c, Tested) and c.gain else None
    if found is None:
        return model.Changes(0, 0, (), ())
    gained, lost = (tuple(model.Change(*change) for change in each) for each in (found.gained, found.lost))
    return model.Changes(found.gained_count, found.lost_count, gained, lost)


def _finite(value: float | None) -> float | None:
    """JSON has no infinity: what the data cannot bound is null."""
    return value if value is not None and math.isfinite(value) else None

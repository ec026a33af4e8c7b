"""What was measured -> the report's blocks: full precision, no time, no machine, nothing worked out."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, cast

from gate.compare import model as measured
from gate.pairing import PairCounts
from gate.report import model
from gate.stats.results import Interval
from gate.values import Direction, Kind, Mode, Role, Status


def comparison(c: measured.Comparison, status: Status) -> model.Comparison:
    """One rule's block."""
    return model.Comparison(
        rule=c.rule,
        metric=c.metric,
        set=c.set,
        role=Role(c.role),
        mode=Mode(c.mode),
        kind=Kind(c.kind),
        direction=Direction(c.direction),
        method=c.method,
        n=c.n,
        baseline=c.baseline,
        candidate=c.candidate,
        delta=c.delta,
        interval=_interval(c.interval),
        null_value=c.null_value,
        p_value=c.p_value,
        p_two_sided=c.p_two_sided,
        p_adjusted=c.p_adjusted,
        level=c.level,
        status=status,
        mde=_finite(c.mde),
        items_needed=c.items_needed,
        sd_difference=_finite(c.sd_difference),
        correlation=_finite(c.correlation),
        cautions=c.cautions,
        interval_requested=_interval(c.interval_requested),
        discordant=_discordant(c),
        share=c.share,
        bound=c.bound,
        upper_bound=c.upper_bound,
        relative=c.relative,
        detect=c.detect,
        smallest_p=c.smallest_p,
        sign_test=None if c.sign_test is None else model.SignTest(**asdict(c.sign_test)),
        insufficient=c.insufficient or None,
        estimand=None if c.estimand == "mean" else model.Estimand(c.estimand, _finite(c.estimand_value)),
        resamples=c.resamples or None,
        reading=None if c.reading == "complete" else _reading(c),
        reference={key: _finite(value) for key, value in c.reference.items()} or None,
        clusters=dict(c.clusters) or None,
    )


def gating(c: measured.Comparison, status: Status) -> model.Gating:
    """The gating rule's block. One without a delta says nothing of single items."""
    block = comparison(c, status)
    return model.Gating(
        **{name: getattr(block, name) for name in block.__struct_fields__},
        margin=c.bound,
        margin_rule=c.margin_rule,
        margin_rules=model.MarginRules(c.observed_rule, c.tested_rule),
        flaky=model.Flaky(**c.flaky),
        seed_reading=cast("model.SeedReading", c.seed_reading),
        **({} if c.delta is None else _items(c)),
    )


def _items(c: measured.Comparison) -> dict[str, Any]:
    return {
        "flips": c.flips if c.p_adjusted is None else None,
        "distribution": model.Distribution(**c.distribution),
        "flagged": tuple(
            model.Flagged(item.id, model.Runs(*item.baseline), model.Runs(*item.candidate), item.delta)
            for item in c.flagged
        ),
    }


def _discordant(c: measured.Comparison) -> model.Discordant | None:
    if c.only_candidate is None or c.only_baseline is None or c.kind != Kind.BINARY:
        return None
    return model.Discordant(c.only_candidate, c.only_baseline)


def _reading(c: measured.Comparison) -> model.Reading:
    other = None if c.other is None else model.OtherReading(c.other.reading, c.other.delta, c.other.n)
    return model.Reading(c.reading, c.incomplete, c.delta, other)


def _interval(found: Interval | None) -> model.Interval | None:
    if found is None:
        return None
    return model.Interval(_finite(found.low), _finite(found.high), found.confidence, found.method)


def pairing(counts: PairCounts) -> model.Pairing:
    """The pairing block."""
    return model.Pairing(**asdict(counts))


def changes(found: measured.Changes | None) -> model.Changes:
    """Items gained and lost on the gating metric."""
    if found is None:
        return model.Changes(0, 0, (), ())
    gained, lost = (tuple(model.Change(*change) for change in each) for each in (found.gained, found.lost))
    return model.Changes(found.gained_count, found.lost_count, gained, lost)


def _finite(value: float | None) -> float | None:
    """JSON has no infinity: what the data cannot bound is null."""
    return value if value is not None and math.isfinite(value) else None

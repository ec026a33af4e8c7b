"""A decided run -> the ``gate.report/1`` document, the one source of every other format."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gate.compare.model import Change, Changes, Comparison, Flagged
from gate.pairing import PairCounts
from gate.run.decided import Decided
from gate.stats.results import Interval
from gate.values import Caution, GateError, Verdict

SCHEMA = "gate.report/1"


def document(decided: Decided) -> dict[str, Any]:
    """The report as plain JSON values: full precision, no time, no machine, the same for the same input."""
    statuses = {reason.rule: reason.status for reason in decided.reasons}
    by_role = {role: [c for c in decided.comparisons if c.role == role] for role in _ROLES}
    gating = by_role["gating"][0]
    return {
        "schema": SCHEMA,
        "tool_version": decided.tool_version,
        "verdict": decided.verdict,
        "exit_code": Verdict(decided.verdict).exit_code,
        "reasons": [asdict(reason) for reason in decided.reasons],
        "policy": dict(decided.policy),
        "pairing": pairing(decided.pairing[None]),
        "sets": {name: pairing(counts) for name, counts in decided.pairing.items() if name is not None},
        "gating": {**comparison(gating, statuses), **_gating(gating)},
        "guardrails": [comparison(c, statuses) for c in (*by_role["guardrail"], *by_role["must_pass"])],
        "slices": [comparison(c, statuses) for c in by_role["slice"]],
        "watch": [comparison(c, statuses) for c in by_role["watch"]],
        "families": [dict(family) for family in decided.families],
        "cycles": dict(decided.cycles),
        "next_step": decided.next_step,
        "cautions": [_caution(caution) for caution in decided.cautions],
        "not_assessed": [dict(entry) for entry in decided.not_assessed],
        "changes": changes(gating.changes),
        "claims": list(decided.claims),
        "limits": list(decided.limits),
        "provenance": dict(decided.provenance),
        "signature": decided.signature,
        **({} if decided.decides else {"decides": False}),
    }


_ROLES = ("gating", "guardrail", "must_pass", "slice", "watch")


def comparison(c: Comparison, statuses: Mapping[str, str]) -> dict[str, Any]:
    """One comparison block. Keys without a value are left out, except those that readers look for."""
    block: dict[str, Any] = {
        "rule": c.rule,
        "metric": c.metric,
        "set": c.set,
        "role": c.role,
        "mode": c.mode,
        "kind": c.kind,
        "direction": c.direction,
        "method": c.method,
        "n": c.n,
        "baseline": c.baseline,
        "candidate": c.candidate,
        "delta": c.delta,
        "interval": interval(c.interval),
        "null_value": c.null_value,
        "p_value": c.p_value,
        "p_two_sided": c.p_two_sided,
        "p_adjusted": c.p_adjusted,
        "level": c.level,
        "status": statuses.get(c.rule, "reported"),
        "mde": finite(c.mde),
        "items_needed": c.items_needed,
        "sd_difference": finite(c.sd_difference),
        "correlation": finite(c.correlation),
        "cautions": [_caution(caution) for caution in c.cautions],
    }
    optional: dict[str, Any] = {
        "interval_requested": interval(c.interval_requested),
        "discordant": _discordant(c),
        "share": c.share,
        "bound": c.bound,
        "upper_bound": c.upper_bound,
        "relative": c.relative,
        "detect": c.detect,
        "smallest_p": c.smallest_p,
        "sign_test": None if c.sign_test is None else asdict(c.sign_test),
        "insufficient": c.insufficient or None,
        "estimand": None if c.estimand == "mean" else {"name": c.estimand, "value": finite(c.estimand_value)},
        "resamples": c.resamples or None,
        "reading": None if c.reading == "complete" else _readings(c),
        "reference": {key: finite(value) for key, value in c.reference.items()} or None,
        "clusters": dict(c.clusters) or None,
    }
    return block | {key: value for key, value in optional.items() if value is not None}


def _gating(c: Comparison) -> dict[str, Any]:
    return {
        "margin": c.bound,
        "margin_rule": c.margin_rule,
        "margin_rules": {"observed": c.observed_rule, "tested": c.tested_rule},
        "flaky": dict(c.flaky),
        "seed_reading": c.seed_reading,
        **({} if c.delta is None else _items(c)),
    }


def _items(c: Comparison) -> dict[str, Any]:
    """What is said of single items; a rule without a delta (nothing measured, or withheld) says nothing."""
    return {
        "flips": c.flips if c.p_adjusted is None else None,
        "distribution": dict(c.distribution),
        "flagged": [_flagged(item) for item in c.flagged],
    }


def _flagged(item: Flagged) -> dict[str, Any]:
    return {
        "id": item.id,
        "baseline": {"passes": item.baseline[0], "runs": item.baseline[1]},
        "candidate": {"passes": item.candidate[0], "runs": item.candidate[1]},
        "delta": item.delta,
    }


def _discordant(c: Comparison) -> dict[str, int] | None:
    if c.only_candidate is None or c.only_baseline is None or c.kind != "binary":
        return None
    return {"only_candidate": c.only_candidate, "only_baseline": c.only_baseline}


def _readings(c: Comparison) -> dict[str, Any]:
    block: dict[str, Any] = {"chosen": c.reading, "incomplete": c.incomplete, "delta": c.delta}
    if c.other is not None:
        block["other"] = {"reading": c.other.reading, "delta": c.other.delta, "n": c.other.n}
    return block


def interval(found: Interval | None) -> dict[str, Any] | None:
    """An interval block; an end that the data cannot bound is null."""
    if found is None:
        return None
    return {
        "low": finite(found.low),
        "high": finite(found.high),
        "confidence": found.confidence,
        "method": found.method,
    }


def pairing(counts: PairCounts) -> dict[str, Any]:
    """The pairing block."""
    return asdict(counts)


def changes(found: Changes | None) -> dict[str, Any]:
    """Items gained and lost on the gating metric."""
    if found is None:
        return {"gained_count": 0, "lost_count": 0, "gained": [], "lost": []}
    return {
        "gained_count": found.gained_count,
        "lost_count": found.lost_count,
        "gained": [_change(change) for change in found.gained],
        "lost": [_change(change) for change in found.lost],
    }


def _change(change: Change) -> dict[str, Any]:
    block: dict[str, Any] = {
        "id": change.id,
        "baseline": change.baseline,
        "candidate": change.candidate,
        "delta": change.delta,
    }
    return block | ({"shown": dict(change.shown)} if change.shown else {})


def _caution(caution: Caution) -> dict[str, str]:
    return {"code": caution.code, "message": caution.message}


def finite(value: float | None) -> float | None:
    """JSON has no infinity: what the data cannot bound is null."""
    return value if value is not None and math.isfinite(value) else None


def several(documents: Sequence[dict[str, Any]], winner: str | None, verdict: str) -> dict[str, Any]:
    """The ``gate.reports/1`` document of several challengers."""
    return {
        "schema": "gate.reports/1",
        "verdict": verdict,
        "exit_code": Verdict(verdict).exit_code,
        "winner": winner,
        "reports": list(documents),
        **({} if all(one.get("decides", True) for one in documents) else {"decides": False}),
    }


def error_document(error: GateError) -> dict[str, object]:
    """The error as programs read it."""
    fields = {"code": error.code, "message": error.message, "where": error.where, "help": error.help}
    return {"schema": "gate.error/1", "error": fields}


def to_json(report: Mapping[str, Any]) -> str:
    """Canonical JSON with a newline: the same report gives the same bytes everywhere."""
    return json.dumps(report, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False) + "\n"

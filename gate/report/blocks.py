"""The parts of the report's schema, each once."""

from __future__ import annotations

from gate.report.vocabulary import (
    COUNT,
    FLAG,
    NUMBER,
    SHARE,
    STATUSES,
    TEXT,
    VERDICTS,
    Schema,
    block,
    by_name,
    many,
    maybe,
    one_of,
    ref,
    said,
)

_CAUTION = block({"code": TEXT, "message": TEXT})
_DECIDES = said(FLAG, "false where the policy is the change's own: the verdict is advice; absent otherwise")
_REASON = block(
    {
        "rule": TEXT,
        "status": one_of(*STATUSES),
        "metric": TEXT,
        "observed": said(TEXT, "what was found, in words"),
        "required": said(TEXT, "what the policy asks for, in words"),
        "message": TEXT,
    }
)
_INTERVAL = block(
    {
        "low": said(maybe(NUMBER), "null where the data cannot bound this end"),
        "high": maybe(NUMBER),
        "confidence": SHARE,
        "method": TEXT,
    }
)
_PAIRING = block(
    {
        "n_baseline": COUNT,
        "n_candidate": COUNT,
        "n_pairs": COUNT,
        "only_baseline": COUNT,
        "only_candidate": COUNT,
        "errors_baseline": COUNT,
        "errors_candidate": COUNT,
        "n_clusters": maybe(COUNT),
        "repeats_baseline": COUNT,
        "repeats_candidate": COUNT,
        "items_digest": TEXT,
    }
)
_COMPARISON_KEYS: dict[str, Schema] = {
    "rule": TEXT,
    "metric": TEXT,
    "set": said(maybe(TEXT), "the named item set, null for the main files"),
    "role": one_of("gating", "guardrail", "must_pass", "slice", "watch"),
    "mode": TEXT,
    "kind": TEXT,
    "direction": one_of("higher", "lower", "neutral"),
    "method": TEXT,
    "n": said(COUNT, "pairs"),
    "baseline": maybe(NUMBER),
    "candidate": maybe(NUMBER),
    "delta": said(maybe(NUMBER), "candidate - baseline after direction: positive is better"),
    "interval": said(maybe(ref("interval")), "of the deciding test, confidence 1 - 2 x level, unadjusted"),
    "null_value": NUMBER,
    "p_value": said(maybe(SHARE), "one-sided, for the decision; for a veto in the direction of harm"),
    "p_two_sided": maybe(SHARE),
    "p_adjusted": said(maybe(SHARE), "within its family; decides where it is given"),
    "level": said(SHARE, "one-sided"),
    "status": one_of(*STATUSES),
    "mde": said(maybe(NUMBER), "smallest true difference seen 80 % of the time"),
    "items_needed": maybe(COUNT),
    "sd_difference": maybe(NUMBER),
    "correlation": maybe(NUMBER),
    "cautions": many(_CAUTION),
}
_COMPARISON_MORE: dict[str, Schema] = {
    "interval_requested": ref("interval"),
    "discordant": block({"only_candidate": COUNT, "only_baseline": COUNT}),
    "share": NUMBER,
    "bound": said(NUMBER, "the margin, tolerance or lower limit, in the metric's unit"),
    "upper_bound": NUMBER,
    "relative": NUMBER,
    "detect": NUMBER,
    "smallest_p": NUMBER,
    "sign_test": said(
        block({"worse": COUNT, "changed": COUNT, "p_value": SHARE, "p_adjusted": maybe(SHARE)}),
        "beside a veto on a mean: whether what changed got worse more often than better",
    ),
    "insufficient": TEXT,
    "estimand": block({"name": TEXT, "value": maybe(NUMBER)}),
    "resamples": COUNT,
    "reading": block({"chosen": TEXT, "incomplete": COUNT, "delta": maybe(NUMBER)}),
    "reference": by_name(maybe(NUMBER)),
    "clusters": {"type": "object"},
}
_MEASURED = block(
    {"status": one_of("measured"), "items": COUNT, "flagged": COUNT},
    {
        "variance_share": NUMBER,
        "delta_share": NUMBER,
        "flagged_mean": NUMBER,
        "stable_mean": NUMBER,
        "flagged_contribution": NUMBER,
        "stable_contribution": NUMBER,
        "noise": by_name(NUMBER),
    },
)
_UNMEASURED = block({"status": one_of("not measurable", "not measured")})
_NO_KEYS: Schema = {"type": "object", "maxProperties": 0}
_RUNS = block({"passes": COUNT, "runs": COUNT})
_GATING_KEYS: dict[str, Schema] = {
    "margin": maybe(NUMBER),
    "margin_rule": maybe(TEXT),
    "margin_rules": block({"observed": maybe(FLAG), "tested": maybe(FLAG)}),
    "flaky": {"anyOf": [_MEASURED, _UNMEASURED, _NO_KEYS]},
    "seed_reading": one_of("", "publish", "sign_only", "cannot_answer"),
}
_GATING_MORE: dict[str, Schema] = {
    "flips": said(maybe(COUNT), "items whose candidate result would have to flip to turn the rule"),
    "distribution": said(
        block({}, {"values": many(NUMBER), "edges": many(NUMBER), "counts": many(COUNT)}),
        "of the items' differences: counts of distinct values, or of bins between edges",
    ),
    "flagged": many(block({"id": TEXT, "baseline": _RUNS, "candidate": _RUNS, "delta": NUMBER})),
}
_CHANGE = block(
    {"id": TEXT, "baseline": NUMBER, "candidate": NUMBER, "delta": NUMBER}, {"shown": by_name(maybe(TEXT))}
)
_CHANGES = block({"gained_count": COUNT, "lost_count": COUNT, "gained": many(_CHANGE), "lost": many(_CHANGE)})
_POINT = block(
    {"cycle": TEXT, "verdict": TEXT},
    {
        "look": COUNT,
        "delta": maybe(NUMBER),
        "low": maybe(NUMBER),
        "high": maybe(NUMBER),
        "margin": maybe(NUMBER),
        "streak": COUNT,
    },
)
_CYCLES = block(
    {
        "required": COUNT,
        "passed": COUNT,
        "cycle": TEXT,
        "look": COUNT,
        "level": SHARE,
        "window": TEXT,
        "claim": TEXT,
        "scope": TEXT,
        "sign_flip_p": maybe(SHARE),
        "retry_risk": maybe(by_name(NUMBER)),
        "replayed": FLAG,
        "recorded": FLAG,
    },
    {
        "series": many(_POINT),
        "restarted": TEXT,
        "held": TEXT,
        "band": maybe(block({}, {"low": maybe(NUMBER), "high": maybe(NUMBER), "centre": maybe(NUMBER)})),
    },
)
_SOURCE = block(
    {"path": TEXT},
    {
        "format": TEXT,
        "system": TEXT,
        "sha256": TEXT,
        "bytes": COUNT,
        "rows": COUNT,
        "digest": TEXT,
        "read_digest": TEXT,
    },
)
_PAIR_OF_SOURCES = {"baseline": ref("source"), "candidate": ref("source")}
_REPORT = block(
    {
        "schema": one_of("gate.report/1"),
        "tool_version": TEXT,
        "verdict": one_of(*VERDICTS),
        "exit_code": said({"type": "integer", "minimum": 0, "maximum": 4}, "0, 1, 3 or 4"),
        "reasons": said(many(_REASON), "in the order a person should read them"),
        "policy": block(
            {"name": maybe(TEXT), "digest": TEXT, "alpha": NUMBER},
            {"owner": maybe(TEXT), "file_digest": TEXT, "correction": TEXT, "margin_rule": TEXT},
        ),
        "pairing": ref("pairing"),
        "sets": by_name(ref("pairing")),
        "gating": ref("gating"),
        "guardrails": many(ref("comparison")),
        "slices": many(ref("comparison")),
        "watch": many(ref("comparison")),
        "families": many(block({"name": TEXT, "correction": TEXT, "size": COUNT})),
        "cycles": ref("cycles"),
        "next_step": TEXT,
        "cautions": many(_CAUTION),
        "not_assessed": many(block({"rule": TEXT, "reason": TEXT})),
        "changes": said(_CHANGES, "on the gating metric; the counts are complete, the lists bounded"),
        "claims": many(TEXT),
        "limits": many(TEXT),
        "provenance": block(
            _PAIR_OF_SOURCES,
            {"policy": maybe(TEXT), "sets": by_name(block(_PAIR_OF_SOURCES)), "cycle": maybe(TEXT)}
            | {"policy_since": TEXT, "baseline_id": TEXT},
        ),
        "signature": TEXT,
    },
    {"decides": _DECIDES},
)
REPORTS = block(
    {
        "schema": one_of("gate.reports/1"),
        "verdict": one_of(*VERDICTS),
        "exit_code": {"type": "integer", "minimum": 0, "maximum": 4},
        "winner": maybe(TEXT),
        "reports": {**many(ref("report")), "minItems": 1},
    },
    {"decides": _DECIDES},
)
DEFINITIONS: dict[str, Schema] = {
    "report": _REPORT,
    "interval": _INTERVAL,
    "pairing": _PAIRING,
    "comparison": block(_COMPARISON_KEYS, _COMPARISON_MORE),
    "gating": block({**_COMPARISON_KEYS, **_GATING_KEYS}, {**_COMPARISON_MORE, **_GATING_MORE}),
    "cycles": _CYCLES,
    "source": _SOURCE,
}

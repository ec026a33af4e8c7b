"""For every key of a policy, a change of that key alone, and what it does to the gate."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from policies import changed

from gate.policy.model import Policy

START: dict[str, Any] = {
    "version": 1,
    "name": "start",
    "gating": {
        "metric": "score",
        "kind": "graded",
        "direction": "higher",
        "margin": 0.1,
        "scale": [0, 1],
        "suspect_gain": 0.5,
    },
    "guardrails": [
        {"metric": "unsafe", "kind": "binary", "direction": "lower", "mode": "limit", "max": 0.02},
        {"metric": "speed", "kind": "graded", "direction": "lower", "tolerance": 3.0, "scale": [0, 99]},
        {"metric": "veto", "kind": "graded", "direction": "higher", "mode": "no_regression", "scale": [0, 9]},
        {"metric": "refused", "kind": "binary", "direction": "lower", "tolerance": 0.05},
    ],
    "slices": {"by": ["language", "region"], "tolerance": 0.2},
    "waivers": [{"rule": "guardrail:veto", "owner": "o", "reason": "r", "expires": "2030-01-31"}],
}
EVIDENCE = {"file": "judge.json", "sha256": "0" * 64}
FLOORS = {"min_kappa": 0.6, "max_delta_bias": 0.02, "max_inconsistent": 0.05, "max_age_days": 90}
JUDGE = {("judge",): {"evidence": EVIDENCE, **FLOORS}}
Path = tuple[str | int, ...]
TAIL: dict[Path, Any] = {
    ("guardrails", 1, "mode"): "tail",
    ("guardrails", 1, "tolerance"): None,
    ("guardrails", 1, "max"): 3.0,
    ("guardrails", 1, "share"): 0.2,
}
AGED = {"name": "main", "max_age_days": 30}


class Key(NamedTuple):
    """One key's change. effects: of the new policy, empty where none. given: set on both sides."""

    section: str
    path: Path
    value: Any
    effects: tuple[str, ...]
    given: Mapping[Path, Any] = MappingProxyType({})

    @property
    def name(self) -> str:
        return f"{self.section}.{self.path[-1]}"

    def policies(self) -> tuple[Policy, Policy]:
        """The old and the new policy."""
        old = START
        for path, value in self.given.items():
            old = changed(old, path, value)
        return Policy.model_validate(old), Policy.model_validate(changed(old, self.path, self.value))


W, S, D, NOTHING = ("weaker",), ("stronger",), ("different",), ()
REPLACED = ("weaker", "stronger")
G, R, V = "gating", ("guardrails", 1), ("guardrails", 2)
BINARY: dict[Path, Any] = {(G, "kind"): "binary"}
SPLITS: dict[Path, Any] = {
    (G, "test"): "sign_flip",
    (*R, "test"): "sign_flip",
    (*V, "test"): "sign_flip",
}
BOTH: dict[Path, Any] = {("artifacts", "system"): {"baseline": "a", "candidate": "b"}}
PLAIN: dict[str, Any] = {"metric": "score", "direction": "higher", "margin": 0.1}
PLAIN_RAIL: dict[str, Any] = {"metric": "speed", "direction": "lower", "tolerance": 0.3}
WON: dict[str, Any] = {"kind": "preference", "direction": "higher"}
LABELLED: dict[Path, Any] = {("items",): {"label": "gold"}}
RANKED: dict[Path, Any] = {
    (G,): {"metric": "score", "kind": "precision_at_k", "direction": "higher", "margin": 0.1, "k": 10.0},
    **LABELLED,
}
CUT: dict[Path, Any] = {
    R: {"metric": "said", "kind": "f1", "direction": "higher", "mode": "no_regression"},
    **LABELLED,
}
WATCHED: dict[Path, Any] = {("watch",): [{"metric": "m", "kind": "lift_at_k", "k": 5.0}], **LABELLED}
BELIEVED: dict[Path, Any] = {("report",): {"good_share": 0.2, "good_gain": 0.03}}
STAGED: dict[Path, Any] = {("items",): {"stages": [0.5, 1.0]}}
FLIP: dict[Path, Any] = {("cycles", "required"): 6}

KEYS = [
    Key("Policy", ("name",), "other", D),
    Key("Policy", ("owner",), "somebody", NOTHING),
    Key("Policy", ("alpha",), 0.1, W),
    Key("Policy", ("gating",), {**START[G], "margin": 0.2}, S),
    Key("Policy", ("guardrails",), START["guardrails"][:3], W),
    Key("Policy", ("watch",), ["cost"], NOTHING),
    Key("Policy", ("correction",), "bonferroni", W),
    Key("Policy", ("slices",), None, W),
    Key("Policy", ("items",), {"min": 50}, S),
    Key("Policy", ("cycles",), {"required": 2}, S),
    Key("Policy", ("artifacts",), {"format": "csv"}, D),
    Key("Policy", ("show",), ["question"], NOTHING),
    Key("Policy", ("report",), {"cost_per_item": 0.4}, NOTHING),
    Key("Reporting", ("report", "good_share"), 0.3, NOTHING, BELIEVED),
    Key("Reporting", ("report", "good_gain"), 0.04, NOTHING, BELIEVED),
    Key("Reporting", ("report", "cost_per_item"), 0.5, NOTHING, {("report",): {"cost_per_item": 0.4}}),
    Key("Policy", ("baseline",), {"name": "main"}, S),
    Key("Policy", ("bless",), "on_promote", NOTHING, {("baseline",): {"name": "main"}}),
    Key("Baseline", ("baseline", "name"), "other", D, {("baseline",): {"name": "main"}}),
    Key("Baseline", ("baseline", "max_age_days"), 31, W, {("baseline",): AGED}),
    Key("Policy", ("judge",), {"evidence": EVIDENCE, "min_kappa": 0.6}, S),
    Key("Judge", ("judge", "evidence"), {**EVIDENCE, "sha256": "1" * 64}, D, JUDGE),
    Key("Evidence", ("judge", "evidence", "file"), "other.json", D, JUDGE),
    Key("Evidence", ("judge", "evidence", "sha256"), "1" * 64, D, JUDGE),
    Key("Judge", ("judge", "min_kappa"), 0.5, W, JUDGE),
    Key("Judge", ("judge", "max_delta_bias"), 0.03, W, JUDGE),
    Key("Judge", ("judge", "max_inconsistent"), 0.06, W, JUDGE),
    Key("Judge", ("judge", "max_age_days"), 91, W, JUDGE),
    Key("Policy", ("waivers",), [], S),
    Key("Gating", (G, "metric"), "other", D),
    Key("Gating", (G, "set"), "quality", D),
    Key("Gating", (G, "kind"), "binary", D),
    Key("Gating", (G, "direction"), "lower", D),
    Key("Gating", (G, "test"), "paired_t", D),
    Key("Gating", (G, "interval"), "wald", NOTHING, BINARY),
    Key("Gating", (G, "scale"), [0, 2], D),
    Key("Gating", (G, "assurance"), "guaranteed", D),
    Key("Gating", (G, "k"), 20.0, D, RANKED),
    Key("Gating", (G, "group"), "case", D, RANKED),
    Key("Gating", (G, "threshold"), 0.7, D, {**RANKED, (G, "kind"): "f1", (G, "k"): None}),
    *(
        Key(section, (*place, key), value, effects, {place: {**given, **WON}, **start})
        for section, place, given in (("Gating", (G,), PLAIN), ("Guardrail", R, PLAIN_RAIL))
        for key, value, effects, start in (
            ("votes", "majority", D, {}),
            ("orders", "mean", D, {}),
            ("order", "randomized", W, {}),
            ("max_inconsistent", 0.3, S, {}),
            ("max_inconsistent", 0.3, W, {(*place, "max_inconsistent"): 0.2}),
        )
    ),
    *(
        Key("Watch", ("watch", 0, key), value, NOTHING, {("watch",): [{"metric": "m", "kind": "preference"}]})
        for key, value in (
            ("votes", "majority"), ("orders", "mean"), ("order", "randomized"), ("max_inconsistent", 0.3)
        )
    ),
    Key("Gating", (G, "human"), "others", D, {(G,): {**PLAIN, "kind": "judged", "human": "people"}}),
    Key("Guardrail", (*R, "human"), "others", D, {R: {**PLAIN_RAIL, "kind": "judged", "human": "people"}}),
    Key("Watch", ("watch", 0, "human"), "others", NOTHING, {
        ("watch",): [{"metric": "m", "kind": "judged", "human": "people"}]
    }),
    Key("Gating", (G, "q"), 0.9, D, {(G,): {**PLAIN, "kind": "quantile", "q": 0.5}}),
    Key("Gating", (G, "denominator"), "hits", D, {(G,): {**PLAIN, "kind": "ratio", "denominator": "n"}}),
    Key("Gating", (G, "margin"), 0.05, W),
    Key("Gating", (G, "margin"), {"relative": 0.1}, D),
    Key("Relative", (G, "margin", "relative"), 0.05, W, {(G, "margin"): {"relative": 0.1}}),
    Key("Gating", (G, "margin_rule"), "tested", S),
    Key("Gating", (G, "suspect_gain"), 0.9, W),
    Key("Gating", (G, "suspect_gain"), None, W),
    Key("Guardrail", (*R, "metric"), "other", REPLACED),
    Key("Guardrail", (*R, "set"), "quality", REPLACED),
    Key("Guardrail", (*R, "kind"), "binary", D, {(*R, "tolerance"): 0.1, (*R, "scale"): [0, 1]}),
    Key("Guardrail", (*R, "direction"), "higher", D),
    Key("Guardrail", (*R, "test"), "paired_t", D),
    Key("Guardrail", ("guardrails", 3, "interval"), "wald", NOTHING),
    Key("Guardrail", (*R, "scale"), [0, 50], D),
    Key("Guardrail", (*R, "assurance"), "guaranteed", D),
    Key("Guardrail", ("guardrails", 2, "mode"), "non_inferior", D, {}),
    Key("Guardrail", (*R, "threshold"), 0.7, D, CUT),
    Key("Guardrail", (*R, "k"), 20.0, D, {**CUT, (*R, "kind"): "recall_at_k", (*R, "k"): 10.0}),
    Key("Guardrail", (*R, "group"), "case", D, {**CUT, (*R, "kind"): "average_precision"}),
    Key("Guardrail", (*R, "q"), 0.9, D, {R: {**PLAIN_RAIL, "kind": "quantile", "q": 0.5}}),
    Key("Guardrail", (*R, "denominator"), "hits", D, {
        R: {**PLAIN_RAIL, "kind": "ratio", "denominator": "n"}
    }),
    Key("Guardrail", (*R, "tolerance"), 5.0, W),
    Key("Guardrail", (*R, "tolerance"), 0.0, S),
    Key("Guardrail", ("guardrails", 3, "tolerance"), 0.01, S),
    Key("Guardrail", ("guardrails", 3, "tolerance"), 0.0, D),
    Key("Guardrail", (*V, "detect"), 2.0, S),
    Key("Guardrail", (*V, "detect"), 3.0, W, {(*V, "detect"): 2.0}),
    Key("Guardrail", ("guardrails", 0, "min"), 0.01, S),
    Key("Guardrail", ("guardrails", 0, "max"), 0.05, W),
    Key("Guardrail", ("guardrails", 0, "max"), None, W, {("guardrails", 0, "min"): 0.01}),
    Key("Guardrail", ("guardrails", 0, "proven"), True, S),
    Key("Guardrail", (*R, "share"), 0.1, D, TAIL),
    Key("Guardrail", (*R, "from"), 1.0, D, TAIL),
    Key("Guardrail", (*R, "max"), 4.0, W, TAIL),
    Key("Guardrail", ("guardrails", 0, "first"), True, S),
    Key("Slices", ("slices", "by"), ["language"], W),
    Key("Slices", ("slices", "by"), ["language", "region", "user"], D),
    Key("Slices", ("slices", "by"), ["language", "region", "user"], S, {("correction",): "none"}),
    Key("Slices", ("slices", "by"), ["language", "region", "user"], S, {("slices", "mode"): "non_inferior"}),
    Key("Slices", ("slices", "named"), {"language": ["de"]}, S),
    Key("Slices", ("slices", "mode"), "non_inferior", D),
    Key("Slices", ("slices", "tolerance"), 0.3, W),
    Key("Slices", ("slices", "tolerance"), None, W),
    Key("Slices", ("slices", "min_items"), 50, W),
    Key("Slices", ("slices", "min_items"), 20, D),
    Key("Slices", ("slices", "min_items"), 20, S, {("slices", "mode"): "non_inferior"}),
    Key("Items", ("items", "id"), "key", D),
    Key("Items", ("items", "cluster"), "document", D),
    Key("Items", ("items", "cluster_skew"), "pooled", W, {("items", "cluster"): "document"}),
    Key("Items", ("items", "max_cluster"), 20, D, {("items", "cluster"): "document"}),
    Key("Items", ("items", "stages"), [0.5, 1.0], D),
    Key("Items", ("items", "futility"), 0.1, D, STAGED),
    Key("Items", ("items", "repeat"), "run", D),
    Key("Items", ("items", "label"), "gold", S),
    Key("Items", ("items", "comparable"), ["digest"], S),
    Key("Items", ("items", "must_pass"), ["a"], W, {("items", "must_pass"): ["a", "b"]}),
    Key("Items", ("items", "must_pass"), "critical", D, {("items", "must_pass"): ["a", "b"]}),
    Key("Items", ("items", "unit"), "seed", D, {("items", "min"): 30}),
    Key("Items", ("items", "design"), "resampled_splits", S, SPLITS),
    Key("Items", ("items", "reduce"), "worst", D),
    Key("SomeRuns", ("items", "reduce", "pass_hat"), 3, D, {("items", "reduce"): {"pass_hat": 2}}),
    Key("SomeRuns", ("items", "reduce", "pass_at"), 3, D, {("items", "reduce"): {"pass_at": 2}}),
    Key("Items", ("items", "min"), 10, W),
    Key("Items", ("items", "missing"), "drop", W),
    Key("Items", ("items", "missing"), "worst", W),
    Key("Items", ("items", "missing"), "worst", D, {("items", "missing"): "drop"}),
    Key("Items", ("items", "missing"), "error", S, {("items", "missing"): "worst"}),
    Key("Items", ("items", "max_missing"), 0.1, W, {("items", "missing"): "drop"}),
    Key("Items", ("items", "max_error_rate"), 0.1, W),
    Key("Items", ("items", "max_flaky_share"), 0.5, S),
    Key("Policy", ("challengers",), 3, D),
    Key("Items", ("items", "may_shrink"), True, W),
    Key("Cycles", ("cycles", "required"), 2, S),
    Key("Cycles", ("cycles", "required"), 3, D, {("cycles", "looks"): 9}),
    Key("Cycles", ("cycles", "windows"), "fresh", D),
    Key("Cycles", ("cycles", "looks"), 9, S),
    Key("Cycles", ("cycles", "looks"), 9, D, {("cycles", "looks"): 4}),
    Key("Cycles", ("cycles", "looks"), 1, D, {("cycles", "looks"): 9}),
    Key("Cycles", ("cycles", "looks"), 9, D, {("cycles", "required"): 3}),
    Key("Cycles", ("cycles", "looks"), None, W, {("cycles", "looks"): 9}),
    Key("Cycles", ("cycles", "test"), "sign_flip", S, FLIP),
    Key("Cycles", ("cycles", "history_required"), True, S),
    Key("Cycles", ("cycles", "policy_first"), True, S),
    Key("Cycles", ("cycles", "feedback"), "verdict", S),
    Key("Cycles", ("cycles", "feedback"), "verdict", D, {("cycles", "looks"): 9}),
    Key("Cycles", ("cycles", "on_baseline_fall"), "hold", S),
    Key("Cycles", ("cycles", "on_alarm"), "hold", S),
    Key("Cycles", ("cycles", "allow_worn"), True, W),
    Key("Artifacts", ("artifacts", "format"), "csv", D),
    Key("Artifacts", ("artifacts", "system"), "a", D),
    Key("Artifacts", ("artifacts", "labels"), {"ok": 1.0}, D),
    Key("Artifacts", ("artifacts", "mapping"), {"score": "a.b"}, D),
    Key("Artifacts", ("artifacts", "where"), {"name": "correctness"}, D),
    Key("Artifacts", ("artifacts", "failed"), {"status": ["oom"]}, D),
    Key("Artifacts", ("artifacts", "completed"), {"status": ["oom"]}, D),
    Key("Systems", ("artifacts", "system", "baseline"), "c", D, BOTH),
    Key("Systems", ("artifacts", "system", "candidate"), "c", D, BOTH),
    Key("Waiver", ("waivers", 0, "rule"), "guardrail:speed", ("stronger", "weaker")),
    Key("Waiver", ("waivers", 0, "owner"), "p", NOTHING),
    Key("Waiver", ("waivers", 0, "reason"), "s", NOTHING),
    Key("Waiver", ("waivers", 0, "expires"), "2031-01-31", W),
    Key("Watch", ("watch", 0, "metric"), "n", NOTHING, {("watch",): [{"metric": "m"}]}),
    Key("Watch", ("watch", 0, "set"), "n", NOTHING, {("watch",): [{"metric": "m"}]}),
    Key("Watch", ("watch", 0, "kind"), "binary", NOTHING, {("watch",): [{"metric": "m"}]}),
    Key("Watch", ("watch", 0, "k"), 9.0, NOTHING, WATCHED),
    Key("Watch", ("watch", 0, "group"), "case", NOTHING, WATCHED),
    Key("Watch", ("watch", 0, "threshold"), 0.7, NOTHING, {
        ("watch",): [{"metric": "m", "kind": "f1"}], **LABELLED
    }),
    Key("Watch", ("watch", 0, "q"), 0.9, NOTHING, {
        ("watch",): [{"metric": "m", "kind": "quantile", "q": 0.5}]
    }),
    Key("Watch", ("watch", 0, "denominator"), "hits", NOTHING, {
        ("watch",): [{"metric": "m", "kind": "ratio", "denominator": "n"}]
    }),
    Key("Watch", ("watch", 0, "direction"), "lower", NOTHING, {("watch",): [{"metric": "m"}]}),
]  # fmt: skip

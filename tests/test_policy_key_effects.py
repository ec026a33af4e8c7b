"""Every key of the policy does what it says: two policies that differ in one key, on the same data.

A key that is parsed and never used is the oldest fault of gates. A key without an entry here fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest
from black_box import (
    BINARY,
    GRADED,
    Answer,
    command,
    decide,
    policy,
    tables,
    with_reports,
    write_policy,
    write_rows,
)
from judge_record import evidence
from pydantic import BaseModel

from gate.history.baselines import bless
from gate.history.shelf import shelf_at
from gate.policy.model import Policy

Block = dict[str, Any]
EXIT = {"promote": 0, "block": 1, "error": 2, "inconclusive": 3, "hold": 4}


def block(n: int, old: Mapping[str, Any], new: Mapping[str, Any], **both: Any) -> Block:
    return {"n": n, "baseline": dict(old), "candidate": dict(new), "both": both}


def counts(
    b: int, c: int, both: int, neither: int = 0, metric: str = "correct", **columns: Any
) -> list[Block]:
    sizes = ((b, 0, 1), (c, 1, 0), (both, 1, 1), (neither, 0, 0))
    return [block(n, {metric: old}, {metric: new}, **columns) for n, old, new in sizes if n]


def beside(metric: str, *sizes: tuple[int, float, float], gains: int = 40) -> list[Block]:
    """A clear gain in ``correct`` on the first items, and a second metric by (n, baseline, candidate)."""
    cells = [(old, new) for n, old, new in sizes for _ in range(n)][::-1]
    return [
        block(1, {"correct": int(k >= gains), metric: old}, {"correct": 1, metric: new})
        for k, (old, new) in enumerate(cells)
    ]


TURNED = {"baseline": "candidate", "candidate": "baseline"}


def rail(metric: str = "other", mode: str = "limit", **more: Any) -> dict[str, Any]:
    return {"metric": metric, "kind": "binary", "direction": "higher", "mode": mode, **more}


def tail(**more: Any) -> dict[str, Any]:
    return rail(mode="tail", **more)


CLEAR = counts(40, 5, 155)
CLEAR_GRADED = [
    block(50, {"score": 0.4}, {"score": 0.5}),
    block(50, {"score": 0.4}, {"score": 0.6}),
]
UNSAFE = beside("other", (190, 1, 1), (10, 1, 0))
SETS = {"safety": [block(90, {"other": 1, "correct": 1}, {"other": 1, "correct": 1})]}
SETS["safety"] += [block(30, {"other": 1, "correct": 1}, {"other": 0, "correct": 0})]
TWO_SLICES = [
    *counts(1, 12, 47, language="fr", region="east"),
    *counts(60, 5, 135, language="en", region="east"),
]
REPEATS = [
    {
        "n": 60,
        "baseline": [{"run": k, "correct": int(k < 2)} for k in range(4)],
        "candidate": [{"run": k, "correct": int(k < 2 + even)} for k in range(4)],
    }
    for even in (0, 1)
]
CLUSTERS = [
    row
    for number in range(20)
    for row in [
        *counts(3 * (number < 8), 3 * (8 <= number < 11), 10 - 3 * (number < 11), doc=f"d{number}"),
    ]
]
EIGHT_GAIN = [
    row
    for number in range(12)
    for row in counts(3 * (number < 8), 0, 10 - 3 * (number < 8), doc=f"d{number}")
]
ALL_GAIN = [row for number in range(12) for row in counts(8, 0, 2, doc=f"d{number}")]
SEEDS = [block(1, {"score": 0.5}, {"score": 0.55 + k / 1000}) for k in range(8)]
LACKING = [*counts(60, 5, 100), {"n": 12, "baseline": {"correct": 1}}]
ERRORS = [*counts(60, 5, 133), {"n": 2, "baseline": {"correct": 1}, "candidate": {"error": "timeout"}}]
MODES = [*counts(60, 5, 100), block(5, {"correct": 0, "mode": "Agent broke"}, {"correct": 1, "mode": "-"})]
KINDS = [
    block(60, {"correct": 0, "kind": "kept"}, {"correct": 1, "kind": "kept"}),
    block(200, {"correct": 1, "kind": "other"}, {"correct": 0, "kind": "other"}),
]
PARKED = [*counts(60, 5, 100), block(1, {"correct": 0, "status": "parked"}, {"correct": 1, "status": "ok"})]
WORDS = [block(40, {"correct": "no"}, {"correct": "yes"}), block(60, {"correct": "yes"}, {"correct": "yes"})]


def ranked(good: tuple[float, float], bad: tuple[float, float]) -> list[Block]:
    """50 rows for each label and bad score; the candidate has the good one, and a correct answer."""
    return [
        block(
            1,
            {"score": bad_score, "correct": 0},
            {"score": good_score, "correct": 1},
            gold=label,
            case=f"{label}{k % 25}",
        )
        for label, good_score in ((1, good[0]), (0, good[1]))
        for bad_score in bad
        for k in range(50)
    ]


RANKED = ranked((0.9, 0.1), (0.9, 0.1))
WORSE_RANKED = [
    {**row, **{side: {**row[side], "score": row[other]["score"]} for side, other in TURNED.items()}}
    for row in RANKED
]
AT_K = {"kind": "precision_at_k", "k": 50, "metric": "score", "direction": "higher"}
AT_THRESHOLD = {"kind": "f1", "metric": "score", "direction": "higher"}
RANKING = {"kind": "average_precision", "metric": "score", "direction": "higher"}
LABELS = {"items": {"label": "gold"}}
SPENT = [
    block(1, {"cost": 2.0 + k % 3, "n": 1 + k % 2, "hits": 1, "correct": 0, "wait": k},
          {"cost": 1.0 + k % 3, "n": 1 + k % 2, "hits": 9, "correct": 1, "wait": min(k, 150)})
    for k in range(200)
]  # fmt: skip
"""Cheaper in cost per n; per hit even more so; the longest quarter of the waits became shorter."""
DEARER = [{**row, **{side: row[other] for side, other in TURNED.items()}} for row in SPENT]
DEARER = [
    {**row, **{side: {**row[side], "correct": new} for side, new in (("baseline", 0), ("candidate", 1))}}
    for row in DEARER
]
WAITS = {"kind": "quantile", "metric": "wait", "direction": "lower"}
COSTS = {"kind": "ratio", "metric": "cost", "direction": "lower"}
VOTES = [
    {
        "n": n,
        "baseline": {"correct": 0},
        "candidate": [
            {"preference": word, "order": order, "judge": judge, "correct": 1}
            for order, judge, word in zip(
                ("candidate_first", "baseline_first") * 3, ("a", "a", "b", "b", "c", "c"), words, strict=True
            )
        ],
    }
    for n, words in (
        (50, ("candidate",) * 4 + ("baseline",) * 2),
        (10, ("candidate", "baseline") * 3),
        (20, ("baseline",) * 6),
        (10, ("candidate",) * 3 + ("baseline",) + ("tie",) * 2),
    )
]
"""Three judges in both orders."""
ONE_ORDER = [{**row, "candidate": row["candidate"][::2]} for row in VOTES]
WON = {"kind": "preference", "metric": "preference", "direction": "higher"}
NO, YES = ("inconclusive", "promote"), ("promote", "inconclusive")
PREFERRED = [
    ("votes", "mean", "majority", NO, VOTES, {"orders": "mean"}, "delta"),
    ("orders", "consistent", "mean", YES, VOTES, {}, "delta"),
    ("order", None, "randomized", NO, ONE_ORDER, {}, "cautions"),
    ("max_inconsistent", None, 0.1, YES, VOTES, {}, "insufficient"),
]


def judged(k: int) -> Block:
    """The judge sees a gain of 1; people see it on half of what they scored, others none."""
    seen = k < 60
    wobble = (k * 7 % 11) / 10
    return block(
        1,
        {"rating": 3.0, "people": 3.0 if seen else None, "others": 3.0 if seen else None, "correct": 0},
        {
            "rating": 4.0 + wobble,
            "people": 4.0 + (k % 3) / 10 if seen else None,
            "others": 2.9 + (k % 3) / 10 if seen else None,
            "correct": 1,
        },
    )


PEOPLE_TOO = [judged(k) for k in range(200)]
BY_JUDGE = {"kind": "judged", "metric": "rating", "direction": "higher"}
FURTHER = [("q", 0.9, 0.5, WAITS), ("denominator", "n", "hits", COSTS)]
WHOLE_SET = [
    ("k", 50, 200, AT_K),
    ("threshold", 0.5, 0.95, AT_THRESHOLD),
    ("group", None, "case", RANKING),
]
VETO = rail(mode="no_regression")
VETOED = beside("other", (180, 1, 1), (3, 0, 1), (17, 1, 0))
LOSING = beside("other", (160, 1, 1), (40, 1, 0))
WAIVER = {"rule": "guardrail:other", "owner": "o", "reason": "r", "expires": "2199-12-31"}
OLD_WAIVER = {**WAIVER, "expires": "2020-12-31"}


@dataclass(frozen=True)
class Effect:
    """One key's entry. verdicts: with the value ``old`` and with ``new``. shows: a report path that differs.

    given: sections that both policies have. start: what must happen before, on the same history.
    store: the baseline is one that was blessed as "main" in 2020. files: what lies beside the policy.
    """

    key: str
    old: Any
    new: Any
    verdicts: tuple[str, str]
    data: list[Block] = field(default_factory=lambda: CLEAR)
    given: Mapping[str, Any] = field(default_factory=dict)
    base: Mapping[str, Any] = field(default_factory=lambda: BINARY)
    shows: str = ""
    sets: Mapping[str, list[Block]] = field(default_factory=dict)
    before: tuple[list[Block], ...] = ()
    history: str = ""
    store: bool = False
    path: tuple[str | int, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def place(self) -> tuple[str | int, ...]:
        """Where the key stands in a policy."""
        model, name = self.key.split(".")
        homes: dict[str, tuple[str | int, ...]] = {
            "Policy": (),
            "Guardrail": ("guardrails", 0),
            "Watch": ("watch", 0),
            "Waiver": ("waivers", 0),
            "Systems": ("artifacts", "system"),
            "Relative": ("gating", "margin"),
        }
        return self.path or (*homes.get(model, (model.lower(),)), name)

    def policies(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._with(self.old), self._with(self.new)

    def _with(self, value: Any) -> dict[str, Any]:
        made = json.loads(json.dumps(policy(self.base, **self.given)))
        here = made
        for part in self.place[:-1]:
            here = here[part] if isinstance(part, int) else here.setdefault(part, {})
        last = self.place[-1]
        if value is None:
            here.pop(last, None)
        else:
            here[last] = value
        return dict(made)


JUDGED = {"evidence.json": evidence()}
PINNED = {"file": "evidence.json", "sha256": hashlib.sha256(JUDGED["evidence.json"]).hexdigest()}
NEVER = ("promote", "promote")
EFFECTS = [
    # the policy
    Effect("Policy.version", 1, 2, ("promote", "error")),
    Effect("Policy.name", "a", "b", NEVER, shows="policy.name"),
    Effect("Policy.owner", None, "somebody", NEVER, shows="policy.owner"),
    Effect("Policy.alpha", 0.05, 0.01, ("promote", "inconclusive"), counts(18, 6, 150, 26)),
    Effect(
        "Policy.gating",
        BINARY["gating"],
        {**BINARY["gating"], "metric": "other"},
        ("promote", "block"),
        beside("other", (170, 1, 1), (30, 1, 0)),
    ),
    Effect("Policy.guardrails", [], [rail(min=0.99)], ("promote", "block"), UNSAFE),
    Effect("Policy.watch", [], ["other"], NEVER, UNSAFE, shows="watch"),
    Effect(
        "Policy.correction",
        "holm",
        "none",
        ("promote", "block"),
        # one-sided p of 8 against 20 is 0.0178: doubled by Holm, above the level 0.025
        [
            {
                **row,
                "baseline": {**row["baseline"], "third": 1},
                "candidate": {**row["candidate"], "third": 1},
            }
            for row in beside("other", (172, 1, 1), (8, 0, 1), (20, 1, 0))
        ],
        {"guardrails": [VETO, {**VETO, "metric": "third"}]},
    ),
    Effect("Policy.challengers", None, 3, ("promote", "inconclusive"), counts(17, 5, 178)),
    Effect("Policy.slices", None, {"by": ["language"]}, ("promote", "block"), TWO_SLICES),
    Effect("Policy.items", {}, {"min": 500}, ("promote", "inconclusive")),
    Effect("Policy.cycles", {}, {"required": 2}, ("promote", "hold"), history="new"),
    Effect("Policy.artifacts", {}, {"labels": {"yes": 1, "no": 0}}, ("error", "promote"), WORDS),
    Effect("Policy.show", [], ["language"], NEVER, counts(40, 5, 155, language="en"), shows="changes"),
    Effect("Policy.waivers", [], [WAIVER], ("block", "promote"), VETOED, {"guardrails": [VETO]}),
    # gating
    Effect(
        "Gating.metric",
        "correct",
        "other",
        ("promote", "block"),
        beside("other", (170, 1, 1), (30, 1, 0)),
    ),
    Effect(
        "Gating.set",
        None,
        "safety",
        ("promote", "block"),
        given={"watch": [{"metric": "other", "set": "safety"}]},
        sets=SETS,
    ),
    Effect(
        "Gating.kind",
        "binary",
        "graded",
        ("error", "promote"),
        CLEAR_GRADED,
        {"gating": {"metric": "score"}},
    ),
    Effect("Gating.direction", "higher", "lower", ("promote", "block")),
    # exact one-sided p of 19 against 8 is 0.0261; the mid-p takes half the mass of 19 away: 0.0178
    Effect("Gating.test", "auto", "mcnemar_midp", ("inconclusive", "promote"), counts(19, 8, 150, 23)),
    Effect("Gating.interval", None, "wald", NEVER, shows="gating.interval_requested"),
    Effect(
        "Gating.scale",
        [0, 1],
        [0, 1000],
        ("promote", "inconclusive"),
        CLEAR_GRADED,
        {"gating": {"assurance": "guaranteed"}},
        GRADED,
    ),
    Effect(
        "Gating.assurance",
        "standard",
        "guaranteed",
        ("promote", "inconclusive"),
        CLEAR_GRADED,
        {"gating": {"scale": [0, 1000]}},
        GRADED,
    ),
    Effect("Gating.margin", 0.01, 0.3, ("promote", "block")),
    Effect(
        "Gating.margin_rule",
        "observed",
        "tested",
        ("promote", "inconclusive"),
        given={"gating": {"margin": 0.15}},
    ),
    Effect("Gating.suspect_gain", None, 0.1, ("promote", "inconclusive")),
    Effect("Gating.q", 0.9, 0.5, ("promote", "inconclusive"), SPENT, {"gating": WAITS}),
    Effect("Gating.denominator", "n", "hits", NEVER, SPENT, {"gating": COSTS}, shows="gating.baseline"),
    Effect(
        "Guardrail.q",
        0.9,
        0.5,
        ("block", "promote"),
        DEARER,
        {"guardrails": [{**WAITS, "mode": "no_regression"}]},
    ),
    Effect(
        "Guardrail.denominator",
        "n",
        "hits",
        ("block", "block"),
        DEARER,
        {"guardrails": [{**COSTS, "mode": "no_regression"}]},
        shows="guardrails.0.baseline",
    ),
    *[
        Effect(f"Watch.{key}", old, new, NEVER, SPENT, {"watch": [given]}, shows="watch.0.baseline")
        for key, old, new, given in FURTHER
    ],
    # of 90 items 60 are won and 20 lost; by the mean over judges and orders they weigh the same
    *[
        Effect(f"Gating.{key}", old, new, verdicts, data, {"gating": {**WON, **more}})
        for key, old, new, verdicts, data, more, _ in PREFERRED
    ],
    *[
        Effect(
            f"Guardrail.{key}",
            old,
            new,
            verdicts,
            given={"guardrails": [{**WON, **more, "set": "votes", "tolerance": 0.05}]},
            sets={"votes": data},
        )
        for key, old, new, verdicts, data, more, _ in PREFERRED
    ],
    *[
        Effect(
            f"Watch.{key}",
            old,
            new,
            NEVER,
            given={"watch": [{**WON, **more, "set": "votes"}]},
            sets={"votes": data},
            shows=f"watch.0.{shown}",
        )
        for key, old, new, _, data, more, shown in PREFERRED
    ],
    # the people see a gain of 1, the others none
    Effect("Gating.human", "people", "others", ("promote", "inconclusive"), PEOPLE_TOO, {"gating": BY_JUDGE}),
    Effect(
        "Guardrail.human",
        "people",
        "others",
        ("promote", "inconclusive"),
        PEOPLE_TOO,
        {"guardrails": [{**BY_JUDGE, "tolerance": 0.01}]},
    ),
    Effect(
        "Watch.human", "people", "others", NEVER, PEOPLE_TOO, {"watch": [BY_JUDGE]}, shows="watch.0.delta"
    ),
    # with k = all rows, a threshold above all scores, or groups of one label, no ranking differs
    *[
        Effect(f"Gating.{key}", old, new, ("promote", "inconclusive"), RANKED, {"gating": given, **LABELS})
        for key, old, new, given in WHOLE_SET
    ],
    *[
        Effect(
            f"Guardrail.{key}",
            old,
            new,
            ("block", "promote"),
            WORSE_RANKED,
            {"guardrails": [{**given, "mode": "no_regression"}], **LABELS},
        )
        for key, old, new, given in WHOLE_SET
    ],
    *[
        Effect(f"Watch.{key}", old, new, NEVER, RANKED, {"watch": [given], **LABELS}, shows="watch.0.delta")
        for key, old, new, given in WHOLE_SET
    ],
    Effect(
        "Relative.relative",
        0.05,
        0.9,
        ("promote", "block"),
        CLEAR_GRADED,
        {"gating": {"margin": {"relative": 0.05}}},
        GRADED,
    ),
    # guardrails
    Effect(
        "Guardrail.metric",
        "other",
        "correct",
        ("block", "promote"),
        UNSAFE,
        {"guardrails": [rail(min=0.99)]},
    ),
    Effect(
        "Guardrail.set",
        None,
        "safety",
        ("promote", "block"),
        beside("other", (200, 1, 1)),
        {"guardrails": [rail(min=0.95)], "watch": [{"metric": "other", "set": "safety"}]},
        sets=SETS,
    ),
    Effect(
        "Guardrail.kind",
        "binary",
        "graded",
        ("error", "promote"),
        beside("other", (100, 0.5, 0.5), (100, 0.6, 0.7)),
        {"guardrails": [rail(min=0.5)]},
    ),
    Effect(
        "Guardrail.direction",
        "higher",
        "lower",
        ("promote", "block"),
        beside("other", (170, 0, 0), (30, 0, 1)),
        {"guardrails": [rail(mode="churn", max=0.05)]},
    ),
    Effect(
        "Guardrail.test",
        "auto",
        "mcnemar_midp",
        ("promote", "block"),
        beside("other", (173, 1, 1), (8, 0, 1), (19, 1, 0)),
        {"guardrails": [VETO]},
    ),
    Effect(
        "Guardrail.interval",
        None,
        "wald",
        NEVER,
        beside("other", (190, 1, 1), (5, 0, 1), (5, 1, 0)),
        {"guardrails": [VETO]},
        shows="guardrails.0.interval_requested",
    ),
    *[
        Effect(
            f"Guardrail.{key}",
            old,
            new,
            ("promote", "inconclusive"),
            beside("other", (100, 0.5, 0.5), (100, 0.6, 0.7)),
            {"guardrails": [rail(kind="graded", mode="non_inferior", tolerance=0.1, **more)]},
        )
        for key, old, new, more in (
            ("scale", [0, 1], [0, 1000], {"assurance": "guaranteed"}),
            ("assurance", "standard", "guaranteed", {"scale": [0, 1000]}),
        )
    ],
    Effect(
        "Guardrail.mode",
        "limit",
        "churn",
        ("block", "promote"),
        beside("other", (180, 0, 0), (20, 1, 1)),
        {"guardrails": [rail(direction="lower", max=0.05)]},
    ),
    Effect(
        "Guardrail.tolerance",
        0.1,
        0.001,
        ("promote", "inconclusive"),
        beside("other", (190, 1, 1), (5, 0, 1), (5, 1, 0)),
        {"guardrails": [rail(mode="non_inferior")]},
    ),
    Effect(
        "Guardrail.detect",
        None,
        0.03,
        ("promote", "inconclusive"),
        beside("other", (190, 1, 1), (5, 0, 1), (5, 1, 0)),
        {"guardrails": [VETO]},
    ),
    Effect("Guardrail.min", 0.99, 0.9, ("block", "promote"), UNSAFE, {"guardrails": [rail()]}),
    Effect(
        "Guardrail.max", 0.9, 0.96, ("block", "promote"), UNSAFE, {"guardrails": [rail(direction="lower")]}
    ),
    # 40 of 200 lose all: the worst tenth lose 1 on average, the worst 0.4 lose 0.5 (at most 0.74 shown)
    Effect("Guardrail.share", 0.4, 0.1, ("promote", "block"), LOSING, {"guardrails": [tail(max=0.8)]}),
    # from 1 on there is nothing more to lose, so the bound is 1
    Effect(
        "Guardrail.begins",
        None,
        0.99,
        ("promote", "inconclusive"),
        LOSING,
        {"guardrails": [tail(max=0.8, share=0.4)]},
        path=("guardrails", 0, "from"),
    ),
    Effect(
        "Guardrail.proven",
        False,
        True,
        ("promote", "inconclusive"),
        UNSAFE,
        {"guardrails": [rail(min=0.94)]},
    ),
    Effect(
        "Guardrail.first",
        False,
        True,
        ("block", "block"),
        UNSAFE,
        {"guardrails": [rail(min=0.99)]},
        shows="gating.status",
    ),
    # watch
    Effect("Watch.metric", "other", "correct", NEVER, UNSAFE, {"watch": [{}]}, shows="watch.0.metric"),
    Effect(
        "Watch.set",
        None,
        "safety",
        NEVER,
        UNSAFE,
        {"watch": [{"metric": "other"}, {"metric": "correct", "set": "safety"}]},
        shows="watch.0.n",
        sets=SETS,
    ),
    Effect(
        "Watch.kind",
        "graded",
        "binary",
        NEVER,
        UNSAFE,
        {"watch": [{"metric": "other"}]},
        shows="watch.0.kind",
    ),
    Effect(
        "Watch.direction",
        "higher",
        "lower",
        NEVER,
        UNSAFE,
        {"watch": [{"metric": "other"}]},
        shows="watch.0.delta",
    ),
    # slices
    Effect("Slices.by", ["language"], ["region"], ("block", "promote"), TWO_SLICES),
    Effect(
        "Slices.named",
        {},
        {"region": ["west"]},
        ("promote", "error"),
        TWO_SLICES,
        {"slices": {"by": ["region"]}},
    ),
    Effect(
        "Slices.mode",
        "no_regression",
        "non_inferior",
        ("promote", "inconclusive"),
        [*counts(40, 5, 100, language="en"), *counts(1, 1, 58, language="fr")],
        {"slices": {"by": ["language"], "tolerance": 0.01}},
    ),
    Effect(
        "Slices.tolerance",
        0.01,
        0.2,
        ("inconclusive", "promote"),
        [*counts(40, 5, 100, language="en"), *counts(1, 1, 58, language="fr")],
        {"slices": {"by": ["language"], "mode": "non_inferior"}},
    ),
    Effect(
        "Slices.min_items",
        30,
        100,
        ("block", "promote"),
        TWO_SLICES,
        {"slices": {"by": ["language"]}},
    ),
    # items
    Effect(
        "Items.id",
        "id",
        "key",
        ("error", "promote"),
        [
            block(1, {"id": f"a{k}", "correct": int(k > 40)}, {"id": f"b{k}", "correct": 1}, key=f"k{k}")
            for k in range(100)
        ],
    ),
    # 8 documents gain 3 of 10 items, 3 lose 3 of 10: 24 against 9 items, 8 against 3 documents
    Effect("Items.cluster", None, "doc", ("promote", "inconclusive"), CLUSTERS),
    # 8 of 12 equal clusters gain .3: Hall's p .0047 as the skewness is seen, .0280 insured (tests/measure)
    Effect(
        "Items.cluster_skew",
        "strict",
        "pooled",
        ("inconclusive", "promote"),
        EIGHT_GAIN,
        {"items": {"cluster": "doc"}},
    ),
    # one more cluster of 1,000 items that all lose is worth more than all that was gained
    Effect(
        "Items.max_cluster",
        10,
        1000,
        ("promote", "inconclusive"),
        ALL_GAIN,
        {"items": {"cluster": "doc"}, "gating": {"assurance": "guaranteed"}},
    ),
    # a look in stages needs a history, and futility needs stages
    Effect("Items.stages", None, [0.5, 1.0], ("promote", "error")),
    Effect("Items.futility", None, 0.1, ("promote", "error")),
    Effect("Items.repeat", None, "run", ("error", "promote"), REPEATS),
    Effect(
        "Items.label",
        None,
        "gold",
        ("promote", "error"),
        [*CLEAR, block(1, {"correct": 1, "gold": "x"}, {"correct": 1, "gold": "y"})],
    ),
    Effect(
        "Items.comparable",
        [],
        ["input"],
        ("promote", "error"),
        [
            *counts(40, 5, 155, input="same"),
            block(1, {"correct": 1, "input": "x"}, {"correct": 1, "input": "y"}),
        ],
    ),
    Effect(
        "Items.must_pass",
        None,
        ["pay"],
        ("promote", "block"),
        [*CLEAR, {"ids": ["pay"], "baseline": {"correct": 1}, "candidate": {"correct": 0}}],
    ),
    Effect("Items.unit", None, "seed", ("inconclusive", "promote"), SEEDS, base=GRADED),
    Effect("Items.design", None, "resampled_splits", ("promote", "error"), CLEAR_GRADED, base=GRADED),
    Effect(
        "Items.reduce",
        "mean",
        "pass_all",
        ("promote", "inconclusive"),
        REPEATS,
        {"items": {"repeat": "run"}},
    ),
    Effect(
        "SomeRuns.pass_hat",
        1,
        4,
        ("promote", "inconclusive"),
        REPEATS,
        {"items": {"repeat": "run", "reduce": {}}},
        path=("items", "reduce", "pass_hat"),
    ),
    Effect(
        "SomeRuns.pass_at",
        1,
        4,
        ("promote", "inconclusive"),
        REPEATS,
        {"items": {"repeat": "run", "reduce": {}}},
        path=("items", "reduce", "pass_at"),
    ),
    Effect("Items.min", 30, 500, ("promote", "inconclusive")),
    # 60 won and 5 lost; 12 items of the baseline are missing on the other side
    Effect(
        "Items.missing",
        "worst",
        "drop",
        ("block", "promote"),
        [*counts(6, 0, 100), {"n": 30, "baseline": {"correct": 1}}],
        {"items": {"max_missing": 0.3}},
    ),
    Effect("Items.max_missing", 0.0, 0.1, ("error", "promote"), LACKING, {"items": {"missing": "drop"}}),
    Effect(
        "Items.max_error_rate",
        0.0,
        0.1,
        ("error", "promote"),
        ERRORS,
        {"items": {"missing": "drop", "max_missing": 0.1}},
    ),
    Effect(
        "Items.max_flaky_share",
        None,
        0.9,
        ("promote", "inconclusive"),
        REPEATS,
        {"items": {"repeat": "run"}},
    ),
    Effect(
        "Items.may_shrink",
        False,
        True,
        ("inconclusive", "promote"),
        counts(40, 5, 100),
        before=(CLEAR,),
        history="new",
    ),
    # cycles
    Effect("Cycles.required", 1, 2, ("promote", "hold"), history="new"),
    Effect(
        "Cycles.windows",
        "reused",
        "fresh",
        ("promote", "inconclusive"),
        before=(counts(9, 9, 182),),
        history="new",
    ),
    # one-sided p of 18 against 6 is 0.0113: below 0.025, above the first of four planned looks
    Effect(
        "Cycles.looks",
        None,
        4,
        ("promote", "inconclusive"),
        counts(18, 6, 150, 26),
        history="init",
    ),
    # five cycles exactly at the margin: each passes as observed, and their differences to it are all 0
    Effect(
        "Cycles.test",
        None,
        "sign_flip",
        ("promote", "hold"),
        counts(20, 0, 80),
        {"gating": {"margin": 0.2}, "cycles": {"required": 5, "windows": "fresh"}},
        before=(counts(20, 0, 80),) * 4,
        history="new",
    ),
    Effect("Cycles.history_required", False, True, ("promote", "error"), history="new"),
    # rows of one's own do not say when they ran
    Effect("Cycles.policy_first", False, True, ("promote", "inconclusive")),
    Effect(
        "Cycles.feedback",
        "full",
        "verdict",
        ("block", "block"),
        counts(5, 40, 155),
        shows="gating.delta",
        history="new",
    ),
    Effect(
        "Cycles.allow_worn",
        False,
        True,
        ("inconclusive", "promote"),
        counts(90, 0, 110),
        {"cycles": {"looks": 1}},
        before=tuple(counts(b, 60, 140 - b) for b in range(4)),
        history="init",
    ),
    # 180 of 200 passed before, now 160: z = 0.1 / sqrt(0.09/199 + 0.16/199) = 2.82, beyond 2.576
    # 4 changed items of 200 before, 45 now: their spread is three times as large
    Effect(
        "Cycles.on_alarm", "flag", "hold", ("promote", "hold"), before=(counts(2, 2, 196),), history="new"
    ),
    Effect(
        "Cycles.on_baseline_fall",
        "flag",
        "hold",
        ("promote", "hold"),
        before=(counts(20, 5, 175),),
        history="new",
    ),
    Effect(
        "Policy.report",
        None,
        {"cost_per_item": 0.5},
        ("promote", "promote"),
        given={"items": {"stages": [0.5, 1.0]}},
        shows="stages.saved_cost",
        history="new",
    ),
    Effect(
        "Reporting.good_share",
        0.2,
        0.5,
        ("promote", "promote"),
        given={"report": {"good_gain": 0.03}},
        shows="worth",
        path=("report", "good_share"),
    ),
    Effect(
        "Reporting.good_gain",
        0.03,
        0.1,
        ("promote", "promote"),
        given={"report": {"good_share": 0.2}},
        shows="worth",
        path=("report", "good_gain"),
    ),
    Effect(
        "Reporting.cost_per_item",
        None,
        0.5,
        ("promote", "promote"),
        given={"items": {"stages": [0.5, 1.0]}},
        shows="stages.saved_cost",
        history="new",
        path=("report", "cost_per_item"),
    ),
    # a baseline from a store
    Effect("Policy.baseline", None, {"name": "main"}, ("promote", "error")),
    Effect(
        "Policy.bless",
        None,
        "on_promote",
        ("promote", "error"),
        given={"baseline": {"name": "main"}},
        store=True,
    ),
    Effect("Baseline.name", "main", "other", ("promote", "error"), store=True),
    Effect(
        "Baseline.max_age_days",
        1_000_000,
        30,
        ("promote", "inconclusive"),
        given={"baseline": {"name": "main"}},
        store=True,
    ),
    # the judge of the gating metric
    Effect("Policy.judge", None, {"evidence": PINNED, "min_kappa": 0.75}, ("promote", "error"), files=JUDGED),
    Effect(
        "Judge.evidence",
        PINNED,
        {**PINNED, "sha256": "0" * 64},
        ("promote", "error"),
        given={"judge": {"min_kappa": 0.6}},
        files=JUDGED,
    ),
    *(
        Effect(
            f"Evidence.{key}",
            PINNED[key],
            other,
            ("promote", "error"),
            given={"judge": {"min_kappa": 0.6, "evidence": PINNED}},
            path=("judge", "evidence", key),
            files=JUDGED,
        )
        for key, other in (("file", "other.json"), ("sha256", "0" * 64))
    ),
    *(
        Effect(
            f"Judge.{key}",
            serves,
            refuses,
            ("promote", "error"),
            given={"judge": {"min_kappa": 0.6, "max_delta_bias": 0.5, "evidence": PINNED}},
            files=JUDGED,
        )
        for key, serves, refuses in (
            ("min_kappa", 0.69, 0.71),
            ("max_delta_bias", 0.02, 0.019),
            ("max_inconsistent", 0.01, 0.009),
            ("max_age_days", 1_000_000, 30),
        )
    ),
    # artifacts
    Effect("Artifacts.format", "auto", "csv", ("promote", "error")),
    Effect("Artifacts.system", None, "x", ("promote", "error")),
    Effect("Artifacts.labels", {"ok": 1}, {"yes": 1, "no": 0}, ("error", "promote"), WORDS),
    Effect(
        "Artifacts.mapping",
        {},
        {"correct": "result.value"},
        ("error", "promote"),
        [
            block(40, {"result": {"value": 0}}, {"result": {"value": 1}}),
            block(60, {"result": {"value": 1}}, {"result": {"value": 1}}),
        ],
    ),
    Effect("Artifacts.where", {"kind": ["kept"]}, {"kind": ["kept", "other"]}, ("promote", "block"), KINDS),
    Effect("Artifacts.failed", {}, {"mode": ["agent broke"]}, ("promote", "error"), MODES),
    Effect(
        "Artifacts.completed", {"status": ["x"]}, {"status": ["parked"]}, ("inconclusive", "promote"), PARKED
    ),
    Effect(
        "Systems.baseline",
        "x",
        "y",
        ("error", "error"),
        given={"artifacts": {"system": {"candidate": "z"}}},
        shows="stderr",
    ),
    Effect(
        "Systems.candidate",
        "x",
        "y",
        ("error", "error"),
        given={"artifacts": {"system": {"baseline": "z"}}},
        shows="nothing: the baseline's file is refused first",
    ),
    # waivers
    Effect(
        "Waiver.rule",
        "gating:correct",
        "guardrail:other",
        ("block", "promote"),
        VETOED,
        {"guardrails": [VETO], "waivers": [WAIVER]},
    ),
    Effect(
        "Waiver.owner", "a", "b", NEVER, VETOED, {"guardrails": [VETO], "waivers": [WAIVER]}, shows="reasons"
    ),
    Effect(
        "Waiver.reason", "a", "b", NEVER, VETOED, {"guardrails": [VETO], "waivers": [WAIVER]}, shows="reasons"
    ),
    Effect(
        "Waiver.expires",
        "2020-01-01",
        "2199-01-01",
        ("block", "promote"),
        VETOED,
        {"guardrails": [VETO], "waivers": [WAIVER]},
    ),
]


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for found in annotation.model_fields.values():
            yield from models(found.annotation)
    for part in get_args(annotation):
        yield from models(part)


def keys() -> list[str]:
    return sorted({f"{model.__name__}.{name}" for model in models(Policy) for name in model.model_fields})


@pytest.mark.parametrize("key", keys())
def test_every_key_has_an_entry(key: str) -> None:
    assert key in {effect.key for effect in EFFECTS}, "show what this key alone does"


def test_no_entry_is_left_from_a_key_that_is_gone() -> None:
    assert {effect.key for effect in EFFECTS} <= set(keys())


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.key)
def test_only_this_key_makes_the_difference(effect: Effect, tmp_path: Path) -> None:
    answers = []
    for name, wanted in zip(("old", "new"), effect.policies(), strict=True):
        place = tmp_path / name
        place.mkdir()
        answers.append(answer_of(effect, wanted, place))
    found = tuple(next(word for word, code in EXIT.items() if code == answer.code) for answer in answers)
    assert found == effect.verdicts, [answer.err + answer.out for answer in answers]
    if effect.shows and not effect.shows.startswith("nothing"):
        assert shown(answers[0], effect.shows) != shown(answers[1], effect.shows)
    elif effect.verdicts[0] == effect.verdicts[1]:
        assert effect.shows, "a key without any effect"


def answer_of(effect: Effect, wanted: dict[str, Any], place: Path) -> Answer:
    more: list[object] = []
    for name, blocks in effect.sets.items():
        files = [write_rows(place / f"{name}-{side}.jsonl", rows) for side, rows in tables(blocks).items()]
        more += ["--set", name, *files]
    if effect.history:
        more += ["--history", place / "history.jsonl"]
    if effect.history == "init":
        assert command("history", "init", place / "history.jsonl").code == 0
    fresh = wanted.get("cycles", {}).get("windows") == "fresh" and len(effect.before) > 1
    for number, blocks in enumerate(effect.before):
        sides = tables(blocks, 1000 * (number + 1) if fresh else 0)
        assert decide(place, wanted, sides["baseline"], sides["candidate"], *more).code != 2
    sides = tables(effect.data)
    for name, content in effect.files.items():
        (place / name).write_bytes(content)
    if not effect.store:
        return decide(place, wanted, sides["baseline"], sides["candidate"], *more)
    data = write_rows(place / "blessed.jsonl", sides["baseline"]).read_bytes()
    bless(shelf_at(str(place / "store")), "main", data, now="2020-01-01T00:00:00+00:00")
    done = command(
        *("run", "--policy", write_policy(place / "gate.yaml", wanted), "--store", place / "store"),
        *("--baseline", "store:main", "--candidate", write_rows(place / "new.jsonl", sides["candidate"])),
        *("--report-dir", place / "report"),
    )
    return with_reports(done, place / "report")


def shown(answer: Answer, path: str) -> Any:
    if path == "stderr":
        return answer.err.replace("/new/", "/old/")
    value: Any = answer.report
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value.get(part)
    return value


@pytest.mark.parametrize("key", ["Policy.name", "Policy.watch", "Policy.waivers", "Watch.direction"])
def test_what_is_no_part_of_the_agreement_leaves_the_digest(key: str, tmp_path: Path) -> None:
    effect = next(effect for effect in EFFECTS if effect.key == key)
    digests = []
    for name, wanted in zip(("old", "new"), effect.policies(), strict=True):
        (tmp_path / name).mkdir()
        answer = answer_of(effect, wanted, tmp_path / name)
        assert answer.report is not None
        digests.append(answer.report["policy"]["digest"])
    assert digests[0] == digests[1]

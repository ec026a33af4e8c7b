"""A new policy against an old one: every deciding key says which way is looser."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from one_key import KEYS, START, Key
from policies import BASE, FULL, changed, policy
from test_policy_digest import SECTIONS

from gate.policy import strictness
from gate.policy.base import Model
from gate.policy.model import Evidence, Policy, Relative, SomeRuns, Systems, Watch
from gate.policy.weaker import JUDGES, SILENT, Change, weaknesses
from gate.stats.multiplicity import METHODS, adjust

INSIDE = {Evidence, Relative, SomeRuns, Systems, Watch}
"""Values of other keys: compared as a whole where they stand, or never deciding."""


def against(value: object, *path: str | int) -> tuple[Change, ...]:
    return weaknesses(Policy.model_validate(changed(START, path, value)), Policy.model_validate(START))


@pytest.mark.parametrize("section", [section for section in SECTIONS if section not in INSIDE])
def test_every_key_is_classified_once(section: type[Model]) -> None:
    judged, silent = set(JUDGES.get(section, {})), SILENT.get(section, frozenset())
    assert judged | silent == set(section.model_fields)
    assert not judged & silent


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.name}={key.value}"[:60])
def test_the_effect_of_each_key(key: Key) -> None:
    if key.name == "Guardrail.mode":
        key = key._replace(
            given={("guardrails", 2, "mode"): "limit", ("guardrails", 2, "max"): 0.5},
            value="churn",
            effects=("weaker", "stronger"),
        )
    old, new = key.policies()
    assert tuple(change.effect for change in weaknesses(new, old)) == key.effects


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.name}={key.value}"[:60])
def test_what_is_weaker_one_way_is_stronger_the_other(key: Key) -> None:
    """What is different one way may be weaker the other; nothing is stronger or weaker both ways."""
    if key.name in {"Guardrail.mode", "Policy.alpha", "Policy.correction"}:
        return
    old, new = key.policies()
    there, back = weaknesses(new, old), weaknesses(old, new)
    assert sorted(change.key for change in there) == sorted(change.key for change in back)
    both = {change.key: change.effect for change in back}
    assert all(change.weakens or both[change.key] != "stronger" for change in there)
    assert not any(change.effect == both[change.key] == "weaker" for change in there)


def test_the_same_policy_has_no_changes() -> None:
    assert weaknesses(policy(FULL), policy(FULL.replace("[verbosity,", "[x,"))) == ()


NEVER_LAXER = {
    # What a larger answer of the new policy is proven by: it asks the old question too, and one more.
    "gating.margin": "the same test with a larger bound: its p grows with the bound",
    "gating.margin_rule": "tested asks what observed asks, and the margin proven",
    "gating.suspect_gain": "more gains are inconclusive",
    "tolerance": "the same test with a nearer bound",
    "items.cluster_skew": "p is the larger and the interval the wider; vetoes are as they were",
    "detect": "more vetoes are inconclusive",
    "min": "fewer values are within",
    "max": "fewer values are within",
    "gating.order": "an order that is only declared is inconclusive",
    "order": "an order that is only declared is inconclusive",
    "gating.max_inconsistent": "more judges are inconclusive",
    "max_inconsistent": "more judges are inconclusive",
    "proven": "the value lies in its interval",
    "first": "it fails as before; only the rest is not decided",
    "slices.by": "each slice is proven or tested at its own level",
    "slices.named": "an absent slice is an error",
    "slices.min_items": "each slice is proven or tested at its own level",
    "slices.tolerance": "the same test with a nearer bound, or a caution",
    "items.label": "unequal labels are an error",
    "items.comparable": "unequal columns are an error",
    "items.must_pass": "counted by itself, in no family",
    "items.design": "it only refuses tests",
    "items.min": "fewer items are inconclusive",
    "items.missing": "missing results are an error",
    "items.max_missing": "fewer may be missing",
    "items.max_error_rate": "fewer may have failed",
    "items.max_flaky_share": "more gains are inconclusive",
    "items.may_shrink": "fewer items are a fault",
    "cycles.required": "every cycle at the same level, and more of them",
    "cycles.looks": "one level becomes a smaller one, and a history is needed",
    "cycles.test": "one test more, over the cycles",
    "cycles.history_required": "a missing history is an error",
    "cycles.policy_first": "more results are a fault",
    "cycles.feedback": "fewer numbers are shown; nothing is counted by them without planned looks",
    "cycles.allow_worn": "worn items are a fault",
    "cycles.on_alarm": "a cycle outside the noise band is not counted; a failed one resets",
    "cycles.on_baseline_fall": "a cycle with a fallen baseline is not counted; a failed one resets",
    "alpha": "every level is smaller, and no veto is there to see less",
    "correction": "the best of several challengers is corrected more, and no veto is there",
    "slices": "a family of its own",
    "baseline": "other files are refused",
    "baseline.max_age_days": "more baselines are too old",
    "judge": "more runs are refused",
    "judge.min_kappa": "more judges are refused",
    "judge.max_delta_bias": "more judges are refused",
    "judge.max_inconsistent": "more judges are refused",
    "judge.max_age_days": "more evidence is too old",
    "guardrail": "one rule more, in no family that others are in",
    "waiver": "a fail is accepted no more",
    "expires": "a fail is accepted for less long",
}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.name}={key.value}"[:60])
def test_stronger_is_only_what_is_proven_never_laxer(key: Key) -> None:
    if key.name == "Guardrail.mode":
        return
    old, new = key.policies()
    for change in (*weaknesses(new, old), *weaknesses(old, new)):
        kind, _, rest = change.key.partition(":")
        known = rest.rpartition(".")[2] if rest and "." in rest else kind
        assert change.weakens or known in NEVER_LAXER, change


VETO = "- {metric: %s, kind: binary, direction: lower, mode: no_regression}\n"


@pytest.mark.parametrize(
    ("old", "new", "correction", "effect"),
    [
        (1, 2, "holm", "different"),
        (1, 2, "bonferroni", "different"),
        (1, 2, "bh", "different"),
        (1, 2, "none", "stronger"),
        (0, 1, "holm", "stronger"),
        (2, 1, "holm", "weaker"),
    ],
)
def test_a_family_that_grows_is_different(old: int, new: int, correction: str, effect: str) -> None:
    def text(count: int) -> str:
        rails = "".join(VETO % f"m{i}" for i in range(count))
        return BASE + f"correction: {correction}\n" + (f"guardrails:\n{rails}" if count else "")

    (change,) = weaknesses(policy(text(new)), policy(text(old)))
    assert change.effect == effect
    assert (effect == "different") == ("correction: none" in change.message)


def test_a_limit_more_or_first_slices_are_in_no_family_of_the_vetoes() -> None:
    old = BASE + "guardrails:\n" + VETO % "unsafe"
    limit = "- {metric: rude, kind: binary, direction: lower, mode: limit, max: 0.1}\n"
    assert [c.effect for c in weaknesses(policy(old + limit), policy(old))] == ["stronger"]
    assert [c.effect for c in weaknesses(policy(old + "slices: {by: [lang]}\n"), policy(old))] == ["stronger"]


def test_a_change_is_told_in_words() -> None:
    change = weaknesses(policy(BASE.replace("0.01", "0.005")), policy(BASE))[0]
    assert change == Change(
        key="gating.margin",
        effect="weaker",
        old="0.01",
        new="0.005",
        message="gating.margin: 0.01 -> 0.005 (weaker: a smaller gain is enough)",
    )
    assert change.weakens


def test_a_removed_guardrail_is_told_with_its_keys() -> None:
    change = against(START["guardrails"][:3], "guardrails")[0]
    assert change.key == "guardrail:refused:non_inferior"
    assert change.old == "{metric: refused, kind: binary, direction: lower, tolerance: 0.05}"
    assert change.new == "none"


def test_what_cannot_be_compared_weakens() -> None:
    (change,) = against("other", "gating", "metric")
    assert change.effect == "different"
    assert change.weakens


def test_a_smaller_alpha_is_stronger_unless_vetoes_see_less_by_it() -> None:
    (change,) = weaknesses(policy(BASE + "alpha: 0.01\n"), policy(BASE))
    assert (change.effect, change.weakens) == ("stronger", False)
    assert [change.effect for change in against(0.01, "alpha")] == ["different"]


@pytest.mark.parametrize(
    ("old", "new", "vetoes", "challengers"),
    [
        ("none", "holm", "weaker", "stronger"),
        ("holm", "none", "different", "weaker"),
        ("holm", "bonferroni", "weaker", "stronger"),
        ("bh", "hochberg", "weaker", "stronger"),
        ("bh", "by", "weaker", "stronger"),
        ("by", "bh", "different", "weaker"),
        ("by", "holm", "different", "different"),
        ("bonferroni", "by", "different", "different"),
    ],
)
def test_more_correction_makes_a_veto_weaker(old: str, new: str, vetoes: str, challengers: str) -> None:
    veto = BASE + "slices: {by: [language]}\n"
    for text, effect in ((veto, vetoes), (BASE, challengers)):
        (change,) = weaknesses(policy(text + f"correction: {new}\n"), policy(text + f"correction: {old}\n"))
        assert change.effect == effect


def test_hostile_names_are_harmless_in_a_message() -> None:
    old = policy(BASE.replace("metric: correct", 'metric: "##[error]::x"'))
    assert "##[" not in weaknesses(policy(BASE), old)[0].message


def families() -> list[list[float]]:
    """Families of one to 24 p-values, ties and ones among them."""
    rng = np.random.default_rng(3)
    drawn = [list(rng.uniform(0, 1, size) ** 3) for size in (1, 2, 3, 6, 24) for _ in range(60)]
    return [*drawn, [0.01, 0.01], [0.02, 0.02, 0.02], [0.001, 1.0, 1.0], [0.01, 0.02, 0.03, 1.0]]


@pytest.mark.parametrize(("old", "new"), list(permutations(METHODS, 2)))
def test_which_correction_asks_more_is_what_it_does_to_p(old: str, new: str) -> None:
    """More everywhere, less everywhere, or sometimes one and sometimes the other."""
    before, after = ([adjust(family, method) for family in families()] for method in (old, new))
    pairs = [(x, y) for one, two in zip(before, after, strict=True) for x, y in zip(one, two, strict=True)]
    less = any(y < x - 1e-12 for x, y in pairs)
    more = any(y > x + 1e-12 for x, y in pairs)
    effect = "different" if less and more else "weaker" if less else "stronger"
    assert strictness.correction_of_challengers(old, new) == effect
    assert strictness.correction_of_vetoes(old, new) == ("weaker" if effect == "stronger" else "different")


def test_words_from_strict_to_loose() -> None:
    judge = strictness.strict_to_loose("error", "drop", "worst")
    assert [judge("error", "drop"), judge("worst", "drop"), judge("drop", "worst")] == [
        "weaker",
        "stronger",
        "weaker",
    ]
    found = {(a, b): strictness.missing_results(a, b) for a, b in permutations(("error", "drop", "worst"), 2)}
    assert found == {
        ("error", "drop"): "weaker",
        ("error", "worst"): "weaker",
        ("drop", "error"): "stronger",
        ("worst", "error"): "stronger",
        ("drop", "worst"): "different",
        ("worst", "drop"): "weaker",
    }
    looks = [strictness.planned_looks(a, b) for a, b in ((5, None), (None, 5), (5, 9), (9, 5))]
    assert looks == ["weaker", "stronger", "different", "different"]


def test_lists_of_safeguards() -> None:
    judge = strictness.fewer_is_weaker
    assert [judge(["a"], ["a", "b"]), judge(["a", "b"], ["a"]), judge(["a"], ["b"])] == [
        "stronger",
        "weaker",
        "weaker",
    ]
    assert [judge(None, ["a"]), judge(["a"], None), judge(["a", "b"], ["b", "a"])] == [
        "stronger",
        "weaker",
        "different",
    ]
    assert [judge("file.txt", ["a"]), judge(["a"], "file.txt")] == ["different", "different"]
    named = strictness.fewer_named
    assert named({"g": ["x", "y"]}, {"g": ["x"]}) == "weaker"
    assert named({"g": ["x"]}, {"g": ["x"], "h": ["x"]}) == "stronger"
    assert named({"g": ["x"]}, {"h": ["x"]}) == "weaker"

"""A new policy against an old one: every deciding key says which way is looser."""

from __future__ import annotations

import pytest
from one_key import KEYS, START, Key
from policies import BASE, FULL, changed, policy
from test_policy_digest import SECTIONS

from gate.policy.model import Model, Policy, Relative, Systems, Watch
from gate.policy.weaker import JUDGES, SILENT, Change, weaknesses

INSIDE = {Relative, Systems, Watch}
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
    if key.name in {"Guardrail.mode", "Policy.alpha", "Policy.correction"}:
        return
    old, new = key.policies()
    mirror = {"weaker": "stronger", "stronger": "weaker", "different": "different"}
    back = sorted(mirror[change.effect] for change in weaknesses(old, new))
    assert back == sorted(change.effect for change in weaknesses(new, old))


def test_the_same_policy_has_no_changes() -> None:
    assert (
        weaknesses(policy(FULL), policy(FULL.replace("support", "other").replace("[verbosity,", "[x,"))) == ()
    )


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

"""The decision digest: the same for the same decisions, another for any other."""

from __future__ import annotations

import hashlib
import json

import pytest
from one_key import KEYS, START, Key
from policies import BASE, FULL, loaded

from gate.policy.digest import NOT_DECIDING, deciding_part, decision_digest
from gate.policy.model import (
    Artifacts,
    Baseline,
    Cycles,
    Evidence,
    Gating,
    Guardrail,
    Items,
    Judge,
    Model,
    Policy,
    Relative,
    Reporting,
    Slices,
    SomeRuns,
    Systems,
    Waiver,
    Watch,
)

SECTIONS = [
    Policy,
    Gating,
    Guardrail,
    Relative,
    Slices,
    Items,
    Cycles,
    Artifacts,
    Systems,
    Waiver,
    Watch,
    Baseline,
    SomeRuns,
    Judge,
    Evidence,
    Reporting,
]


def test_the_list_of_sections_is_complete() -> None:
    def below(model: type[Model]) -> set[type[Model]]:
        return {model}.union(*(below(child) for child in model.__subclasses__()))

    leaves = {model for model in below(Model) if not model.__subclasses__()}
    leaves = {
        model for model in leaves if model.__module__.startswith("gate.policy.")
    }  # not those of a suite
    assert leaves == set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_has_a_change(section: type[Model]) -> None:
    covered = {key.path[-1] for key in KEYS if key.section == section.__name__}
    written = {field.alias or name for name, field in section.model_fields.items()}
    assert written - {"version"} == covered


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.name}={key.value}"[:60])
def test_changing_a_key_changes_the_digest_unless_it_does_not_decide(key: Key) -> None:
    if key.name == "Guardrail.mode":
        key = key._replace(
            given={("guardrails", 2, "mode"): "limit", ("guardrails", 2, "max"): 0.5}, value="churn"
        )
    old, new = key.policies()
    assert old != new
    assert (decision_digest(old) == decision_digest(new)) == (key.path[0] in NOT_DECIDING)


def test_comments_order_quotes_and_numbers_forms_do_not_change_it() -> None:
    other = """\
# the same policy
gating: {"margin": 1.0e-2, direction: "higher", kind: binary, metric: 'correct'}
alpha: 0.050
name: another name
version: 1
"""
    assert loaded(other).decision_digest == loaded(BASE).decision_digest
    assert loaded(other).policy_digest != loaded(BASE).policy_digest


def test_a_key_equal_to_its_default_does_not_change_it() -> None:
    defaults = """\
guardrails: []
watch: []
correction: holm
items: {id: id, min: 30, missing: error, max_missing: 0, max_error_rate: 0, unit: item, comparable: []}
cycles: {required: 1, windows: reused, history_required: false}
artifacts: {format: auto, labels: {}}
show: []
"""
    assert loaded(BASE + defaults).decision_digest == loaded(BASE).decision_digest
    sliced = BASE + "slices: {by: [a]"
    assert loaded(sliced + "}\n").decision_digest == loaded(sliced + ", min_items: 30}\n").decision_digest


def test_whole_numbers_and_floats_are_one_number() -> None:
    graded = BASE.replace("binary", "graded")
    one, same = graded.replace("0.01", "1"), graded.replace("0.01", "1.0")
    assert loaded(one).decision_digest == loaded(same).decision_digest
    assert (
        loaded(graded.replace("0.01", "0")).decision_digest
        == loaded(graded.replace("0.01", "-0.0")).decision_digest
    )


def test_the_order_of_guardrails_counts_and_the_order_of_keys_does_not() -> None:
    turned = {**START, "guardrails": START["guardrails"][::-1]}
    assert decision_digest(Policy.model_validate(turned)) != decision_digest(Policy.model_validate(START))
    shuffled = dict(reversed(START.items()))
    assert decision_digest(Policy.model_validate(shuffled)) == decision_digest(Policy.model_validate(START))


def test_the_digests_can_be_made_by_hand() -> None:
    text = '{"gating":{"direction":"higher","kind":"binary","margin":0.01,"metric":"correct"},"version":1}'
    assert loaded(BASE).decision_digest == hashlib.sha256(text.encode()).hexdigest()
    assert loaded(FULL).policy_digest == hashlib.sha256(FULL.encode()).hexdigest()
    assert json.loads(json.dumps(deciding_part(loaded(FULL).policy))) == deciding_part(loaded(FULL).policy)

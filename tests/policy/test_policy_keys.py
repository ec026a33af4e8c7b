"""Keys and values of a policy: each refusal in words, at the line of the key to change."""

from __future__ import annotations

import pytest
from policies import BASE, RAIL, one, policy, refused

from gate.policy.load import loads


@pytest.mark.parametrize(
    ("text", "line", "advice"),
    [
        (BASE + "alhpa: 0.1\n", "8", "did you mean alpha?"),
        (BASE + "  margni: 0.1\n", "8", "did you mean margin?"),
        (BASE + "margin: 0.1\n", "8", "margin is a key of gating"),
        (BASE + "  first: true\n", "8", "first is a key of guardrails"),
        (BASE + "items: {mni: 3}\n", "8", "did you mean min?"),
        (RAIL + "    tolerence: 3\n    tolerance: 3\n", "12", "did you mean tolerance?"),
        (BASE + "watch: [{metric: m, knid: graded}]\n", "8", "did you mean kind?"),
        (RAIL + "    tolerance: {relativ: 0.1, relative: 0.1}\n", "12", "did you mean relative?"),
        (BASE + "resamples: 10\n", "8", "see: gate schema policy"),
    ],
)
def test_an_unknown_key_names_the_nearest(text: str, line: str, advice: str) -> None:
    assert one(text) == ("unknown_key", line)
    assert refused(text).help == advice


def test_a_key_of_foreign_letters_is_shown_escaped() -> None:
    error = refused(BASE + "  margi\u043f: -1\n")
    assert (error.code, error.where) == ("unknown_key", "gate.yaml:8")
    assert r"margi\u043f" in error.message
    assert error.help == "did you mean margin?"


@pytest.mark.parametrize("key", ["anchor: {artifact: a}"])
def test_a_key_that_is_not_built_yet_says_so(key: str) -> None:
    name = key.split(":", maxsplit=1)[0].strip()
    assert one(BASE + key + "\n") == ("not_available", "8")
    assert f"`{name}` is not available in this version of gate" in refused(BASE + key + "\n").message


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("alpha: true", "must be a number (found true)"),
        ("alpha: [0.1]", "must be a number (found a list of 1)"),
        ('alpha: "0.1"', "must be a number (found '0.1')"),
        ("alpha: 0", "must be above 0 (found the number 0)"),
        ("alpha: 1.0", "must be below 1 (found the number 1.0)"),
        ("correction: hom", "(found 'hom')"),
        ("items: {min: 3.5}", "items.min"),
        ("items: {min: 0}", "items.min must be at least 1"),
        ("items: {may_shrink: 1}", "must be true or false (found the number 1)"),
        ("items: {max_missing: 1.5}", "must be at most 1"),
        ("items: {must_pass: []}", "items.must_pass must not be empty"),
        ("items: {must_pass: {a: 1}}", "items.must_pass has the wrong form (found a mapping)"),
        ("slices: {by: language}", "slices.by must be a list (found 'language')"),
        ("slices: {by: []}", "slices.by must not be empty"),
        ("watch: [[a]]", "watch[0] has the wrong form"),
        ("watch: [3]", "watch[0] must be text (found the number 3)"),
        ("show: {a: 1}", "show must be a list (found a mapping)"),
        ("cycles: 3", "cycles must be a mapping of keys to values (found the number 3)"),
        ("cycles: {required: 0}", "cycles.required must be at least 1"),
        ("version: 2", "is there twice"),
        ("artifacts: {system: [a]}", "artifacts.system has the wrong form"),
        ("artifacts: {labels: {PASS: [[1]]}}", "artifacts.labels.PASS[0]"),
        ("artifacts: {labels: {PASS: 2}}", "artifacts.labels.PASS must be at most 1"),
        ('owner: ""', "owner must not be empty"),
        (f"owner: {'x' * 201}", "owner is longer than 200 characters"),
        ('owner: " x"', "begins or ends with a space"),
        ('owner: "a\\u202eb"', "holds the invisible character U+202E"),
        ('owner: "a\\nb"', "holds the invisible character U+000A"),
        ("waivers: [{rule: a, owner: b, reason: c, expires: soon}]", "is not a date of the calendar"),
        ("waivers: [{rule: a, owner: b, reason: c, expires: 2026-02-30}]", "is not a date of the calendar"),
        ("waivers: [{rule: a, owner: b, reason: c, expires: 2026-1-1}]", "is not a date of the calendar"),
    ],
)
def test_a_wrong_value_says_what_is_wanted_and_what_was_found(key: str, found: str) -> None:
    text = BASE + key + "\n"
    assert one(text)[1] == "8"
    assert found in refused(text).message


@pytest.mark.parametrize(
    ("margin", "advice"),
    [
        ("5%", "write 0.05 without quotes"),
        ("0,05", "write 0.05 without quotes"),
        ('"0.05"', "write 0.05 without quotes"),
        ("a lot", "correct this key; gate schema policy prints every key with what it takes"),
        ("5", "5 % is 0.05"),
        ("1000", "write a number from 0 to 1"),
    ],
)
def test_a_number_written_another_way_is_translated(margin: str, advice: str) -> None:
    error = refused(BASE.replace("0.01", margin))
    assert error.where == "gate.yaml:7"
    assert error.help == advice


@pytest.mark.parametrize("version", ["2", "1.0", '"1"', "true"])
def test_the_version_is_the_number_one(version: str) -> None:
    assert one(BASE.replace("version: 1", f"version: {version}")) == ("wrong_value", "1")


@pytest.mark.parametrize(
    "name",
    [
        "exact_match,flexible-extract",
        "Answer Relevancy (stub)",
        "Correctness [GEval]",
        "__class__",
        "../../x",
        "r\u00e9ponse",
        "x" * 200,
    ],
)
def test_metric_names_are_what_tools_write(name: str) -> None:
    assert policy(BASE.replace("metric: correct", f'metric: "{name}"')).gating.metric == name


@pytest.mark.parametrize("name", ["", " a", "a ", "a\\tb", "a\\u200bb", "a\\u00a0b", "a\\u3164b", "x" * 201])
def test_metric_names_are_visible(name: str) -> None:
    assert one(BASE.replace("metric: correct", f'metric: "{name}"')) == ("wrong_value", "4")


def test_lists_serve_where_the_model_has_tuples() -> None:
    gating = policy(BASE.replace("binary", "graded") + "  scale: [0, 5.5]\n").gating
    assert gating.scale == (0.0, 5.5)
    assert one(BASE.replace("binary", "graded") + "  scale: [0, true]\n") == ("wrong_value", "8")
    assert refused(BASE + "  scale: [0, 1, 2]\n").where == "gate.yaml:8"


@pytest.mark.parametrize("test", ["cluster_cr2", "cluster_sign_flip", "cluster_bootstrap", "yang"])
def test_a_cluster_test_needs_clusters(test: str) -> None:
    assert one(BASE + f"  test: {test}\n") == ("keys_conflict", "8")
    assert loads(BASE + f"  test: {test}\nitems: {{cluster: doc}}\n").policy.gating.test == test


def test_a_test_of_independent_items_is_refused_where_clusters_are_declared() -> None:
    clustered = "items: {cluster: doc}\n"
    assert one(BASE + "  test: mcnemar_exact\n" + clustered) == ("keys_conflict", "8")
    assert one(BASE + "  assurance: guaranteed\n" + clustered) == ("keys_conflict", "8")
    assert one(BASE + "  interval: tango\n" + clustered) == ("keys_conflict", "8")
    assert loads(BASE + clustered).policy.items.cluster == "doc"


def test_graded_tests_are_for_pass_fail_with_repeats_only() -> None:
    """With repeats pass/fail becomes a mean per item."""
    assert one(BASE + "  test: sign_flip\n") == ("keys_conflict", "8")
    assert loads(BASE + "  test: sign_flip\nitems: {repeat: run}\n").policy.gating.test == "sign_flip"


@pytest.mark.parametrize("key", ["id", "repeat", "cluster", "label"])
def test_a_metric_is_no_other_column_as_well(key: str) -> None:
    assert one(BASE + f"items: {{{key}: correct}}\n") == ("keys_conflict", "8")

"""Both sides of each limit that a policy's text, numbers and keys have."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, get_args

import pytest
from policies import BASE, LIMIT, RAIL, loaded, one, policy, refused

from gate.policy import methods, scalars, source, strictness, tree, wrong_values
from gate.policy.between_sections import between_sections
from gate.policy.explain import keys_at
from gate.policy.fields import hidden_character, iso_date, visible_name
from gate.policy.findings import Finding, dotted
from gate.policy.load import line_of, load
from gate.policy.model import Policy, Relative
from gate.policy.unavailable import refusal
from gate.policy.weaker import weaknesses
from gate.values import GateError

GRADED = BASE.replace("binary", "graded")


def accepted(text: str) -> bool:
    try:
        loaded(text)
    except GateError as error:
        if error.code not in {"keys_conflict", "missing_key", "wrong_value"}:
            raise
        return False
    return True


LIMITS = [
    # (policy, the last value that fits, the first that does not)
    (BASE + "alpha: {}\n", "0.999999", "1.0"),
    (BASE + "alpha: {}\n", "0.000001", "0.0"),
    (BASE.replace("0.01", "{}"), "1", "1.000001"),
    (BASE.replace("0.01", "{}"), "0", "-0.000001"),
    (BASE.replace("0.01", "{{relative: {}}}"), "0", "-0.000001"),
    (BASE + "  suspect_gain: {}\n", "0.010001", "0.01"),
    (BASE + "  suspect_gain: {}\n", "1", "1.000001"),
    (GRADED + "  scale: [1, {}]\n", "1.011", "1"),
    (GRADED.replace("0.01", "{}") + "  scale: [1, 5]\n", "3.999", "4"),
    (GRADED.replace("0.01", "{}") + "  scale: [0, 1]\n", "0.999", "1"),
    (GRADED + "  suspect_gain: {}\n", "7", "0"),
    (RAIL + "    scale: [0, 9]\n    tolerance: {}\n", "8.999", "9"),
    (RAIL + "    scale: [0, 9]\n    mode: no_regression\n    detect: {}\n", "8.999", "9"),
    (RAIL + "    mode: no_regression\n    detect: {}\n", "0.001", "0"),
    (LIMIT + "    min: {}\n", "5", "5.001"),
    (LIMIT.replace("graded", "binary").replace("max: 5", "max: {}"), "1", "1.001"),
    (LIMIT.replace("graded", "binary").replace("max: 5", "max: {}"), "0", "-0.001"),
    (LIMIT.replace("graded", "binary").replace("max: 5", "min: {}"), "1", "1.001"),
    (RAIL + "    mode: churn\n    max: {}\n", "1", "1.001"),
    (RAIL + "    mode: churn\n    max: {}\n", "0", "-0.001"),
    (BASE + "slices: {{by: [a], tolerance: {}}}\n", "1", "1.001"),
    (BASE + "slices: {{by: [a], min_items: {}}}\n", "1", "0"),
    (BASE + "items: {{min: {}}}\n", "1", "0"),
    (BASE + "items: {{unit: seed, min: {}}}\n", "5", "4"),
    (BASE + "items: {{missing: drop, max_missing: {}}}\n", "1", "1.001"),
    (BASE + "items: {{missing: drop, max_missing: {}}}\n", "0", "-0.001"),
    (BASE + "items: {{max_missing: {}}}\n", "0", "0.001"),
    (BASE + "items: {{max_error_rate: {}}}\n", "1", "1.001"),
    (BASE + "items: {{max_flaky_share: {}}}\n", "0", "-0.001"),
    (BASE + "cycles: {{required: {}}}\n", "1", "0"),
    (BASE + "cycles: {{required: {}}}\n", "1000", "1001"),
    (BASE + "cycles: {{looks: {}}}\n", "1", "0"),
    (BASE + "cycles: {{test: sign_flip, required: {}}}\n", "5", "4"),
    (BASE + "alpha: 0.0625\ncycles: {{test: sign_flip, required: {}}}\n", "5", "4"),
    (BASE + "artifacts: {{labels: {{ok: {}}}}}\n", "1", "1.001"),
    (BASE + "artifacts: {{labels: {{ok: {}}}}}\n", "0", "-0.001"),
]


@pytest.mark.parametrize(("text", "last", "beyond"), LIMITS, ids=[f"{at}" for at in range(len(LIMITS))])
def test_a_number_fits_up_to_its_limit(text: str, last: str, beyond: str) -> None:
    assert accepted(text.format(last))
    assert not accepted(text.format(beyond))


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (BASE.replace("support-bot", "{}"), 200),
        (BASE.replace("metric: correct", "metric: {}"), 200),
        (BASE + "owner: {}\n", 200),
        (BASE + "show: [{}]\n", 200),
        (BASE + "items: {{must_pass: [{}]}}\n", 1000),
        (BASE + "artifacts: {{mapping: {{correct: {}}}}}\n", 1000),
        (BASE + "artifacts: {{labels: {{{}: 1}}}}\n", 1000),
    ],
)
def test_a_text_fits_up_to_its_length(text: str, length: int) -> None:
    assert accepted(text.format("x" * length))
    assert refused(text.format("x" * (length + 1))).code == "wrong_value"
    assert accepted(text.format("x"))


@pytest.mark.parametrize(
    ("share", "advice"),
    [
        ("1.5", "1.5 % is 0.015"),
        ("100", "100 % is 1"),
        ("100.5", "write a number from 0 to 1"),
    ],
)
def test_a_percentage_is_translated(share: str, advice: str) -> None:
    assert refused(BASE.replace("0.01", share)).help == advice


def test_the_width_of_a_scale_is_told() -> None:
    wide = GRADED.replace("0.01", "5") + "  scale: [1, 5]\n"
    assert refused(wide).message == "margin 5 is not smaller than the whole scale (4)"


MODE_KEYS = {
    "non_inferior": {"tolerance", "test", "interval", "assurance"},
    "no_regression": {"detect", "test", "interval", "assurance"},
    "limit": {"min", "max", "proven"},
    "churn": {"max"},
    "worst_item": {"max"},
    "tail": {"max", "share", "from"},
}
VALUES = {
    "tolerance": "0.1",
    "detect": "0.2",
    "test": "gaffke",
    "interval": "wald",
    "assurance": "guaranteed",
    "min": "0.1",
    "max": "0.9",
    "proven": "true",
    "share": "0.1",
    "from": "0.2",
}
NEEDED = {
    "non_inferior": ("tolerance",),
    "no_regression": (),
    "limit": ("max",),
    "churn": ("max",),
    "worst_item": ("max",),
    "tail": ("max", "share"),
}


@pytest.mark.parametrize(("mode", "key"), list(itertools.product(MODE_KEYS, VALUES)))
def test_each_mode_takes_its_own_keys_and_no_others(mode: str, key: str) -> None:
    keys = {"mode": mode, key: VALUES[key]}
    for needed in NEEDED[mode]:
        keys.setdefault(needed, VALUES[needed])
    rail = ", ".join(f"{name}: {value}" for name, value in keys.items())
    text = BASE + f"guardrails:\n- {{metric: m, kind: binary, direction: lower, {rail}}}\n"
    if key in MODE_KEYS[mode]:
        assert accepted(text)
        return
    homes = ", ".join(name for name, own in MODE_KEYS.items() if key in own)
    error = refused(text)
    assert (error.message, error.help) == (f"mode {mode} takes no {key}", f"{key} is for mode {homes}")


@pytest.mark.parametrize(("mode", "key"), [("non_inferior", "tolerance"), ("limit", "min"), ("churn", "max")])
def test_each_mode_names_the_key_that_it_needs(mode: str, key: str) -> None:
    error = refused(RAIL + f"    mode: {mode}\n")
    assert error.code == "missing_key"
    assert key in error.message
    assert "more)" not in error.message


BINARY = {"mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards"} | {
    "tango",
    "exact_unconditional",
}
GRADED_ONLY = {"t_guarded", "paired_t", "sign_flip", "wilcoxon", "wilcoxon_pratt", "sign"}
PASS_FAIL_TOO = {"bootstrap", "bootstrap_bca", "bootstrap_t", "gaffke"}
CLUSTERED = {"cluster_cr2", "cluster_sign_flip", "cluster_bootstrap"}
PASS_FAIL_CLUSTERS = {"obuchowski", "durkalski", "yang"}
NO_MARGIN = {"mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards", "sign"} | {
    "wilcoxon",
    "wilcoxon_pratt",
    *PASS_FAIL_CLUSTERS,
}
WHOLE_SET = {"delong", "ratio_delta", "prediction_powered", "bootstrap_rows"}
EVERY = sorted(
    BINARY | GRADED_ONLY | PASS_FAIL_TOO | CLUSTERED | PASS_FAIL_CLUSTERS | WHOLE_SET | {"bca_sign_flip"}
)
ITEMS = ("", "repeat: run", "cluster: doc", "unit: seed", "design: resampled_splits")


def test_every_test_is_in_these_lists() -> None:
    named = {name for part in get_args(methods.Test) for name in (get_args(part) or (part,))}
    assert named == {"auto", *EVERY}


def fits(test: str, kind: str, items: str, *, margin: bool) -> bool:
    """Which tests a policy may name, as the README's table of tests has them."""
    if (test in CLUSTERED | PASS_FAIL_CLUSTERS) != (items == "cluster: doc"):
        return False
    if test in WHOLE_SET or (kind == "graded" and test in BINARY | PASS_FAIL_CLUSTERS):
        return False
    if kind == "binary" and test in GRADED_ONLY | {"bca_sign_flip"} and items != "repeat: run":
        return False
    if test in BINARY and items == "repeat: run":
        return False
    if (test == "bca_sign_flip") and items != "unit: seed":
        return False
    if kind == "graded" and items == "design: resampled_splits" and test in {"t_guarded", "paired_t"}:
        return False
    return not (margin and test in NO_MARGIN)


@pytest.mark.parametrize("test", EVERY)
def test_a_test_can_be_named_where_it_fits(test: str) -> None:
    for kind, items, margin in itertools.product(("binary", "graded"), ITEMS, (False, True)):
        text = BASE.replace("binary", kind) + f"  test: {test}\n"
        text += "  scale: [0, 1]\n" + ("  margin_rule: tested\n" if margin else "")
        text += f"items: {{{items}}}\n"
        assert accepted(text) == fits(test, kind, items, margin=margin), text
        rail = f"metric: m, kind: {kind}, direction: lower, scale: [0, 1], test: {test}"
        rail += ", tolerance: 0.1" if margin else ", mode: no_regression"
        auto = "sign_flip" if "design" in items and kind == "graded" else "auto"
        whole = BASE.replace("binary", kind) + f"  test: {auto}\nguardrails:\n- {{{rail}}}\n"
        assert accepted(whole + f"items: {{{items}}}\n") == fits(test, kind, items, margin=margin), whole


@pytest.mark.parametrize("test", sorted(NO_MARGIN))
def test_a_margin_of_0_takes_every_test(test: str) -> None:
    kind = "graded" if test in GRADED_ONLY else "binary"
    items = "items: {cluster: doc}\n" if test in PASS_FAIL_CLUSTERS else ""
    for margin in ("0", "{relative: 0}"):
        gating = BASE.replace("binary", kind).replace("0.01", margin) + f"  test: {test}\n"
        assert accepted(gating + "  margin_rule: tested\n" + items)
        rail = f"metric: m, kind: {kind}, direction: lower, test: {test}, tolerance: {margin}"
        assert accepted(BASE + f"guardrails:\n- {{{rail}}}\n" + items)
    assert accepted(BASE.replace("binary", kind) + f"  test: {test}\n" + items)  # an observed margin


@pytest.mark.parametrize("kind", ["binary", "graded"])
def test_the_tests_that_take_a_margin_are_named_for_their_kind(kind: str) -> None:
    named = set(methods.takes_margin(kind).split(", "))
    every = PASS_FAIL_TOO | ({"tango", "exact_unconditional"} if kind == "binary" else GRADED_ONLY)
    assert named == {"auto", *every - NO_MARGIN} | ({"bca_sign_flip"} if kind == "graded" else set())


GUARANTEED = [
    ("binary", "", True),
    ("binary", "  test: gaffke\n", True),
    ("binary", "  test: bootstrap\n", False),
    ("graded", "  scale: [0, 1]\n", True),
    ("graded", "", False),
    ("graded", "  scale: [0, 1]\n  test: gaffke\n", True),
    ("graded", "  scale: [0, 1]\n  test: t_guarded\n", False),
]


@pytest.mark.parametrize(("kind", "keys", "fit"), GUARANTEED)
def test_what_assurance_guaranteed_goes_with(kind: str, keys: str, fit: bool) -> None:
    text = BASE.replace("binary", kind) + keys
    assert accepted(text + "  assurance: guaranteed\n") is fit
    assert accepted(text) or "t_guarded" in keys or not fit


def test_a_scale_of_pass_fail_is_0_to_1_or_nothing() -> None:
    assert accepted(BASE + "  scale: [0, 1]\n")
    assert not accepted(BASE + "  scale: [0, 1.5]\n")
    assert accepted(GRADED + "  test: gaffke\n  scale: [0, 1]\n")
    assert refused(GRADED + "  test: gaffke\n").message.startswith("test: gaffke needs the lowest")
    assert refused(GRADED + "  assurance: guaranteed\n").message.startswith("assurance: guaranteed needs")


ACROSS = "guardrails:\n- {metric: correct, kind: %s, direction: %s, %s}\n"


@pytest.mark.parametrize(
    ("kind", "direction", "keys", "fit"),
    [
        ("binary", "higher", "tolerance: 0.1", True),
        ("graded", "higher", "tolerance: 0.1", False),
        ("graded", "higher", "tolerance: 0.1, set: safety", True),
        ("binary", "lower", "tolerance: 0.1", False),
        ("binary", "lower", "tolerance: 0.1, set: safety", True),
    ],
)
def test_a_metric_of_one_set_means_one_thing(kind: str, direction: str, keys: str, fit: bool) -> None:
    assert accepted(BASE + ACROSS % (kind, direction, keys)) is fit


@pytest.mark.parametrize(
    ("scales", "fit"),
    [
        (("[1, 5]", "[1, 5]", "[1, 5]"), True),
        (("[1, 5]", "", "[1, 5]"), True),
        (("", "[1, 5]", "[1, 5]"), True),
        (("", "[1, 5]", "[1, 6]"), False),
        (("[1, 5]", "", "[1, 6]"), False),
        (("[1, 5]", "[0, 5]", ""), False),
        (("", "", "[1, 5]"), True),
    ],
)
def test_a_metric_of_one_set_has_one_scale(scales: tuple[str, ...], fit: bool) -> None:
    first, *others = [f", scale: {scale}" if scale else "" for scale in scales]
    text = GRADED + f"  {first[2:]}\n" + "guardrails:\n"
    for mode, scale in zip(("tolerance: 1", "mode: no_regression"), others, strict=True):
        text += f"- {{metric: correct, kind: graded, direction: higher, {mode}{scale}}}\n"
    assert accepted(text) is fit
    if not fit:
        assert "has the scale" in refused(text).message
        assert accepted(
            text.replace("tolerance: 1", "set: a, tolerance: 1").replace("mode:", "set: b, mode:")
        )


@pytest.mark.parametrize(
    ("items", "fit"),
    [
        ("{id: a, repeat: b, cluster: c}", True),
        ("{id: a, repeat: a}", False),
        ("{id: a, cluster: a}", False),
        ("{repeat: id}", False),
        ("{cluster: id}", False),
        ("{repeat: a, cluster: a}", False),
        ("{repeat: a}", True),
        ("{cluster: a}", True),
        ("{must_pass: critical, comparable: [a, b]}", True),
        ("{missing: drop, max_missing: 0.5}", True),
        ("{missing: worst}", True),
    ],
)
def test_which_columns_may_be_one(items: str, fit: bool) -> None:
    assert accepted(BASE + f"items: {items}\n") is fit


def test_a_metric_called_as_the_usual_id_column_is_no_conflict() -> None:
    called = BASE.replace("metric: correct", "metric: id")
    assert accepted(called)
    assert not accepted(called + "items: {id: id}\n")
    guarded = BASE + "guardrails:\n- {metric: run, kind: graded, direction: lower, tolerance: 1}\n"
    assert not accepted(guarded + "items: {repeat: run}\n")


def test_the_worst_value_must_be_known_for_each_graded_rule() -> None:
    worst = "items: {missing: worst}\n"
    assert not accepted(GRADED + worst)
    assert accepted(GRADED + "  scale: [0, 9]\n" + worst)
    assert accepted(BASE + worst)
    assert accepted(RAIL + "    tolerance: 1\n    scale: [0, 9]\n" + worst)


@pytest.mark.parametrize(
    ("rail", "fit"),
    [
        ("kind: graded, direction: lower, mode: limit, max: 3", True),
        ("kind: graded, direction: lower, mode: limit, max: 3, proven: true", False),
        ("kind: binary, direction: lower, mode: limit, max: 0.5, proven: true", True),
        ("kind: graded, direction: lower, mode: churn, max: 0.5", True),
        ("kind: graded, direction: lower, tolerance: 3", False),
        ("kind: graded, direction: lower, mode: no_regression", False),
        ("kind: binary, direction: lower, tolerance: 0.3", True),
    ],
)
def test_what_overlapping_splits_break(rail: str, fit: bool) -> None:
    text = BASE + f"guardrails:\n- {{metric: m, {rail}}}\n"
    assert accepted(text)
    assert accepted(text + "items: {design: resampled_splits}\n") is fit


def test_the_test_that_overlapping_splits_break_is_named() -> None:
    splits = "items: {design: resampled_splits}\n"
    assert "test auto (t_guarded) does not hold" in refused(GRADED + splits).message
    assert "test paired_t does not hold" in refused(GRADED + "  test: paired_t\n" + splits).message


@pytest.mark.parametrize(
    ("kind", "value", "advice"),
    [
        ("string_type", 7, 'if it is text, quote it: "7"'),
        ("string_type", True, 'if it is text, quote it: "true"'),
        ("string_type", [1], ""),
        ("list_type", 7, "write [one, two]"),
        ("bool_type", 1, ""),
        ("float_type", True, ""),
    ],
)
def test_how_a_value_is_written(kind: str, value: Any, advice: str) -> None:
    assert wrong_values.wrong_value(kind, value, {}, "")[1] == advice


@pytest.mark.parametrize(
    ("labels", "fit"),
    [
        ("{pass: [a, b], fail: [c]}", True),
        ("{pass: [a]}", True),
        ("{ok: 1, bad: 0, pass: 0.5}", True),
        ("{pass: [a], fail: 0}", True),
        ("{pass: [a], ok: 1}", False),
        ("{ok: [a]}", False),
        ("{pass: [a, a]}", False),
        ("{pass: [a], fail: [a]}", False),
        ("{pass: [1], fail: ['1']}", True),
    ],
)
def test_the_two_forms_of_labels(labels: str, fit: bool) -> None:
    assert accepted(BASE + f"artifacts: {{labels: {labels}}}\n") is fit


@pytest.mark.parametrize(
    ("failed", "completed", "fit"),
    [
        ("{status: [oom]}", "{status: [ok]}", True),
        ("{status: [oom, ok]}", "{status: [ok]}", False),
        ("{status: [oom]}", "{state: [oom]}", True),
        ("{status: [500]}", "{status: ['500']}", False),
        ("{a: [x], status: [oom]}", "{status: [oom], b: [y]}", False),
    ],
)
def test_a_word_says_failed_or_completed(failed: str, completed: str, fit: bool) -> None:
    text = BASE + f"artifacts:\n  failed: {failed}\n  completed: {completed}\n"
    assert accepted(text) is fit
    if not fit:
        assert one(text) == ("keys_conflict", "10")


@pytest.mark.parametrize(
    ("slices", "fit"),
    [
        ("{by: [a, b]}", True),
        ("{by: [a, a]}", False),
        ("{by: [a], mode: non_inferior}", False),
        ("{by: [a], mode: non_inferior, tolerance: 0.1}", True),
        ("{by: [a], named: {a: [x, y]}}", True),
        ("{by: [a], named: {a: [x, x]}}", False),
        ("{by: [a], named: {b: [x]}}", False),
    ],
)
def test_what_slices_go_together(slices: str, fit: bool) -> None:
    assert accepted(BASE + f"slices: {slices}\n") is fit


@pytest.mark.parametrize("mode", ["no_regression", "non_inferior"])
@pytest.mark.parametrize("tolerance", ["0", "0.1", "{relative: 0.1}"])
def test_a_tolerance_of_slices_needs_a_test_that_takes_one(mode: str, tolerance: str) -> None:
    text = BASE + f"  test: mcnemar_exact\nslices: {{by: [a], mode: {mode}, tolerance: {tolerance}}}\n"
    assert accepted(text) == (mode == "no_regression" or tolerance == "0")


WAIVER = '- {rule: "%s", owner: o, reason: r, expires: "2030-01-31"}\n'


@pytest.mark.parametrize(
    ("rules", "fit"),
    [
        (["gating:correct"], True),
        (["guardrail:latency"], True),
        (["slice:a=x"], True),
        (["slice:b=x"], False),
        (["slice:a"], False),
        (["must_pass"], False),
        (["gating:correct", "gating:correct"], False),
        (["gating:correct", "guardrail:latency", "slice:a=x", "slice:a=y"], True),
    ],
)
def test_what_can_be_waived(rules: list[str], fit: bool) -> None:
    text = LIMIT + "slices: {by: [a]}\nwaivers:\n" + "".join(WAIVER % rule for rule in rules)
    assert accepted(text) is fit
    assert not accepted(LIMIT + "waivers:\n" + WAIVER % "slice:a=x")


def test_three_misspelt_waivers_get_a_hint_each_and_one_more_does_not() -> None:
    """The findings in their order: the model's own, before the first by line is shown."""
    named = ["guardrail:latenc", "gating:corect", "slice:b=x", "guardrail:latencyy"]
    values = {"rule": "", "owner": "o", "reason": "r", "expires": "2030-01-31"}
    data = loaded(LIMIT).policy.model_dump(exclude_defaults=True)
    data["waivers"] = [values | {"rule": rule} for rule in named]
    findings = list(between_sections(Policy.model_validate(data)))
    assert [finding.help for finding in findings] == [
        "did you mean 'guardrail:latency'?",
        "did you mean 'gating:correct'?",
        "the rules are 'gating:correct', 'guardrail:latency'",
        "see the hints above",
    ]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("9" * 18, None),
        ("9" * 19, "number_too_large"),
        ("1.0e+50", None),
        ("1.1e+50", "number_out_of_range"),
        ("1.0e-50", None),
        ("0.9e-50", "number_out_of_range"),
        ("-1.1e+50", "number_out_of_range"),
        ("0.0", None),
        ("0.0e-60", None),
        ("1.0e+400", "not_finite"),
    ],
)
def test_the_range_of_numbers(number: str, code: str | None) -> None:
    found = scalars.plain(number, "x")
    if code is None:
        assert found == (float(number) if "." in number else int(number))
    else:
        assert isinstance(found, Finding)
        assert found.code == code


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("1_000_000", "1000000"),
        ("0x1f", "31"),
        ("-0b11", "-3"),
        ("+0o17", "15"),
        ("5e-2", "0.05"),
        ("1e15", "1000000000000000"),
        ("2e15", None),
        ("1e-12", "0.000000000001"),
        ("1e-13", None),
        ("0e5", "0"),
        ("1:30", None),
        ("1.5e3", "1500"),
    ],
)
def test_the_form_that_every_reader_reads_alike(text: str, usual: str | None) -> None:
    found = scalars.plain(text, "x")
    assert isinstance(found, Finding)
    assert found.code == "ambiguous_scalar"
    assert found.help == (
        f"write {usual}; if it is text, quote it" if usual else f'if it is text, quote it: "{text}"'
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
        ("tRue", "tRue"), ("-", "-"), (".", "."), ("+x", "+x"), ("1a", "1a"), ("-5", -5), ("+7", 7),
        (".5", 0.5),
        ("1.", 1.0), ("1.5e-3", 0.0015), ("nothing", "nothing"), ("nonsense", "nonsense"),
    ],
)  # fmt: skip
def test_what_a_plain_scalar_is(text: str, value: Any) -> None:
    found = scalars.plain(text, "x")
    assert (found, type(found)) == (value, type(value))


def nested(depth: int) -> str:
    return "a: " + "[" * (depth - 1) + "]" * (depth - 1) + "\n"


def test_a_policy_is_read_up_to_its_depth_and_size() -> None:
    assert (tree.MAX_DEPTH, tree.MAX_NODES, tree.MAX_FINDINGS, source.MAX_BYTES) == (32, 50_000, 200, 1 << 20)
    assert not tree.parse(nested(tree.MAX_DEPTH)).findings
    assert [f.code for f in tree.parse(nested(tree.MAX_DEPTH + 1)).findings] == ["policy_too_deep"]

    def listed(scalars_: int) -> tree.Tree:  # stream, document, mapping, key and list: 9 events more
        return tree.parse("a: [" + "b, " * scalars_ + "]\n")

    most = tree.MAX_NODES - 9
    assert (len(listed(most).value["a"]), listed(most).whole) == (most, True)
    assert [f.code for f in listed(most + 1).findings] == ["policy_too_large"]


def test_reading_stops_after_so_many_mistakes() -> None:
    found = tree.parse("a:\n" + "- ~\n" * (tree.MAX_FINDINGS + 50))
    assert (len(found.findings), found.whole) == (tree.MAX_FINDINGS, False)
    found = tree.parse("a:\n" + "- ~\n" * (tree.MAX_FINDINGS - 1))
    assert (len(found.findings), found.whole) == (tree.MAX_FINDINGS - 1, True)


def test_a_policy_file_holds_up_to_a_mebibyte(tmp_path: Path) -> None:
    comment = "#" * (source.MAX_BYTES - len(BASE) - 1) + "\n"
    path = tmp_path / "gate.yaml"
    path.write_text(BASE + comment)
    assert path.stat().st_size == 1 << 20
    assert load(path).policy == loaded(BASE + comment).policy
    path.write_text(BASE + comment + "#")
    for read in (lambda: load(path), lambda: loaded(BASE + comment + "#")):
        with pytest.raises(GateError) as caught:
            read()
        assert caught.value.code == "policy_too_large"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (BASE + "alhpa: 0.1\n", "unknown key 'alhpa'"),
        (BASE + "  margni: 0.1\n", "unknown key 'margni' in gating"),
        (RAIL + "    tolerance: {relativ: 0.1, relative: 0.1}\n",
         "unknown key 'relativ' in guardrails[0].tolerance"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_told_with_its_place(text: str, place: str) -> None:
    assert refused(text).message == place


@pytest.mark.parametrize(
    ("text", "advice"),
    [(BASE + "\talpha: 0.05\n", True), (BASE + "alpha: [0.05\n", False), (BASE + 'owner: "a\n', False)],
)
def test_a_tab_is_named_where_it_is_the_fault(text: str, advice: bool) -> None:
    assert (refused(text).help == "indent with spaces") is advice


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("\ufeff" + BASE, "begins with a byte order mark"),
        (BASE + "# \ufeff\n", "holds an invisible or control character"),
        ("\x07" + BASE, "holds an invisible or control character"),
    ],
)
def test_a_byte_order_mark_stands_at_the_beginning(text: str, what: str) -> None:
    assert what in refused(text).message


def test_keys_and_places_of_a_policy() -> None:
    assert keys_at(("cycles",))[:2] == ["required", "windows"]
    assert keys_at(("guardrails", 3)) == keys_at(("guardrails",))
    assert keys_at(("gating", "margin")) == ["relative"]
    assert keys_at(("artifacts", "labels", "x")) == []
    assert keys_at(("nothing", "below")) == []
    assert dotted(("guardrails", 1, "tolerance")) == "guardrails[1].tolerance"
    assert dotted(()) == ""
    lines = {(): 1, ("a",): 4, ("a", 0): 5}
    assert [line_of(lines, path) for path in ((), ("a",), ("a", 0), ("a", 1), ("a", 0, "b"), ("c",))] == [
        1, 4, 5, 4, 5, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "refused_"),
    [
        (("judge",), None, False),
        (("anchor",), None, True),
        (("gating", "judge"), None, False),
        (("items", "k"), None, False),
        (("k",), None, False),
        (("gating", "kind"), "auc", False),
        (("gating", "kind"), "ece", True),
        (("gating", "kind"), "binary", False),
        (("gating", "test"), "auc", False),
        (("gating", "metric"), "auc", False),
        ((), None, False),
    ],
)
def test_what_is_not_built_yet_is_named_where_it_belongs(path: Any, value: Any, refused_: bool) -> None:
    assert bool(refusal(path, value)) is refused_


@pytest.mark.parametrize(
    ("kind", "value", "context", "told"),
    [
        ("greater_than", 0, {"gt": 0}, "must be above 0 (found the number 0)"),
        ("greater_than_equal", -1, {"ge": 0}, "must be at least 0 (found the number -1)"),
        ("less_than", 1, {"lt": 1}, "must be below 1 (found the number 1)"),
        ("less_than_equal", 2, {"le": 1}, "must be at most 1 (found the number 2)"),
        ("float_type", [1, 2], {}, "must be a number (found a list of 2)"),
        ("float_type", {}, {}, "must be a number (found a mapping)"),
        ("bool_type", "x", {}, "must be true or false (found 'x')"),
        ("something_new", 1, {}, "is not what is wanted: why (found the number 1)"),
    ],
)
def test_a_wrong_value_in_words(kind: str, value: Any, context: Any, told: str) -> None:
    assert wrong_values.wrong_value(kind, value, context, "why")[0] == told


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("5 %", "write 0.05 without quotes"),
        ("-2,5%", "write -0.025 without quotes"),
        ("7", "write 7 without quotes"),
        ("1234567890123", ""),
        ("x", ""),
    ],
)
def test_a_number_in_quotes_is_read_as_it_was_meant(text: str, advice: str) -> None:
    assert wrong_values.wrong_value("float_type", text, {}, "")[1] == advice
    assert wrong_values.wrong_value("int_type", text, {}, "")[1] == advice


def test_names_and_dates() -> None:
    assert hidden_character("a b") is None
    assert hidden_character("a\u3164\x07") == "U+3164"
    assert hidden_character("a\x07\u3164") == "U+0007"
    for name in ("a ", " a", "a\u00a0"):
        with pytest.raises(ValueError, match=r"space|invisible"):
            visible_name(name)
    assert (visible_name("a b"), iso_date("2028-02-29")) == ("a b", "2028-02-29")
    for text in ("2026-02-29", "2026-2-9", "20260209", "2026-02-09T00", "2026-00-01"):
        with pytest.raises(ValueError, match="calendar"):
            iso_date(text)


LOOSER: list[tuple[Any, Any, Any, str]] = [
    (strictness.smaller_is_weaker, 2, 1, "weaker"),
    (strictness.smaller_is_weaker, 1, 2, "stronger"),
    (strictness.smaller_is_weaker, 1, None, "weaker"),
    (strictness.smaller_is_weaker, None, 1, "stronger"),
    (strictness.larger_is_weaker, 2, 1, "stronger"),
    (strictness.larger_is_weaker, 1, 2, "weaker"),
    (strictness.larger_is_weaker, 1, None, "weaker"),
    (strictness.larger_is_weaker, None, 1, "stronger"),
    (strictness.larger_is_weaker, Relative(relative=0.1), Relative(relative=0.2), "weaker"),
    (strictness.larger_is_weaker, Relative(relative=0.2), Relative(relative=0.1), "stronger"),
    (strictness.larger_is_weaker, Relative(relative=0.0), Relative(relative=0.1), "weaker"),
    (strictness.larger_is_weaker, 0.1, Relative(relative=0.2), "different"),
    (strictness.larger_is_weaker, Relative(relative=0.1), 0.2, "different"),
    (strictness.off_is_weaker, "a", None, "weaker"),
    (strictness.off_is_weaker, None, "a", "stronger"),
    (strictness.off_is_weaker, "a", "b", "different"),
    (strictness.on_is_weaker, False, True, "weaker"),
    (strictness.on_is_weaker, True, False, "stronger"),
    (strictness.fewer_is_weaker, ["a", "b"], ["a"], "weaker"),
    (strictness.fewer_is_weaker, ["a"], ["a", "b"], "stronger"),
    (strictness.fewer_is_weaker, ["a"], ["b"], "weaker"),
    (strictness.fewer_is_weaker, ["a", "b"], ["b", "a"], "different"),
    (strictness.fewer_is_weaker, ["a"], None, "weaker"),
    (strictness.fewer_is_weaker, None, ["a"], "stronger"),
    (strictness.fewer_is_weaker, ["a"], "a", "different"),
    (strictness.fewer_is_weaker, "a", ["a"], "different"),
    (strictness.fewer_is_weaker, "a", None, "weaker"),
    (strictness.fewer_named, {"a": ["x", "y"]}, {"a": ["x"]}, "weaker"),
    (strictness.fewer_named, {"a": ["x"]}, {"b": ["x"]}, "weaker"),
    (strictness.fewer_named, {}, {"b": ["x"]}, "stronger"),
    (strictness.strict_to_loose("tight", "loose"), "tight", "loose", "weaker"),
    (strictness.strict_to_loose("tight", "loose"), "loose", "tight", "stronger"),
    (strictness.missing_results, "error", "drop", "weaker"),
    (strictness.missing_results, "error", "worst", "weaker"),
    (strictness.missing_results, "drop", "error", "stronger"),
    (strictness.missing_results, "worst", "error", "stronger"),
    (strictness.missing_results, "drop", "worst", "different"),
    (strictness.missing_results, "worst", "drop", "weaker"),
    (strictness.planned_looks, 3, None, "weaker"),
    (strictness.planned_looks, None, 3, "stronger"),
    (strictness.planned_looks, 3, 4, "different"),
    (strictness.planned_looks, 4, 3, "different"),
    (strictness.not_comparable, 1, 2, "different"),
]


@pytest.mark.parametrize(("compare", "old", "new", "effect"), LOOSER)
def test_which_of_two_values_is_the_looser(compare: Any, old: Any, new: Any, effect: str) -> None:
    assert compare(old, new) == effect


CORRECTIONS = ["none", "bh", "hochberg", "holm", "bonferroni", "by"]
# Adjusted p-values: none <= bh <= hochberg <= holm <= bonferroni and bh <= by; nothing else is ordered.
LESS = {(a, b) for i, a in enumerate(CORRECTIONS[:5]) for b in CORRECTIONS[i + 1 : 5]} | {
    ("none", "by"),
    ("bh", "by"),
}


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(CORRECTIONS, 2)))
def test_more_correction_lets_more_past_a_veto_and_fewer_challengers(old: str, new: str) -> None:
    vetoes = "weaker" if (old, new) in LESS else "different"
    challengers = "stronger" if (old, new) in LESS else "weaker" if (new, old) in LESS else "different"
    assert strictness.correction_of_vetoes(old, new) == vetoes
    assert strictness.correction_of_challengers(old, new) == challengers


SHARED = "guardrails:\n- {metric: v, kind: binary, direction: lower, mode: no_regression}\n"


@pytest.mark.parametrize(
    ("old", "new", "effects"),
    [
        ("cycles: {looks: 4}\n", "cycles: {looks: 4, required: 2}\n", ["different"]),
        ("", "cycles: {looks: 4, required: 2}\n", ["different", "different"]),
        ("cycles: {looks: 4}\n", "cycles: {required: 2}\n", ["different", "weaker"]),
        ("", "cycles: {required: 2}\n", ["stronger"]),
        ("", "cycles: {looks: 4}\n", ["stronger"]),
        ("", "cycles: {feedback: verdict}\n", ["stronger"]),
        ("cycles: {looks: 4}\n", "cycles: {looks: 4, feedback: verdict}\n", ["different"]),
        ("cycles: {looks: 4}\n", "cycles: {feedback: verdict}\n", ["weaker", "stronger"]),
        ("slices: {by: [a], min_items: 30}\n", "slices: {by: [a], min_items: 20}\n", ["different"]),
        (
            "correction: none\nslices: {by: [a], min_items: 30}\n",
            "correction: none\nslices: {by: [a], min_items: 20}\n",
            ["stronger"],
        ),
        (
            "slices: {by: [a], mode: non_inferior, tolerance: 0.1}\n",
            "slices: {by: [a], mode: non_inferior, tolerance: 0}\n",
            ["different"],
        ),
        (
            "slices: {by: [a], mode: non_inferior, tolerance: 0.1}\n",
            "slices: {by: [a], mode: non_inferior, tolerance: 0.05}\n",
            ["stronger"],
        ),
        ("slices: {by: [a], tolerance: 0.1}\n", "slices: {by: [a], tolerance: 0}\n", ["stronger"]),
        ("", "slices: {by: [a]}\n", ["stronger"]),
        ("slices: {by: [a]}\n", "", ["weaker"]),
        ("alpha: 0.05\n", "alpha: 0.01\n", ["stronger"]),
        (SHARED + "alpha: 0.05\n", SHARED + "alpha: 0.01\n", ["different"]),
        (SHARED + "alpha: 0.01\n", SHARED + "alpha: 0.05\n", ["weaker"]),
        ("slices: {by: [a]}\nalpha: 0.05\n", "slices: {by: [a]}\nalpha: 0.01\n", ["different"]),
        (
            "slices: {by: [a], mode: non_inferior, tolerance: 0.1}\nalpha: 0.05\n",
            "slices: {by: [a], mode: non_inferior, tolerance: 0.1}\nalpha: 0.01\n",
            ["stronger"],
        ),
        (SHARED, SHARED.replace("lower, mode: no_regression", "lower, set: s, mode: no_regression"),
         ["weaker", "different"]),
    ],
)  # fmt: skip
def test_a_key_with_effects_on_other_rules(old: str, new: str, effects: list[str]) -> None:
    assert [change.effect for change in weaknesses(policy(BASE + new), policy(BASE + old))] == effects


def test_a_scale_that_sets_the_worst_value_of_other_rules_is_different() -> None:
    rail = "guardrails:\n- {metric: m, kind: graded, direction: lower, tolerance: 1%s}\n"
    for missing, scale, effect in (
        ("worst", ", scale: [0, 9]", "different"),
        ("drop", ", scale: [0, 9]", "stronger"),
        ("drop", "", "stronger"),
    ):
        base = BASE + f"items: {{missing: {missing}}}\n"
        (change,) = weaknesses(policy(base + rail % scale), policy(base))
        assert change.effect == effect


def test_values_are_told_as_they_stand_in_a_policy() -> None:
    def told(old: str, new: str) -> str:
        (change,) = weaknesses(policy(BASE + new), policy(BASE + old))
        return change.message

    five, six = (
        f"slices: {{by: [{', '.join('abcdef'[:k])}], mode: non_inferior, tolerance: 1}}\n" for k in (5, 6)
    )
    assert told(six, five) == (
        "slices.by: [a, b, c, d, e, ...] -> [a, b, c, d, e] (weaker: slices are no longer looked at)"
    )
    assert told("", "cycles: {history_required: true}\n") == (
        "cycles.history_required: false -> true (stronger)"
    )
    assert told("", "artifacts: {labels: {ok: 1}}\n").startswith("artifacts.labels: {} -> {ok: 1} (different")
    assert told("", "items: {label: gold}\n") == "items.label: none -> gold (stronger)"

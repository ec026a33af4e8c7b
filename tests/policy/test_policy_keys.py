"""Keys and values of a policy: each refusal in words, at the line of the key to change."""

from __future__ import annotations

import pytest
from policies import BASE, FULL, loaded, policy, refused, with_line

RAIL = BASE + "guardrails:\n  - metric: latency\n    kind: graded\n    direction: lower\n"
LIMIT = RAIL + "    mode: limit\n    max: 5\n"


def one(text: str) -> tuple[str, str]:
    """Code and line of the only finding."""
    error = refused(text)
    assert "more)" not in error.message, error.message
    return error.code, error.where.removeprefix("gate.yaml:")


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


@pytest.mark.parametrize(
    "key", ["judge: {min_kappa: 0.6}", "anchor: {artifact: a}", "  k: 10", "  threshold: 0.5", "  q: 0.95"]
)
def test_a_key_that_is_not_built_yet_says_so(key: str) -> None:
    name = key.split(":")[0].strip()
    assert one(BASE + key + "\n") == ("not_available", "8")
    assert f"`{name}` is not available in this version of gate" in refused(BASE + key + "\n").message


@pytest.mark.parametrize("kind", ["auc", "precision_at_k", "f1", "brier", "quantile", "ratio"])
def test_a_kind_that_is_not_built_yet_says_so(kind: str) -> None:
    assert one(BASE.replace("binary", kind)) == ("not_available", "5")
    assert f"`kind: {kind}` is not available" in refused(BASE.replace("binary", kind)).message


@pytest.mark.parametrize("test", ["delong", "bootstrap_rows", "cluster_cr2", "obuchowski", "yang"])
def test_a_test_that_is_not_built_yet_says_so(test: str) -> None:
    assert one(BASE + f"  test: {test}\n") == ("not_available", "8")


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
        ("a lot", ""),
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


CONFLICTS = {
    "binary test on graded": (with_line(BASE, "kind:", "  kind: graded", "  test: tango"), "6"),
    "graded test on binary": (BASE + "  test: paired_t\n", "8"),
    "interval on graded": (with_line(BASE, "kind:", "  kind: graded", "  interval: wald"), "6"),
    "scale upside down": (with_line(BASE, "kind:", "  kind: graded", "  scale: [5, 1]"), "6"),
    "scale of pass/fail": (BASE + "  scale: [0, 2]\n", "8"),
    "set looks like an option": (BASE + "  set: --x\n", "8"),
    "guaranteed without scale": (with_line(BASE, "kind:", "  kind: graded", "  assurance: guaranteed"), "6"),
    "gaffke without scale": (with_line(BASE, "kind:", "  kind: graded", "  test: gaffke"), "6"),
    "guaranteed by another test": (BASE + "  assurance: guaranteed\n  test: tango\n", "9"),
    "margin as large as the scale": (
        BASE.replace("binary", "graded").replace("0.01", "4") + "  scale: [1, 5]\n",
        "7",
    ),
    "tested margin, McNemar": (BASE + "  margin_rule: tested\n  test: mcnemar_exact\n", "9"),
    "tested margin, Wilcoxon": (
        BASE.replace("binary", "graded") + "  margin_rule: tested\n  test: wilcoxon\n",
        "9",
    ),
    "tested relative margin, sign": (
        BASE.replace("binary", "graded").replace("0.01", "{relative: 0.1}")
        + "  margin_rule: tested\n  test: sign\n",
        "9",
    ),
    "suspicion below the margin": (BASE + "  suspect_gain: 0.01\n", "8"),
    "suspicion above one": (BASE + "  suspect_gain: 10\n", "8"),
    "no tolerance": (RAIL, "9"),
    "tolerance, Wilcoxon": (RAIL + "    tolerance: 1\n    test: wilcoxon_pratt\n", "13"),
    "tolerance of another mode": (LIMIT + "    tolerance: 1\n", "14"),
    "limit takes no test": (LIMIT + "    test: paired_t\n", "14"),
    "limit without bounds": (RAIL + "    mode: limit\n", "9"),
    "limit upside down": (LIMIT + "    min: 6\n", "14"),
    "rate above one": (LIMIT.replace("graded", "binary"), "13"),
    "churn without max": (RAIL + "    mode: churn\n", "9"),
    "churn above one": (RAIL + "    mode: churn\n    max: 2\n", "13"),
    "churn takes no min": (RAIL + "    mode: churn\n    max: 0.1\n    min: 0.1\n", "14"),
    "detect of another mode": (RAIL + "    tolerance: 1\n    detect: 2\n", "13"),
    "proven of another mode": (RAIL + "    tolerance: 1\n    proven: true\n", "13"),
    "one metric, two kinds": (BASE + "guardrails:\n  - metric: correct\n    kind: graded\n    direction: higher\n"
                              "    tolerance: 1\n", "10"),
    "one metric, two directions": (BASE + "guardrails:\n  - metric: correct\n    kind: binary\n"
                                   "    direction: lower\n    tolerance: 0.1\n", "11"),
    "guardrail twice": (LIMIT + "  - {metric: latency, kind: graded, direction: lower, mode: limit, max: 9}\n", "14"),
    "watched twice": (BASE + "watch:\n  - a\n  - {metric: a}\n", "10"),
    "slice column twice": (BASE + "slices:\n  by: [a,\n    a]\n", "10"),
    "slices unproven": (BASE + "slices:\n  by: [a]\n  mode: non_inferior\n", "10"),
    "slice of another column": (BASE + "slices:\n  by: [a]\n  named:\n    b: [x]\n", "11"),
    "slice named twice": (BASE + "slices:\n  by: [a]\n  named:\n    a: [x,\n      x]\n", "12"),
    "slice tolerance above one": (BASE + "slices:\n  by: [a]\n  tolerance: 3\n", "10"),
    "slice tolerance, McNemar": (
        BASE + "  test: mcnemar_midp\nslices: {by: [a], mode: non_inferior, tolerance: 0.1}\n",
        "8",
    ),
    "id and repeat": (BASE + "items:\n  repeat: id\n", "9"),
    "repeat and cluster": (BASE + "items:\n  repeat: r\n  cluster: r\n", "10"),
    "nothing may be missing": (BASE + "items:\n  max_missing: 0.1\n", "9"),
    "too few seeds": (BASE + "items:\n  unit: seed\n  min: 4\n", "10"),
    "must pass twice": (BASE + "items:\n  must_pass: [a,\n    a]\n", "10"),
    "comparable twice": (BASE + "items:\n  comparable: [a,\n    a]\n", "10"),
    "shown twice": (BASE + "show: [a,\n  a]\n", "9"),
    "McNemar with repeats": (BASE + "  test: mcnemar_exact\nitems: {repeat: run}\n", "8"),
    "interval with repeats": (BASE + "  interval: wald\nitems: {repeat: run}\n", "8"),
    "worst without scale": (LIMIT + "items: {missing: worst}\n", "9"),
    "seeds' test on items": (BASE.replace("binary", "graded") + "  test: bca_sign_flip\n", "8"),
    "resampled splits, auto": (BASE.replace("binary", "graded") + "items: {design: resampled_splits}\n", "4"),
    "resampled splits, t": (
        BASE.replace("binary", "graded") + "  test: paired_t\nitems: {design: resampled_splits}\n",
        "8",
    ),
    "resampled splits, proven": (LIMIT + "    proven: true\nitems: {design: resampled_splits}\n", "14"),
    "cycles below the floor": (BASE + "cycles:\n  test: sign_flip\n  required: 3\n", "10"),
    "cycles test alone": (BASE + "cycles:\n  test: sign_flip\n", "9"),
    "label lists elsewhere": (BASE + "artifacts:\n  labels:\n    ok: [a]\n", "10"),
    "label on both sides": (BASE + "artifacts:\n  labels:\n    pass: [a]\n    fail: [b,\n      a]\n", "12"),
    "waiver of nothing": (with_line(FULL, '- {rule: "guardrail:unsafe"', '  - {rule: "guardrail:unsaf", owner: q, '
                          "reason: r, expires: 2030-01-31}"), "23"),
    "waived twice": (FULL + '  - {rule: "guardrail:unsafe", owner: q, reason: r, expires: "2030-01-31"}\n', "24"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFLICTS)
def test_keys_that_contradict_each_other(name: str) -> None:
    text, line = CONFLICTS[name]
    code, at = one(text)
    assert code in {"keys_conflict", "missing_key"}
    assert at == line


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("0.01", "{relative: 0.02}"),
        BASE.replace("0.01", "0") + "  margin_rule: tested\n  test: mcnemar_exact\n",
        BASE + "  test: mcnemar_exact\n",
        BASE + "  test: gaffke\n  assurance: guaranteed\n",
        BASE.replace("binary", "graded") + "  assurance: guaranteed\n  scale: [0, 1]\n",
        BASE.replace("binary", "graded") + "  test: bca_sign_flip\nitems: {unit: seed}\n",
        BASE.replace("binary", "graded") + "  test: sign_flip\nitems: {design: resampled_splits}\n",
        RAIL + "    tolerance: 0\n    test: wilcoxon\n",
        RAIL + "    mode: no_regression\n    test: wilcoxon\n    detect: 3\n",
        LIMIT + "  - {metric: latency, kind: graded, direction: lower, tolerance: 3}\n",
        LIMIT + "  - {metric: latency, kind: graded, direction: lower, mode: limit, max: 9, set: safety}\n",
        BASE + "cycles: {test: sign_flip, required: 5}\n",
        BASE + "artifacts: {labels: {pass: [ok, 1, true], fail: [1.5, ko, false]}}\n",
        BASE + "items: {missing: worst, max_missing: 0.1, must_pass: critical}\n",
        BASE + "slices: {by: [a], named: {a: [x, y]}}\nwaivers:\n"
        '  - {rule: "slice:a=x", owner: o, reason: r, expires: "2030-01-31"}\n'
        '  - {rule: "slice:a=other", owner: o, reason: r, expires: "2030-01-31"}\n',
    ],
)
def test_what_fits_is_accepted(text: str) -> None:
    assert loaded(text).policy.version == 1


def test_the_number_of_cycles_that_works_is_named() -> None:
    text = BASE + "cycles: {test: sign_flip, required: 3}\n"
    assert refused(text).help == "required: 5 is the least that works"
    assert refused(text + "alpha: 0.01\n").help == "required: 7 is the least that works"
    assert "0.125" in refused(text).message


def test_a_test_that_cannot_decide_names_those_that_can() -> None:
    error = refused(BASE + "  margin_rule: tested\n  test: mcnemar_chi2\n")
    assert error.help == "tests that can: auto, exact_unconditional, tango, gaffke"
    error = refused(RAIL + "    tolerance: 1\n    test: sign\n")
    assert "t_guarded" in error.help
    assert "wilcoxon" not in error.help


def test_seeds_need_five_unless_more_are_asked_for() -> None:
    assert policy(BASE + "items: {unit: seed}\n").items.min == 5
    assert policy(BASE + "items: {unit: seed, min: 30}\n").items.min == 30
    assert policy(BASE).items.min == 30


def test_two_conflicts_of_one_section_are_two_findings() -> None:
    error = refused(BASE + "  test: paired_t\n  scale: [0, 2]\n")
    assert error.where == "gate.yaml:8"
    assert error.message.endswith("(and 1 more)")

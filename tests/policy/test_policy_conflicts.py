"""Keys that contradict each other: refused at the key to change, and what fits is accepted."""

from __future__ import annotations

import pytest
from policies import AGAIN, BASE, FULL, LIMIT, RAIL, WAIVED, loaded, one, policy, refused, with_line

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
    "one metric, two kinds": (
        BASE + "guardrails:\n  - metric: correct\n    kind: graded\n    direction: higher\n"
        "    tolerance: 1\n",
        "10",
    ),
    "one metric, two directions": (
        BASE + "guardrails:\n  - metric: correct\n    kind: binary\n"
        "    direction: lower\n    tolerance: 0.1\n",
        "11",
    ),
    "guardrail twice": (LIMIT + AGAIN + "}\n", "14"),
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
    "waiver of nothing": (with_line(FULL, "- {rule:", "  - {" + WAIVED.replace("safe", "saf")), "23"),
    "waived twice": (FULL + "  - {" + WAIVED + "\n", "24"),
}


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
        LIMIT + AGAIN + ", set: safety}\n",
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
    resampling = "bootstrap, bootstrap_bca, bootstrap_t"
    assert error.help == f"tests that can: auto, exact_unconditional, tango, gaffke, {resampling}"
    error = refused(RAIL + "    tolerance: 1\n    test: sign\n")
    assert "t_guarded" in error.help
    assert "wilcoxon" not in error.help


def test_seeds_need_five_unless_more_are_asked_for() -> None:
    assert policy(BASE + "items: {unit: seed}\n").items.min == 5
    assert policy(BASE + "items: {unit: seed, min: 30}\n").items.min == 30
    assert policy(BASE).items.min == 30


def test_two_conflicts_of_one_section_are_two_findings() -> None:
    error = refused(BASE + "  suspect_gain: 0.001\n  scale: [0, 2]\n")
    assert error.where == "gate.yaml:8"
    assert error.message.endswith("(and 1 more)")

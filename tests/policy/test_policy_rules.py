"""Rule ids, as waivers and reports use them."""

from __future__ import annotations

from policies import BASE, policy

from gate.policy.rules import gating_id, guardrail_ids, rule_id, rule_ids, slice_id, watch_id

MANY = (
    BASE
    + """\
  set: quality
guardrails:
  - {metric: a, kind: graded, direction: lower, tolerance: 1}
  - {metric: b, kind: graded, direction: lower, tolerance: 1, set: safety}
  - {metric: c, kind: graded, direction: lower, tolerance: 1}
  - {metric: c, kind: graded, direction: lower, mode: limit, max: 3, set: safety}
watch: [d, {metric: e, set: safety}]
slices: {by: [lang], named: {lang: [de, fr]}}
items: {must_pass: critical}
"""
)


def test_ids() -> None:
    many = policy(MANY)
    assert guardrail_ids(many) == (
        "guardrail:a",
        "guardrail:b:safety",
        "guardrail:c:non_inferior",
        "guardrail:c:limit:safety",
    )
    assert gating_id(many) == "gating:correct:quality"
    assert gating_id(policy()) == "gating:correct"
    assert [watch_id(watch) for watch in many.watch] == ["watch:d", "watch:e:safety"]
    assert rule_ids(many) == (
        "gating:correct:quality",
        *guardrail_ids(many),
        "must_pass",
        slice_id("lang", "de"),
        slice_id("lang", "fr"),
    )
    assert slice_id("lang", "de") == "slice:lang=de"


def test_one_guardrail_has_the_id_it_has_in_the_list() -> None:
    many = policy(MANY)
    assert tuple(rule_id(rail, many.guardrails) for rail in many.guardrails) == guardrail_ids(many)
    assert rule_id(many.guardrails[0]) == "guardrail:a"

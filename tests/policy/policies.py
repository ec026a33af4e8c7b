"""Policies that the tests change one key of."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gate.policy.load import LoadedPolicy, loads
from gate.policy.model import Policy
from gate.values import GateError

BASE = """\
version: 1
name: support-bot
gating:
  metric: correct
  kind: binary
  direction: higher
  margin: 0.01
"""

FULL = """\
version: 1
name: support-bot-prompt
owner: quality
alpha: 0.05
gating:
  metric: correct
  kind: binary            # pass/fail
  direction: higher
  margin: 0.01
  margin_rule: observed
  test: auto
guardrails:
  - {metric: latency_ms, kind: graded, direction: lower, mode: non_inferior, tolerance: {relative: 0.10}}
  - {metric: unsafe, kind: binary, direction: lower, mode: limit, max: 0.02, first: true}
watch: [verbosity, {metric: cost, direction: lower}]
correction: holm
slices: {by: [language], min_items: 30, tolerance: 0.03}
items: {id: id, cluster: conversation, repeat: run, min: 30, missing: error, max_error_rate: 0.0}
cycles: {required: 3, windows: fresh}
artifacts: {labels: {"yes": 1, "no": 0.0}, system: {baseline: a, candidate: b}, mapping: {correct: s.correct}}
show: [question]
waivers:
  - {rule: "guardrail:unsafe", owner: quality, reason: known false alarms, expires: 2030-01-31}
"""


RAIL = BASE + "guardrails:\n  - metric: latency\n    kind: graded\n    direction: lower\n"
AGAIN = "  - {metric: latency, kind: graded, direction: lower, mode: limit, max: 9"
WAIVED = "rule: 'guardrail:unsafe', owner: q, reason: r, expires: '2030-01-31'}"
LIMIT = RAIL + "    mode: limit\n    max: 5\n"


def policy(text: str = BASE) -> Policy:
    return loads(text, "gate.yaml").policy


def with_line(text: str, start: str, *replacement: str) -> str:
    """The text with the line that begins with ``start`` (after spaces) replaced by ``replacement``."""
    lines = text.splitlines()
    at = [number for number, line in enumerate(lines) if line.strip().startswith(start)]
    assert len(at) == 1, start
    lines[at[0] : at[0] + 1] = replacement
    return "\n".join(lines) + "\n"


def refused(text: str, path: str = "gate.yaml") -> GateError:
    with pytest.raises(GateError) as caught:
        loads(text, path)
    return caught.value


def loaded(text: str) -> LoadedPolicy:
    return loads(text, "gate.yaml")


def changed(values: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy of nested values with one of them set."""
    result = copy.deepcopy(values)
    place: Any = result
    for part in path[:-1]:
        place = place[part] if isinstance(place, list) else place.setdefault(part, {})
    place[path[-1]] = value
    return result


def one(text: str) -> tuple[str, str]:
    """Code and line of the only finding."""
    error = refused(text)
    assert "more)" not in error.message, error.message
    return error.code, error.where.removeprefix("gate.yaml:")

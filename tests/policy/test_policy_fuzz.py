"""Whatever the text, the loader accepts it or says what is wrong with it."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policies import BASE, FULL

from gate.policy.load import LoadedPolicy, loads
from gate.values import GateError

SIGNS = [*"[]{},:-?&*!|>'\"%@`#\n\t ~<=", "\n  ", ": ", "- ", "<<: ", "&a ", "*a", "!!str ", "---\n", "...\n"]
WORDS = ["alpha", "gating", "metric", "watch", "1", "0.5", "1e3", ".inf", "true", "null", "\\u202e", "\x00"]
PIECES = st.sampled_from([*SIGNS, *WORDS])
SCALARS = st.sampled_from(
    ["", "x", "7", "-1", "0.5", "true", "null", "[]", "[a]", "{}", "{a: 1}", "1e400", "9" * 30]
)
LINES = [number for number, line in enumerate(FULL.splitlines()) if ":" in line]
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def accepted_or_explained(text: str) -> None:
    result = outcome(text)
    if isinstance(result, LoadedPolicy):
        return
    assert re.fullmatch(r"gate\.yaml:[1-9][0-9]*", result.where)
    assert result.code
    assert result.message
    assert result.message.isprintable()
    assert not result.help or result.help.isprintable()


def outcome(text: str) -> LoadedPolicy | GateError:
    try:
        return loads(text, "gate.yaml")
    except GateError as error:
        return error


@SETTINGS
@given(st.lists(PIECES, max_size=60).map("".join))
def test_pieces_of_yaml(text: str) -> None:
    accepted_or_explained(text)
    accepted_or_explained(BASE + text)


@SETTINGS
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    accepted_or_explained(text)
    accepted_or_explained(BASE + "owner: " + text)


@SETTINGS
@given(st.sampled_from(LINES), SCALARS)
def test_another_value_in_a_line(number: int, scalar: str) -> None:
    lines = FULL.splitlines()
    lines[number] = lines[number].split(":")[0] + ": " + scalar
    accepted_or_explained("\n".join(lines))


@SETTINGS
@given(st.integers(0, len(FULL)), st.integers(0, len(FULL)), PIECES)
def test_a_cut_policy(start: int, end: int, piece: str) -> None:
    accepted_or_explained(FULL[:start] + piece + FULL[max(start, end) :])


@pytest.mark.parametrize(
    "unit", ["- ", "? ", "a: ", "[", "{", '"', "'", "|", "&a ", "!!a ", "*a ", "%a ", "\t", "-\n"]
)
def test_long_repetitions_end(unit: str) -> None:
    accepted_or_explained(unit * 20_000)
    accepted_or_explained(BASE + "show: " + unit * 20_000)

"""At most 1 KB of JSON, whatever a report holds."""

from __future__ import annotations

import json

import pytest

from gate.report.brief import LARGEST
from tests.report.faces import brief
from tests.report.poison import EVERY, poisoned
from tests.report.reports import MAKERS, ONE_CANDIDATE, report, small

NAMES = [*MAKERS, "error"]


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_was_decided_why_and_what_to_do(name: str) -> None:
    made = report(name)
    line = brief(made)
    found = json.loads(line)
    assert (len(line) <= LARGEST, line.count("\n"), found["schema"]) == (True, 1, "gate.brief/1")
    assert found["verdict"] == made.get("verdict", "error")
    assert found["exit_code"] == made.get("exit_code", 2)
    assert found["why"]
    assert found["next"]["code"]
    assert found["next"]["text"]


def test_what_did_not_pass_is_named_with_the_items_that_were_lost() -> None:
    found = json.loads(brief(report("blocked")))
    assert found["not_passed"] == [["gating:correct", "fail"]]
    assert found["next"]["code"] == "gating_real"
    assert len(found["lost"]) == 5
    assert (found["better"], found["worse"], found["gating"]["n"]) == (121, 69, 2000)


@pytest.mark.parametrize("text", [*EVERY, "x" * 10_000, "\u4f60" * 10_000], ids=lambda text: ascii(text)[:20])
def test_nothing_makes_it_longer(text: str) -> None:
    line = brief(poisoned(small(ONE_CANDIDATE[0]), text))
    assert len(line) <= LARGEST
    assert json.loads(line)["verdict"]

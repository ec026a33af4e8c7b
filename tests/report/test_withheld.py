"""``feedback: verdict`` withholds numbers: no face of the report may give one away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gate.cli.render import FORMATS
from gate.report.model import Report, json_schema
from tests.black_box import BINARY, command, decide, policy
from tests.report.faces import bundle, rendered
from tests.seed_data import count_table


def made(folder: Path, b: int, c: int) -> dict[str, Any]:
    """A withheld report on 209 items; the file sizes are the same whatever b and c are."""
    cycles = {"required": 1, "windows": "reused", "looks": 4, "feedback": "verdict"}
    assert command("history", "init", folder / "h.jsonl").code == 0
    rules = policy(BINARY, cycles=cycles, show=["correct"])
    done = decide(folder, rules, *count_table(b, c, 113, 209), "--history", folder / "h.jsonl")
    assert done.report is not None, done.err
    assert "numbers_withheld" in done.cautions(), done.report["cautions"]
    return done.report


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two inconclusive reports that differ in their scores alone."""
    make = tmp_path_factory.mktemp
    return made(make("a"), 23, 19), made(make("b"), 25, 18)


def plain(text: str) -> str:
    """Without what names the files: digests, and paths of this test's folders."""
    return re.sub(r"[0-9a-f]{12,64}|test_\w+|/[ab]\d/|&#47;[ab]\d&#47;", "", text)


@pytest.mark.parametrize("form", FORMATS)
def test_other_scores_change_no_sign_of_it(pair: tuple[dict[str, Any], dict[str, Any]], form: str) -> None:
    first, second = (plain(rendered(one, form)) for one in pair)
    assert first == second


def test_it_validates_and_holds_nothing_of_single_items(pair: tuple[dict[str, Any], ...]) -> None:
    withheld = pair[0]
    jsonschema.validate(withheld, json_schema(Report))
    assert not {"flips", "distribution", "flagged"} & set(withheld["gating"])
    assert withheld["changes"]["lost"] == withheld["changes"]["gained"] == []


def test_the_tables_are_empty_and_the_page_says_why(pair: tuple[dict[str, Any], ...]) -> None:
    files = bundle(pair[0])
    assert files["flips.csv"].count("\n") == files["flagged.csv"].count("\n") == 1
    assert "withheld" in files["report.html"]
    assert "withheld" in files["summary.md"].split("\n")[1]
    for label in ("Delta", "Evidence", "Smallest gain seen", "On flaky items"):
        assert f"- **{label}:** withheld\n" in files["summary.md"]

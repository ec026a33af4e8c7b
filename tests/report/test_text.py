"""The short report for a terminal."""

from __future__ import annotations

import io

import pytest

from gate.cli.streams import colours
from tests.report.faces import text
from tests.report.reports import MAKERS, report


@pytest.mark.parametrize("name", MAKERS)
def test_verdict_why_and_next_come_first(name: str) -> None:
    made = report(name)
    lines = text(made).split("\n")
    assert lines[0].startswith(made["verdict"])
    assert lines[1].startswith("why: ")


def test_every_rule_is_named_with_its_status() -> None:
    made = report("rich")
    found = text(made, form="explain")
    for reason in made["reasons"]:
        assert f"{reason['rule']}: " in found
    for label in ("Delta", "Evidence", "Smallest gain seen", "On flaky items", "Margin", "Cycles"):
        assert f"\n  {label} " in found


@pytest.mark.parametrize("name", MAKERS)
def test_the_short_form_is_a_screen_and_the_quiet_one_a_line(name: str) -> None:
    made = report(name)
    reports = made.get("reports", [made])
    assert text(made).count("\n") <= 17 * len(reports)
    assert text(made, form="quiet").count("\n") == 1
    assert text(made, form="quiet").startswith(f"{made['verdict']}: ")
    for one in reports:
        warnings = [line for line in text(one).split("\n") if line.startswith("! ")]
        assert len(warnings) <= 3
        assert one["next_step"] not in text(one).split("\n")[1], "next never repeats why"


def test_no_colour_unless_it_is_asked_for() -> None:
    assert "\x1b" not in text(report("rich"))
    assert "\x1b[1;32mpromote\x1b[0m" in text(report("passing"), colour=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_needs_a_terminal_and_no_objection() -> None:
    assert colours(Terminal(), {"TERM": "xterm"})
    assert not colours(io.StringIO(), {"TERM": "xterm"})
    assert not colours(Terminal(), {"NO_COLOR": "1"})
    assert not colours(Terminal(), {"TERM": "dumb"})
    assert colours(Terminal(), {"NO_COLOR": ""})


def test_long_lists_are_bounded_and_counted() -> None:
    made = report("rich")
    made["reasons"] = made["reasons"] * 100
    made["cautions"] = made["cautions"] * 100
    found = text(made, form="explain")
    assert f"and {len(made['reasons']) - 40} more rules" in found
    assert f"and {len(made['cautions']) - 40} more cautions" in found


def test_an_error_is_three_lines() -> None:
    assert text(report("error")) == "cannot decide\nwhy:  a.jsonl:3: 2 ids occur twice\nhelp: keep one\n"

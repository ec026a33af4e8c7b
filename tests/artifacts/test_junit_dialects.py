"""JUnit XML as runners other than pytest write it: a result that is no pass is never read as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.artifacts import ItemTable

from .helpers import refusal, table, values

METRICS = {"passed": "binary"}


def report(*cases: str) -> str:
    return f'<testsuites><testsuite name="s">{"".join(cases)}</testsuite></testsuites>'


def read(tmp_path: Path, *cases: str, **more: object) -> ItemTable:
    return table(tmp_path, report(*cases), "a.xml", metrics=METRICS, **more)


def outcome(tmp_path: Path, attributes: str, inner: str = "") -> object:
    """1 or 0; "none" where the test has no result; "broke" where its run failed."""
    found = read(tmp_path, f'<testcase name="t" {attributes}>{inner}</testcase>')
    if found.failed[0]:
        return "broke"
    value = values(found, "passed")["t"]
    return "none" if value is None else value


@pytest.mark.parametrize(
    ("attributes", "inner", "expected"),
    [
        ("", "", 1),
        ('status="run" result="completed"', "", 1),  # GoogleTest
        ('status="run" result="completed"', '<failure message="x"/>', 0),
        ('status="notrun" result="suppressed"', "", "none"),  # disabled
        ('status="run" result="skipped"', "", "none"),  # GTEST_SKIP of older versions
        ('status="run" result="skipped"', '<skipped message="x"/>', "none"),
        ('status="fail"', '<failure message="Failed"/>', 0),  # CTest
        ('status="disabled"', '<skipped message="Disabled"/>', "none"),
        ('status="notrun"', '<skipped message="SKIP_RETURN_CODE=77"/>', "none"),
        ('status="run" duration="1"', '<error message="exited with error code 1"/>', "broke"),  # Bazel
        ('status="FAILED"', "", 0),
        ('result="Passed"', "", 1),
        ('status="PASS"', "", 1),
        ('status="inactive"', "", "none"),
        ('status="ignored"', "", "none"),
        ('status="Skipped"', "", "none"),
        ('status="error"', "", "broke"),
        ('status="timeout"', "", "broke"),
        ('result="TimedOut"', "", "broke"),
        ('status="crashed" result="pass"', "", "broke"),
        ('status="passed" result="fail"', "", 0),
        ('status="inconclusive"', "", "none"),  # nobody knows it
        ('status="0"', "", "none"),
        ("", "<ignored/>", "none"),
        ("", "<skip/>", "none"),
        ("", "<Failure/>", 0),
        ("", "<timeout/>", "broke"),
        ("", "<properties/><system-out>failure</system-out>", 1),
        (
            "",
            '<flakyFailure message="x"><stackTrace>x</stackTrace></flakyFailure>',
            1,
        ),  # Maven
        ("", '<flakyError type="E"/>', 1),
        ("", '<failure message="x"/><rerunFailure message="x"><stackTrace/></rerunFailure>', 0),
        ("", '<rerunFailure message="x"/>', 0),
        ("", '<error message="x"/><rerunError message="x"/>', 0),
    ],
)
def test_what_a_test_says(tmp_path: Path, attributes: str, inner: str, expected: object) -> None:
    assert outcome(tmp_path, attributes, inner) == expected


def test_an_unknown_word_is_named(tmp_path: Path) -> None:
    found = read(tmp_path, '<testcase name="t" status="quarantined"/>')
    assert found.missing["passed"].examples == (("t", "line 1", "status quarantined"),)


def case(name: str, inner: str = "") -> str:
    return f'<testcase classname="C" name="{name}">{inner}</testcase>'


FAILURE = '<failure message="x"/>'


def test_the_last_attempt_counts(tmp_path: Path) -> None:
    """Gradle and gotestsum write each attempt as a test; Maven inside it."""
    attempts = (
        *(case("a", FAILURE), case("a", FAILURE), case("a")),
        *(case("b", FAILURE), case("c"), case("b", FAILURE)),
        case("d", "<flakyFailure/><flakyFailure/>"),
    )
    found = read(tmp_path, *attempts)
    assert values(found, "passed") == {"C::a": 1, "C::b": 0, "C::c": 1, "C::d": 1}
    assert dict(found.cautions)["tests_rerun"].startswith("5 failed attempts were run again")


@pytest.mark.parametrize("first", ["", "<skipped/>", "<flakyFailure/>"])
def test_a_test_of_the_same_name_is_no_retry(tmp_path: Path, first: str) -> None:
    """Nobody tries again what did not fail; then all that occurs twice is ambiguous."""
    twice = report(case("a", first), case("a"), case("b", FAILURE), case("b"))
    assert refusal(tmp_path, twice, "a.xml", metrics=METRICS).code == "duplicate_ids"


def test_declared_repeats_are_no_retries(tmp_path: Path) -> None:
    found = read(tmp_path, case("a", FAILURE), case("a"), repeat="repeat")
    assert found.values["passed"].tolist() == [0, 1]

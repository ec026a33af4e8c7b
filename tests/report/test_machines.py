"""JUnit for CI systems, in-toto for whoever signs, CSV for whoever works through the items."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import pytest

from gate.values import GateError
from tests.report.faces import bundle, flagged_csv, flips_csv, intoto, junit, statement
from tests.report.reports import MAKERS, ONE_CANDIDATE, repeat_rows, report, with_flips, xml

COUNTS = {"tests", "failures", "errors", "skipped"}
# What the JUnit schemas of Jenkins and GitLab have in common: element -> (attributes, children, required).
JUNIT = {
    "testsuites": (COUNTS | {"name"}, {"testsuite"}, COUNTS),
    "testsuite": (COUNTS | {"name"}, {"properties", "testcase"}, COUNTS | {"name"}),
    "properties": (set(), {"property"}, set()),
    "property": ({"name", "value"}, set(), {"name", "value"}),
    "testcase": ({"name", "classname"}, {"failure", "error", "skipped", "system-out"}, {"name", "classname"}),
    "failure": ({"type", "message"}, set(), {"type", "message"}),
    "error": ({"type", "message"}, set(), {"type", "message"}),
    "skipped": ({"message"}, set(), set()),
    "system-out": (set(), set(), set()),
}  # fmt: skip


def conforms(element: ET.Element) -> None:
    attributes, children, required = JUNIT[element.tag]
    assert required <= set(element.attrib) <= attributes, element.tag
    assert {child.tag for child in element} <= children, element.tag
    if element.tag == "testcase":
        assert len(element) <= 1, "one outcome a case"
    for child in element:
        conforms(child)


@pytest.mark.parametrize("name", [*MAKERS, "error"])
def test_junit_is_what_ci_systems_read(name: str) -> None:
    root = xml(junit(report(name)))
    conforms(root)
    for element in (root, *root.findall("testsuite")):
        for key, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(element.attrib[key]) == len(list(element.iter(tag)))


@pytest.mark.parametrize("name", ONE_CANDIDATE)
def test_there_is_one_case_a_rule(name: str) -> None:
    made = report(name)
    cases = {case.attrib["name"]: case for case in xml(junit(made)).iter("testcase")}
    expected = {
        "fail": "failure",
        "inconclusive": "failure",
        "not_gated": "skipped",
        "not_decided": "skipped",
    }
    for reason in made["reasons"]:
        child = cases[reason["rule"]][0]
        assert child.tag == expected.get(reason["status"], "system-out")
        if child.tag == "failure":
            assert child.attrib["type"] == reason["status"]
    assert ("cycles" in cases) == (made["cycles"]["required"] > 1)


def test_the_exit_code_and_junit_agree() -> None:
    for name in ONE_CANDIDATE:
        made = report(name)
        failed = bool(list(xml(junit(made)).iter("failure")))
        assert failed == (made["verdict"] in {"block", "inconclusive"})


def test_cycles_that_are_missing_are_skipped_and_passed_ones_pass() -> None:
    made = report("rich")
    for passed, tag in ((1, "skipped"), (3, "system-out")):
        made["cycles"]["passed"] = passed
        case = next(c for c in xml(junit(made)).iter("testcase") if c.attrib["name"] == "cycles")
        assert case[0].tag == tag


def test_an_error_document_is_an_error_and_no_failure() -> None:
    root = xml(junit(report("error")))
    assert (root.attrib["errors"], root.attrib["failures"]) == ("1", "0")


@pytest.mark.parametrize("name", ONE_CANDIDATE)
def test_a_statement_is_about_the_candidate_file(name: str) -> None:
    made = report(name)
    found = json.loads(intoto(made))
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert [s["digest"]["sha256"] for s in found["subject"]] == [made["provenance"]["candidate"]["sha256"]]
    predicate = found["predicate"]
    assert (predicate["result"] == "PASSED") == (made["verdict"] == "promote")
    listed = {reason["rule"] for reason in made["reasons"] if reason["status"] in {"fail", "inconclusive"}}
    assert set(predicate["failedTests"]) == listed


def test_a_waived_promotion_is_warned_and_a_hold_is_not_passed() -> None:
    made = report("passing")
    made["reasons"][0]["status"] = "waived"
    assert statement(made)["predicate"]["result"] == "WARNED"
    made = report("passing")
    made["verdict"] = "hold"
    assert statement(made)["predicate"]["result"] == "FAILED"


def test_several_challengers_make_one_statement_a_line() -> None:
    lines = intoto(report("several")).splitlines()
    subjects = [json.loads(text)["subject"][0]["digest"]["sha256"] for text in lines]
    assert len(set(subjects)) == len(report("several")["reports"]) == 2


def test_a_report_without_a_file_digest_has_no_statement() -> None:
    made = report("passing")
    made["provenance"]["candidate"]["sha256"] = "0" * 63
    with pytest.raises(GateError, match="SHA-256"):
        intoto(made)


@pytest.mark.parametrize("name", ONE_CANDIDATE)
def test_the_reference_library_accepts_the_statement(name: str) -> None:
    reason = "the in-toto-attestation package is not installed"
    statements = pytest.importorskip("in_toto_attestation.v1.statement_pb2", reason=reason)
    predicates = pytest.importorskip(
        "in_toto_attestation.predicates.test_result.v0.test_result_pb2", reason=reason
    )
    formats = pytest.importorskip("google.protobuf.json_format", reason=reason)
    checks = pytest.importorskip("in_toto_attestation.v1.statement", reason=reason)
    made = json.loads(intoto(report(name)))
    predicate = formats.ParseDict(made["predicate"], predicates.TestResult())
    assert predicate.result in {"PASSED", "WARNED", "FAILED"}
    parsed = formats.ParseDict(made, statements.Statement())
    wrapped = checks.Statement(parsed.subject, parsed.predicate_type, made["predicate"])
    wrapped.validate()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_flips_hold_every_change_of_the_report() -> None:
    made = report("rich")
    rows = rows_of(flips_csv(made))
    assert [row["id"] for row in rows] == [c["id"] for k in ("lost", "gained") for c in made["changes"][k]]
    assert {row["change"] for row in rows} == {"worse", "better"}
    assert rows[0]["question"].startswith("How do I change item ")
    assert len(rows_of(flips_csv(with_flips(5000, 200)))) == 5000


def test_flagged_items_have_k_of_k_on_both_sides() -> None:
    """Counted here from the rows themselves: at least two passes and two failures on a side."""
    counts: dict[str, list[list[int]]] = {}
    for side, table in enumerate(repeat_rows()):
        for row in table:
            counts.setdefault(row["id"], [[0, 0], [0, 0]])[side][0] += row["correct"]
            counts[row["id"]][side][1] += 1
    expected = {i: v for i, v in counts.items() if any(min(k, n - k) >= 2 for k, n in v)}
    rows = rows_of(flagged_csv(report("repeats")))
    assert len(expected) > 10
    assert {row["id"] for row in rows} == set(expected)
    for row in rows:
        (old, old_runs), (new, new_runs) = expected[row["id"]]
        assert [int(row[f"{s}_{k}"]) for s in ("baseline", "candidate") for k in ("passes", "runs")] == [
            *(old, old_runs),
            *(new, new_runs),
        ]
    sizes = [abs(float(row["delta"])) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert report("repeats")["gating"]["flaky"]["flagged"] == len(rows)


def test_challengers_are_told_apart_in_the_tables() -> None:
    rows = rows_of(flips_csv(report("several")))
    assert len({row["candidate_file"] for row in rows}) == 2


@pytest.mark.parametrize("name", [*MAKERS, "error"])
def test_a_bundle_has_every_file(name: str) -> None:
    found = bundle(report(name))
    assert set(found) == {"summary.md", "report.html", "junit.xml", "flips.csv", "flagged.csv"}
    assert found == bundle(report(name))
    assert all(re.search(r"\S", text) for text in found.values())

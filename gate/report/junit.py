"""The report as JUnit XML: one test case a rule, so that CI systems show what blocks."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from gate.report import sentences
from gate.report.model import Document, ErrorFacts, ErrorReport, Report, reports_of
from gate.report.rows import rule_rows
from gate.safe import visible

_SKIPPED = {"not decided", "not gated", "reported"}


def junit(document: Document) -> str:
    """One suite a report. A rule that fails or stays open is a failure, what was not gated is skipped.

    Cycles still missing are skipped, not failed: nothing went wrong. An error document (exit 2) is one case
    with an error.
    """
    root = ET.Element("testsuites", name="gate")
    if isinstance(document, ErrorReport):
        _error(root, document.error)
    for report in reports_of(document):
        _suite(root, report, alone=isinstance(document, Report))
    _count(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, report: Report, *, alone: bool) -> None:
    name = visible(sentences.name(report))
    title = name if alone else f"{name}: {visible(sentences.candidate(report))}"
    suite = ET.SubElement(root, "testsuite", name=title)
    properties = ET.SubElement(suite, "properties")
    for key, value in (("verdict", sentences.verdict(report)), ("signature", report.signature)):
        ET.SubElement(properties, "property", name=key, value=visible(value))
    for text in sentences.warnings(report.cautions, report):
        ET.SubElement(properties, "property", name="warning", value=visible(text))
    for row in rule_rows(report):
        _case(suite, name, row.rule, row.status, row.message)
    if report.cycles.required > 1:
        missing = report.cycles.passed < report.cycles.required
        _case(suite, name, "cycles", "reported" if missing else "pass", sentences.cycles(report))


def _case(suite: ET.Element, group: str, rule: str, status: str, message: str) -> None:
    case = ET.SubElement(suite, "testcase", classname=group, name=visible(rule))
    text = visible(message)
    if status in {"fail", "inconclusive", "error"}:
        found = ET.SubElement(case, "failure", type=status, message=text)
        found.text = text
    elif status in _SKIPPED:
        ET.SubElement(case, "skipped", message=text)
    else:
        ET.SubElement(case, "system-out").text = f"{status}: {text}"


def _error(root: ET.Element, error: ErrorFacts) -> None:
    suite = ET.SubElement(root, "testsuite", name="gate")
    case = ET.SubElement(suite, "testcase", classname="gate", name="cannot decide")
    text = visible(sentences.fault(error))
    found = ET.SubElement(case, "error", type=visible(error.code), message=text)
    found.text = visible(error.help) or text


def _count(root: ET.Element) -> None:
    for element in (*root.findall("testsuite"), root):
        for key, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            element.set(key, str(sum(1 for _ in element.iter(tag))))

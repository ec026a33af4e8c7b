"""JUnit XML as pytest writes it (xunit1 and xunit2), and as other runners do.

A test is an item: failure 0, nothing 1, skipped no value, error (set-up or tear-down) a run that broke. Where
a runner says it in the attributes ``status`` and ``result`` (GoogleTest, CTest) or in elements of its own,
that counts as much, and a word that nobody knows is no pass. Retries come as ``flakyFailure`` and
``rerunFailure`` (Maven, Gradle, Playwright, nextest) or as the same test again after a
failure; the last attempt counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from gate.artifacts import limits
from gate.artifacts.build import OWN_REPEATS
from gate.artifacts.content import Content
from gate.artifacts.formats.pytest_outcome import METRIC_PREFIX, measured, rerun_caution
from gate.artifacts.records import Records
from gate.artifacts.run_words import said
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import ReadRequest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, records
from gate.safe import examples, quoted
from gate.values import GateError


def load(content: Content, request: ReadRequest | None) -> Records:
    """All test cases of all suites."""
    reader = _Reader(content.path)
    tests = _merged(reader.read(content.whole()))
    retried = sum(test.retries for test in tests)
    if reader.counted is not None:
        kept = _last_attempts(tests, reader.counted, content.path)
    else:
        kept = tests if request is not None and request.repeat in OWN_REPEATS else _without_retries(tests)
    runs = [_run(test) for test in kept]
    context = Context(
        format="junit",
        path=content.path,
        facts=time_fact(reader.times),
        directions={"passed": "higher", "time": "lower"},
        cautions=rerun_caution(len(tests) - len(kept) + retried),
    )
    return records(runs, request, context)


@dataclass(slots=True)
class _Test:
    line: int
    attributes: dict[str, str]
    outcomes: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    retries: int = 0
    torn: bool = False
    """Whether pytest says that the tear-down broke."""

    @property
    def id(self) -> str:
        """``classname::name``."""
        group, name = self.attributes.get("classname", ""), self.attributes.get("name", "")
        return f"{group}::{name}" if group else name


_OUTCOMES = frozenset({"failure", "error", "skipped"})
_RETRIES = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun"})
_KEPT = _OUTCOMES | _RETRIES | {"testcase", "property"}
_SAYS = {"passed": None, "ran": None, "failed": "failure", "not_run": "skipped", "broke": "error"}
"""What a word of a runner stands for, as the element that other runners write."""
_ROOTS = frozenset({"testsuites", "testsuite"})


class _Reader:
    """Events of the parser to test cases. Text is not kept; document types are refused before they act."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.tests: list[_Test] = []
        self.stack: list[str] = []
        self.kept = 0
        self.counted: int | None = None
        self.times: set[str | None] = set()
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype

    def read(self, data: bytes) -> list[_Test]:
        """The tests, or a GateError with the line."""
        try:
            for start in range(0, len(data), limits.MIB):
                self.parser.Parse(data[start : start + limits.MIB], False)
                if start - self.parser.CurrentByteIndex > limits.LINE_BYTES:
                    raise self._too_large(f"one element of more than {limits.LINE_BYTES // limits.MIB} MiB")
            self.parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            line = self.parser.ErrorLineNumber
            raise GateError(
                "invalid_xml",
                f"not valid XML: {str(error)[:80]}",
                where=f"{self.path}:{line}",
                help="was the file cut short?",
            ) from None
        return self.tests

    def _doctype(self, *_: Any) -> None:
        raise GateError(
            "unsafe_xml",
            "document types and entities are not read",
            where=self.path,
            help="remove the DOCTYPE",
        )

    def _too_large(self, what: str) -> GateError:
        return GateError(
            "document_too_large",
            f"the report holds {what}",
            where=f"{self.path}:{self.parser.CurrentLineNumber}",
            help="split the report",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition("}")[2]
        if not self.stack and name not in _ROOTS:
            raise GateError(
                "unknown_format",
                f"XML that is no JUnit report (its root is {quoted(name)})",
                where=self.path,
                help="`gate formats` lists what is read",
            )
        if len(self.stack) >= limits.DEPTH:
            raise GateError("too_deep", f"nested deeper than {limits.DEPTH} levels", where=self.path)
        if not self.stack and attributes.get("name") == "pytest tests":
            self.counted = 0
        if name == "testsuite" and self.counted is not None and attributes.get("tests", "").isdecimal():
            self.counted += int(attributes["tests"])
        self.times.add(attributes.get("timestamp"))
        self.kept += name in _KEPT
        if self.kept > limits.ELEMENTS:
            raise self._too_large(f"more than {limits.ELEMENTS:,} tests, outcomes and properties")
        if name == "testcase":
            self.tests.append(_Test(self.parser.CurrentLineNumber, attributes))
        elif self.tests and "testcase" in self.stack:
            if name in _OUTCOMES:
                kind = attributes.get("type", "")
                self.tests[-1].outcomes.append("xfail" if kind == "pytest.xfail" else name)
                self.tests[-1].torn |= attributes.get("message", "").startswith("failed on teardown")
            elif name in _RETRIES:
                self._retry(name)
            elif name == "property" and "name" in attributes:
                self._property(attributes)
            elif self.stack[-1] == "testcase" and said(name) in {"failed", "not_run", "broke"}:
                self.tests[-1].outcomes.append(_SAYS[said(name) or "ran"] or "")
        self.stack.append(name)

    def _retry(self, name: str) -> None:
        """An attempt before the last one. ``rerun...`` stands beside the failure that was not mended."""
        self.tests[-1].retries += 1
        if name in {"rerunFailure", "rerunError"}:
            self.tests[-1].outcomes.append("failure")

    def _property(self, attributes: dict[str, str]) -> None:
        known, name = self.tests[-1].properties, attributes["name"]
        if name in known:
            raise GateError(
                "duplicate_key",
                f"the property {quoted(name)} occurs twice in one test",
                where=f"{self.path}:{self.parser.CurrentLineNumber}",
                help="record each property once",
            )
        known[name] = attributes.get("value", "")

    def _end(self, _: str) -> None:
        self.stack.pop()


def _merged(tests: list[_Test]) -> list[_Test]:
    """pytest writes a test that fails and then breaks in its tear-down twice; others may lie between."""
    kept: list[_Test] = []
    latest: dict[str, _Test] = {}
    for test in tests:
        last = latest.get(test.id)
        if (
            last is not None
            and test.outcomes == ["error"]
            and "error" not in last.outcomes
            and (last is kept[-1] or (test.torn and "failure" in last.outcomes))
        ):
            last.outcomes.append("error")
        else:
            kept.append(test)
            latest[test.id] = test
    return kept


def _last_attempts(tests: list[_Test], counted: int, path: str) -> list[_Test]:
    """pytest writes an attempt that failed and was run again as a test that passed, and does not count it."""
    last = {test.id: test for test in tests}
    again = [test for test in tests if last[test.id] is not test]
    if not again or counted == len(tests) or any(test.outcomes for test in again):
        return tests
    if counted < len(tests):
        return list(last.values())
    raise GateError(
        "duplicate_ids",
        f"tests occur more than once; if they were run again, failed attempts are written as passed "
        f"({examples(list(dict.fromkeys(test.id for test in again)))})",
        where=f"{path}:{again[0].line}",
        help="run the tests without reruns, or without subtests in the same report",
    )


def _without_retries(tests: list[_Test]) -> list[_Test]:
    """Gradle and gotestsum write each attempt as a test; a runner tries again only what failed."""
    attempts: dict[str, list[_Test]] = {}
    for test in tests:
        attempts.setdefault(test.id, []).append(test)
    again = [test for same in attempts.values() for test in same[:-1]]
    if not all(_worst({*test.outcomes, *_attributes(test)}) in {"failure", "error"} for test in again):
        return tests
    return [same[-1] for same in attempts.values()]


def _attributes(test: _Test) -> Iterator[str]:
    """What the attributes say that no element says."""
    for name in ("status", "result"):
        word = test.attributes.get(name, "")
        meaning = said(word)
        if meaning is None or word.isdecimal():  # 0 is an exit code here and a failure there
            yield f"{name} {word[:40]}"
        elif _SAYS[meaning] is not None:
            yield _SAYS[meaning] or ""


def _worst(outcomes: set[str]) -> str | None:
    """A failure is a result; an error, a skipped test and an unknown word are none. None: a pass."""
    known = next((one for one in ("failure", "error", "skipped", "xfail") if one in outcomes), None)
    return known or min(outcomes, default=None)


def _run(test: _Test) -> Run:
    outcome = _worst({*test.outcomes, *_attributes(test)})
    passed: Any = 1 if outcome is None else 0 if outcome == "failure" else NoNumber(outcome)
    values = {METRIC_PREFIX + name: measured(value) for name, value in test.properties.items()}
    metrics: dict[str, Any] = {"passed": passed}
    if "time" in test.attributes:
        metrics["time"] = measured(test.attributes["time"].replace(",", ""))
    raw = {**test.attributes, "properties": test.properties, **test.properties}
    plain = {name: measured(value) for name, value in test.properties.items() if name not in metrics}
    return Run(test.id, {**metrics, **plain, **values}, raw, failed=outcome == "error", line=test.line)

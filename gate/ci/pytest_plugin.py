"""``pytest --gate-out results.jsonl``: what each test found, one row a run, for two runs and ``gate run``.

Loaded by every pytest of an environment that has the gate, so it imports nothing but pytest, and it does
nothing unless it is asked to. The rows are written when the run has ended as it should: what was interrupted
leaves an empty file, which the gate refuses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

RECORD, BROKE = "gate_record", "gate_broke"
"""Names of the properties in which a report carries what was recorded, from xdist's workers too."""
OWN = frozenset({"id", "repeat", "passed", "duration_s", "status", "error"})
_RUN = "gate-run-{}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options."""
    group = parser.getgroup("gate", "results for the release gate")
    group.addoption("--gate-out", metavar="FILE", help="write one JSON line a test there, for gate run")
    group.addoption("--gate-repeats", metavar="K", type=int, default=1, help="run every test K times")


def pytest_configure(config: pytest.Config) -> None:
    """Claim the file, so that an old one is never taken for this run's. xdist's workers write none."""
    target = config.getoption("--gate-out")
    if config.getoption("--gate-repeats") < 1:
        raise pytest.UsageError("--gate-repeats takes a whole number from 1 on")
    if target is not None:
        config.pluginmanager.register(_Faults(), "gate-faults")
    if target is None or hasattr(config, "workerinput"):
        return
    path = Path(target).absolute()
    try:
        path.write_text("")
    except OSError as error:
        raise pytest.UsageError(f"--gate-out {target}: {error.strerror}") from None
    repeated = config.getoption("--gate-repeats") > 1
    config.pluginmanager.register(_Rows(path, repeated=repeated), "gate-rows")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeats are parameters, so that each has its own fixtures and xdist may spread them."""
    repeats = metafunc.config.getoption("--gate-repeats")
    if repeats > 1:
        metafunc.fixturenames.append("_gate_run")
        numbers = range(1, repeats + 1)
        metafunc.parametrize("_gate_run", numbers, indirect=True, ids=[_RUN.format(k) for k in numbers])


@pytest.fixture
def _gate_run(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def gate_record(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``gate_record(score=0.8, language="de")``: numbers become metrics, texts become columns of the row."""
    kept: dict[str, Any] = {}
    request.node.user_properties.append((RECORD, kept))

    def record(**values: float | str) -> None:
        for name, given in values.items():
            value = given.item() if hasattr(given, "item") else given
            if name in OWN:
                raise ValueError(f"gate_record: {name} is written by the gate itself; use another name")
            if not isinstance(value, int | float | str) or value in {math.inf, -math.inf}:
                raise TypeError(f"gate_record: {name} takes a finite number or a text (found {value!r:.60})")
            kept[name] = None if isinstance(value, float) and math.isnan(value) else value

    return record


class _Faults:
    """An assertion that fails is a result; anything else that is raised means that there is none."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and call.excinfo is not None:
            asserted = call.excinfo.errisinstance((AssertionError, pytest.fail.Exception))
            if call.when != "call" or not asserted:
                report.user_properties.append((BROKE, call.excinfo.typename))
        return report


class _Rows:
    """The rows of one run, by the test's name with its repeat."""

    def __init__(self, path: Path, *, repeated: bool) -> None:
        self.path, self.repeated = path, repeated
        self.rows: dict[str, dict[str, Any]] = {}
        self.called: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setup, call and teardown of one test; under xdist, on the controller, in any order of tests.

        A row is an error until its call is told, so a worker that dies leaves one. Of a test that another
        plugin runs again when it failed, the first result counts: a retry that chooses is no evidence.
        """
        row = self.rows.setdefault(report.nodeid, _row(report.nodeid, repeated=self.repeated))
        properties = dict(report.user_properties)
        again = report.when == "call" and report.nodeid in self.called
        if report.when == "call" and not again:
            self.called.add(report.nodeid)
            recorded: dict[str, Any] = dict(properties).get(RECORD, {})  # type: ignore[assignment]
            row |= recorded
            skipped = report.skipped and not hasattr(report, "wasxfail")
            row |= {"status": "skipped" if skipped else "completed", "passed": report.passed}
            row |= {"duration_s": report.duration}
        elif report.skipped:
            row["status"] = "skipped"
        if BROKE in properties:
            row |= {"status": "error", "error": properties[BROKE]}
        if row["status"] != "completed":
            row["passed"] = None

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write them, unless the run was broken off: then tests are missing that nobody would miss."""
        ended = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
        if ended and not (session.shouldfail or session.shouldstop):
            lines = [json.dumps(row, ensure_ascii=False) for row in self.rows.values()]
            self.path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _row(nodeid: str, *, repeated: bool) -> dict[str, Any]:
    """A run of which nothing is known yet. A test keeps its id whatever the number of the run."""
    name, repeat = _numbered(nodeid) if repeated else (nodeid, 1)
    return {"id": name, "repeat": repeat, "passed": None, "status": "error", "error": None}


def _numbered(nodeid: str) -> tuple[str, int]:
    """``f[a-gate-run-2]`` is the second run of ``f[a]``; a test that takes no parameters has one run."""
    head, mark, rest = nodeid.rpartition(_RUN.format(""))
    number = rest.partition("-")[0].partition("]")[0]
    if not mark or not number.isdigit():
        return nodeid, 1
    rest = rest.removeprefix(number)
    if head.endswith("["):
        return (head[:-1] if rest == "]" else head + rest.removeprefix("-")), int(number)
    return head.removesuffix("-") + rest, int(number)

"""Every report is what its schema says, and the gate's own check agrees with a full validator."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.policy.schema import policy_schema
from gate.report.model import ErrorReport, Report, Reports, json_schema
from gate.report.saved import checked
from gate.values import GateError
from tests.black_box import command
from tests.report.faces import again
from tests.report.reports import ERROR, ONE_CANDIDATE, RICH, report, small, with_series

REPORT = json_schema(Report)
SCHEMAS = {
    "report": REPORT,
    "reports": json_schema(Reports),
    "error": json_schema(ErrorReport),
    "policy": policy_schema(),
}


def fault(document: dict[str, Any]) -> str | None:
    try:
        checked(document)
    except GateError as error:
        return error.message
    return None


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_schemas(name: str) -> None:
    made = SCHEMAS[name]
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("name", ONE_CANDIDATE)
def test_every_report_validates(name: str) -> None:
    jsonschema.validate(small(name), REPORT)
    assert again(report(name)) == report(name)


def test_several_errors_and_series_validate() -> None:
    jsonschema.validate(small("several"), SCHEMAS["reports"])
    jsonschema.validate(ERROR, SCHEMAS["error"])
    jsonschema.validate(with_series(), REPORT)
    assert again(report("several")) == report("several")
    assert again(ERROR) == ERROR


@pytest.mark.parametrize("name", ["policy", "report", "reports", "error", "history"])
def test_the_command_prints_them(name: str) -> None:
    done = command("schema", name)
    assert done.code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(done.out))


def test_a_policy_of_every_section_validates() -> None:
    jsonschema.validate(RICH, policy_schema())


def places(document: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a document."""
    found = [at] if at else []
    if isinstance(document, dict):
        for key, value in document.items():
            found += places(value, (*at, key))
    elif isinstance(document, list):
        for k, value in enumerate(document[:2]):
            found += places(value, (*at, k))
    return found


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    target = document
    for step in path[:-1]:
        target = target[step]
    if value is ...:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return document


ODD = [None, True, 0, -1, 1.5, 2**60, "", "text", [], {}, [None], {"a": 1}, ...]
PLACES = {name: places(small(name)) for name in ("rich", "repeats")}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(PLACES)), st.data())
def test_our_check_agrees_with_a_full_validator(name: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(PLACES[name]))
    document = changed(small(name), path, data.draw(st.sampled_from(ODD)))
    valid = jsonschema.Draft202012Validator(REPORT).is_valid(document)
    assert (fault(document) is None) == valid


def test_a_fault_names_its_place() -> None:
    made = report("rich")
    made["gating"]["n"] = "many"
    prefix = "not a valid gate.report/1 document: "
    assert fault(made) == f"{prefix}Expected int, got str - at gating.n"
    made = report("rich")
    del made["reasons"][1]["rule"]
    assert fault(made) == f"{prefix}Object missing required field rule - at reasons[1]"
    made = report("rich")
    made["gating"]["status"] = "\x1b[1m`$.\ud800" + "x" * 500
    assert "utf-8" in str(fault(made))

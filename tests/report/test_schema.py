"""Every report is what its schema says, and the gate's own check agrees with a full validator."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.policy.schema import policy_schema
from gate.report.conforms import first_fault
from gate.report.schema import any_schema, error_schema, report_schema, reports_schema
from tests.black_box import command
from tests.report.reports import ERROR, ONE_CANDIDATE, RICH, report, small, with_series

SCHEMAS = {"report": report_schema, "reports": reports_schema, "error": error_schema, "policy": policy_schema}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_schemas(name: str) -> None:
    made = SCHEMAS[name]()
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(made)


@pytest.mark.parametrize("name", ONE_CANDIDATE)
def test_every_report_validates(name: str) -> None:
    jsonschema.validate(small(name), report_schema())
    jsonschema.validate(small(name), any_schema())
    assert first_fault(report(name), report_schema()) is None


def test_several_errors_and_series_validate() -> None:
    jsonschema.validate(small("several"), reports_schema())
    jsonschema.validate(ERROR, error_schema())
    jsonschema.validate(with_series(), report_schema())
    assert first_fault(report("several"), any_schema()) is None
    assert first_fault(ERROR, any_schema()) is None


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
    valid = jsonschema.Draft202012Validator(report_schema()).is_valid(document)
    assert (first_fault(document, report_schema()) is None) == valid


def test_a_fault_names_its_place() -> None:
    made = report("rich")
    made["gating"]["n"] = "many"
    assert first_fault(made, report_schema()) == "gating.n is not an integer"
    made = report("rich")
    del made["reasons"][1]["rule"]
    assert first_fault(made, report_schema()) == "reasons[1].rule is missing"

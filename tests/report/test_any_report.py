"""No renderer falls over any document that the schema allows: those come from anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gate.cli.render import FORMATS
from gate.report.model import Report, Reports, json_schema, to_json
from gate.values import GateError
from tests.black_box import command
from tests.report.faces import flagged_csv, flips_csv, rendered
from tests.report.reports import MAKERS, report, xml
from tests.report.schema_values import values_of

SCHEMA, SEVERAL = json_schema(Report), json_schema(Reports)
ANY = st.one_of(values_of(SCHEMA, SCHEMA["$defs"]), values_of(SEVERAL, SEVERAL["$defs"]))
MAKING = (Phase.explicit, Phase.reuse, Phase.generate)
QUIET = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), phases=MAKING)
"""Whole documents take minutes to shrink, and the line that fell over says enough."""


def signable(document: dict[str, Any]) -> bool:
    """Whether the run decides, and every file of it has a digest that a statement can be about."""
    files = [one["provenance"] for one in document.get("reports", [document])]
    sources = [one[side] for one in files for side in SIDES]
    sources += [run for one in files for run in one.get("baseline_runs") or ()]
    digests = all(re.fullmatch("[0-9a-f]{64}", source.get("sha256") or "") for source in sources)
    return digests and document.get("decides") is not False


SIDES = ("baseline", "candidate")


@QUIET
@given(ANY)
def test_every_format_renders_any_valid_document(document: dict[str, Any]) -> None:
    for form in FORMATS:
        if form == "intoto" and not signable(document):
            with pytest.raises(GateError, match=r"SHA-256|nothing to attest"):
                rendered(document, form)
            continue
        found = rendered(document, form)
        assert found.encode("utf-8", "strict")
        if form == "junit":
            assert xml(found).tag == "testsuites"
    assert flips_csv(document).endswith("\n")
    assert flagged_csv(document).endswith("\n")


@pytest.mark.parametrize("name", [*MAKERS, "error"])
@pytest.mark.parametrize("form", FORMATS)
def test_the_command_renders_what_was_saved(name: str, form: str, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    saved.write_text(to_json(report(name)), encoding="utf-8")
    done = command("render", saved, "--format", form)
    if (name, form) == ("error", "intoto"):
        assert "no candidate" in done.error
        return
    assert (done.code, done.err) == (0, "")
    assert done.out.rstrip("\n") == rendered(report(name), form).rstrip("\n")
    if form == "json":
        assert done.out == saved.read_text(encoding="utf-8")


NO_REPORTS = json.dumps(
    {"schema": "gate.reports/1", "verdict": "hold", "exit_code": 4, "winner": None, "reports": []}
)


def fault(tmp_path: Path, text: str | bytes, form: str = "markdown") -> str:
    saved = tmp_path / "report.json"
    saved.write_bytes(text if isinstance(text, bytes) else text.encode())
    return command("render", saved, "--format", form).error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("{", "not valid JSON"),
        ("[]", "not a report"),
        ("null", "not a report"),
        ('{"schema": "gate.report/2"}', "this version of gate reads"),
        ('{"schema": "something/1"}', "not a report"),
        ('{"schema": ["gate.report/1"]}', "not a report"),
        ('{"schema": "gate.report/1"}', "missing required field tool_version"),
        ('{"schema": "gate.error/1", "error": {}}', "missing required field code - at error"),
        (NO_REPORTS, "length >= 1 - at reports"),
        ('{"schema": "gate.report/1", "schema": "gate.report/1"}', "twice"),
        ('{"schema": NaN}', "NaN"),
        ('{"schema": 1e999}', "too large"),
        ('{"schema": ' + "9" * 5000 + "}", "too large"),
        ("[" * 100_000, "nested"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b'{"schema": "\xff"}', ""),
        ('{"schema": "\\ud800"}', "not a report"),
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_a_foreign_file_is_an_error_and_never_a_traceback(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    assert words in fault(tmp_path, text)


def test_one_changed_value_is_named(tmp_path: Path) -> None:
    made = report("rich")
    made["gating"]["interval"]["low"] = "0.1"
    assert "gating.interval" in fault(tmp_path, json.dumps(made))


def test_a_missing_file_and_an_unknown_format_are_errors(tmp_path: Path) -> None:
    assert command("render", tmp_path / "none.json").code == 2
    assert "invalid choice" in command("render", tmp_path / "none.json", "--format", "pdf").error

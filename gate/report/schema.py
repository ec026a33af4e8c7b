"""JSON Schemas (2020-12) of what the gate writes. Readers must ignore keys they do not know.

One description serves editors, other programs and ``gate render``.
"""

from __future__ import annotations

from gate.report.blocks import DEFINITIONS, REPORTS
from gate.report.vocabulary import TEXT, Schema, block, one_of, ref

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def report_schema() -> Schema:
    """``gate.report/1``."""
    return _document("report:1", "Paired Gate report", ref("report"), DEFINITIONS)


def reports_schema() -> Schema:
    """``gate.reports/1``: several challengers."""
    return _document("reports:1", "Paired Gate report on several challengers", REPORTS, DEFINITIONS)


def error_schema() -> Schema:
    """``gate.error/1``: exit 2."""
    error = block({"code": TEXT, "message": TEXT, "where": TEXT, "help": TEXT})
    body = block({"schema": one_of("gate.error/1"), "error": error})
    return _document("error:1", "Paired Gate error", body, {})


def any_schema() -> Schema:
    """Any of the three documents that ``--json`` writes, told apart by their ``schema``."""
    error = error_schema()
    options = [ref("report"), REPORTS, {key: error[key] for key in ("type", "properties", "required")}]
    return _document("output:1", "Paired Gate output", {"anyOf": options}, DEFINITIONS)


def _document(name: str, title: str, body: Schema, definitions: dict[str, Schema]) -> Schema:
    found = {"$schema": DIALECT, "$id": f"urn:paired-gate:{name}", "title": title, **body}
    return {**found, "$defs": definitions} if definitions else found

"""``gate schema``: the JSON Schemas of what the gate reads and writes."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gate.cli.streams import Streams

EPILOG = """\
examples:
  gate schema policy > gate.schema.json       completion and checks for gate.yaml in your editor
  gate schema report                          gate.report/1, what --json writes for one candidate"""

NAMES = {
    "policy": "a policy file",
    "suite": "a suite of gate replay",
    "report": "the report on one candidate (gate.report/1)",
    "reports": "the report on several challengers (gate.reports/1)",
    "error": "the error of exit 2 (gate.error/1)",
    "judge": "what gate judge writes of a judge (gate.judge/1)",
    "history": "one line of the history (gate.history/2)",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate schema``."""
    described = "; ".join(f"{name}: {text}" for name, text in NAMES.items())
    parser.add_argument("name", choices=tuple(NAMES), metavar="NAME", help=described)


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """Print one schema."""
    streams.print(json.dumps(schema_of(args.name), indent=1, ensure_ascii=True) + "\n")
    return 0


def schema_of(name: str) -> dict[str, Any]:
    """The schema with this name."""
    if name == "policy":
        from gate.policy.schema import policy_schema

        return policy_schema()
    if name == "suite":
        from gate.replay.suite import suite_schema

        return suite_schema()
    if name == "history":
        from gate.history.schema import history_schema

        return history_schema()
    from gate.report.model import ErrorReport, Report, Reports, json_schema

    if name == "judge":
        from gate.run.judge_evidence import Found

        return json_schema(Found)
    if name == "error":
        return json_schema(ErrorReport)
    return json_schema(Reports if name == "reports" else Report)

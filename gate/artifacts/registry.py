"""Every format by name: what it reads and which module reads it. Importing this imports no reader."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

from gate.artifacts import layouts
from gate.artifacts.content import Content
from gate.artifacts.records import Records
from gate.artifacts.table import ReadRequest
from gate.safe import quoted
from gate.values import GateError


class Load(Protocol):
    """Read a file: the requested columns, or without a request everything for a first look."""

    def __call__(self, content: Content, request: ReadRequest | None) -> Records:
        """The rows as they lie in the file."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """name: as in the policy. reads: one line for people. item, metrics: what they are called there.

    systems: one file may hold several. own_items: a tool's layout, with items of its own.
    """

    name: str
    module: str
    reads: str
    item: str
    metrics: str
    function: str = "load"
    systems: bool = False

    @property
    def why(self) -> str:
        """What makes sure that a file is of this format."""
        layout = layouts.BY_NAME.get(self.name)
        if layout is None:
            return "its first bytes and keys"
        beside = f", and the document {', '.join(layout.beside)}" if layout.beside else ""
        return f"its first row has {', '.join(layout.sure)}{beside}"

    @property
    def own_items(self) -> bool:
        """Whether the format has ids of its own, and not a column that the policy names."""
        return self.item != _MAPPED

    def load(self) -> Load:
        """The reader, imported now."""
        if self.module == "by_layout":
            reader = importlib.import_module("gate.artifacts.formats.by_layout")
            return cast("Load", partial(reader.read_layout, layouts.BY_NAME[self.name]))
        return cast(
            "Load", getattr(importlib.import_module(f"gate.artifacts.formats.{self.module}"), self.function)
        )


_MAPPED = "your id column (items.id)"
_ANY = "any column; artifacts.mapping gives paths"
FORMATS = (
    Format("csv", "delimited", "CSV with a header; comma, semicolon or |", _MAPPED, _ANY),
    Format("tsv", "delimited", "tab-separated text with a header", _MAPPED, _ANY),
    Format(
        "json", "mapped_json", "JSON: list of objects, {columns, data}, or one list inside", _MAPPED, _ANY
    ),
    Format("jsonl", "mapped_json", "JSON Lines: one object a line", _MAPPED, _ANY, "load_lines"),
    Format("parquet", "parquet", "Parquet; struct fields by dotted path", _MAPPED, _ANY),
    Format("npz", "npz", "NumPy .npz with one array a column", _MAPPED, "the name of an array"),
    Format(
        "junit",
        "junit",
        "JUnit XML of pytest and others",
        "classname::name",
        "passed, time, recorded properties",
    ),
    Format(
        "pytest_json", "pytest_json", "pytest-json-report", "nodeid", "passed, duration, recorded properties"
    ),
    Format(
        "lm_eval",
        "lm_eval",
        "lm-evaluation-harness samples_*.jsonl, all layouts",
        "doc_id",
        "metric or metric,filter: exact_match,flexible-extract",
    ),
    Format(
        "promptfoo",
        "promptfoo",
        "promptfoo results, JSON of version 2 and 3 or JSON Lines",
        "vars of the test case",
        "success, score, named scores, latencyMs, cost",
        systems=True,
    ),
    Format("inspect", "inspect_log", "Inspect logs, .eval and .json", "sample id", "scorer or scorer.key"),
    Format(
        "deepeval",
        "deepeval",
        "DeepEval test runs",
        "name of the case, else its input",
        "metric name, success",
    ),
    Format(
        "terminal_bench",
        "terminal_bench",
        "terminal-bench results.json",
        "task id",
        "resolved, resolved_of_completed",
    ),
    Format("alpaca_eval", "alpaca_eval", "AlpacaEval annotations", "instruction", "win"),
    Format("swebench", "swebench", "SWE-bench run reports", "instance id", "resolved, resolved_of_completed"),
    Format(
        "evalplus", "evalplus", "EvalPlus and BigCodeBench eval_results.json", "task id", "base, plus; pass"
    ),
    Format(
        "replay",
        "replayed",
        "artifacts of gate replay",
        "case, or case/turn",
        "the scorer's scores, latency_ms, input_tokens, output_tokens, cost",
    ),
    *(
        Format(one.name, "by_layout", one.reads, one.item, one.shows, systems=one.system is not None)
        for one in layouts.LAYOUTS
    ),
)
BY_NAME = {entry.name: entry for entry in FORMATS}


def named(name: str) -> Format:
    """The format called ``name``, or a GateError that lists them."""
    if name not in BY_NAME:
        raise GateError(
            "unknown_format",
            f"there is no format {quoted(name)} (there are: {', '.join(BY_NAME)})",
            help="leave out artifacts.format to have it detected from the file's bytes",
        )
    return BY_NAME[name]

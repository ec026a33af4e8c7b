"""DeepEval test runs: a case has metrics with scores; a metric that raised has an error and no score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.ids import content_id
from gate.artifacts.oddities import EMPTY, blank
from gate.artifacts.records import Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.texts import canonical, text_digest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, contradiction, records
from gate.safe import quoted
from gate.values import GateError

_NUMBERED = re.compile(r"(?:conversational_)?test_case_\d+")
"""Names that the tool makes up by position."""
_LOWER = ("bias", "toxicity", "hallucination")
"""Metrics of the tool for which lower is better; a custom one (GEval) always asks for a score of at least."""
Case = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """All cases, single-turn and conversational."""
    document = content.document()
    if "test_cases_lookup_map" in document:
        raise GateError(
            "unknown_format",
            "a cache of DeepEval, which mixes the metrics of several runs",
            where=content.path,
            help="give the run: .deepeval/.latest_test_run.json, or the file in DEEPEVAL_RESULTS_FOLDER",
        )
    inner = document.get("testRunData")
    run = inner if isinstance(inner, dict) else document
    refuse_doubled(run, content.path, None)
    cases = [
        case for key in ("testCases", "conversationalTestCases") for case in _cases(run, key, content.path)
    ]
    runs = [
        Run(key, _metrics(case, content.path), case) for key, case in zip(_keys(cases), cases, strict=True)
    ]
    names = {name for run in runs for name in run.metrics}
    context = Context(
        format="deepeval",
        path=content.path,
        place=lambda row: f"case {row + 1}",
        facts={"judge": _judges(cases)} | _time(document, run),
        stated=tuple(_stated(cases)),
        directions={name: _direction(name) for name in names} | _told_directions(cases),
        extra={"target_hash": [text_digest(case.get("expectedOutput")) for case in cases]},
        noted={EMPTY: ["actualOutput" in case and blank(case["actualOutput"]) for case in cases]},
    )
    return records(runs, request, context)


def _cases(run: Mapping[str, Any], key: str, path: str) -> list[Case]:
    found = run.get(key) or []
    if not isinstance(found, list) or not all(isinstance(case, dict) for case in found):
        raise GateError("invalid_json", f"{key} is no list of objects", where=path)
    for index, case in enumerate(found):
        refuse_doubled(case, f"{path} ({key} {index + 1})", None)
    return found


def _keys(cases: list[Case]) -> list[Any]:
    """Names where people gave them to each case; else what went in, since positions are no identity."""
    names = [case.get("name") for case in cases]
    texts = [name for name in names if isinstance(name, str) and name and not _NUMBERED.fullmatch(name)]
    if len(set(texts)) == len(cases):
        return names
    return [content_id(_input(case)) for case in cases]


def _input(case: Case) -> str:
    for key in ("input", "scenario"):
        found = case.get(key)
        if isinstance(found, str) and found:
            return found
    turns = case.get("turns")
    turns = turns if isinstance(turns, list) else []
    asked = [
        turn.get("content")
        for turn in turns or ()
        if isinstance(turn, Mapping) and turn.get("role") == "user"
    ]
    return canonical(asked) if asked else str(case.get("name"))


def _metrics(case: Case, path: str) -> dict[str, Any]:
    _refuse_contradiction(case, path)
    found: dict[str, Any] = {"success": _success(case)}
    for metric in _data(case):
        name = metric.get("name")
        if not isinstance(name, str):
            continue
        if name in found:
            raise GateError(
                "duplicate_key",
                f"a case has the metric {quoted(name)} twice",
                where=path,
                help="give each metric a name of its own",
            )
        error = metric.get("error")
        found[name] = NoNumber("error in the metric") if error else metric.get("score")
        found[f"{name}.success"] = NoNumber("error in the metric") if error else metric.get("success")
    return found


def _refuse_contradiction(case: Case, path: str) -> None:
    failed = [str(m.get("name")) for m in _data(case) if m.get("success") is False and not m.get("error")]
    if failed and case.get("success") is True:
        raise contradiction(f"a case is a success, but not by its metric {quoted(failed[0])}", path)


def _success(case: Case) -> Any:
    """A metric that raised makes the tool say false; a case that no other metric failed has no result."""
    data = _data(case)
    raised = any(metric.get("error") for metric in data)
    if raised and not any(metric.get("success") is False and not metric.get("error") for metric in data):
        return NoNumber("error in a metric")
    return case.get("success")


def _data(case: Case) -> list[Mapping[str, Any]]:
    listed = case.get("metricsData")
    return [metric for metric in listed if isinstance(metric, Mapping)] if isinstance(listed, list) else []


def _judges(cases: list[Case]) -> dict[str, str]:
    """Metric -> the model that judged it."""
    found: dict[str, str] = {}
    for case in cases:
        for metric in _data(case):
            name, judge = metric.get("name"), metric.get("evaluationModel")
            if isinstance(name, str) and isinstance(judge, str):
                found[name] = judge
    return found


def _time(*found: Mapping[str, Any]) -> dict[str, str]:
    return time_fact(one.get(key) for one in found for key in ("createdAt", "created_at"))


def _stated(cases: list[Case]) -> Iterator[Stated]:
    """What decided each metric: the threshold its success, strictness and criteria its score as well."""
    data = [{metric["name"]: metric for metric in _data(case) if "name" in metric} for case in cases]
    for name in dict.fromkeys(name for metrics in data for name in metrics if isinstance(name, str)):
        passed = frozenset({"success", f"{name}.success"})
        for what, key, decided in (
            ("threshold", "threshold", passed),
            ("strictMode", "strictMode", passed | {name}),
            ("criteria", "verboseLogs", passed | {name}),
        ):
            cells = tuple(_text(key, metrics.get(name, {}).get(key)) for metrics in data)
            yield Stated(f"the {what} of {quoted(name)}", cells, decided)


def _text(key: str, found: Any) -> str | None:
    """As text; of the log of a metric only the criteria, which are the user's own words."""
    if key != "verboseLogs":
        return None if found is None else canonical(found)
    criteria, steps, _ = found.partition("Evaluation Steps") if isinstance(found, str) else ("", "", "")
    return criteria.strip() if steps and criteria.startswith("Criteria") else None


def _direction(name: str) -> str:
    own = name.lower().startswith(_LOWER) and "geval" not in name.lower()
    return "lower" if own and not name.endswith(".success") else "higher"


def _told_directions(cases: list[Case]) -> dict[str, str]:
    """Directions that score, threshold and success tell: on which side of its bar a score passes."""
    fits: dict[str, set[str]] = {}
    for metric in (metric for case in cases for metric in _data(case)):
        name, score, bar = (metric.get(key) for key in ("name", "score", "threshold"))
        passed = metric.get("success")
        if type(passed) is not bool or not isinstance(score, int | float) or not isinstance(bar, int | float):
            continue
        found = {way for way, fit in (("higher", score >= bar), ("lower", score <= bar)) if fit is passed}
        fits[str(name)] = fits.get(str(name), {"higher", "lower"}) & found
    return {name: ways.pop() for name, ways in fits.items() if len(ways) == 1}

"""Whatever a file holds, a reader returns a table or raises a GateError: no other exception, no hang."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.artifacts import ItemTable, comparable, describe_formats, detect, read, survey
from gate.values import GateError

from . import tools
from .helpers import ask, write
from .test_blocks import in_blocks, row_by_row, same
from .test_tools import SAMPLES
from .tools import even

METRICS = {
    **dict.fromkeys(
        ("score", "success", "passed", "acc", "acc,none", "base", "plus", "resolved", "match"), "binary"
    ),
    **dict.fromkeys(
        ("tone", "both.exact", "latencyMs", "property:score", "Relevancy [GEval]", "m.acc"), "graded"
    ),
}
LENIENT = ask(
    metrics=METRICS,
    optional=frozenset({*METRICS, "topic", "vars.topic", "doc.subject"}),
    columns=("topic", "vars.topic", "doc.subject"),
    words={"PASS": 1.0},
)
STRICT = ask(metrics={"score": "graded"}, id="id", id_declared=True, repeat="repeat")
TEXTS = {name: content for name, content in SAMPLES.items() if isinstance(content, str)}
TEXTS |= {"lm_eval_old": tools.lm_eval_old(3, even), "promptfoo_v2": tools.promptfoo_v2(4, even)}
TEXTS["inspect_json"] = tools.inspect_json(tools.inspect_samples(2, 2, even))
JSON_DOCUMENTS = [
    json.loads(text) for text in TEXTS.values() if text.lstrip()[:1] in "[{" and "}\n{" not in text
]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1e308,
    "",
    "x",
    "\ud800",
    "\u202e",
    [],
    {},
    [1],
    {"a": {}},
    [[]],
    10**30,
    [None],
]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives: a value, or the GateError it raised. Other exceptions fail the test."""
    try:
        return call()
    except GateError as error:
        return error


def drive(path: Path) -> None:
    """Every way into a reader."""
    for request in (LENIENT, STRICT):
        check(outcome(lambda: read(str(path), request)))  # noqa: B023 - called at once
    check(outcome(lambda: survey(str(path))))
    check(outcome(lambda: detect(str(path))))


def check(found: Any) -> None:
    if isinstance(found, GateError):
        assert found.code
        assert str(found).isprintable()
        assert len(str(found)) < 3000
    elif isinstance(found, ItemTable):
        assert len(found.identity) == 64
        assert all(len(column) == len(found) for column in found.values.values())
        assert not any(np.isinf(column).any() for column in found.values.values())
        pair = outcome(lambda: comparable(found, found))
        assert not isinstance(pair, GateError) or pair.code == "not_comparable"


@st.composite
def mutated_bytes(draw: st.DrawFn, originals: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.integers(0, 4)):
            case 0:
                del data[at : at + draw(st.integers(1, 40))]
            case 1:
                data[at:at] = draw(st.binary(min_size=1, max_size=8))
            case 2:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 3:
                data[at:at] = data[at : at + draw(st.integers(1, 60))]
            case _:
                del data[at:]
    return bytes(data)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside."""
    items = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    return [(value, key) for key, _ in items] + [node for _, inner in items for node in nodes(inner)]


@st.composite
def mutated_document(draw: st.DrawFn) -> str:
    document = copy.deepcopy(draw(st.sampled_from(JSON_DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        found = nodes(document)
        if not found:
            break
        container, key = draw(st.sampled_from(found))
        action = draw(st.integers(0, 3))
        if action == 0:
            container[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, dict):
            container[str(key) + "x"] = container.pop(key)
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
    return json.dumps(document, indent=draw(st.sampled_from([None, 1])))


QUIET = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(mutated_bytes([text.encode() for text in TEXTS.values()]))
def test_mutated_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    drive(path)


@QUIET
@given(mutated_document())
def test_mutated_documents(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    drive(path)


BINARY = [content for content in SAMPLES.values() if isinstance(content, bytes)]
BINARY += [tools.inspect_eval(tools.inspect_samples(2, 1, even), zstd=False, summaries=False)]
BINARY += [gzip.compress(TEXTS["jsonl"].encode()), zstandard.compress(TEXTS["csv"].encode())]


@QUIET
@given(mutated_bytes(BINARY))
def test_mutated_archives(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    drive(path)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_parquet(tmp_path: Path, data: st.DataObject) -> None:
    source = tmp_path / "source.parquet"
    if not source.exists():
        sql = "SELECT 'i' || range AS id, range % 2 AS score, {'acc': range / 7} AS m FROM range(50)"
        duckdb.sql(sql).write_parquet(str(source))
    path = tmp_path / "a"
    path.write_bytes(data.draw(mutated_bytes([source.read_bytes()])))
    drive(path)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated_bytes([TEXTS["csv"].encode() * 1, TEXTS["jsonl"].encode(), TEXTS["tsv"].encode()]))
def test_mutated_text_in_small_blocks(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data or b"x")
    for name in ("csv", "jsonl"):
        request = ask(metrics={"score": "graded"}, format=name)
        same(in_blocks(str(path), request), row_by_row(str(path), request))


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    drive(path)


@pytest.mark.parametrize("name", TEXTS)
def test_every_prefix_of_a_file(tmp_path: Path, name: str) -> None:
    """A file that was cut short anywhere."""
    data = TEXTS[name].encode()
    path = tmp_path / "a"
    for end in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:end])
        drive(path)


@pytest.mark.parametrize("name", [entry.name for entry in describe_formats()])
def test_a_declared_format_that_the_file_does_not_have(tmp_path: Path, name: str) -> None:
    """The policy may be wrong about the format."""
    contents = [
        *SAMPLES.values(),
        *TEXTS.values(),
        "[]",
        "{}",
        "[1]",
        '"x"',
        "null",
        "<a/>",
        '{"results": 1}',
        '{"eval": 1}',
    ]
    contents += [
        '{"tests": 1}',
        '{"testCases": {}}',
        '[{"doc_id": [1], "resps": 1}]',
        '{"results": {"results": 1}}',
        "x",
        "\n",
    ]
    for content in contents:
        path = write(tmp_path, "a", content)
        check(outcome(lambda: read(path, replace(LENIENT, format=name))))  # noqa: B023 - called at once
        check(outcome(lambda: survey(path, format=name)))  # noqa: B023 - called at once

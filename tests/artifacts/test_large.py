"""The fast way gives exactly the table of the plain way, or leaves the file to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.artifacts import ItemTable, ReadRequest, read_pair
from gate.artifacts.content import open_content
from gate.artifacts.detect import detect_content
from gate.artifacts.large.bytesort import rows_of, sort_rows
from gate.artifacts.large.way import read_large
from gate.artifacts.reading import read_plain
from gate.values import GateError

from .helpers import ask, jsonl, write


def fast(path: str, request: ReadRequest) -> ItemTable | None:
    content = open_content(path)
    try:
        return read_large(content, detect_content(content), request, least=0)
    except GateError:
        return None  # the file has no format at all
    finally:
        content.close()


def plain(path: str, request: ReadRequest) -> ItemTable | GateError:
    try:
        return read_plain(path, request)
    except GateError as error:
        return error


def sorted_rows(table: ItemTable) -> list[tuple[Any, ...]]:
    columns = [table.ids, table.failed, *table.values.values(), *table.columns.values()]
    columns += [part for part in (table.repeats, table.clusters, table.lines) if part is not None]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(tuple(repr(cell) for cell in row) for row in rows)


def stated(table: ItemTable) -> list[tuple[Any, ...]]:
    """What a table says of how its scores were made, row by row in the order of the ids."""

    def by_id(value: Any) -> Any:
        return value if isinstance(value, str) else sorted(zip(table.ids.tolist(), value, strict=True))

    return sorted((one.what, by_id(one.value), one.metrics) for one in table.stated)


def check_same(path: str, request: ReadRequest, *, taken: bool | None = None) -> None:
    """taken: whether the fast way has to read the file (None: it may leave it)."""
    found, expected = fast(path, request), plain(path, request)
    assert taken is None or taken == (found is not None)
    if found is None:
        return
    assert isinstance(expected, ItemTable), expected
    assert found.identity == expected.identity
    assert replace(found.source) == expected.source
    assert found.unread == expected.unread
    assert stated(found) == stated(expected)
    assert found.missing == expected.missing
    assert found.cautions == expected.cautions
    assert sorted_rows(found) == sorted_rows(expected)
    keys = [
        (a, b) for a, b in zip(found.ids, found.ids if found.repeats is None else found.repeats, strict=True)
    ]
    assert keys == sorted(keys)


ROWS = [
    {"id": f"q{(i * 7919) % 500:03d}", "score": i % 2, "ms": (i * 31 % 97) / 7, "lang": ("de", "en")[i % 2]}
    for i in range(500)
]
FULL = ask(metrics={"score": "binary", "ms": "graded"}, columns=("lang",), cluster="lang")


def csv(rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> str:
    lines = [delimiter.join(rows[0])]
    lines += [delimiter.join("" if cell is None else str(cell) for cell in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


def parquet(folder: Path, rows: Sequence[Mapping[str, Any]], types: Mapping[str, str]) -> str:
    target = folder / "a.parquet"
    write(folder, "rows.json", json.dumps(rows))
    rows_table = duckdb.read_json(str(folder / "rows.json"), columns=types)
    rows_table.write_parquet(str(target))
    return str(target)


TYPES = {"id": "VARCHAR", "score": "BIGINT", "ms": "DOUBLE", "lang": "VARCHAR"}


def test_csv(tmp_path: Path) -> None:
    check_same(write(tmp_path, "a", csv(ROWS)), FULL, taken=True)
    check_same(write(tmp_path, "a", csv(ROWS, "\t")), FULL, taken=True)
    check_same(write(tmp_path, "a", csv(ROWS, "|").rstrip("\n")), FULL, taken=True)


def test_jsonl(tmp_path: Path) -> None:
    check_same(write(tmp_path, "a", jsonl(ROWS)), FULL, taken=True)
    check_same(write(tmp_path, "a", jsonl([r | {"score": bool(r["score"])} for r in ROWS])), FULL, taken=True)
    check_same(write(tmp_path, "a", jsonl([r | {"id": i} for i, r in enumerate(ROWS)])), FULL, taken=True)


def test_parquet(tmp_path: Path) -> None:
    check_same(parquet(tmp_path, ROWS, TYPES), FULL, taken=True)
    by_number = [r | {"id": i * 2**40} for i, r in enumerate(ROWS)]
    check_same(parquet(tmp_path, by_number, TYPES | {"id": "BIGINT"}), FULL, taken=True)


def test_formats_agree(tmp_path: Path) -> None:
    found = [fast(write(tmp_path, "a", text), FULL) for text in (csv(ROWS), jsonl(ROWS), csv(ROWS[::-1]))]
    found.append(fast(parquet(tmp_path, ROWS, TYPES), FULL))
    assert len({table.identity for table in found if table is not None}) == 1
    assert None not in found


def test_tables_with_the_same_ids_share_them(tmp_path: Path) -> None:
    one, other = (
        fast(write(tmp_path, "a", csv(ROWS)), FULL),
        fast(write(tmp_path, "b", jsonl(ROWS[::-1])), FULL),
    )
    assert one is not None
    assert other is not None
    assert one.ids is other.ids


def test_missing_values_and_failed_runs(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [dict(r) | {"error": None} for r in ROWS]
    for at, gap in ((3, None), (50, "NaN"), (51, "1e400"), (70, None), (80, None), (81, None), (90, None)):
        rows[at]["ms"] = gap
    rows[5]["error"], rows[70]["error"] = "boom", "boom"
    check_same(write(tmp_path, "a", csv(rows)), FULL, taken=True)
    text = jsonl(rows).replace('"NaN"', "NaN").replace('"1e400"', "1e400")
    check_same(write(tmp_path, "a", text), FULL, taken=True)
    check_same(parquet(tmp_path, rows, TYPES | {"error": "VARCHAR"}), FULL, taken=True)


def test_repeats(tmp_path: Path) -> None:
    rows = [{"id": f"q{i // 4}", "run": i % 4, "score": i % 3 % 2} for i in range(400)][::-1]
    check_same(write(tmp_path, "a", csv(rows)), ask(repeat="run"), taken=True)
    check_same(write(tmp_path, "a", jsonl(rows)), ask(repeat="run"), taken=True)
    check_same(write(tmp_path, "a", csv([*rows, rows[0]])), ask(repeat="run"), taken=False)


def test_words(tmp_path: Path) -> None:
    rows = [r | {"score": ("FAIL", "PASS")[r["score"]]} for r in ROWS]  # type: ignore[index]
    request = ask(words={"PASS": 1.0, "FAIL": 0.0})
    check_same(write(tmp_path, "a", csv(rows)), request, taken=True)
    check_same(write(tmp_path, "a", jsonl(rows)), request, taken=True)


def test_optional_columns_that_are_absent(tmp_path: Path) -> None:
    request = ask(
        metrics={"score": "binary", "cost": "graded"}, columns=("note",), optional=frozenset({"cost", "note"})
    )
    check_same(write(tmp_path, "a", csv(ROWS)), request, taken=True)
    check_same(write(tmp_path, "a", jsonl(ROWS)), request, taken=True)


ODD_LINES = {
    "duplicate id": '{"id": "q001", "score": 1, "ms": 1, "lang": "de"}',
    "duplicate key": '{"id": "x", "score": 1, "score": 0, "ms": 1, "lang": "de"}',
    "duplicate key that is not read": '{"id": "x", "score": 1, "ms": 1, "lang": "de", "lang": "en"}',
    "trailing comma": '{"id": "x", "score": 1, "ms": 1, "lang": "de",}',
    "text for a number": '{"id": "x", "score": "1", "ms": 1, "lang": "de"}',
    "boolean for a number": '{"id": "x", "score": 1, "ms": true, "lang": "de"}',
    "a half": '{"id": "x", "score": 0.5, "ms": 1, "lang": "de"}',
    "list": '{"id": "x", "score": [1], "ms": 1, "lang": "de"}',
    "number as id": '{"id": 5, "score": 1, "ms": 1, "lang": "de"}',
    "float as id": '{"id": 5.0, "score": 1, "ms": 1, "lang": "de"}',
    "null id": '{"id": null, "score": 1, "ms": 1, "lang": "de"}',
    "no id": '{"score": 1, "ms": 1, "lang": "de"}',
    "empty id": '{"id": "", "score": 1, "ms": 1, "lang": "de"}',
    "control": '{"id": "a\\u0007", "score": 1, "ms": 1, "lang": "de"}',
    "zero width": '{"id": "a\u200b", "score": 1, "ms": 1, "lang": "de"}',
    "surrogate": '{"id": "\\ud800", "score": 1, "ms": 1, "lang": "de"}',
    "summary": '{"id": "mean", "score": 1, "ms": 1, "lang": "de"}',
    "cut": '{"id": "x", "score": 1, "ms',
    "not an object": "[1]",
    "comment": '// {"id": "x", "score": 1, "ms": 1, "lang": "de"}',
    "two on a line": '{"id": "x", "score": 1, "ms": 1, "lang": "de"} {"id": "y"}',
}


@pytest.mark.parametrize("odd", ODD_LINES)
def test_odd_json_lines_are_left_to_the_plain_way(tmp_path: Path, odd: str) -> None:
    path = write(tmp_path, "a", jsonl(ROWS) + ODD_LINES[odd] + "\n")
    check_same(path, FULL, taken=False)
    if odd != "number as id":
        with pytest.raises(GateError):
            read_plain(path, FULL)


@pytest.mark.parametrize(
    "line",
    [
        "q001,1,1,de",
        "x,2,1,de",
        "x,1,1_0,de",
        "x,1,85%,de",
        "x,1,1",
        "x,1,1,de,5",
        "x,1,1,de,",
        ",1,1,de",
        "mean,1,1,de",
        'x,1,1,"de',
        "x\x07,1,1,de",
    ],
)
def test_odd_csv_lines_are_left_to_the_plain_way(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "a", csv(ROWS) + line + "\n")
    check_same(path, FULL, taken=False)
    with pytest.raises(GateError):
        read_plain(path, FULL)


@pytest.mark.parametrize(
    "line", ["é,1,1,de", "Q001,1,1,de", "q 001,1,1,de", "q001 ,1,1,de", "Ａ,1,1,fr", "x,1,,", "x,1,nan,de"]
)
def test_unusual_csv_lines_agree(tmp_path: Path, line: str) -> None:
    check_same(write(tmp_path, "a", csv(ROWS) + line + "\n"), FULL, taken=True)


def test_bytes_that_are_not_plain(tmp_path: Path) -> None:
    text = csv(ROWS).encode()
    for odd in (text + b"\xe9,1,1,de\n", b"\xef\xbb\xbf" + text, text + b"\n\n"):
        check_same(write(tmp_path, "a", odd), FULL)


CELL = st.sampled_from(
    [
        "0",
        "1",
        "1.0",
        "true",
        "null",
        "NaN",
        "Infinity",
        "-1",
        "1e400",
        '"1"',
        '"PASS"',
        '""',
        "0.1",
        "12345678901234567890123",
        "[1]",
        "{}",
        "-0",
    ]
)
KEY = st.sampled_from(
    [
        '"a"',
        '"b"',
        '"B"',
        '"é"',
        '" a"',
        '"a b"',
        "1",
        "2",
        "10",
        "1.0",
        "null",
        '"a\\\\b"',
        '"x\\n"',
        '"mean"',
        '"ab"',
    ]
)
JSON_ROW = st.tuples(KEY, CELL, CELL, st.sampled_from(["", " ", ', "x": 1', ', "x": {"y": 2}', ","]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON_ROW, min_size=1, max_size=6))
def test_any_json_lines_agree(tmp_path: Path, rows: list[tuple[str, str, str, str]]) -> None:
    text = "".join(f'{{"id": {key}, "score": {one}, "ms": {two}{end}}}\n' for key, one, two, end in rows)
    check_same(
        write(tmp_path, "a", text), ask(metrics={"score": "binary", "ms": "graded"}, words={"PASS": 1.0})
    )


TEXT_CELL = st.sampled_from(
    [
        "0",
        "1",
        "True",
        "false",
        "",
        "nan",
        "-inf",
        "+1",
        " 1",
        "1_0",
        ".5",
        "5.",
        "1e5",
        "1e400",
        "0x1",
        "PASS",
        "pass",
        "1,0",
        "é",
    ]
)
TEXT_KEY = st.sampled_from(
    ["a", "b", "B", " a", "a ", "1", "1.0", "2.0", "007", "", "mean", "ab", "a\x85", "é", 'q"']
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(TEXT_KEY, TEXT_CELL, TEXT_CELL), min_size=1, max_size=6),
    st.sampled_from(["\n", "", "\n\n"]),
)
def test_any_csv_agrees(tmp_path: Path, rows: list[tuple[str, str, str]], end: str) -> None:
    text = "id|score|ms\n" + "\n".join("|".join(row) for row in rows) + end
    check_same(
        write(tmp_path, "a", text), ask(metrics={"score": "binary", "ms": "graded"}, words={"PASS": 1.0})
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text(st.characters(min_codepoint=33, max_codepoint=0x4FF), min_size=1, max_size=12),
        min_size=1,
        max_size=60,
    )
)
def test_sorting_by_bytes_is_sorting_by_code_points(texts: list[str]) -> None:
    rows = rows_of(("\n".join(texts) + "\n").encode("utf-8"), len(texts))
    if rows is None:
        assert any(len(text.encode()) > 95 or "\n" in text for text in texts)
        return
    found = sort_rows(rows)
    order = range(len(texts)) if found.order is None else found.order.tolist()
    assert [texts[row] for row in order] == sorted(texts)
    assert bool(found.same.any()) == (len(set(texts)) < len(texts))
    assert rows.joined(found.order).decode().split("\n")[:-1] == sorted(texts)


def test_sorting_long_ids_with_equal_beginnings() -> None:
    texts = [f"{i % 3}-prefix-prefix-prefix-{i * 7919 % 1000:06d}" for i in range(1000)]
    rows = rows_of(("\n".join(texts) + "\n").encode(), 1000)
    assert rows is not None
    found = sort_rows(rows)
    assert found.order is not None
    assert [texts[row] for row in found.order.tolist()] == sorted(texts)
    assert np.array_equal(found.ranks()[found.order], np.arange(1, 1001))


def test_a_pair_of_large_files(tmp_path: Path) -> None:
    rows = [{"id": f"item-{i:07d}", "score": i % 2, "note": "x" * 40} for i in range(120_000)]
    paths = [write(tmp_path, name, jsonl(part)) for name, part in (("a", rows), ("b", rows[::-1]))]
    assert Path(paths[0]).stat().st_size > 8 << 20
    one, other = read_pair(paths[0], paths[1], ask(), ask())
    assert one.identity == other.identity
    assert one.ids is other.ids
    assert other.lines is not None
    assert other.lines[0] == 120_000
    with pytest.raises(GateError, match="there is no such file"):
        read_pair(paths[0], str(tmp_path / "none"), ask(), ask())


TELLING: dict[str, Sequence[Any]] = {
    "Error": [None, "boom"],
    "STATUS": ["ok", "timeout"],
    "errors": [0, 3],
    "http_status": [200, 503],
    "exception": ["", "KeyError"],
    "threshold": [1, 2],
    "judge_model": ["a", "b"],
    "unit": ["s", "s"],
}
"""Columns that nobody asks for, and two words that stand there in turn."""


@pytest.mark.parametrize("layout", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("role", ["", "watched", "shown", "repeat"])
@pytest.mark.parametrize("column", TELLING)
def test_columns_that_tell_of_runs_and_scores_are_read_whatever_the_size(
    tmp_path: Path, column: str, role: str, layout: str
) -> None:
    rows = [{"id": f"q{99 - k}", "score": k % 2, column: TELLING[column][k % 3 == 0]} for k in range(90)]
    request = ask(
        metrics={"score": "binary"} | ({column: "graded"} if role == "watched" else {}),
        columns=(column,) if role == "shown" else (),
        optional=frozenset({column}),
        repeat=column if role == "repeat" else None,
    )
    lines = [",".join("" if cell is None else str(cell) for cell in row.values()) + "\n" for row in rows]
    path = write(tmp_path, "a", f"id,score,{column}\n" + "".join(lines) if layout == "csv" else jsonl(rows))
    if layout == "parquet":
        source, path = path, str(tmp_path / "a.parquet")
        duckdb.sql(f"COPY (FROM read_json('{source}', format='newline_delimited')) TO '{path}'")
    check_same(path, request, taken=None if role in {"watched", "repeat"} else True)


@pytest.mark.parametrize("layouts", [("csv", "jsonl"), ("jsonl", "csv")])
def test_one_number_is_one_word_in_every_format(tmp_path: Path, layouts: tuple[str, str]) -> None:
    texts = {
        "csv": "id,score,threshold\n" + "".join(f"q{k},{k % 2},0.50\n" for k in range(9)),
        "jsonl": jsonl([{"id": f"q{k}", "score": k % 2, "threshold": 0.5} for k in range(9)]),
    }
    tables = [plain(write(tmp_path, layout, texts[layout]), ask()) for layout in layouts]
    assert all(isinstance(table, ItemTable) and stated(table)[0][1] == "0.5" for table in tables)

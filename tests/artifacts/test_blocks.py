"""Files are read in blocks: where one ends, and which reader takes it, makes no difference to a table."""

from __future__ import annotations

import csv as csv_module
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.artifacts import ItemTable, ReadRequest, content, json_lines, read, read_pair
from gate.artifacts.formats import delimited
from gate.artifacts.sort import sorted_rows
from gate.pairing import MetricRule, PairingRules, items_digest, pair
from gate.values import GateError

from .helpers import ask, jsonl, write

WHOLE = 1 << 40


def outcome(path: str, request: ReadRequest) -> ItemTable | GateError:
    try:
        return read(path, request)
    except GateError as error:
        return error


def in_blocks(path: str, request: ReadRequest, size: int = 100) -> ItemTable | GateError:
    """As a large file is read, but in small pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "PIECE_BYTES", size)
        patch.setattr(json_lines, "QUICK_BYTES", 0)
        patch.setattr(delimited, "BLOCK_ROWS", 3)
        return outcome(path, request)


def row_by_row(path: str, request: ReadRequest) -> ItemTable | GateError:
    """By the strict reader alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "PIECE_BYTES", 1 << 30)
        patch.setattr(json_lines, "QUICK_BYTES", WHOLE)
        patch.setattr(delimited, "_by_blocks", delimited._row_by_row)
        return outcome(path, request)


def facts(table: ItemTable) -> tuple[Any, ...]:
    arrays = [table.ids, table.failed, table.lines, table.repeats, table.clusters]
    named = [*sorted(table.values.items()), *sorted(table.columns.items())]
    listed = [None if array is None else list(map(repr, array.tolist())) for array in arrays]
    listed += [[name, *map(repr, array.tolist())] for name, array in named]
    digests = (table.identity, table.read_digest)
    return (table.source, listed, digests, table.missing, table.cautions, table.unread, table.stated)


def same(one: ItemTable | GateError, other: ItemTable | GateError) -> None:
    if isinstance(one, ItemTable) and isinstance(other, ItemTable):
        assert facts(one) == facts(other)
    else:
        assert isinstance(one, GateError)
        assert isinstance(other, GateError)
        assert (one.code, one.message, one.where, one.help) == (
            other.code,
            other.message,
            other.where,
            other.help,
        )


def check_same(path: str, request: ReadRequest, *, refused: bool | None = None) -> None:
    """refused: whether it has to be (None: whatever)."""
    expected = row_by_row(path, request)
    for size in (1, 100, 1 << 20):
        same(in_blocks(path, request, size), expected)
    assert refused is None or refused == isinstance(expected, GateError)


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


def test_a_nul_at_the_start_of_a_piece_is_refused_like_any_other(tmp_path: Path) -> None:
    for text in ("id,score\n\x00q1,1\nq2,0\n", "id,score\nq1,1\n\x00q2,0\n", "\x01\n\x00"):
        check_same(write(tmp_path, "a", text), ask(metrics={"score": "binary"}, format="csv"), refused=True)


def test_csv(tmp_path: Path) -> None:
    check_same(write(tmp_path, "a", csv(ROWS)), FULL, refused=False)
    check_same(write(tmp_path, "a", csv(ROWS, "\t")), FULL, refused=False)
    check_same(write(tmp_path, "a", csv(ROWS, "|").rstrip("\n")), FULL, refused=False)


def test_jsonl(tmp_path: Path) -> None:
    check_same(write(tmp_path, "a", jsonl(ROWS)), FULL, refused=False)
    check_same(
        write(tmp_path, "a", jsonl([r | {"score": bool(r["score"])} for r in ROWS])), FULL, refused=False
    )
    check_same(write(tmp_path, "a", jsonl([r | {"id": i} for i, r in enumerate(ROWS)])), FULL, refused=False)


def test_parquet(tmp_path: Path) -> None:
    check_same(parquet(tmp_path, ROWS, TYPES), FULL, refused=False)
    by_number = [r | {"id": i * 2**40} for i, r in enumerate(ROWS)]
    check_same(parquet(tmp_path, by_number, TYPES | {"id": "BIGINT"}), FULL, refused=False)


def test_missing_values_and_failed_runs(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [dict(r) | {"error": None} for r in ROWS]
    for at, gap in ((3, None), (50, "NaN"), (51, "1e400"), (70, None), (80, None), (81, None), (90, None)):
        rows[at]["ms"] = gap
    rows[5]["error"], rows[70]["error"] = "boom", "boom"
    check_same(write(tmp_path, "a", csv(rows)), FULL, refused=False)
    text = jsonl(rows).replace('"NaN"', "NaN").replace('"1e400"', "1e400")
    check_same(write(tmp_path, "a", text), FULL, refused=False)
    check_same(parquet(tmp_path, rows, TYPES | {"error": "VARCHAR"}), FULL, refused=False)


def test_repeats(tmp_path: Path) -> None:
    rows = [{"id": f"q{i // 4}", "run": i % 4, "score": i % 3 % 2} for i in range(400)][::-1]
    check_same(write(tmp_path, "a", csv(rows)), ask(repeat="run"), refused=False)
    check_same(write(tmp_path, "a", jsonl(rows)), ask(repeat="run"), refused=False)
    check_same(write(tmp_path, "a", csv([*rows, rows[0]])), ask(repeat="run"), refused=True)


def test_words(tmp_path: Path) -> None:
    rows = [r | {"score": ("FAIL", "PASS")[r["score"]]} for r in ROWS]  # type: ignore[index]
    request = ask(words={"PASS": 1.0, "FAIL": 0.0})
    check_same(write(tmp_path, "a", csv(rows)), request, refused=False)
    check_same(write(tmp_path, "a", jsonl(rows)), request, refused=False)


def test_optional_columns_that_are_absent(tmp_path: Path) -> None:
    request = ask(
        metrics={"score": "binary", "cost": "graded"}, columns=("note",), optional=frozenset({"cost", "note"})
    )
    check_same(write(tmp_path, "a", csv(ROWS)), request, refused=False)
    check_same(write(tmp_path, "a", jsonl(ROWS)), request, refused=False)


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
def test_odd_json_lines(tmp_path: Path, odd: str) -> None:
    path = write(tmp_path, "a", jsonl(ROWS) + ODD_LINES[odd] + "\n")
    check_same(path, FULL, refused=odd != "number as id")


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
def test_odd_csv_lines(tmp_path: Path, line: str) -> None:
    check_same(write(tmp_path, "a", csv(ROWS) + line + "\n"), FULL, refused=True)


@pytest.mark.parametrize(
    "line", ["é,1,1,de", "Q001,1,1,de", "q 001,1,1,de", "q001 ,1,1,de", "Ａ,1,1,fr", "x,1,,", "x,1,nan,de"]
)
def test_unusual_csv_lines_agree(tmp_path: Path, line: str) -> None:
    check_same(write(tmp_path, "a", csv(ROWS) + line + "\n"), FULL, refused=False)


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


SOME: list[dict[str, Any]] = [{"id": f"q{i:03d}", "score": i % 2, "x": i, "z": 1} for i in range(120)]
ASKS = ask(metrics={"score": "binary", "cost": "graded"}, optional=frozenset({"cost"}))
INSIDE = ask(mapping={"error": "m.error"})


def test_a_run_that_failed_in_a_later_row_only(tmp_path: Path) -> None:
    """One key in place of another: as many keys as in every other row."""
    path = write(tmp_path, "a", jsonl(SOME) + '{"id": "a", "score": 1, "x": 1, "error": "boom"}\n')
    check_same(path, ask(), refused=False)
    found = in_blocks(path, ask())
    assert isinstance(found, ItemTable)
    assert found.failed.tolist() == [False] * 120 + [True]


@pytest.mark.parametrize(
    ("line", "request_", "refused"),
    [
        ('{"id": "a", "score": 1, "z": 1, "cost": 3}', ASKS, False),
        ('{"id": "a", "score": 1, "m": {"error": "boom"}}', INSIDE, False),
        ('{"id": "a", "x": "\\":", "z": 1}', ask(), False),
        ('{"id": "a", "x": ":", "z": 1, "y": 1}', ask(), False),
        ('{"id": "a", "x": {"score": 1}, "z": 1}', ask(), False),
        ('{"id": "a", "score": 1, "y": 1, "y": 2}', ask(), True),
        ('{"id": "a", "score": 1, "y": 1, "x": "\\\\u003a", "y": 2}', ask(), True),
        ('{"id": "a", "score": 1, "x": {"y": 1}, "x": {"y": 1}, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "m": {"error": 1, "error": 1}}', INSIDE, True),
        ('{"id": "a", "score": 1, "x": [{"y": 1, "y": 1}], "z": 1}', ask(), False),
        ('{"id": "a", "score": 1, "x": 1,\\n"z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": 1, "z": 1}{"id": "b", "score": 1, "x": 1, "z": 1}', ask(), True),
        ('{"id": "a", "score" : 1, "score": 0, "x": 1, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": 1, "z" : 1, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x\\\\": 1, "x\\\\": 1, "x": 1, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": [1,], "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": nan, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": -nan, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": INF, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": Inf, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": -inf, "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": 1, "z": 1,\r}', ask(), True),
        ('{"id": "a", "score": 1, "x": ' + "[" * 99 + "]" * 99 + ', "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": ' + "1" * 5000 + ', "z": 1}', ask(), True),
        ('{"id": "a", "score": 1, "x": 1, "z": ' + "1" * 5000 + "}", ask(), True),
    ],
)
def test_lines_that_only_look_like_the_others(
    tmp_path: Path, line: str, request_: ReadRequest, *, refused: bool
) -> None:
    path = write(tmp_path, "a", jsonl(SOME) + line + "\n")
    check_same(path, request_, refused=refused)


@pytest.mark.parametrize(
    "row",
    [
        {"x": "a: b, \"c\": {'d': [1]}"},
        {"x": "Infinity:\\"},
        {"x": None},
        {"x": -1.5e-7},
        {"x": float("nan")},
        {"x": float("-inf")},
        {"x": float("inf")},
        {"x": ""},
        {"x": "y" * 9000},
        {"x": True, "z": False},
    ],
)
def test_scalars_of_every_kind_are_read(tmp_path: Path, row: dict[str, Any]) -> None:
    rows = [*SOME, SOME[0] | {"id": "a"} | row]
    for separators in ((",", ":"), (", ", ": ")):
        lines = (json.dumps(cells, separators=separators) for cells in rows)
        check_same(write(tmp_path, "a", "\n".join(lines)), ask(columns=("x",)), refused=False)


def test_names_outside_ascii(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "größe": row["score"], "score": 1} for row in SOME]
    request = ask(metrics={"größe": "binary"})
    for ascii_only in (True, False):
        lines = (json.dumps(row, ensure_ascii=ascii_only) for row in rows)
        check_same(write(tmp_path, "a", "\n".join(lines)), request, refused=False)


@pytest.mark.parametrize("name", ["error", "cost"])
def test_a_header_that_names_a_wanted_column_twice(tmp_path: Path, name: str) -> None:
    text = f"id,score,{name},{name}\n" + "".join(f"q{i},1,,2\n" for i in range(9))
    path = write(tmp_path, "a", text)
    check_same(path, ASKS, refused=True)


@pytest.mark.parametrize(
    ("cell", "words"),
    [(" 1", {"1": 0.0}), (" nan", {"nan": 0.0}), ("\tNA", {"NA": 1.0}), ("1 ", {"1": 0.0, "0": 1.0})],
)
def test_words_that_are_numbers_or_gaps_with_blanks_around_them(
    tmp_path: Path, cell: str, words: Mapping[str, float]
) -> None:
    check_same(write(tmp_path, "a", f"id,score\na,1\nb,{cell}\n"), ask(words=words))
    same = {"1": 1.0, "PASS": 1.0}
    check_same(write(tmp_path, "a", "id,score\na,1\nb, 1\nc,PASS\n"), ask(words=same), refused=False)


@pytest.mark.parametrize("cell", ["\u0130nf", "NaN(1)", "nan()", "+-1", "+-.5", "1_0"])
def test_text_that_is_almost_a_number_or_a_gap(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, "a", f"id|cost|score\na|1|1\nb|{cell}|1\n")
    request = ask(metrics={"score": "binary", "cost": "graded"})
    check_same(path, request, refused=True)


def in_parquet(folder: Path, columns: str) -> str:
    path = str(folder / "a.parquet")
    query = f"SELECT 'q' || i AS id, i % 2 AS score, {columns} FROM range(50) r(i)"  # noqa: S608 - own text
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def test_failed_runs_in_parquet(tmp_path: Path) -> None:
    """An error that is a number, and one inside of a struct."""
    assert read(in_parquet(tmp_path, "(i = 3)::INT AS error"), ask()).failed.sum() == 1
    assert read(in_parquet(tmp_path, "'0' AS error"), ask()).failed.sum() == 50
    path = in_parquet(tmp_path, "{'error': CASE WHEN i = 3 THEN 'boom' END, 'cost': i} AS m")
    assert read(path, INSIDE).failed.sum() == 1
    found = read(path, ask(metrics={"score": "binary", "m.cost": "graded"}))
    assert found.values["m.cost"].tolist() == list(range(50))


TYPED = "i + 0.5 AS d, 9007199254740993 + i AS h, i::UTINYINT AS u, i::DECIMAL(9, 0) AS n, "
TYPED += "CASE WHEN i <> 3 THEN i::FLOAT END AS f, ['a', NULL] AS l, DATE '2020-01-01' + i::INT AS day"


def test_every_type_of_parquet(tmp_path: Path) -> None:
    path = in_parquet(tmp_path, TYPED)
    names = ("d", "h", "u", "n", "f", "l", "day")
    found = read(path, ask(columns=names)).columns
    assert {name: found[name][3] for name in names} == {
        "d": "3.5",
        "h": "9007199254740996",
        "u": "3",
        "n": "3",
        "f": None,
        "l": '["a",null]',
        "day": "2020-01-04",
    }
    alone = {name: read(path, ask(columns=(name,))).columns[name].tolist() for name in names}
    assert alone == {name: found[name].tolist() for name in names}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_blocks_may_end_anywhere(tmp_path: Path, size: int) -> None:
    rows = [row | {"lang": "dé😀"} for row in ROWS[:60]]
    for text in (csv(rows), jsonl(rows), "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)):
        odd = (text.rstrip("\n"), text, text + "\n", text.replace("\n", "\r\n"), text.replace("\n", "\n\n"))
        for data in (*map(str.encode, odd), text.encode()[:-9] + b"\xe9" + text.encode()[-9:]):
            path = write(tmp_path, "a", data)
            same(in_blocks(path, FULL, size), row_by_row(path, FULL))


def test_the_digest_of_the_ids_is_that_of_pairing(tmp_path: Path) -> None:
    for text in (csv(ROWS), jsonl(ROWS[::-1]), csv([row | {"id": f"é{row['id']}"} for row in ROWS])):
        table = read(write(tmp_path, "a", text), FULL)
        assert table.ascending is not None
        ordered = table.ids[table.ascending.rows]
        assert ordered.tolist() == sorted(table.ids.tolist())
        assert table.ascending.digest == items_digest(ordered)


def test_a_refused_pair_of_large_files(tmp_path: Path) -> None:
    rows = [{"id": f"item-{i:07d}", "score": i % 2, "note": "x" * 60} for i in range(100_000)]
    good, bad = (
        write(tmp_path, "a", jsonl(rows)),
        write(tmp_path, "b", jsonl([*rows, {"id": "a", "score": 5, "note": ""}])),
    )
    assert Path(good).stat().st_size > 8 << 20
    for both in ((good, bad), (bad, good)):
        with pytest.raises(GateError, match="kind binary takes"):
            read_pair(*both, ask(), ask())


NOTES = ["plain", "a, b", 'say "no"', "two\nlines", "", '"', "é", "a;b", "'", "three\n\nlines"]
LISTED = [[f"q{(i * 37) % 100:03d}", i % 2, i * 0.5, NOTES[i % 10], ("de", "en")[i % 2]] for i in range(100)]
NOTED = ask(metrics={"score": "binary", "ms": "graded"}, columns=("lang",))


def text_of(rows: list[list[Any]], **how: Any) -> str:
    out = io.StringIO()
    csv_module.writer(out, **how).writerows([["id", "score", "ms", "note", "lang"], *rows])
    return out.getvalue()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "quoting", [csv_module.QUOTE_MINIMAL, csv_module.QUOTE_ALL, csv_module.QUOTE_NONNUMERIC]
)
def test_what_csv_writer_writes(tmp_path: Path, line_end: str, quoting: int) -> None:
    text = text_of(LISTED, lineterminator=line_end, quoting=quoting)
    check_same(write(tmp_path, "a", text), NOTED, refused=False)
    check_same(write(tmp_path, "a", text.rstrip("\r\n")), NOTED, refused=False)
    check_same(write(tmp_path, "a", "\n" + text), NOTED, refused=False)


def test_the_lines_and_examples_of_rows_after_cells_of_many_lines(tmp_path: Path) -> None:
    rows = [[f"q{i}", "" if i == 7 else 1, 1, "one\ntwo\nthree", "de"] for i in range(9)]
    table = in_blocks(write(tmp_path, "a", text_of(rows)), NOTED)
    assert isinstance(table, ItemTable)
    assert table.lines is not None
    assert table.lines.tolist() == [2 + 3 * i for i in range(9)]
    assert table.missing["score"].examples == (("q7", "line 23", "empty"),)


@pytest.mark.parametrize(
    "line",
    [
        'q900,1,1,"open,de',
        'q900,1,1,"a"b,de',
        'q900,1,1,"a" ,de',
        'q900,1,1, "a",de',
        'q900,1,1,5" x 6",de',
        'q900,1,1,5",de',
        'q900,1,1,a"b,c"d,de',
        'q900,1,1,"a","de",',
        'q900,1,1,"a"',
        '"q900,1,1,a,de"',
        "q900,1,1,a\rb,de",
        'q900,1,1,"a\rb",de',
        'q900,1,1,"a\r\nb",de',
        "q900,1,1,a,de\r",
        '"q\n900",1,1,a,de',
        '"q,900",1,1,a,de',
        '"q""900",1,1,a,"d\ne"',
        '"",1,1,a,de',
        'q900,"1","1.5",a,""',
        'q900," 1","1,5",a,de',
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_line_unlike_the_others(tmp_path: Path, line: str, last: bool) -> None:
    head, tail = text_of(LISTED, lineterminator="\n"), "q901,0,1,b,en\n"
    check_same(write(tmp_path, "a", head + line + "\n" + ("" if last else tail)), NOTED)


BARE = st.text(st.sampled_from(['"', ",", "\n", "\r", "a", " ", "1"]), max_size=5)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(BARE, BARE), min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_any_cells_agree(
    tmp_path: Path,
    cells: list[tuple[str, str]],
    line_end: str,
    raw: bool,
) -> None:
    rows = [[f"q{i}{one}", i % 2, 1, two, "de"] for i, (one, two) in enumerate(cells)]
    text = text_of(rows, lineterminator=line_end)
    if raw:  # cells that nobody quoted
        text = line_end.join(["id,score,ms,note,lang", *(",".join(map(str, row)) for row in rows)]) + line_end
    path = write(tmp_path, "a", text.encode())
    check_same(path, NOTED)
    check_same(path, ask(metrics={"score": "binary"}, columns=("note",), cluster="note"))
    check_same(path, ask(metrics={"score": "binary"}, mapping={"error": "note", "status": "note"}))


@pytest.mark.parametrize("column", ["error", "status", "note"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_cells_of_several_lines_in_a_column_that_is_read(tmp_path: Path, column: str, line_end: str) -> None:
    """An error with its traceback is a failed run."""
    out = io.StringIO()
    rows = [["a", 1, ""], ["b", 0, "Traceback:\n  line 2"], ["c", 1, "timeout"]]
    csv_module.writer(out, lineterminator=line_end).writerows([["id", "score", column], *rows])
    request = ask(columns=("note",), optional=frozenset({"note"}))
    check_same(write(tmp_path, "a", out.getvalue()), request)
    if column == "error":
        assert read(str(tmp_path / "a"), request).failed.tolist() == [False, True, True]


@pytest.mark.parametrize("order", [1, -1])
def test_two_orders_of_rows_pair(tmp_path: Path, order: int) -> None:
    rules = PairingRules(metrics={"score": MetricRule("binary", "higher")}, missing="drop", max_missing=0.1)
    one = read(write(tmp_path, "a", text_of(LISTED)), NOTED)
    for rows, count in ((LISTED, 100), (LISTED[1:], 99)):
        other = read(write(tmp_path, "b", text_of(rows[::order])), NOTED)
        for sides in ((one, other), (other, one)):
            found = pair(*sides, rules)
            assert found.counts.n_pairs == count
            assert found.ids.tolist() == sorted(row[0] for row in LISTED)
            assert found.counts.items_digest == items_digest(found.ids)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=40),
            st.sampled_from(["1", "2", "10", "a"]),
        ),
        min_size=1,
        max_size=60,
    ),
    st.booleans(),
)
def test_sorting_words_is_sorting_by_code_points(rows: list[tuple[str, str]], repeated: bool) -> None:
    ids = [text.replace("\n", "") or "x" for text, _ in rows]
    repeats = [repeat for _, repeat in rows] if repeated else None
    keys = list(zip(ids, repeats if repeats is not None else ids, strict=True))
    found = sorted_rows(ids, repeats)
    assert [keys[row] for row in found.rows] == sorted(keys)
    assert found.lines.decode().split("\n")[:-1] == sorted(ids)
    assert int(found.twice.sum()) == len(keys) - len(set(keys))
    expected = sorted(range(len(keys)), key=keys.__getitem__)
    assert not found.twice.any() or found.rows.tolist() == expected


def test_sorting_long_ids_with_equal_beginnings() -> None:
    texts = [f"{i % 3}-prefix-prefix-prefix-{i * 7919 % 1000:06d}" for i in range(1000)]
    found = sorted_rows(texts, None)
    assert [texts[row] for row in found.rows] == sorted(texts)
    assert not found.twice.any()


def test_a_pair_of_large_files(tmp_path: Path) -> None:
    rows = [{"id": f"item-{i:07d}", "score": i % 2, "note": "x" * 40} for i in range(120_000)]
    paths = [write(tmp_path, name, jsonl(part)) for name, part in (("a", rows), ("b", rows[::-1]))]
    assert Path(paths[0]).stat().st_size > 8 << 20
    one, other = read_pair(paths[0], paths[1], ask(), ask())
    assert one.identity == other.identity
    assert one.ascending is not None
    assert other.ascending is not None
    assert one.ascending.digest == other.ascending.digest
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
    check_same(path, request)


@pytest.mark.parametrize("layouts", [("csv", "jsonl"), ("jsonl", "csv")])
def test_one_number_is_one_word_in_every_format(tmp_path: Path, layouts: tuple[str, str]) -> None:
    texts = {
        "csv": "id,score,threshold\n" + "".join(f"q{k},{k % 2},0.50\n" for k in range(9)),
        "jsonl": jsonl([{"id": f"q{k}", "score": k % 2, "threshold": 0.5} for k in range(9)]),
    }
    tables = [outcome(write(tmp_path, layout, texts[layout]), ask()) for layout in layouts]
    assert all(isinstance(table, ItemTable) and table.stated[0].value == "0.5" for table in tables)


def test_a_header_alone_says_nothing_of_its_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "a", "id,score,threshold\n")
    check_same(path, ask(), refused=True)


@pytest.mark.parametrize("value", ["[2,]", "[2]", "{}", " 2", "nan", "2"])
def test_lines_with_and_without_a_blank_after_the_colon(tmp_path: Path, value: str) -> None:
    lines = [f'{{"id": "i{i:03d}","score": {i % 2},"z": 7}}\n' for i in range(60)]
    text = "".join(lines) + f'{{"id": "zz","score": 0,"z":{value}}}\n'
    check_same(write(tmp_path, "a", text), ask())


@pytest.mark.parametrize(
    "rows", [("x,1,1", "y,1,1,de,z"), ("y,1,1,de,z", "x,1,1"), ("x,1", "1", "y,1,1,de,z")]
)
def test_rows_too_long_and_too_short_by_as_much(tmp_path: Path, rows: Sequence[str]) -> None:
    check_same(write(tmp_path, "a", csv(ROWS) + "\n".join(rows) + "\n"), FULL, refused=True)

"""What DuckDB forgives and the plain way does not, or reads in another way: the fast way must leave it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gate.artifacts import ItemTable, ReadRequest, engine, read_pair
from gate.artifacts.large import scan
from gate.artifacts.reading import read_plain
from gate.pairing import items_digest
from gate.values import GateError

from .helpers import ask, jsonl, write
from .test_large import FULL, ROWS, check_same, csv, fast

SOME: list[dict[str, Any]] = [{"id": f"q{i:03d}", "score": i % 2, "x": i, "z": 1} for i in range(120)]
ASKS = ask(metrics={"score": "binary", "cost": "graded"}, optional=frozenset({"cost"}))
INSIDE = ask(mapping={"error": "m.error"})


def test_a_run_that_failed_in_a_later_row_only(tmp_path: Path) -> None:
    """One key in place of another: as many keys as in every other row."""
    path = write(tmp_path, "a", jsonl(SOME) + '{"id": "a", "score": 1, "x": 1, "error": "boom"}\n')
    check_same(path, ask(), taken=False)
    assert read_plain(path, ask()).failed.tolist() == [False] * 120 + [True]


@pytest.mark.parametrize(
    ("line", "request_", "refused"),
    [
        ('{"id": "a", "score": 1, "z": 1, "cost": 3}', ASKS, False),
        ('{"id": "a", "score": 1, "m": {"error": "boom"}}', INSIDE, False),
        ('{"id": "a", "x": "\\":", "z": 1}', ask(), False),
        ('{"id": "a", "x": ":", "z": 1, "y": 1}', ask(), False),
        ('{"id": "a", "x": {"score": 1}, "z": 1}', ask(), False),
        ('{"id": "a", "score": 1, "y": 1, "y": 2}', ask(), True),
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
    check_same(path, request_, taken=False)
    if refused:
        with pytest.raises(GateError):
            read_plain(path, request_)


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
        check_same(write(tmp_path, "a", "\n".join(lines)), ask(columns=("x",)), taken=True)


def test_names_outside_ascii(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "größe": row["score"], "score": 1} for row in SOME]
    request = ask(metrics={"größe": "binary"})
    for ascii_only in (True, False):
        lines = (json.dumps(row, ensure_ascii=ascii_only) for row in rows)
        check_same(write(tmp_path, "a", "\n".join(lines)), request, taken=True)


@pytest.mark.parametrize("name", ["error", "cost"])
def test_a_header_that_names_a_wanted_column_twice(tmp_path: Path, name: str) -> None:
    text = f"id,score,{name},{name}\n" + "".join(f"q{i},1,,2\n" for i in range(9))
    path = write(tmp_path, "a", text)
    check_same(path, ASKS, taken=False)
    with pytest.raises(GateError, match="more than once"):
        read_plain(path, ASKS)


@pytest.mark.parametrize(
    ("cell", "words"),
    [(" 1", {"1": 0.0}), (" nan", {"nan": 0.0}), ("\tNA", {"NA": 1.0}), ("1 ", {"1": 0.0, "0": 1.0})],
)
def test_words_that_are_numbers_or_gaps_with_blanks_around_them(
    tmp_path: Path, cell: str, words: Mapping[str, float]
) -> None:
    check_same(write(tmp_path, "a", f"id,score\na,1\nb,{cell}\n"), ask(words=words), taken=False)
    same = {"1": 1.0, "PASS": 1.0}
    check_same(write(tmp_path, "a", "id,score\na,1\nb, 1\nc,PASS\n"), ask(words=same), taken=True)


@pytest.mark.parametrize("cell", ["\u0130nf", "NaN(1)", "nan()", "+-1", "+-.5", "1_0"])
def test_text_that_duckdb_takes_for_a_number_or_a_gap(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, "a", f"id|cost|score\na|1|1\nb|{cell}|1\n")
    request = ask(metrics={"score": "binary", "cost": "graded"})
    check_same(path, request, taken=False)
    with pytest.raises(GateError, match="text is no value"):
        read_plain(path, request)


def in_parquet(folder: Path, columns: str) -> str:
    path = str(folder / "a.parquet")
    query = f"SELECT 'q' || i AS id, i % 2 AS score, {columns} FROM range(50) r(i)"  # noqa: S608 - own text
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def test_an_error_that_is_a_number_in_parquet(tmp_path: Path) -> None:
    path = in_parquet(tmp_path, "(i = 3)::INT AS error")
    check_same(path, ask(), taken=False)
    assert read_plain(path, ask()).failed.sum() == 1
    check_same(in_parquet(tmp_path, "'0' AS error"), ask(), taken=True)


def test_wanted_fields_inside_a_struct(tmp_path: Path) -> None:
    path = in_parquet(tmp_path, "{'error': CASE WHEN i = 3 THEN 'boom' END, 'cost': i} AS m")
    check_same(path, INSIDE, taken=False)
    assert read_plain(path, INSIDE).failed.sum() == 1
    optional = ask(metrics={"score": "binary", "m.cost": "graded"}, optional=frozenset({"m.cost"}))
    check_same(path, optional, taken=False)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(scan, "_BLOCK", size)
    rows = [row | {"lang": "dé😀"} for row in ROWS[:60]]
    for text in (csv(rows), jsonl(rows), "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)):
        for end in ("", "\n"):
            check_same(write(tmp_path, "a", text.rstrip("\n") + end), FULL, taken=True)
        check_same(write(tmp_path, "a", text.rstrip("\n") + "\n\n"), FULL, taken=False)
        check_same(write(tmp_path, "a", text.replace("\n", "\r\n")), FULL, taken=text.startswith("id,"))
        check_same(write(tmp_path, "a", text.encode()[:-9] + b"\xe9" + text.encode()[-9:]), FULL, taken=False)


def test_the_digest_of_the_ids_is_that_of_pairing(tmp_path: Path) -> None:
    for text in (csv(ROWS), jsonl(ROWS[::-1]), csv([row | {"id": f"é{row['id']}"} for row in ROWS])):
        table = fast(write(tmp_path, "a", text), FULL)
        assert isinstance(table, ItemTable)
        assert table.ids_digest == items_digest(table.ids)


def test_a_refused_pair_gives_the_memory_back(tmp_path: Path) -> None:
    rows = [{"id": f"item-{i:07d}", "score": i % 2, "note": "x" * 60} for i in range(100_000)]
    good, bad = (
        write(tmp_path, "a", jsonl(rows)),
        write(tmp_path, "b", jsonl([*rows, {"id": "a", "score": 5, "note": ""}])),
    )
    assert Path(good).stat().st_size > 8 << 20
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(GateError, match="kind binary takes"):
            read_pair(*pair, ask(), ask())
        assert not shares_a_database()


def shares_a_database() -> bool:
    """Whether a connection was left open somewhere: only then does a table outlive the one that made it."""
    with engine.connect() as one:
        one.execute("CREATE TABLE left_over (x INT)")
    with engine.connect() as other:
        return bool(other.execute("SELECT * FROM duckdb_tables() WHERE table_name = 'left_over'").fetchall())


def test_connections_share_a_database_until_the_last_is_closed() -> None:
    with engine.connect():
        assert shares_a_database()
    assert not shares_a_database()


@pytest.mark.parametrize("value", ["[2,]", "[2]", "{}", " 2", "nan", "2"])
def test_lines_with_and_without_a_blank_after_the_colon(tmp_path: Path, value: str) -> None:
    lines = [f'{{"id": "i{i:03d}","score": {i % 2},"z": 7}}\n' for i in range(60)]
    text = "".join(lines) + f'{{"id": "zz","score": 0,"z":{value}}}\n'
    check_same(write(tmp_path, "a", text), ask(), taken=True if value == "2" else None)

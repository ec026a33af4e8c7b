"""CSV as spreadsheets and csv.writer make it, read the fast way: quotes, line breaks in cells, CR LF."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.artifacts import read
from gate.artifacts.large import scan
from gate.artifacts.reading import read_plain
from gate.pairing import MetricRule, PairingRules, items_digest, pair

from .helpers import ask, write
from .test_large import check_same, fast

NOTES = ["plain", "a, b", 'say "no"', "two\nlines", "", '"', "é", "a;b", "'", "three\n\nlines"]
ROWS = [[f"q{(i * 37) % 100:03d}", i % 2, i * 0.5, NOTES[i % 10], ("de", "en")[i % 2]] for i in range(100)]
REQUEST = ask(metrics={"score": "binary", "ms": "graded"}, columns=("lang",))


def text_of(rows: list[list[Any]], **how: Any) -> str:
    out = io.StringIO()
    csv.writer(out, **how).writerows([["id", "score", "ms", "note", "lang"], *rows])
    return out.getvalue()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("size", [7, 64, 128 << 10])
def test_what_csv_writer_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line_end: str, quoting: int, size: int
) -> None:
    monkeypatch.setattr(scan, "_BLOCK", size)
    text = text_of(ROWS, lineterminator=line_end, quoting=quoting)
    check_same(write(tmp_path, "a", text), REQUEST, taken=True)
    check_same(write(tmp_path, "a", text.rstrip("\r\n")), REQUEST)


def test_the_lines_and_examples_of_rows_after_cells_of_many_lines(tmp_path: Path) -> None:
    rows = [[f"q{i}", "" if i == 7 else 1, 1, "one\ntwo\nthree", "de"] for i in range(9)]
    table = fast(write(tmp_path, "a", text_of(rows)), REQUEST)
    assert table is not None
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
    head, tail = text_of(ROWS, lineterminator="\n"), "q901,0,1,b,en\n"
    check_same(write(tmp_path, "a", head + line + "\n" + ("" if last else tail)), REQUEST)


CELL = st.text(st.sampled_from(['"', ",", "\n", "\r", "a", " ", "1"]), max_size=5)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 9),
)
def test_any_cells_agree(
    tmp_path: Path,
    cells: list[tuple[str, str]],
    line_end: str,
    raw: bool,
    size: int,
) -> None:
    rows = [[f"q{i}{one}", i % 2, 1, two, "de"] for i, (one, two) in enumerate(cells)]
    text = text_of(rows, lineterminator=line_end)
    if raw:  # cells that nobody quoted
        text = line_end.join(["id,score,ms,note,lang", *(",".join(map(str, row)) for row in rows)]) + line_end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_BLOCK", size)
        path = write(tmp_path, "a", text.encode())
        check_same(path, REQUEST)
        check_same(path, ask(metrics={"score": "binary"}, columns=("note",), cluster="note"))
        check_same(path, ask(metrics={"score": "binary"}, mapping={"error": "note", "status": "note"}))


@pytest.mark.parametrize("order", [1, -1])
def test_a_large_file_pairs_with_a_small_one(tmp_path: Path, order: int) -> None:
    """Their ids are arrays of two kinds, with the same texts."""
    rules = PairingRules(metrics={"score": MetricRule("binary", "higher")}, missing="drop", max_missing=0.1)
    large = fast(write(tmp_path, "a", text_of(ROWS)), REQUEST)
    for rows, count in ((ROWS, 100), (ROWS[1:], 99)):
        small = read(write(tmp_path, "b", text_of(rows[::order])), REQUEST)
        assert large is not None
        assert large.ids.dtype != small.ids.dtype
        for sides in ((large, small), (small, large)):
            found = pair(*sides, rules)
            assert found.counts.n_pairs == count
            assert found.ids.tolist() == sorted(row[0] for row in ROWS)
            assert found.counts.items_digest == items_digest(found.ids)


@pytest.mark.parametrize("column", ["error", "status", "note"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_cells_of_several_lines_in_a_column_that_is_read(tmp_path: Path, column: str, line_end: str) -> None:
    """An error with its traceback is a failed run, in the fast way as in the plain one."""
    out = io.StringIO()
    rows = [["a", 1, ""], ["b", 0, "Traceback:\n  line 2"], ["c", 1, "timeout"]]
    csv.writer(out, lineterminator=line_end).writerows([["id", "score", column], *rows])
    request = ask(columns=("note",), optional=frozenset({"note"}))
    check_same(write(tmp_path, "a", out.getvalue()), request)
    if column == "error":
        assert read_plain(str(tmp_path / "a"), request).failed.tolist() == [False, True, True]

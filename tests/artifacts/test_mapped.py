"""CSV, TSV, JSON and JSON Lines: the same rows give the same table, whatever the layout."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from gate.artifacts import detect, read
from gate.artifacts.table import ReadRequest

from .helpers import ask, jsonl, refusal, table, values, write

ROWS = [{"id": f"q{i}", "score": i % 2, "lang": "de" if i % 3 else "en"} for i in range(6)]
CSV = "id,score,lang\n" + "".join(f"{r['id']},{r['score']},{r['lang']}\n" for r in ROWS)
LAYOUTS = {
    "csv": CSV,
    "tsv": CSV.replace(",", "\t"),
    "semicolon": CSV.replace(",", ";"),
    "pipe": CSV.replace(",", "|"),
    "crlf": CSV.replace("\n", "\r\n"),
    "cr": CSV.replace("\n", "\r"),
    "bom": "\ufeff" + CSV,
    "no final newline": CSV.rstrip("\n"),
    "blank lines": CSV.replace("q2,", "\nq2,"),
    "quoted": CSV.replace("q1", '"q1"'),
    "json": json.dumps(ROWS),
    "json indented": json.dumps(ROWS, indent=2),
    "json split": json.dumps({"columns": ["id", "score", "lang"], "data": [list(r.values()) for r in ROWS]}),
    "json nested list": json.dumps({"run": {"model": "m"}, "results": ROWS}, indent=1),
    "jsonl": jsonl(ROWS),
    "jsonl crlf": jsonl(ROWS).replace("\n", "\r\n"),
    "jsonl bom": "\ufeff" + jsonl(ROWS),
    "jsonl shuffled": jsonl(ROWS[::-1]),
    "jsonl booleans": jsonl([r | {"score": bool(r["score"])} for r in ROWS]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_identity(tmp_path: Path, layout: str) -> None:
    plain = table(tmp_path, CSV, columns=("lang",))
    found = table(tmp_path, LAYOUTS[layout], "odd.bin", columns=("lang",))
    assert values(found) == values(plain)
    assert found.identity == plain.identity
    assert found.lines is None or len(found.lines) == 6


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_packed_files_are_read_by_content(tmp_path: Path, pack: object) -> None:
    packed = pack(CSV.encode())  # type: ignore[operator]
    found = table(tmp_path, packed, "a.csv")
    assert values(found) == values(table(tmp_path, CSV))
    assert found.source.format == "csv"
    assert found.source.bytes == len(packed)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_packed_files_cut_short_are_refused(tmp_path: Path, pack: object) -> None:
    packed = pack(CSV.encode() * 50)  # type: ignore[operator]
    assert refusal(tmp_path, packed[:-9]).code == "broken_archive"


def test_identity_changes_with_a_value_and_not_with_an_unread_column(tmp_path: Path) -> None:
    plain = table(tmp_path, CSV)
    assert table(tmp_path, CSV.replace("q1,1", "q1,0")).identity != plain.identity
    assert table(tmp_path, CSV.replace("en", "fr")).identity == plain.identity
    assert table(tmp_path, CSV, columns=("lang",)).identity != plain.identity


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    found = table(tmp_path, 'id,score,note\na,1,"two\nlines"\n\nb,0,x\n')
    assert found.lines is not None
    assert found.lines.tolist() == [2, 5]
    assert refusal(tmp_path, 'id,score,note\na,1,"two\nlines"\nb,7,x\n').where.endswith(":4")


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ("id,score\na,1\nb\n", "ragged_row", 3),
        ("id,score\na,1\nb,1,2\n", "ragged_row", 3),
        ('id,score\na,1\n"b,1\n', "invalid_csv", 3),
        ("id,score,score\na,1,0\n", "duplicate_column", 1),
        ('{"id":"a","score":1}\n{"id":"b","sco', "invalid_json", 2),
        ('{"id":"a","score":1}\n{"id":"b","score":1,"score":0}\n', "duplicate_key", 2),
        ('{"id":"a","score":1}\n[1]\n', "invalid_json", 2),
        ('{"id":"a","score":1},\n{"id":"b","score":1},\n', "invalid_json", 1),
        ('[{"id":"a","score":1},\n{"id":"b","score":1},\n]', "invalid_json", 3),
        ('// run\n[{"id":"a","score":1}]', "invalid_json", 1),
        ('[{"id":"a","score":1}, // x\n{"id":"b","score":1}]', "invalid_json", 1),
        ("id,score\na,1\nb,\xe9\n".encode("latin-1"), "not_utf8", 3),
        (b'{"id":"caf\xe9","score":1}\n', "not_utf8", 1),
        (b'[{"id":"a","score":1},\n{"id":"caf\xe9","score":1}]', "not_utf8", 2),
    ],
)
def test_broken_text_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, code: str, line: int
) -> None:
    error = refusal(tmp_path, content)
    assert error.code == code
    assert error.where.endswith(f":{line}")
    assert error.help


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_wide_encodings_are_named(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("e") else ""
    error = refusal(tmp_path, (mark + CSV).encode(encoding))
    assert error.code == "not_utf8"
    assert "UTF-" in error.message
    assert "iconv" in error.help


def test_a_second_byte_order_mark_is_content_and_refused_in_an_id(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path, '\ufeff{"id":"a","score":1}\n\ufeff{"id":"b","score":1}\n').code == "invalid_json"
    )


def test_line_separators_of_unicode_are_content(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "score": 1, "text": "a\u2028b\x85c\u2029d"} for i in range(3)]
    raw = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    assert len(table(tmp_path, raw, columns=("text",))) == 3
    assert len(table(tmp_path, "id,score,text\nq1,1,a\u2028b\x85c\n", columns=("text",))) == 1


@pytest.mark.parametrize(
    "content", ["", "\n\n", "id,score\n", "[]", '{"columns":["id","score"],"data":[]}', "{}"]
)
def test_files_without_items_are_refused(tmp_path: Path, content: str) -> None:
    assert refusal(tmp_path, content).code in {"no_items", "averages_only"}


@pytest.mark.parametrize(
    "content",
    [
        '{"accuracy": 0.71, "n": 200}',
        '{"results": {"gsm8k": {"acc,none": 0.71, "acc_stderr,none": 0.01}}}',
        '[{"accuracy": 0.71}]',
        "accuracy,f1\n0.71,0.7\n",
        "metric,score\naccuracy,0.71\nf1,0.69\nrecall,0.8\nprecision,0.9\nauc,0.7\n",
        '{"metric": "accuracy", "value": 0.71}\n{"metric": "f1", "value": 0.7}\n',
    ],
)
def test_averages_are_not_items(tmp_path: Path, content: str) -> None:
    error = refusal(tmp_path, content, metrics={"accuracy": "graded"})
    assert error.code == "averages_only"
    assert "per-item results are needed" in error.message
    assert "treat the comparison as undecided" in error.help


def test_mapping_reads_nested_lists(tmp_path: Path) -> None:
    rows = [
        {"sample": {"id": i}, "scores": {"acc": {"value": i % 2}}, "meta": {"group": "g"}} for i in range(4)
    ]
    content = json.dumps({"run": {"tags": ["x"]}, "results": rows, "log": [{"level": "info"}]})
    for prefix in ("results[].", ""):
        mapping = {
            "id": f"{prefix}sample.id",
            "score": f"{prefix}scores.acc.value",
            "group": f"{prefix}meta.group",
        }
        found = table(tmp_path, content, mapping=mapping, cluster="group")
        assert values(found) == {"0": 0, "1": 1, "2": 0, "3": 1}
        assert found.clusters is not None
        assert set(found.clusters) == {"g"}


def test_dotted_names_are_looked_up_literally_first(tmp_path: Path) -> None:
    assert values(table(tmp_path, "id,feedback.score\na,1\n", mapping={"score": "feedback.score"})) == {
        "a": 1
    }
    rows = [{"id": "a", "x.y": 1, "x": {"y": 0, "z": 0}}]
    assert values(table(tmp_path, jsonl(rows), mapping={"score": "x.y"})) == {"a": 1}
    assert values(table(tmp_path, jsonl(rows), mapping={"score": "x.z"})) == {"a": 0}
    assert values(table(tmp_path, jsonl(rows), metrics={"x.z": "binary"}), "x.z") == {"a": 0}


def test_absent_names_are_errors_with_the_nearest_names(tmp_path: Path) -> None:
    error = refusal(tmp_path, "id,scores,lang\na,1,de\nb,0,de\n")
    assert error.code == "missing_metric"
    assert "did you mean 'scores'?" in error.help
    error = refusal(tmp_path, "sample_id,score\n" + "".join(f"q{i},1\n" for i in range(9)))
    assert error.code == "missing_id"
    assert "'sample_id'" in error.message
    assert refusal(tmp_path, CSV, columns=("topic",)).code == "missing_column"
    assert refusal(tmp_path, CSV, cluster="topic").code == "missing_cluster"
    assert refusal(tmp_path, CSV, repeat="run").code == "missing_repeat"


def test_optional_columns_may_be_absent_or_unfit(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        CSV,
        metrics={"score": "binary", "cost": "graded", "lang": "graded"},
        columns=("note",),
        optional=frozenset({"cost", "lang", "note"}),
    )
    assert set(found.values) == {"score"}
    assert not found.columns
    assert sorted(code for code, _ in found.cautions) == [
        "column_not_read",
        "metric_not_read",
        "metric_not_read",
    ]


def test_repeats_need_their_own_value(tmp_path: Path) -> None:
    content = "id,run,score\na,1,1\na,2,0\nb,1,1\n"
    found = table(tmp_path, content, repeat="run")
    assert found.repeats is not None
    assert found.repeats.tolist() == ["1", "2", "1"]
    assert refusal(tmp_path, content).code == "duplicate_ids"
    error = refusal(tmp_path, content + "a,2,0\n", repeat="run")
    assert error.code == "duplicate_ids"
    assert "repeat" in error.message


def test_semicolons_with_decimal_commas(tmp_path: Path) -> None:
    content = "id;score;n\na;0,5;1\nb;1;2\nc;-1,25e0;3\n"
    assert values(table(tmp_path, content, metrics={"score": "graded"})) == {"a": 0.5, "b": 1.0, "c": -1.25}
    assert refusal(tmp_path, "id;score\na;0,5\nb;0.5\n", metrics={"score": "graded"}).code == "mixed_decimals"
    assert refusal(tmp_path, 'id,score\na,"0,5"\n', metrics={"score": "graded"}).code == "invalid_value"


@pytest.mark.parametrize("word", ["mean", "Total", "ALL", "average"])
def test_a_summary_row_is_refused(tmp_path: Path, word: str) -> None:
    error = refusal(tmp_path, f"id,score\na,1\nb,0\n{word},0.5\n", metrics={"score": "graded"})
    assert error.code == "summary_row"
    assert error.where.endswith(":4")


@pytest.mark.parametrize(
    "rows", ["overall,0.5\na,1\nb,0", "all,0.5\nmean,0.5\na,1\nb,0", "a,1\nb,0\nmean,1\nstd,0"]
)
def test_summary_rows_before_or_after_the_others_are_refused(tmp_path: Path, rows: str) -> None:
    assert refusal(tmp_path, f"id,score\n{rows}\n", metrics={"score": "graded"}).code == "summary_row"
    lines = [dict(zip(("id", "score"), row.split(","), strict=True)) for row in rows.split("\n")]
    packed = gzip.compress(jsonl([line | {"score": float(line["score"])} for line in lines]).encode())
    assert refusal(tmp_path, packed, metrics={"score": "graded"}).code == "summary_row"


def test_items_that_are_called_like_summaries_among_others_are_items(tmp_path: Path) -> None:
    assert len(table(tmp_path, "id,score\nsum,1\nmax,0\ncount,1\nrev,1\nmean,0\n")) == 5


def test_a_first_row_of_counts_has_no_id(tmp_path: Path) -> None:
    rows = [{"accuracy": 0.5, "total": 2}, {"id": "a", "score": 1}, {"id": "b", "score": 0}]
    error = refusal(tmp_path, jsonl(rows))
    assert "the first row has no id" in error.message
    assert error.where.endswith(":1")


AVERAGES = {
    "one row a metric": "metric,score\nfaithfulness,0.8\nrelevancy,0.7\n",
    "statistics": "id,score\ncount,8\nmean,0.5\nstd,0.1\nmin,0\n25%,0\n50%,1\n75%,1\nmax,1\n",
    "an object a task": json.dumps({f"t{i}": {"acc": 0.5, "acc_stderr": 0.1} for i in range(5)}),
}


@pytest.mark.parametrize("content", AVERAGES.values(), ids=AVERAGES)
def test_averages_are_called_averages(tmp_path: Path, content: str) -> None:
    named = {"id": "metric"} if content.startswith("metric") else {}
    assert refusal(tmp_path, content, metrics={"score": "graded"}, **named).code == "averages_only"


@pytest.mark.parametrize(
    "document",
    [
        {
            "mean": 0.5,
            "details": {str(i): {"correct": i % 2} | ({"n": 1} if i else {}) for i in range(6)},
        },
        {f"q{i}": i / 30 for i in range(30)},
    ],
)
def test_rows_under_their_ids_are_named(tmp_path: Path, document: dict[str, Any]) -> None:
    assert refusal(tmp_path, json.dumps(document)).code == "rows_by_key"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("format_name", ["auto", "jsonl", "csv"])
def test_a_pointer_of_git_lfs_is_no_file(
    tmp_path: Path, pack: Callable[[bytes], bytes], format_name: str
) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 23456457\n"
    error = refusal(tmp_path, pack(pointer), format=format_name)
    assert "a Git LFS pointer, not the file" in error.message
    assert "git lfs pull" in error.help
    assert refusal(tmp_path, "/annex/objects/SHA256E-s9--abc.jsonl\n").code == "file_pointer"


def test_an_empty_last_id_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "id,score\na,1\nb,0\n,1\n").code == "invalid_id"


def test_pandas_index_without_a_name_is_called_index(tmp_path: Path) -> None:
    assert values(table(tmp_path, ",score\n007,1\n8,0\n", id="index")) == {"007": 1, "8": 0}


def test_long_lines_of_real_logs_are_read_and_endless_ones_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "score": 1, "note": "x" * 1_500_000}, {"id": "b", "score": 0}]
    assert len(table(tmp_path, jsonl(rows))) == 2
    rows[0]["note"] = "x" * 9_000_000
    assert refusal(tmp_path, jsonl(rows)).code == "line_too_long"


def test_detection_ignores_the_name(tmp_path: Path) -> None:
    assert detect(write(tmp_path, "a.parquet", CSV)) == "csv"
    assert detect(write(tmp_path, "a.csv", jsonl(ROWS))) == "jsonl"
    assert detect(write(tmp_path, "a.jsonl", json.dumps(ROWS, indent=2))) == "json"


def test_unknown_format_and_system_names(tmp_path: Path) -> None:
    assert refusal(tmp_path, CSV, format="xlsx").code == "unknown_format"
    assert refusal(tmp_path, CSV, system="m1").code == "no_systems"


def test_a_declared_format_is_kept(tmp_path: Path) -> None:
    assert values(read(write(tmp_path, "a", "id\tscore\na\t1\n"), ask(format="tsv"))) == {"a": 1}
    assert refusal(tmp_path, CSV, format="jsonl").code == "invalid_json"
    assert refusal(tmp_path, CSV, format="parquet").code == "broken_file"


def test_text_columns(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "score": 1, "x": 1.0, "y": True, "z": {"b": 1, "a": [None]}},
        {"id": "b", "score": 1, "x": 2.0},
    ]
    found = table(tmp_path, jsonl(rows), columns=("x", "y", "z"))
    assert found.columns["x"].tolist() == ["1", "2"]
    assert found.columns["y"].tolist() == ["true", None]
    assert found.columns["z"].tolist() == ['{"a":[null],"b":1}', None]
    assert all(array.dtype == np.object_ for array in found.columns.values())
    assert refusal(tmp_path, '{"id":"a","score":1,"x":"\\udc00"}\n', columns=("x",)).code == "invalid_text"


def test_a_status_that_nobody_knows_is_named(tmp_path: Path) -> None:
    """A word of its own for a crash must not pass for a completed run without being seen."""
    rows = "id,score,status\na,1,ok\nb,0,Timed out\nc,0,oomkill\nd,1,shelved\ne,1,\n"
    path = tmp_path / "run.csv"
    path.write_text(rows)
    request = ReadRequest(metrics={"score": "binary"})
    found = read(str(path), request)
    assert found.failed.tolist() == [False, True, False, False, False]
    said = dict(found.cautions)["status_unknown"]
    assert "count as completed (2 of 5)" in said
    assert "oomkill" in said
    assert "shelved" in said


def test_numbers_and_gaps_as_a_status_need_no_caution(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{i}", "score": 1, "status": cell} for i, cell in enumerate([200.0, 1.0, 0, None, "nan"])
    ]
    assert not table(tmp_path, jsonl(rows)).cautions

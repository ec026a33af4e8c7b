"""Short files that would take long, or much memory, and arrays whose headers are broken in a new way."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard

from gate.artifacts import limits
from gate.artifacts.strict_json import parse_document
from gate.values import GateError

from .helpers import refusal, table, values
from .tools import zipped

ROWS = "".join(json.dumps({"id": f"i{k}", "score": k % 2}) + "\n" for k in range(40)).encode()


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(b"") * 60_000,
        gzip.compress(b"\n") * 60_000,
        zstandard.compress(b"") * 60_000,
        zstandard.compress(ROWS) + struct.pack("<II", 0x184D2A50, 0) * 60_000,
    ],
    ids=["empty gzip", "short gzip", "empty zstd", "skipped zstd"],
)
def test_tens_of_thousands_of_packed_parts(tmp_path: Path, data: bytes) -> None:
    error = refusal(tmp_path, data)
    assert error.code == "unpacks_too_large"
    assert "parts" in error.message


def test_more_lines_than_anyone_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PACKED_LINES", 39)
    assert "39 lines" in refusal(tmp_path, gzip.compress(ROWS)).message
    assert len(table(tmp_path, ROWS)) == 40


def test_gzip_in_parts_with_padding_is_whole(tmp_path: Path) -> None:
    first, second = gzip.compress(ROWS[:205]), gzip.compress(ROWS[205:])
    named = b"\x1f\x8b\x08\x08" + first[4:10] + b"a.jsonl\0" + first[10:]
    for data in (first + second, named + second + b"\0" * 40_000):
        assert len(table(tmp_path, data)) == 40


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(ROWS) + b"garbage",
        gzip.compress(ROWS)[:-1],
        gzip.compress(ROWS)[:-4] + b"\5\0\0\0",
        gzip.compress(ROWS)[:-8] + b"\0" * 8,
        b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"A" * 1_000_000,
        zstandard.compress(ROWS) + b"garbage",
    ],
)
def test_packed_data_with_a_wrong_end(tmp_path: Path, data: bytes) -> None:
    assert refusal(tmp_path, data).code == "broken_archive"


def test_an_archive_that_lies_about_its_number_of_members(tmp_path: Path) -> None:
    raw = zipped({"header.json": "{}"})
    start, end = raw.find(b"PK\x01\x02"), raw.rfind(b"PK\x05\x06")
    for count in (60_000, 400_000):
        directory = raw[start:end] * count
        tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), start, 0)
        assert refusal(tmp_path, raw[:start] + directory + tail, "a.eval").code == "archive_too_large"


def array(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def shaped(kind: str, shape: str = "(40,)", data: bytes = bytes(320)) -> bytes:
    return array(f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n", data)


def archive(score: bytes) -> bytes:
    ids = io.BytesIO()
    np.save(ids, np.array([f"i{k}" for k in range(40)]))
    return zipped({"id.npy": ids.getvalue(), "score.npy": score})


@pytest.mark.parametrize(
    "score",
    [
        shaped("'<U1'", data=b"\xff" * 160),
        shaped("()"),
        shaped("('<f8',)"),
        shaped("{}"),
        shaped("'<f8'", "(-40,)"),
        shaped("'<f8'", f"({2**70},)"),
        shaped("'<f8'", "(1000000000000,)"),
        shaped("'<U0'", "(100000000,)"),
        shaped("'|S0'", "(1000000000000,)"),
        array("{'descr': '<f8', 'fortran_order': False, 'shape': (40,), "),
        array("{'descr': '''"),
        array("(" * 9000),
        array("-" * 9000 + "1"),
        zipped({"x.npy": b"1"}),
        b"",
    ],
)
def test_arrays_with_broken_headers(tmp_path: Path, score: bytes) -> None:
    error = refusal(tmp_path, archive(score), "a.npz")
    assert error.code in {"broken_file", "invalid_array"}
    assert error.where.endswith("a.npz!score")
    assert "np.savez" in error.help


def test_a_long_array_header_is_not_called_a_pickle(tmp_path: Path) -> None:
    error = refusal(tmp_path, archive(shaped("'<f8'", "(40,)" + " " * 20_000)), "a.npz")
    assert error.code == "broken_file"


@pytest.mark.parametrize("limit", ["CONTAINERS", "JSON_VALUES"])
def test_json_of_more_values_than_memory(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    text = "[" + "[]," * 100 + "{}]"
    assert len(parse_document(text, "a.json")) == 101
    monkeypatch.setattr(limits, limit, 100)
    with pytest.raises(GateError) as caught:
        parse_document(text, "a.json")
    assert caught.value.code == "document_too_large"
    quiet = json.dumps(["[{,", '"[\\', "\\", '\\"[,', "é["] * 100)
    monkeypatch.setattr(limits, limit, 600)
    assert len(parse_document(quiet, "a.json")) == 500


@pytest.mark.parametrize("size", range(1, 12))
def test_depth_is_counted_across_pieces(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("gate.artifacts.strict_json._SLICE", size)
    fine = '["\\\\\\"[[[", "[\\\\", ' + "[" * 63 + '"\\\\"' + "]" * 63 + "]"
    assert parse_document(fine, "a.json")
    for text in ("[" + fine + "]", '["\\\\", ' + "[" * 64 + "]" * 65):
        with pytest.raises(GateError) as caught:
            parse_document(text, "a.json")
        assert caught.value.code == "too_deep"


def test_xml_of_more_tests_or_longer_elements_than_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "n" * (12 * limits.MIB)
    for text in (f'<testsuite><testcase name="{name}"/></testsuite>', f"<testsuite><{name}/></testsuite>"):
        assert refusal(tmp_path, text, "a.xml").code == "document_too_large"
    output = "<system-out>" + "o " * (6 * limits.MIB) + "</system-out>"
    text = f'<testsuite><testcase name="a">{output}</testcase><testcase name="b"/></testsuite>'
    assert values(table(tmp_path, text, "a.xml", metrics={"passed": "binary"}), "passed") == {"a": 1, "b": 1}
    monkeypatch.setattr(limits, "ELEMENTS", 1)
    error = refusal(tmp_path, text, "a.xml", metrics={"passed": "binary"})
    assert error.code == "document_too_large"


def test_an_archive_of_stored_members_reads_as_before(tmp_path: Path) -> None:
    ids, score = io.BytesIO(), io.BytesIO()
    np.save(ids, np.array(["a", "b"]))
    np.save(score, np.array([1, 0]))
    path = io.BytesIO()
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("id.npy", ids.getvalue())
        file.writestr("score.npy", score.getvalue())
    assert values(table(tmp_path, path.getvalue(), "a.npz")) == {"a": 1, "b": 0}

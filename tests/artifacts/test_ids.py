"""Ids are text: nothing is coerced through a number, nothing deceptive gets through."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from gate.artifacts.ids import content_id

from .helpers import jsonl, refusal, table, values


def ids(folder: Path, content: str, **changes: object) -> list[str]:
    return table(folder, content, **changes).ids.tolist()


def rows(*found: str) -> str:
    return "".join(f'{{"id":{cell},"score":1}}\n' for cell in found)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("1", "2"), ["1", "2"]),
        (('"007"', '"7"'), ["007", "7"]),
        (("9007199254740993", "9007199254740992"), ["9007199254740993", "9007199254740992"]),
        (("1.0", "2.0"), ["1", "2"]),
        (('"1.0"', '"2.0"'), ["1.0", "2.0"]),
        (("1", '"2"'), ["1", "2"]),
        (("18446744073709551616123", "-5"), ["18446744073709551616123", "-5"]),
    ],
)
def test_ids_as_text(tmp_path: Path, cells: tuple[str, ...], expected: list[str]) -> None:
    assert ids(tmp_path, rows(*cells)) == expected


def test_csv_ids_stay_as_written_unless_the_column_is_float(tmp_path: Path) -> None:
    assert ids(tmp_path, "id,score\n007,1\n9007199254740993,1\n1e3,1\n") == ["007", "9007199254740993", "1e3"]
    assert ids(tmp_path, "id,score\n1.0,1\n2.0,1\n") == ["1", "2"]
    assert ids(tmp_path, "id,score\n1.0,1\n2.5,1\n") == ["1.0", "2.5"]


@pytest.mark.parametrize(
    "cells",
    [
        ("true", '"b"'),
        ("null", '"b"'),
        ("1.5", "2.0"),
        ("1.0", "2"),
        ("1.0", '"b"'),
        ("NaN", "1.0"),
        ("[1]", '"b"'),
        ('{"a":1}', '"b"'),
        ('""', '"b"'),
        ('" "', '"b"'),
        ("9007199254740994.0", "1.0"),
        ("1e400", "1.0"),
        ('"' + "x" * 5000 + '"', '"b"'),
    ],
)
def test_cells_that_are_no_ids(tmp_path: Path, cells: tuple[str, ...]) -> None:
    error = refusal(tmp_path, rows(*cells))
    assert error.code == "invalid_id"
    assert error.where


def test_a_row_without_an_id(tmp_path: Path) -> None:
    error = refusal(tmp_path, jsonl([{"id": "a", "score": 1}, {"score": 1}]))
    assert (error.code, "absent" in error.message) == ("invalid_id", True)


def test_types_that_collide_are_duplicates(tmp_path: Path) -> None:
    error = refusal(tmp_path, rows("1", '"1"', "2"))
    assert error.code == "duplicate_ids"
    assert "1 id: '1'" in error.message
    assert error.where.endswith(":2")


def test_duplicates_are_counted_and_the_first_five_named(tmp_path: Path) -> None:
    doubled = [{"id": f"q{i % 9}", "score": 1} for i in range(18)]
    error = refusal(tmp_path, jsonl(doubled))
    assert "9 ids: 'q0', 'q1', 'q2', 'q3', 'q4' and 4 more" in error.message


def test_equal_after_nfc_is_refused(tmp_path: Path) -> None:
    composed = "café"
    error = refusal(tmp_path, f"id,score\n{composed},1\n{unicodedata.normalize('NFD', composed)},0\n")
    assert error.code == "duplicate_ids"
    assert "NFC" in error.message
    assert str(error).isascii()


@pytest.mark.parametrize(("one", "other"), [("ﬁx", "fix"), ("Q1", "q1"), ("q 1", "q 1 "), ("Ａ1", "A1")])
def test_equal_after_folding_is_a_caution(tmp_path: Path, one: str, other: str) -> None:
    found = table(
        tmp_path, jsonl([{"id": one, "score": 1}, {"id": other, "score": 0}, {"id": "z", "score": 0}])
    )
    assert values(found) == {one: 1, other: 0, "z": 0}
    assert [code for code, _ in found.cautions] == ["similar_ids"]


def test_distinct_ids_give_no_caution(tmp_path: Path) -> None:
    assert (
        table(tmp_path, jsonl([{"id": x, "score": 1} for x in ("Q1", "q2", "q 3", "café", "京")])).cautions
        == ()
    )


@pytest.mark.parametrize(
    "letter",
    [
        "\x00",
        "\x1b",
        "\t",
        "\n",
        "\r",
        "\x7f",
        "\x85",
        "\u200b",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\u2028",
        "\u00ad",
    ],
)
def test_characters_that_deceive_are_refused(tmp_path: Path, letter: str) -> None:
    error = refusal(tmp_path, jsonl([{"id": f"a{letter}b", "score": 1}]))
    assert error.code == "invalid_id"
    assert f"U+{ord(letter):04X}" in error.message


def test_lone_surrogates_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, '{"id":"\\ud800","score":1}\n').code == "invalid_id"
    assert values(table(tmp_path, '{"id":"\\ud83d\\ude00","score":1}\n')) == {"\U0001f600": 1}


def test_content_ids_are_safe_and_distinct() -> None:
    assert content_id("two\nlines") == "two\\nlines"
    assert content_id("zero\u200bwidth") == "zero\\u200bwidth"
    long, other = "x" * 500, "x" * 499 + "y"
    assert content_id(long) != content_id(other)
    assert len(content_id(long)) <= 200
    assert content_id(" ") == "(empty)"

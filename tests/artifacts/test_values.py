"""A cell is a number by a written rule, or it is missing, or the file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.artifacts import ItemTable
from gate.artifacts.magnitude import apart

from .helpers import jsonl, refusal, table, values


def cell(folder: Path, text: str, kind: str = "binary", **changes: object) -> float | None:
    content = f'{{"id":"a","score":{text}}}\n{{"id":"b","score":1}}\n'
    return values(table(folder, content, metrics={"score": kind}, **changes))["a"]


def csv_cell(folder: Path, text: str, kind: str = "binary", **changes: object) -> float | None:
    return values(table(folder, f"id,score\na,{text}\nb,1\n", metrics={"score": kind}, **changes))["a"]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1", "binary", 1.0),
        ("0.0", "binary", 0.0),
        ("true", "binary", 1.0),
        ("false", "binary", 0.0),
        ("0.25", "graded", 0.25),
        ("-3", "graded", -3.0),
        ("1e-7", "graded", 1e-7),
        ("9007199254740993", "graded", 9007199254740992.0),
        ("123456789012345678901234567890", "graded", 1.2345678901234568e29),
        ("1e308", "graded", 1e308),
        ("-0.0", "graded", 0.0),
    ],
)
def test_numbers(tmp_path: Path, text: str, kind: str, expected: float) -> None:
    assert cell(tmp_path, text, kind) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1", "binary", 1.0),
        (" 0 ", "binary", 0.0),
        ("True", "binary", 1.0),
        ("FALSE", "binary", 0.0),
        ("1.0", "binary", 1.0),
        (".5", "graded", 0.5),
        ("+1.5E+2", "graded", 150.0),
        ("5.", "graded", 5.0),
        ("0.1", "graded", 0.1),
    ],
)
def test_numbers_in_csv(tmp_path: Path, text: str, kind: str, expected: float) -> None:
    assert csv_cell(tmp_path, text, kind) == expected


@pytest.mark.parametrize(
    "text", ["null", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", '""', '"NaN"', "9" * 400]
)
def test_what_is_no_number_is_missing(tmp_path: Path, text: str) -> None:
    found = table(
        tmp_path, f'{{"id":"b","score":1}}\n{{"id":"a","score":{text}}}\n', metrics={"score": "graded"}
    )
    assert values(found) == {"b": 1.0, "a": None}
    gaps = found.missing["score"]
    assert gaps.count == 1
    assert gaps.examples[0][:2] == ("a", "line 2")
    assert gaps.examples[0][2]


@pytest.mark.parametrize(
    "text", ["", "nan", "NaN", "null", "None", "NA", "inf", "-inf", "1e400", "<NA>", " "]
)
def test_what_is_no_number_is_missing_in_csv(tmp_path: Path, text: str) -> None:
    assert csv_cell(tmp_path, text, "graded") is None


def test_missing_cells_are_counted_and_five_are_shown(tmp_path: Path) -> None:
    content = jsonl(
        [{"id": f"q{i}", "score": None} for i in range(7)] + [{"id": "x"}, {"id": "y", "score": 1}]
    )
    gaps = table(tmp_path, content).missing["score"]
    assert gaps.count == 8
    assert [example[2] for example in gaps.examples] == ["null"] * 5
    found = table(tmp_path, jsonl([{"id": "x"}, {"id": "y", "score": 1}])).missing["score"]
    assert found.examples == (("x", "line 1", "absent"),)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2", "binary"),
        ("0.5", "binary"),
        ("-1", "binary"),
        ("true", "graded"),
        ('"1"', "binary"),
        ('"0.5"', "graded"),
        ('"pass"', "binary"),
        ('"true"', "binary"),
        ("[1]", "binary"),
        ('{"value":1}', "graded"),
    ],
)
def test_other_types_are_refused_with_item_and_line(tmp_path: Path, text: str, kind: str) -> None:
    error = refusal(
        tmp_path, f'{{"id":"b","score":1}}\n{{"id":"a","score":{text}}}\n', metrics={"score": kind}
    )
    assert error.code == "invalid_value"
    assert "'a'" in error.message
    assert error.where.endswith(":2")
    assert error.help


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2", "binary"),
        ("true", "graded"),
        ("85%", "graded"),
        ("1_000", "graded"),
        ("0x1F", "graded"),
        ("1 000", "graded"),
        ("pass", "binary"),
        ("yes", "binary"),
        ("--1", "graded"),
        ("1e", "graded"),
        ("١", "graded"),
    ],
)
def test_other_text_is_refused_in_csv(tmp_path: Path, text: str, kind: str) -> None:
    assert refusal(tmp_path, f"id,score\na,{text}\nb,1\n", metrics={"score": kind}).code == "invalid_value"


def test_binary_names_what_it_takes(tmp_path: Path) -> None:
    assert "kind binary takes 0/1" in refusal(tmp_path, "id,score\na,2\n").message


def test_declared_words(tmp_path: Path) -> None:
    words = {"PASS": 1.0, "FAIL": 0.0, "part": 0.5}
    content = jsonl([{"id": "a", "score": "PASS"}, {"id": "b", "score": "FAIL"}, {"id": "c", "score": 1}])
    assert values(table(tmp_path, content, words=words)) == {"a": 1, "b": 0, "c": 1}
    assert csv_cell(tmp_path, "PASS", words=words) == 1
    assert csv_cell(tmp_path, "part", "graded", words=words) == 0.5
    assert refusal(tmp_path, "id,score\na,part\n", words=words).code == "invalid_value"
    assert refusal(tmp_path, "id,score\na,pass\n", words=words).code == "invalid_value"


FAILED = [
    {"error": "boom"},
    {"error": {"message": "x"}},
    {"error": True},
    {"error": 1},
    *({"status": word} for word in ("error", "Timeout", "skipped", "CANCELLED", "timed out", "infra-error")),
]
RAN = [{"error": x} for x in (None, "", False, 0)] + [{"status": x} for x in ("ok", "pass", "fail", "", None)]


@pytest.mark.parametrize("extra", FAILED, ids=str)
def test_runs_that_failed(tmp_path: Path, extra: dict[str, object]) -> None:
    found = table(tmp_path, jsonl([{"id": "a", "score": "N/A?"} | extra, {"id": "b", "score": 1}]))
    assert found.failed.tolist() == [True, False]
    assert values(found) == {"a": None, "b": 1}
    assert found.missing["score"].count == 0


@pytest.mark.parametrize("extra", RAN, ids=str)
def test_runs_that_completed(tmp_path: Path, extra: dict[str, object]) -> None:
    assert not table(tmp_path, jsonl([{"id": "a", "score": 1} | extra])).failed.any()


def test_reserved_names_have_no_meaning_once_the_policy_gives_them_a_role(tmp_path: Path) -> None:
    words = {"ok": 1.0, "error": 0.0}
    content = jsonl([{"id": "a", "status": "error"}, {"id": "b", "status": "ok"}])
    for changes in ({"metrics": {"status": "binary"}}, {"mapping": {"score": "status"}}):
        found = table(tmp_path, content, words=words, **changes)  # type: ignore[arg-type]
        assert not found.failed.any()
        assert values(found, next(iter(found.values))) == {"a": 0, "b": 1}
    assert not table(
        tmp_path, jsonl([{"id": "a", "score": 1, "error": 3}]), metrics={"error": "graded"}
    ).failed.any()


def test_other_names_for_the_run_status(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "score": 0, "run": {"exc": "x", "state": "done"}},
        {"id": "b", "score": 1, "run": {"state": "timeout"}},
    ]
    content = jsonl([*rows, {"id": "c", "score": 1, "run": {"exc": None}}])
    found = table(tmp_path, content, mapping={"error": "run.exc", "status": "run.state"})
    assert found.failed.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("candidate", "said"), [([2, 3], False), ([2.5, 3], True), ([0, 0.5], True), ([9], False)]
)
def test_ranges_that_do_not_even_touch_are_said(tmp_path: Path, candidate: list[float], said: bool) -> None:
    def side(name: str, scores: list[float]) -> ItemTable:
        rows = [{"id": f"q{i}", "score": score} for i, score in enumerate(scores)]
        return table(tmp_path, jsonl(rows), name=name, metrics={"score": "graded"})

    found = apart("score", side("a", [1, 2]), side("b", candidate))
    assert (found is not None) is said

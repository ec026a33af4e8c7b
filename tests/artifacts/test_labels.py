"""Gold labels in a file of their own, joined by id: the same run as with the labels in both files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.black_box import BINARY, Answer, command, write_rows

POLICY = {
    **BINARY,
    "items": {"label": "label", "cluster": "topic"},
    "slices": {"by": ["language"], "min_items": 5},
}
GOLD = [{"id": f"q{i}", "label": i % 2, "topic": f"t{i // 8}", "language": "en"} for i in range(120)]


def results(better: int) -> list[dict[str, Any]]:
    return [{"id": f"q{i}", "correct": i % 3 > 0 or i < better} for i in range(120)]


def run(folder: Path, gold: Any, first: Any, second: Any, suffix: str = ".jsonl") -> Answer:
    files = [
        write_rows(folder / f"{name}{suffix}", rows)
        for name, rows in (("labels", gold), ("old", first), ("new", second))
        if rows is not None
    ]
    (folder / "gate.yaml").write_text(json.dumps(POLICY))
    words = ["run", "--policy", folder / "gate.yaml", "--baseline", files[-2], "--candidate", files[-1]]
    more = ["--labels", files[0]] if gold is not None else []
    done = command(*words, *more, "--json", folder / "r.json")
    report = json.loads((folder / "r.json").read_text()) if (folder / "r.json").exists() else None
    return Answer(done.code, done.out, done.err, report)


def beside(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_id = {row["id"]: row for row in GOLD}
    return [{**by_id[row["id"]], **row} for row in rows]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_the_report_is_that_of_files_with_the_labels_in_them(tmp_path: Path, suffix: str) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    apart = run(one, GOLD[::-1], results(0), results(60), suffix)
    inside = run(other, None, beside(results(0)), beside(results(60)), suffix)
    assert apart.report
    assert inside.report
    for part in ("gating", "slices", "pairing", "policy", "signature", "verdict"):
        assert apart.report[part] == inside.report[part], part
    assert apart.report["provenance"]["labels"]["path"].endswith(f"labels{suffix}")
    assert command("verify", one / "r.json").code == 0
    (one / f"labels{suffix}").write_text("id,label\nq1,1\n")
    assert command("verify", one / "r.json").code == 2


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (GOLD[1:], "1 items have no row in the labels ('q0')"),
        ([*GOLD, GOLD[0]], "more than once"),
        ([{"name": 1}], "id"),
        ([{**GOLD[0], "id": None}, *GOLD[1:]], "id"),
        ([{"id": row["id"], "label": 1} for row in GOLD], "'topic'"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path: Path, gold: Any, said: str) -> None:
    assert said in run(tmp_path, gold, results(0), results(60)).error


def test_a_label_of_the_results_must_be_that_of_the_labels(tmp_path: Path) -> None:
    wrong = beside(results(0))
    wrong[7]["label"] = 1 - wrong[7]["label"]
    assert "another one in the labels for 1 items ('q7')" in run(tmp_path, GOLD, wrong, results(60)).error
    assert run(tmp_path, GOLD, beside(results(0)), results(60)).code in {0, 3}


def test_labels_without_a_result_are_said(tmp_path: Path) -> None:
    more = [*GOLD, {"id": "extra", "label": 1, "topic": "t", "language": "en"}]
    assert "labels_unused" in run(tmp_path, more, results(0), results(60)).cautions()

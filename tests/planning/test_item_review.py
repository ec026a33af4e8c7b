"""``gate items``: planted dead, flaky and backward items, and where nothing can be said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.black_box import BINARY
from tests.test_documents import gate


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("\n".join(json.dumps(row) for row in rows))


def items(tmp_path: Path, *more: str, **changes: Any) -> tuple[dict[str, Any], str]:
    (tmp_path / "gate.yaml").write_text(json.dumps(BINARY | changes))
    words = ["items", "--policy", str(tmp_path / "gate.yaml"), "--artifacts", str(tmp_path / "n"), *more]
    code, printed, err = gate(words)
    assert code == 0, err
    code, out, err = gate([*words, "--json", "-"])
    assert code == 0, err
    return json.loads(out), printed


def night(tmp_path: Path, name: str, sides: list[list[int]]) -> None:
    for side, values in zip(("baseline", "candidate"), sides, strict=True):
        rows = [{"id": f"i{k:02}", "correct": value} for k, value in enumerate(values)]
        write(tmp_path / "n" / name / f"{side}.jsonl", rows)


def test_dead_backwards_and_what_the_set_is_worth(tmp_path: Path) -> None:
    """Eight results of growing skill on 40 items: two always pass, one always fails, one runs backwards."""
    steps = [[int(k % 8 <= skill) for k in range(36)] for skill in range(8)]
    made = [[*row, 1, 1, 0, int(skill < 4)] for skill, row in enumerate(steps)]
    for number in range(4):
        night(tmp_path, f"n{number}", made[2 * number : 2 * number + 2])
    found, printed = items(tmp_path, items={"min": 2})
    always = [f"i{k:02}" for k in range(36) if k % 8 == 0]
    assert found["dead"]["best"] == sorted([*always, "i36", "i37"])
    assert found["dead"]["worst"] == ["i38"]
    assert found["backwards"]["items"] == ["i39"]
    assert found["systems"] == 8
    assert 20 <= found["effective_items"] <= 32  # 32 items differ between any two results
    assert "7 always best" in printed
    assert "proposals only" in printed


def test_the_same_baseline_every_night_is_one_result(tmp_path: Path) -> None:
    for number in range(3):
        night(tmp_path, f"n{number}", [[0, 1] * 20, [0, 1] * (10 + number) + [1, 1] * (10 - number)])
    assert items(tmp_path)[0]["systems"] == 4


def test_flaky_needs_four_runs(tmp_path: Path) -> None:
    for side in ("baseline", "candidate"):
        rows = [
            {"id": f"i{k}", "run": run, "correct": run % 2 if k == 1 else 1}
            for k in range(40)
            for run in range(4)
        ]
        write(tmp_path / "n" / "one" / f"{side}.jsonl", [row | {"note": side} for row in rows])
    found, _ = items(tmp_path, items={"id": "id", "repeat": "run"})
    assert found["flaky"] == ["i1"]


def test_too_little_is_said_to_be_too_little(tmp_path: Path) -> None:
    night(tmp_path, "n", [[0, 1] * 20, [1, 1] * 20])
    found, printed = items(tmp_path)
    assert (found["flaky"], found["backwards"], found["dead"]["known"]) == (None, None, 0)
    assert printed.count("cannot say") == 3


def test_items_that_are_all_dead(tmp_path: Path) -> None:
    for number in range(3):
        for side in ("baseline", "candidate"):
            rows = [{"id": f"i{k}", "correct": 1, "note": f"{side}{number}"} for k in range(40)]
            write(tmp_path / "n" / f"n{number}" / f"{side}.jsonl", rows)
    found, printed = items(tmp_path)
    assert found["effective_items"] == 0
    assert "cannot say" in printed

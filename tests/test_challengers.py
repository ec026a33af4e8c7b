"""Of several challengers one is released: only its report, record and answer to a deployment say so."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main

POLICY = "version: 1\nname: t\ngating: {metric: correct, kind: binary, direction: higher, margin: 0.01}\n"


def artifact(path: Path, failed: range) -> str:
    rows = ({"id": f"q{k}", "correct": int(k not in failed)} for k in range(200))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def run(folder: Path, failed: dict[str, range], *more: str) -> tuple[int, dict[str, Any]]:
    (folder / "p.yaml").write_text(POLICY, encoding="utf-8")
    words = ["run", "--policy", str(folder / "p.yaml"), "--json", str(folder / "r.json")]
    words += ["--baseline", artifact(folder / "b.jsonl", range(80))]
    for name, lost in failed.items():
        words += ["--candidate", artifact(folder / f"{name}.jsonl", lost)]
    code = main([*words, *more], io.StringIO(), io.StringIO())
    return code, json.loads((folder / "r.json").read_bytes())


def promoted(folder: Path, report: dict[str, Any]) -> int:
    digest = report["provenance"]["candidate"]["digest"]
    words = ["verify", "--promoted", digest, "--history", str(folder / "h.jsonl")]
    return main(words, io.StringIO(), io.StringIO())


@pytest.mark.parametrize(
    ("lost", "winner"),
    [
        ({"good": range(30), "best": range(20), "bad": range(90)}, "best"),
        ({"best": range(20), "good": range(30)}, "best"),
        ({"first": range(20), "equal": range(1, 21)}, "first"),
    ],
)
def test_only_the_winner_is_promoted(tmp_path: Path, lost: dict[str, range], winner: str) -> None:
    history = ("--history", str(tmp_path / "h.jsonl"))
    code, found = run(tmp_path, lost, *history)
    assert (code, found["verdict"], Path(found["winner"]).stem) == (0, "promote", winner)
    for name, report in zip(lost, found["reports"], strict=True):
        won = name == winner
        assert promoted(tmp_path, report) == (0 if won else 1)
        assert report["next_step"].startswith("release the candidate") is won
        if name in {"good", "equal"}:
            assert (report["verdict"], report["exit_code"]) == ("hold", 4)
            assert report["reasons"][0]["rule"] == "not_winner"
    _, again = run(tmp_path, lost, *history)
    assert [r["verdict"] for r in again["reports"]] == [r["verdict"] for r in found["reports"]]
    assert main(["verify", str(tmp_path / "r.json"), *history], io.StringIO(), io.StringIO()) == 0


def test_without_a_history_too(tmp_path: Path) -> None:
    _, found = run(tmp_path, {"good": range(30), "best": range(20)})
    assert [report["verdict"] for report in found["reports"]] == ["hold", "promote"]


def test_one_that_passes_beside_one_that_fails_is_the_winner(tmp_path: Path) -> None:
    code, found = run(tmp_path, {"bad": range(120), "good": range(30)})
    assert (code, [r["verdict"] for r in found["reports"]]) == (0, ["block", "promote"])

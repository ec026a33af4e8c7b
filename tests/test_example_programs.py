"""The examples that are programs: each runs in its short form, and the result is what its page promises."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from math import comb
from pathlib import Path
from typing import Any

import pytest
from seed_data import SEEDS, counts_of, repeat_table, seed_pairs

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


def program(name: str, *words: object) -> str:
    """What it prints; a failure shows everything it said."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def nights(printed: str) -> list[str]:
    return re.findall(r"(?m)^night .* runs now: .*$", printed)


def promised_nights() -> list[str]:
    return nights((EXAMPLES / "nightly-retrain/README.md").read_text(encoding="utf-8"))


def test_three_nights_move_the_pointer_once_and_start_the_streak_anew(tmp_path: Path) -> None:
    out = tmp_path / "nights"
    printed = nights(program("nightly-retrain/run.py", out, "--nights", 3))
    assert [line.split()[2] for line in printed] == ["hold", "promote", "hold"]
    assert (out / "registry/production").read_text() == "digits-02\n"
    reports = [json.loads((out / f"night-{n:02d}/report.json").read_text()) for n in (1, 2, 3)]
    assert [report["cycles"]["passed"] for report in reports] == [1, 2, 1]
    first = json.loads((out / "night-03/baseline.jsonl").read_text().splitlines()[0])
    assert first["system"] == "digits-02"
    assert "night 03" in (out / "public/index.html").read_text()


def test_the_pointer_is_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "nightly-retrain"))
    import registry_file

    registry_file.register(tmp_path, "a", [1])
    registry_file.promote(tmp_path, "a")
    registry_file.register(tmp_path, "b", [2])
    assert registry_file.production(tmp_path) == ("a", [1])
    registry_file.promote(tmp_path, "b")
    assert registry_file.production(tmp_path) == ("b", [2])


@pytest.mark.slow
@pytest.mark.parametrize("registry", ["file", "mlflow"])
def test_twelve_nights_go_as_the_page_says(tmp_path: Path, registry: str) -> None:
    if registry == "mlflow":
        for needed in ("mlflow", "sqlalchemy", "alembic"):
            pytest.importorskip(needed, reason="examples/nightly-retrain --registry mlflow needs it")
    printed = nights(program("nightly-retrain/run.py", tmp_path / "nights", "--registry", registry))
    verdicts = [(line.split()[2], line.split()[-1]) for line in printed]
    assert verdicts == [(line.split()[2], line.split()[-1]) for line in promised_nights()]
    assert len(verdicts) == 12


def test_a_few_claims_stop_at_the_invented_amounts(tmp_path: Path) -> None:
    out = tmp_path / "claims"
    printed = program("claims-summaries/run.py", out, "--claims", 60)
    assert "exit codes: {'overlap': 3, 'facts': 3, 'cheaper': 1, 'tie': 3}" in printed
    report = json.loads((out / "report-cheaper/report.json").read_text())
    assert (report["reasons"][0]["rule"], report["gating"]["status"]) == ("guardrail:invented", "not_decided")
    assert [rule["status"] for rule in report["guardrails"]] == ["fail", *["not_decided"] * 3]
    decided = [json.loads(line) for line in (out / "decisions.jsonl").read_text().splitlines()]
    assert {row["decision"] for row in decided} == {"approve", "edit", "reject"}


@pytest.mark.slow
def test_all_claims_go_as_the_page_says(tmp_path: Path) -> None:
    printed = program("claims-summaries/run.py", tmp_path / "claims")
    assert "exit codes: {'overlap': 1, 'facts': 0, 'cheaper': 0, 'tie': 3}" in printed
    page = (EXAMPLES / "claims-summaries/README.md").read_text(encoding="utf-8")
    shown = re.search(r"(?s)```text\n(.*?)```", page)
    assert shown
    assert set(shown[1].splitlines()) <= set(printed.splitlines())


def test_the_lessons_say_what_their_page_shows(tmp_path: Path) -> None:
    printed = program("teaching/run.py", tmp_path).splitlines()
    page = (EXAMPLES / "teaching/README.md").read_text(encoding="utf-8")
    shown = [line for block in re.findall(r"(?s)```text\n(.*?)```", page) for line in block.splitlines()]
    assert len(shown) == 6
    assert set(shown) <= set(printed)
    assert [(tmp_path / f"lesson-{n}.html").is_file() for n in (2, 3, 4)] == [True] * 3


def test_the_lessons_data_are_the_published_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "teaching"))
    import lessons

    large = [(a["correct"], b["correct"]) for a, b in zip(*lessons.two_thousand(), strict=True)]
    assert counts_of(large) == (121, 69)
    assert large == seed_pairs(*SEEDS["eval-2000"])
    worse = [(a["correct"], b["correct"]) for a, b in zip(*lessons.quietly_worse(), strict=True)]
    assert (counts_of(worse), sum(a for a, _ in worse), sum(b for _, b in worse)) == ((4, 20), 1394, 1378)
    sides = lessons.five_runs()
    assert [[row["correct"] for row in side] for side in sides] == [
        [row["correct"] for row in side] for side in repeat_table(0.63)
    ]


def mean_pass_hat(rows: list[dict[str, Any]], k: int) -> float:
    """The chance that k runs of a task are all solved, by choosing k of its runs, over all tasks."""
    tasks: dict[str, list[int]] = {}
    for row in rows:
        if row["status"] == "ok":
            tasks.setdefault(row["task"], []).append(row["solved"])
    return sum(comb(sum(runs), k) / comb(len(runs), k) for runs in tasks.values()) / len(tasks)


def test_the_agents_go_as_their_page_says(tmp_path: Path) -> None:
    out = tmp_path / "agents"
    printed = program("agents/run.py", out).splitlines()
    page = (EXAMPLES / "agents/README.md").read_text(encoding="utf-8")
    shown = [line for block in re.findall(r"(?s)```text\n(.*?)```", page) for line in block.splitlines()]
    assert len(shown) == 8
    assert set(shown) <= set(printed)
    assert "exit codes: {'agents': 0, 'judge': 1, 'stages': 0} " in printed
    rows = [json.loads(line) for line in (out / "staged.jsonl").read_text().splitlines()]
    assert len({row["task"] for row in rows}) == 100
    candidate = [json.loads(line) for line in (out / "candidate.jsonl").read_text().splitlines()]
    assert [row for row in candidate if row["task"] in {row["task"] for row in rows}] == sorted(
        rows, key=lambda row: (row["task"], row["run"])
    )
    report = json.loads((out / "report/report.json").read_text())
    assert report["gating"]["candidate"] == pytest.approx(mean_pass_hat(candidate, 3))


def test_the_tour_names_every_folder() -> None:
    tour = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in tour] == []

"""The examples with systems of their own: what their README says is what their one command does."""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run(name: str, *words: object) -> tuple[int, str]:
    """The one command of an example: its exit code and what it prints."""
    command = [sys.executable, str(EXAMPLES / name / "run.py"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout


def module(name: str, file: str) -> ModuleType:
    """One module of an example, alone."""
    spec = importlib.util.spec_from_file_location(f"{name}_{file}", EXAMPLES / name / f"{file}.py")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def readme(name: str) -> str:
    return " ".join((EXAMPLES / name / "README.md").read_text(encoding="utf-8").split())


def report(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def test_retrieval_makes_the_files_that_it_shows(tmp_path: Path) -> None:
    code, _ = run("retrieval", tmp_path)
    assert code == 0
    for file in ("baseline.csv", "candidate.csv"):
        assert (tmp_path / file).read_text() == (EXAMPLES / "retrieval" / file).read_text()
    assert report(tmp_path / "report")["verdict"] == "promote"


def test_ndcg_is_the_sum_of_discounted_grades() -> None:
    ndcg = module("retrieval", "run").ndcg
    grades = {"a": 2, "b": 1}
    third = 1 / math.log2(3)
    assert ndcg(grades, ["a", "b"]) == 1
    assert ndcg(grades, ["b", "x", "a"]) == pytest.approx((1 + 2 / 2) / (2 + third))
    assert ndcg(grades, [*"0123456789", "a"]) == ndcg(grades, []) == 0


def test_shadow_prints_what_its_readme_shows(tmp_path: Path) -> None:
    code, printed = run("shadow", tmp_path)
    assert code == 0
    table = printed.split("\n\n")[0]
    assert table in (EXAMPLES / "shadow" / "README.md").read_text(encoding="utf-8")
    gating = report(tmp_path / "report")["gating"]
    assert isinstance(gating, dict)
    assert f"{100 * gating['delta']:+.1f} points" in readme("shadow")


def test_a_shadow_that_failed_stays_and_what_cannot_be_compared_is_named() -> None:
    join = module("shadow", "join").join
    line = {"client": "c", "input": "x", "model": "m", "answer": 1}
    production = {name: {"request": name, **line} for name in ("same", "late", "full", "unsent", "other")}
    shadow = {name: {"request": name, **line} for name in ("same", "late", "full", "other")}
    shadow["late"] |= {"status": "timeout"}
    del shadow["late"]["answer"]
    shadow["full"] = {"request": "full", "status": "dropped"}
    shadow["other"]["input"] = "y"
    joined = join(production, shadow, dict.fromkeys(production, 1))
    assert [(row["request"], row["correct"]) for row in joined.candidate] == [("late", None), ("same", True)]
    assert [row["correct"] for row in joined.baseline] == [True, True]
    assert list(joined.left_out.values()) == [["unsent"], ["full"], ["other"]]


@pytest.mark.slow
def test_the_rankers_find_again_what_is_kept() -> None:
    pytest.importorskip("bm25s")
    metrics = pytest.importorskip("sklearn.metrics")
    kept, rankers = module("retrieval", "run"), module("retrieval", "rankers")
    documents, queries = (
        {name: row["text"] for name, row in kept.table(file).items()}
        for file in ("corpus.tsv", "queries.tsv")
    )
    grades = kept.judgements()
    for system, side in (("tfidf", "baseline"), ("bm25", "candidate")):
        found = getattr(rankers, system)(documents, queries)
        assert {q: [d for d, _ in row] for q, row in found.items() if row} == kept.ranking(system)
        with (EXAMPLES / "retrieval" / f"{side}.csv").open(newline="") as lines:
            values = {row["query"]: float(row["ndcg"]) for row in csv.DictReader(lines)}
        for query, row in found.items():
            order = {document: -rank for rank, (document, _) in enumerate(row)}
            truth = [[grades[query].get(document, 0) for document in documents]]
            score = [[order.get(document, -1000 - k) for k, document in enumerate(documents)]]
            if len(row) == kept.DEPTH:  # a shorter list says nothing of what follows it
                assert values[query] == pytest.approx(metrics.ndcg_score(truth, score, k=10))


@pytest.mark.slow
def test_the_live_service_logs_what_can_be_joined(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    code, printed = run("shadow", tmp_path, "--live")
    assert code in {0, 1, 2, 3}  # how much is dropped depends on the machine
    assert "640  in production's log" in printed
    assert "the two saw different inputs" in printed

"""A policy that declares how many challengers there may be corrects for all of them, whoever comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from black_box import BINARY, command, decide, policy, tables, write_policy, write_rows
from scipy import stats


def sides(better: int, worse: int) -> dict[str, list[dict[str, object]]]:
    blocks = [(better, 0, 1), (worse, 1, 0), (200 - better - worse, 1, 1)]
    return tables([{"n": n, "baseline": {"correct": a}, "candidate": {"correct": b}} for n, a, b in blocks])


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "hochberg", "bh"])
@pytest.mark.parametrize("declared", [1, 2, 3, 7])
def test_one_candidate_is_corrected_for_all(tmp_path: Path, declared: int, correction: str) -> None:
    """Every such correction multiplies a lone p by the size of the family."""
    files = sides(17, 5)
    wanted = policy(BINARY, challengers=declared, correction=correction)
    found = decide(tmp_path, wanted, files["baseline"], files["candidate"])
    p = stats.binomtest(17, 22, alternative="greater").pvalue
    if declared == 1:
        assert found.gating["p_adjusted"] is None
    else:
        assert found.gating["p_adjusted"] == pytest.approx(declared * p)
    assert found.verdict == ("promote" if declared * p < 0.025 else "inconclusive")


@pytest.mark.parametrize("declared", [2, 3, 4])
def test_more_than_declared_are_refused(tmp_path: Path, declared: int) -> None:
    rules = write_policy(tmp_path / "gate.yaml", policy(BINARY, challengers=declared))
    base = write_rows(tmp_path / "baseline.jsonl", sides(40, 5)["baseline"])
    candidates: list[object] = []
    for number in range(3):
        rows = [{**row, "note": number} for row in sides(40, 5)["candidate"]]
        candidates += ["--candidate", write_rows(tmp_path / f"c{number}.jsonl", rows)]
    done = command("run", "--policy", rules, "--baseline", base, *candidates)
    assert done.code == (2 if declared == 2 else 0)
    assert ("the policy declares 2 challengers (found 3 candidates)" in done.err) is (declared == 2)

"""Clusters through the public command: 20 documents of 10 questions, 8 documents better, 3 worse, 9 level.

24 questions won, 9 lost. Taken as 200 independent items McNemar's exact two-sided p is
2 P(Bin(33, 1/2) >= 24) = 0.0135; taken as 20 documents the sign-flip p is P(Bin(11, 1/2) >= 8) = 232/2048
= 0.1133, because only the 11 documents that moved count, all by the same amount.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gate.cli.main import main


def write(tmp_path: Path, documents: int = 20, better: int = 8, worse: int = 3) -> list[str]:
    paths = []
    for name in ("baseline", "candidate"):
        rows = []
        for d in range(documents):
            for q in range(10):
                moved = q < 3 and d < better + worse
                score = int(q >= 5) if not moved else int((d < better) == (name == "candidate"))
                rows.append(json.dumps({"id": f"d{d}q{q}", "doc": f"d{d}", "correct": score}))
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        paths.append(str(path))
    return paths


def run(tmp_path: Path, files: list[str], items: str, test: str = "auto") -> tuple[int, dict[str, Any]]:
    policy = tmp_path / "gate.yaml"
    rule = f"{{metric: correct, kind: binary, direction: higher, margin: 0.01, test: {test}}}"
    policy.write_text(f"version: 1\nname: c\ngating: {rule}\nitems: {items}\n", encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    argv = ["run", "--policy", str(policy), "--baseline", files[0], "--candidate", files[1], "--json", "-"]
    code = main(argv, out, err)
    assert not err.getvalue()
    return code, json.loads(out.getvalue())


def test_clusters_turn_a_pass_into_inconclusive(tmp_path: Path) -> None:
    files = write(tmp_path)
    code, report = run(tmp_path, files, "{id: id}")
    assert (code, report["verdict"]) == (0, "promote")
    assert report["gating"]["p_two_sided"] == pytest.approx(2 * stats.binom.sf(23, 33, 0.5), abs=1e-9)
    assert report["gating"]["clusters"]["labelled"] is False
    code, report = run(tmp_path, files, "{cluster: doc}")
    assert (code, report["verdict"]) == (3, "inconclusive")
    gating = report["gating"]
    assert gating["method"] == "cluster_strict"
    assert gating["p_value"] == pytest.approx(stats.binom.sf(7, 11, 0.5), abs=0.012)  # Monte Carlo, 4 sd
    assert report["pairing"]["n_clusters"] == gating["clusters"]["n_clusters"] == 20
    assert gating["clusters"]["deff"] > 1.5


def test_cr2_on_equal_clusters_is_the_t_test_of_their_means(tmp_path: Path) -> None:
    _, report = run(tmp_path, write(tmp_path), "{cluster: doc}", "cluster_cr2")
    means = np.array([0.3] * 8 + [-0.3] * 3 + [0.0] * 9)
    expected = stats.ttest_1samp(means, 0.0, alternative="greater")
    assert report["gating"]["p_value"] == pytest.approx(float(expected.pvalue), rel=1e-9)
    interval = stats.ttest_1samp(means, 0.0).confidence_interval(0.95)
    assert report["gating"]["interval"]["low"] == pytest.approx(float(interval.low), rel=1e-9)
    assert report["gating"]["interval"]["high"] == pytest.approx(float(interval.high), rel=1e-9)


def test_too_few_clusters_carry_no_claim(tmp_path: Path) -> None:
    code, report = run(tmp_path, write(tmp_path, documents=5, better=5, worse=0), "{cluster: doc}")
    assert code == 3
    assert "6 clusters" in report["reasons"][0]["message"]


def test_the_mde_is_that_of_clusters(tmp_path: Path) -> None:
    files = write(tmp_path)
    _, plain = run(tmp_path, files, "{id: id}")
    _, clustered = run(tmp_path, files, "{cluster: doc}")
    means = np.array([0.3] * 8 + [-0.3] * 3 + [0.0] * 9)
    error = means.std(ddof=1) / np.sqrt(20)
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert clustered["gating"]["mde"] == pytest.approx(reach * error, rel=1e-9)
    assert clustered["gating"]["mde"] > plain["gating"]["mde"]


def insured_hall(means: list[float], size: int, insurance: float) -> float:
    """Hall's p of equal clusters by his formula; g: skewness of the clusters' residuals, less insurance."""
    count, totals = len(means), np.array(means) * size
    residuals = totals - totals.mean()
    t = totals.mean() / np.sqrt(np.sum(residuals**2) / (count - 1) / count)
    g = float(stats.skew(residuals, bias=False)) - insurance
    x = t / np.sqrt(count)
    return float(
        stats.t.sf(np.sqrt(count) * (x + g * x**2 / 3 + g**2 * x**3 / 27 + g / (6 * count)), count - 1)
    )


def test_eight_of_twelve_clusters_that_gain_are_insured_against_what_they_hide(tmp_path: Path) -> None:
    files = write(tmp_path, documents=12, better=8, worse=0)
    means = [0.3] * 8 + [0.0] * 4
    code, report = run(tmp_path, files, "{cluster: doc}")
    gating = report["gating"]
    assert code == 3
    assert gating["method"] == "cluster_strict"
    assert gating["p_value"] == pytest.approx(insured_hall(means, 10, np.sqrt(6 / 12)), rel=1e-9)
    noted = {caution["code"]: caution["message"] for caution in gating["cautions"]}
    assert {"skew_insured", "unseen_cluster"} <= set(noted)
    assert "26%" in noted["unseen_cluster"]  # 1 - .025^(1/12) = .2646
    assert "new clusters (" in report["next_step"]
    code, report = run(tmp_path, files, "{cluster: doc, cluster_skew: pooled}")
    assert code == 0
    assert report["gating"]["method"] == "cluster_pooled"
    expected = max(insured_hall(means, 10, 0.0), 2**-8)
    assert report["gating"]["p_value"] == pytest.approx(expected, rel=1e-9)

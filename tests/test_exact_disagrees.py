"""An approximate test of pass/fail that passes where the exact one does not says so, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest
from black_box import decide, policy


def table(wins: int, losses: int) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    sides = [[0] * wins + [1] * losses + [1] * 89, [1] * wins + [0] * losses + [1] * 89]
    old, new = ([{"id": f"q{k}", "correct": v} for k, v in enumerate(side)] for side in sides)
    return old, new


@pytest.mark.parametrize("test", ["mcnemar_chi2", "tango", "mcnemar_midp"])
@pytest.mark.parametrize(("wins", "losses", "exact"), [(9, 2, 67 / 2048), (10, 1, 12 / 2048)])
def test_a_gain(tmp_path: Path, test: str, wins: int, losses: int, exact: float) -> None:
    """9 of 11: chi-square z = 2.11, p .017; mid-p .0327 - 55 / 4096 = .0193; exactly 67 / 2048 = .0327."""
    found = decide(tmp_path, policy(gating={"margin": 0.0, "test": test}), *table(wins, losses))
    assert found.verdict == "promote"
    assert ("exact_test_disagrees" in found.cautions()) is (exact >= 0.025)


@pytest.mark.parametrize("test", ["auto", "exact_unconditional"])
def test_an_exact_test_never_says_so(tmp_path: Path, test: str) -> None:
    found = decide(tmp_path, policy(gating={"margin": 0.0, "test": test}), *table(9, 2))
    assert "exact_test_disagrees" not in found.cautions()


def test_against_a_tolerance(tmp_path: Path) -> None:
    """No change on 100 items against .03: Tango's z = .03 n / sqrt(n .03 .97), p .039; none passes at .025.

    130 items: z = 2.005 and p .0225; exactly .97^130 = .0191 + 1e-4, so both pass.
    """
    for n in (100, 130):
        old = [{"id": f"q{k}", "correct": int(k > 40), "safe": 1, "x": 1} for k in range(n)]
        new = [{**row, "correct": 1, "x": 2} for row in old]
        rail = {"metric": "safe", "kind": "binary", "direction": "higher", "mode": "non_inferior"}
        wanted = policy(gating={"margin": 0.0}, guardrails=[{**rail, "tolerance": 0.03, "test": "tango"}])
        found = decide(tmp_path, wanted, old, new)
        assert found.status("guardrail:safe") == ("pass" if n == 130 else "inconclusive")
        assert "exact_test_disagrees" not in found.cautions()


def test_a_veto_that_passes_where_the_exact_one_blocks(tmp_path: Path) -> None:
    """Edwards: 6 lost and none gained, z = 5 / sqrt 6 = 2.04, p .0206; exactly 2^-6 = .0156: both block.

    Tango and chi-square block from 4 on (z = 2), the exact test from 6 on: a veto is never laxer by them.
    """
    old = [{"id": f"q{k}", "correct": int(k > 40), "safe": 1} for k in range(100)]
    for lost in (4, 6):
        new = [{**row, "correct": 1, "safe": int(k >= lost)} for k, row in enumerate(old)]
        rail = {"metric": "safe", "kind": "binary", "direction": "higher", "mode": "no_regression"}
        wanted = policy(gating={"margin": 0.0}, guardrails=[{**rail, "test": "mcnemar_chi2"}])
        found = decide(tmp_path, wanted, old, new)
        assert found.status("guardrail:safe") == "fail"
        assert "exact_test_disagrees" not in found.cautions()

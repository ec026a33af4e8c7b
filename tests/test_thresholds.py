"""Every threshold of the decision, met exactly and missed by the smallest step: ties are where gates slip.

The expected words follow from the rules and from counting; no number here comes from the gate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, GRADED, Answer, command, decide, policy, tables
from scipy import stats

Block = dict[str, Any]


def cells(*sizes: tuple[int, Any, Any], metric: str = "correct", **both: Any) -> list[Block]:
    """Blocks by (n, baseline, candidate)."""
    return [
        {"n": n, "baseline": {metric: old}, "candidate": {metric: new}, "both": both}
        for n, old, new in sizes
        if n
    ]


def run(folder: Path, wanted: dict[str, Any], blocks: list[Block], *more: object) -> Answer:
    sides = tables(blocks)
    return decide(folder, wanted, sides["baseline"], sides["candidate"], *more)


GAINS = cells((40, 0, 1), (5, 1, 0), (155, 1, 1))


def beside(*sizes: tuple[int, Any, Any]) -> list[Block]:
    """A clear gain in ``correct``, and ``other`` by (n, baseline, candidate) on the same 200 items."""
    pairs = [(old, new) for n, old, new in sizes for _ in range(n)]
    assert len(pairs) == 200
    return [
        {"n": 1, "baseline": {"correct": int(k >= 40), "other": a}, "candidate": {"correct": 1, "other": b}}
        for k, (a, b) in enumerate(pairs)
    ]


def rail(mode: str, **more: Any) -> dict[str, Any]:
    return {"metric": "other", "kind": "binary", "direction": "higher", "mode": mode, **more}


@pytest.mark.parametrize(("minimum", "verdict"), [(200, "promote"), (201, "inconclusive")])
def test_items_min(tmp_path: Path, minimum: int, verdict: str) -> None:
    assert run(tmp_path, policy(items={"min": minimum}), GAINS).verdict == verdict


@pytest.mark.parametrize(("gains", "margin", "verdict"), [(20, 0.1, "promote"), (19, 0.1, "inconclusive")])
def test_delta_at_the_margin(tmp_path: Path, gains: int, margin: float, verdict: str) -> None:
    blocks = cells((gains, 0, 1), (200 - gains, 1, 1))
    assert run(tmp_path, policy(gating={"margin": margin}), blocks).verdict == verdict


@pytest.mark.parametrize(("better", "verdict"), [(5, "inconclusive"), (6, "promote")])
def test_p_below_the_level_by_one_pair(tmp_path: Path, better: int, verdict: str) -> None:
    """2^-5 is .03125 and 2^-6 .0156: six unanimous pairs are the first below .025."""
    assert (0.5**better < 0.025) is (verdict == "promote")
    blocks = cells((better, 0, 1), (60 - better, 1, 1))
    assert run(tmp_path, policy(), blocks).verdict == verdict


@pytest.mark.parametrize(("alpha", "verdict"), [(0.03125, "inconclusive"), (0.0313, "promote")])
def test_p_equal_to_the_level_is_not_below_it(tmp_path: Path, alpha: float, verdict: str) -> None:
    """Six unanimous pairs have p = 2^-6 exactly, and alpha / 2 = 2^-6 is a number without rounding."""
    blocks = cells((6, 0, 1), (54, 1, 1))
    assert run(tmp_path, policy() | {"alpha": alpha}, blocks).verdict == verdict


@pytest.mark.parametrize(("lost", "verdict"), [(10, "promote"), (11, "block")])
def test_churn_at_its_limit(tmp_path: Path, lost: int, verdict: str) -> None:
    wanted = policy(guardrails=[rail("churn", max=0.05)])
    assert run(tmp_path, wanted, beside((lost, 1, 0), (200 - lost, 1, 1))).verdict == verdict


@pytest.mark.parametrize(("passing", "verdict"), [(180, "promote"), (179, "block")])
def test_a_lower_limit_at_its_value(tmp_path: Path, passing: int, verdict: str) -> None:
    wanted = policy(guardrails=[rail("limit", min=0.9)])
    assert run(tmp_path, wanted, beside((passing, 1, 1), (200 - passing, 1, 0))).verdict == verdict


@pytest.mark.parametrize(("passing", "verdict"), [(180, "promote"), (181, "block")])
def test_an_upper_limit_at_its_value(tmp_path: Path, passing: int, verdict: str) -> None:
    wanted = policy(guardrails=[rail("limit", max=0.9)])
    assert run(tmp_path, wanted, beside((passing, 0, 1), (200 - passing, 0, 0))).verdict == verdict


@pytest.mark.parametrize("failing", range(12))
def test_a_proven_limit_is_clopper_pearson(tmp_path: Path, failing: int) -> None:
    """At most 5 % failing, proven: the upper Clopper-Pearson limit (scipy) must not pass 5 %."""
    upper = float(stats.beta.ppf(0.975, failing + 1, 200 - failing))
    wanted = policy(guardrails=[rail("limit", max=0.05, proven=True, direction="lower")])
    found = run(tmp_path, wanted, beside((failing, 0, 1), (200 - failing, 0, 0)))
    assert found.status("guardrail:other") == ("pass" if upper <= 0.05 else "inconclusive")
    assert found.rule("guardrail:other")["interval"]["high"] == pytest.approx(upper, abs=1e-9)


@pytest.mark.parametrize(("suspect", "verdict"), [(0.175, "promote"), (0.174, "inconclusive")])
def test_a_gain_at_the_suspicion(tmp_path: Path, suspect: float, verdict: str) -> None:
    assert run(tmp_path, policy(gating={"suspect_gain": suspect}), GAINS).verdict == verdict


@pytest.mark.parametrize(("lost", "status"), [(5, "pass"), (6, "fail")])
def test_a_veto_at_its_level(tmp_path: Path, lost: int, status: str) -> None:
    wanted = policy(guardrails=[rail("no_regression")])
    found = run(tmp_path, wanted, beside((lost, 1, 0), (200 - lost, 1, 1)))
    assert found.status("guardrail:other") == status
    assert found.rule("guardrail:other")["p_value"] == pytest.approx(0.5**lost)


@pytest.mark.parametrize(("size", "status"), [(30, "fail"), (29, "not_gated")])
def test_a_slice_of_min_items_is_gated(tmp_path: Path, size: int, status: str) -> None:
    blocks = [
        *cells((60, 0, 1), (110, 1, 1), language="en"),
        *cells((size, 1, 0), language="de"),
    ]
    found = run(tmp_path, policy(slices={"by": ["language"], "min_items": 30}), blocks)
    assert found.status("slice:language=de") == status


@pytest.mark.parametrize(("looks", "verdict"), [(None, "block"), (9, "block")])
def test_a_veto_keeps_its_level_under_a_ledger(tmp_path: Path, looks: int | None, verdict: str) -> None:
    """Six losses have p = .0156: below .025, and far above a tenth of it."""
    wanted = policy(guardrails=[rail("no_regression")])
    if looks:
        wanted["cycles"] = {"looks": looks}
        command("history", "init", tmp_path / "h.jsonl")
    history = ("--history", tmp_path / "h.jsonl") if looks else ()
    found = run(tmp_path, wanted, beside((6, 1, 0), (194, 1, 1)), *history)
    assert found.verdict == verdict
    assert found.rule("guardrail:other")["level"] == 0.025


def test_a_must_pass_item_that_was_dropped_has_not_passed(tmp_path: Path) -> None:
    sides = tables(GAINS)
    candidate = [row for row in sides["candidate"] if row["id"] != "q00050"]
    wanted = policy(items={"missing": "drop", "max_missing": 0.1, "must_pass": ["q00050"]})
    assert decide(tmp_path, wanted, sides["baseline"], candidate).verdict == "inconclusive"


@pytest.mark.parametrize(("better", "promotes"), [(0, False), (40, True)])
def test_wilcoxon_and_a_gain_of_nothing(tmp_path: Path, better: int, promotes: bool) -> None:
    """Where as much is lost as gained, no rank test may call it better, whatever the margin."""
    blocks = cells((50 + better, 0.0, 0.5), (50, 0.5, 0.0), (100, 1.0, 1.0), metric="score")
    wanted = policy(GRADED, gating={"test": "wilcoxon", "margin": 0})
    assert (run(tmp_path, wanted, blocks).verdict == "promote") is promotes


@pytest.mark.parametrize("failed", [-1, 1, 137, "-1"])
def test_an_error_code_is_an_error_on_either_side_of_zero(tmp_path: Path, failed: Any) -> None:
    sides = tables(GAINS)
    for row in sides["baseline"][:20]:
        row["error"] = failed
    assert decide(tmp_path, policy(), sides["baseline"], sides["candidate"]).code == 2


@pytest.mark.parametrize(("size", "verdict"), [(200, "promote"), (199, "inconclusive")])
def test_a_share_of_items_missing_at_its_limit(tmp_path: Path, size: int, verdict: str) -> None:
    """One item of 200 is missing: at most 1/200 is met, at most 1/201 is not."""
    sides = tables(GAINS)
    share = 1 / (400 - size)
    wanted = policy(items={"missing": "drop", "max_missing": share})
    found = decide(tmp_path, wanted, sides["baseline"], sides["candidate"][1:])
    assert (found.verdict or "error") == (verdict if verdict == "promote" else "error")


@pytest.mark.parametrize("losses", range(9))
def test_the_family_is_in_the_loss_that_a_veto_can_see(tmp_path: Path, losses: int) -> None:
    """detect is compared with the MDE at the corrected level: (z_{1-level/m} + z_.8) sd / sqrt(n)."""
    wanted = policy(
        guardrails=[
            {**rail("no_regression"), "detect": 0.5},
            {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "no_regression"},
        ]
    )
    blocks = beside((losses, 1, 0), (9, 0, 1), (191 - losses, 1, 1))
    found = run(tmp_path, wanted, blocks).rule("guardrail:other")
    n, mean = 200, (9 - losses) / 200
    sd = ((9 + losses - n * mean**2) / (n - 1)) ** 0.5
    z = stats.norm.ppf(1 - 0.025 / 2) + stats.norm.ppf(0.8)
    assert found["mde"] == pytest.approx(z * sd / n**0.5, rel=2e-3)


def test_a_candidate_on_hold_is_not_promoted(tmp_path: Path) -> None:
    """One cycle of two passed: a deployment that asks must hear no, and yes after the second."""
    wanted = policy(cycles={"required": 2, "windows": "fresh"})
    history = tmp_path / "h.jsonl"
    digests = []
    for number, code in ((0, 4), (1, 0)):
        place = tmp_path / str(number)
        place.mkdir()
        sides = tables(GAINS, first_id=1000 * number)
        answer = decide(place, wanted, sides["baseline"], sides["candidate"], "--history", history)
        assert answer.code == code
        assert answer.report is not None
        digests.append(answer.report["provenance"]["candidate"]["digest"])
        asked = command("verify", "--promoted", digests[-1], "--history", history)
        assert (asked.code == 0) is (code == 0), asked.out


def test_slices_are_part_of_what_decides(tmp_path: Path) -> None:
    def digest(wanted: dict[str, Any]) -> str:
        blocks = cells((40, 0, 1), (5, 1, 0), (155, 1, 1), language="en")
        answer = run(tmp_path, wanted, blocks)
        assert answer.report is not None
        return str(answer.report["policy"]["digest"])

    plain = digest(policy())
    assert digest(policy(slices={"by": ["language"]})) != plain
    assert digest(policy() | {"name": "another"}) == plain


def test_files_are_named_in_the_order_of_their_sides(tmp_path: Path) -> None:
    """The baseline stays the baseline: swapping the files turns every sign."""
    sides = tables(GAINS)
    one = decide(tmp_path, BINARY, sides["baseline"], sides["candidate"]).gating
    two = decide(tmp_path, BINARY, sides["candidate"], sides["baseline"]).gating
    assert one["delta"] == pytest.approx(-two["delta"])
    assert one["discordant"] == {"only_candidate": 40, "only_baseline": 5}
    assert two["discordant"] == {"only_candidate": 5, "only_baseline": 40}
    assert one["interval"]["low"] == pytest.approx(-two["interval"]["high"])

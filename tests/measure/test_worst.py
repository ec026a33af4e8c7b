"""The items that lose most: one of them, or the worst share of them. Expected numbers by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.black_box import GRADED, Answer, decide, policy

LEVEL = 0.025


def answer(folder: Path, losses: list[float], rail: dict[str, Any], **more: Any) -> Answer:
    """200 items that gain 0.1 in the gating metric and lose so much in another one."""
    rows: tuple[list[Any], list[Any]] = ([], [])
    for k, loss in enumerate(losses):
        rows[0].append({"id": f"q{k}", "score": 0.4 + k % 7 / 100, "other": 1.0})
        rows[1].append({"id": f"q{k}", "score": 0.5 + k % 7 / 100 + k % 3 / 50, "other": 1.0 - loss})
    full = {"metric": "other", "kind": "graded", "direction": "higher", "scale": [0, 1], **rail}
    full = {key: value for key, value in full.items() if value is not None}
    wanted = policy(GRADED, gating={"margin": 0.05}, guardrails=[full], **more)
    return decide(folder, wanted, *rows)


def losing(n: int, some: int, loss: float) -> list[float]:
    return [loss if k < some else 0.0 for k in range(n)]


WORST = {"mode": "worst_item", "max": 0.3}


@pytest.mark.parametrize(("loss", "status"), [(0.3, "pass"), (0.29, "pass"), (0.31, "fail"), (1.0, "fail")])
def test_one_item_is_enough(tmp_path: Path, loss: float, status: str) -> None:
    told = answer(tmp_path, losing(200, 1, loss), WORST)
    assert told.status("guardrail:other") == status
    block = told.rule("guardrail:other")
    assert block["delta"] == pytest.approx(-loss)
    assert block["bound"] == 0.3
    assert ("'q0'" in told.out) == (status == "fail")


def test_no_loss_is_a_loss_of_nothing(tmp_path: Path) -> None:
    told = answer(tmp_path, losing(200, 0, 0.0), {**WORST, "max": 0})
    assert told.status("guardrail:other") == "pass"
    assert told.rule("guardrail:other")["delta"] == 0


def bounds(some: int, n: int, share: float) -> tuple[float, float, float]:
    """Observed, lowest and highest mean loss of the worst share where ``some`` of n lose 1 and none gains."""
    eps = math.sqrt(math.log(1 / LEVEL) / (2 * n))
    worst = [min(1.0, max(0.0, some / n + shift) / share) for shift in (0.0, -eps, eps)]
    # with the band shifted down, nothing is known of the last eps: they may gain as much as the scale allows
    beyond = max(0.0, share - max(0.0, 1 - eps)) / share
    return worst[0], worst[1] - beyond, worst[2]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 200), st.sampled_from([0.15, 0.25, 0.5]), st.sampled_from([0.3, 0.6, 0.9]))
def test_the_worst_share_by_hand(
    tmp_path_factory: pytest.TempPathFactory, some: int, share: float, most: float
) -> None:
    folder = tmp_path_factory.mktemp("tail")
    told = answer(folder, losing(200, some, 1.0), {"mode": "tail", "share": share, "max": most})
    observed, lowest, highest = bounds(some, 200, share)
    block = told.rule("guardrail:other")
    assert -block["delta"] == pytest.approx(observed)
    assert -block["interval"]["low"] == pytest.approx(highest)
    assert -block["interval"]["high"] == pytest.approx(lowest)
    status = "pass" if highest <= most else "fail" if lowest > most else "inconclusive"
    assert told.status("guardrail:other") == status


def test_too_few_items_for_a_small_share_claim_nothing(tmp_path: Path) -> None:
    """log(40) / (2 * 0.05^2) = 737.8: from 738 items on."""
    rail = {"mode": "tail", "share": 0.05, "max": 0.9}
    told = answer(tmp_path, losing(737, 0, 0.0), rail)
    assert told.status("guardrail:other") == "inconclusive"
    assert "at least 738 items" in told.out
    assert answer(tmp_path, losing(1500, 0, 0.0), rail).status("guardrail:other") == "pass"


def test_fewer_items_than_the_policy_asks_for_claim_nothing(tmp_path: Path) -> None:
    rail = {"mode": "tail", "share": 0.5, "max": 0.9}
    told = answer(tmp_path, losing(60, 0, 0.0), rail, items={"min": 61})
    assert told.status("guardrail:other") == "inconclusive"


def test_one_run_beside_itself_proves_no_tail(tmp_path: Path) -> None:
    rows = [{"id": f"q{k}", "score": k % 5 / 5} for k in range(300)]
    rail = {"metric": "score", "kind": "graded", "direction": "higher", "scale": [0, 1]}
    for mode in ({"mode": "tail", "share": 0.5, "max": 0.9}, {"mode": "worst_item", "max": 0.5}):
        wanted = policy(GRADED, gating={"scale": [0, 1]}, guardrails=[rail | mode])
        told = decide(tmp_path, wanted, rows, rows)
        assert told.code == 3
        assert told.status("guardrail:score") == "inconclusive"


@pytest.mark.parametrize(
    ("rail", "said"),
    [
        ({"mode": "tail", "max": 0.1}, "needs share"),
        ({"mode": "tail", "share": 0.1}, "needs max"),
        ({"mode": "worst_item"}, "needs max"),
        ({"mode": "worst_item", "max": -0.1}, "max is a loss"),
        ({"mode": "tail", "share": 0.1, "max": 0.1, "scale": None}, "lowest and highest value"),
        ({"mode": "tail", "share": 0.1, "max": 0.1, "kind": "auc", "scale": None}, "of the whole set"),
        ({"mode": "worst_item", "max": 0.1, "share": 0.1}, "takes no share"),
        ({"mode": "tail", "share": 0.1, "max": 0.1, "from": 2.0}, "from must lie within"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, rail: dict[str, Any], said: str) -> None:
    items = {"label": "y"} if rail.get("kind") == "auc" else {}
    assert said in answer(tmp_path, losing(100, 5, 0.5), rail, items=items).err


def test_a_tail_of_items_that_hang_together_is_refused(tmp_path: Path) -> None:
    rail = {"mode": "tail", "share": 0.5, "max": 0.9}
    told = answer(tmp_path, losing(100, 5, 0.5), rail, items={"cluster": "id2"})
    assert "items as independent" in told.error

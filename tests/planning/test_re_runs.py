"""``gate aa``: the figures by hand, the answer from the gate's own rules, and what says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.black_box import BINARY
from tests.test_documents import gate


def write(path: Path, name: str, values: list[float], column: str = "correct", **more: list[object]) -> str:
    rows = [
        {"id": f"i{k:04}", column: value, **{key: column[k] for key, column in more.items()}}
        for k, value in enumerate(values)
    ]
    (path / name).write_text("\n".join(json.dumps(row) for row in rows))
    return str(path / name)


def policy(path: Path, **changes: object) -> str:
    made = BINARY | changes
    (path / "gate.yaml").write_text(json.dumps(made))
    return str(path / "gate.yaml")


def aa(path: Path, first: str, second: str, *more: str, **changes: object) -> dict[str, object]:
    words = ["aa", "--policy", policy(path, **changes), first, second, "--json", "-", *more]
    code, out, err = gate(words)
    assert code == 0, err
    return dict(json.loads(out))


def test_the_figures_of_a_hundred_items(tmp_path: Path) -> None:
    """8 flip each way: 12 of 16 fair coins is within .025 (P(>= 13) = .0106), so the floor is 8 of 100."""
    first = write(tmp_path, "a.jsonl", [0] * 8 + [1] * 92)
    second = write(tmp_path, "b.jsonl", [1] * 8 + [0] * 8 + [1] * 84)
    found = aa(tmp_path, first, second)
    assert (found["n"], found["delta"], found["flipped"]) == (100, 0.0, 0.16)
    assert found["noise_floor"] == pytest.approx(0.08)
    assert (found["margin"], found["margin_below_floor"]) == (0.01, True)
    assert found["passes"]["trials"] == 2000  # type: ignore[index]
    assert 0.003 < found["passes"]["count"] / 2000 <= 0.03  # type: ignore[index]


def test_lower_is_better_has_the_same_floor(tmp_path: Path) -> None:
    first = write(tmp_path, "a.jsonl", [0] * 8 + [1] * 92)
    second = write(tmp_path, "b.jsonl", [1] * 16 + [1] * 84)
    gating = {"metric": "correct", "kind": "binary", "direction": "lower", "margin": 0.2}
    found = aa(tmp_path, first, second, gating=gating)
    assert (found["delta"], found["margin_below_floor"]) == (pytest.approx(-0.08), False)


def test_the_rules_of_the_policy_decide(tmp_path: Path) -> None:
    """A guardrail that every re-run breaks leaves nothing that passes."""
    rng = np.random.default_rng(1)
    strength = rng.beta(3, 1, 200)
    first = write(tmp_path, "a.jsonl", [int(v) for v in rng.random(200) < strength])
    second = write(tmp_path, "b.jsonl", [int(v) for v in rng.random(200) < strength])
    free = aa(tmp_path, first, second, "--replays", "400")
    guarded = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "churn", "max": 0.0}
    assert free["passes"]["count"] > 0  # type: ignore[index]
    none = aa(tmp_path, first, second, "--replays", "400", guardrails=[guarded])
    assert none["passes"]["count"] == 0  # type: ignore[index]


def test_clusters_stay_together(tmp_path: Path) -> None:
    """Conversations of 20 that flip as one: an item-wise replay would call the gain proven far too often."""
    rng = np.random.default_rng(2)
    first = np.repeat(rng.random(30) < 0.5, 20)
    second = np.repeat(rng.random(30) < 0.5, 20)
    talk = [f"t{k // 20}" for k in range(600)]
    one = write(tmp_path, "a.jsonl", [int(v) for v in first], talk=talk)
    two = write(tmp_path, "b.jsonl", [int(v) for v in second], talk=talk)
    found = aa(tmp_path, one, two, "--replays", "200", items={"id": "id", "cluster": "talk"})
    assert found["passes"]["count"] <= 0.06 * 200  # type: ignore[index]


def test_one_run_twice_says_nothing(tmp_path: Path) -> None:
    first = write(tmp_path, "a.jsonl", [0, 1] * 50)
    second = write(tmp_path, "b.jsonl", [0, 1] * 50)
    code, _, err = gate(["aa", "--policy", policy(tmp_path), first, first])
    assert (code, "one and the same run" in err) == (2, True)
    assert gate(["aa", "--policy", policy(tmp_path), first, second])[0] == 2  # the same bytes


def test_runs_that_agree_everywhere_have_no_floor(tmp_path: Path) -> None:
    first = write(tmp_path, "a.jsonl", [0, 1] * 50)
    second = write(tmp_path, "b.jsonl", [0, 1] * 50, note=["again"] * 100)
    found = aa(tmp_path, first, second)
    assert (found["noise_floor"], found["flipped"], found["passes"]["count"]) == (0.0, 0.0, 0)  # type: ignore[index]


SET_LEVEL = {
    "gating": {"metric": "correct", "kind": "auc", "direction": "higher", "margin": 0.01},
    "items": {"label": "y"},
}
OTHER_SET = {
    "guardrails": [
        {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "limit", "min": 0, "set": "s"}
    ]
}


@pytest.mark.parametrize(("rules", "words"), [(SET_LEVEL, "simulated"), (OTHER_SET, "item set")])
def test_what_cannot_be_replayed_is_said(tmp_path: Path, rules: dict[str, object], words: str) -> None:
    first = write(tmp_path, "a.jsonl", [0, 1] * 50)
    second = write(tmp_path, "b.jsonl", [1, 1] * 50)
    code, _, err = gate(["aa", "--policy", policy(tmp_path, **rules), first, second])
    assert (code, words in err) == (2, True), err


@pytest.mark.parametrize(
    ("floor", "words"), [("0.02", "margin_below_noise"), ("0.01", "at or above the noise floor")]
)
def test_check_holds_the_margin_against_the_floor(tmp_path: Path, floor: str, words: str) -> None:
    code, out, _ = gate(["check", policy(tmp_path), "--noise-floor", floor])
    assert (code, words in out) == (0, True)


def test_check_cannot_say_for_a_relative_margin(tmp_path: Path) -> None:
    gating = {"metric": "correct", "kind": "binary", "direction": "higher", "margin": {"relative": 0.1}}
    out = gate(["check", policy(tmp_path, gating=gating), "--noise-floor", "0.02"])[1]
    assert "noise_floor_unknown" in out
    assert gate(["check", policy(tmp_path), "--noise-floor", "nan"])[0] == 2

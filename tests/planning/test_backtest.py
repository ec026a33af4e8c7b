"""``gate backtest``: its decisions are the gate's, its coins are joint, and what says nothing says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.dom import minidom

import numpy as np
import pytest
from scipy import stats

from gate.planning.backtest import SEED, backtest
from gate.planning.past_cycles import cycles_in, read_cycles
from gate.policy.load import loads
from gate.run.request import Request
from gate.stats.label_swaps import luck
from gate.stats.seeding import generator
from gate.values import GateError
from tests.black_box import BINARY
from tests.test_documents import gate

NOW = "2026-03-01T12:00:00+00:00"


def write(path: Path, values: Any, first: int = 0, column: str = "correct", **more: Any) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    rows = [
        {"id": f"i{first + k:05}", column: value, **{key: other[k] for key, other in more.items()}}
        for k, value in enumerate(values)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))


def nights(folder: Path, count: int = 3, n: int = 200, *, fresh: bool = False, gain: float = 0.1) -> Path:
    rng = np.random.default_rng(3)
    for night in range(count):
        for side, more in (("baseline", 0.0), ("candidate", gain)):
            values = (rng.random(n) < 0.6 + more).astype(int).tolist()
            write(folder / f"night{night + 1}" / f"{side}.jsonl", values, night * n if fresh else 0)
    return folder


def tried(folder: Path, replays: int = 200, **changes: Any) -> Any:
    loaded = loads(json.dumps(BINARY | changes), "p")
    request = Request(loaded, "", (), now=NOW)
    return backtest(request, read_cycles(request, str(folder)), None, {}, replays, lambda _: None)


def test_both_layouts_and_numbers_in_names(tmp_path: Path) -> None:
    for name in ("night10", "night9"):
        write(tmp_path / name / "baseline.jsonl", [1])
        write(tmp_path / name / "candidate.jsonl", [1])
    write(tmp_path / "night1-baseline.csv", [1])
    write(tmp_path / "night1-candidate.csv", [1])
    (tmp_path / "history.jsonl").write_text("{}")
    assert [cycle.name for cycle in cycles_in(str(tmp_path))] == ["night1", "night9", "night10"]


@pytest.mark.parametrize("missing", ["baseline", "candidate"])
def test_a_cycle_with_one_side_is_named(tmp_path: Path, missing: str) -> None:
    (nights(tmp_path) / "night2" / f"{missing}.jsonl").unlink()
    with pytest.raises(GateError, match=f"night2.*one {missing} file"):
        cycles_in(str(tmp_path))


def test_two_files_for_a_side_and_no_cycle_at_all(tmp_path: Path) -> None:
    write(nights(tmp_path) / "night2" / "baseline.csv", [1])
    with pytest.raises(GateError, match=r"baseline\.csv"):
        cycles_in(str(tmp_path))
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nowhere"):
        with pytest.raises(GateError) as error:
            cycles_in(str(tmp_path / place))
        assert error.value.code in {"no_cycles", "no_folder"}


def test_a_file_that_cannot_be_paired_names_its_cycle(tmp_path: Path) -> None:
    write(nights(tmp_path) / "night2" / "candidate.jsonl", [1] * 200, first=50)
    with pytest.raises(GateError, match="cycle 'night2'"):
        tried(tmp_path)


def test_an_unchanged_candidate_passes_a_look_as_often_as_the_level_says(tmp_path: Path) -> None:
    """Exact McNemar at .025: below it, and above half of it, as one coin has few values."""
    found = tried(nights(tmp_path, fresh=True), 300)
    null = found.rows[0]
    assert null.gain == 0
    low, high = null.cycles.interval()
    assert low <= 0.025
    assert high >= 0.0125
    chances = [row.promoted.share for row in found.rows]
    assert chances == sorted(chances)
    assert found.shared == 0.0


def test_a_streak_on_reused_items_is_no_product_of_chances(tmp_path: Path) -> None:
    """Three nights that are one night: with one coin an item, a lucky night is lucky three times."""
    rng = np.random.default_rng(4)
    old, new = ((rng.random(200) < 0.6).astype(int).tolist() for _ in range(2))
    for night in range(3):
        write(tmp_path / f"n{night}" / "baseline.jsonl", old)
        write(tmp_path / f"n{night}" / "candidate.jsonl", new, note=[night] * 200)
    found = tried(tmp_path, 300, cycles={"required": 1, "windows": "reused"})
    null = found.rows[0]
    # all three or none; were the coins independent, any of three would be near three times one
    assert null.cycles.count == 3 * null.promoted.count or null.cycles.count == null.promoted.count
    # the same coins by hand: exact McNemar at .025
    a, b = np.array(old), np.array(new)
    s = int(np.sum(a != b))
    wins = [int(np.sum(np.where(luck(200, generator(SEED + k)).swap, a > b, b > a))) for k in range(300)]
    assert null.promoted.count == sum(stats.binom.sf(won - 1, s, 0.5) < 0.025 for won in wins)
    assert found.shared == 1.0


def test_required_cycles_are_the_gates_own(tmp_path: Path) -> None:
    """A gain that passes every night is promoted at the third of three, never before."""
    found = tried(
        nights(tmp_path, fresh=True),
        40,
        cycles={"required": 3, "windows": "fresh"},
        gating=BINARY["gating"] | {"margin": 0.12},
    )
    best = found.rows[-1]
    assert best.promoted.share > 0.9
    assert (best.first, best.median) == (3.0, 3.0)
    assert [one.verdict for one in found.cycles][:1] != ["promote"]


def test_looks_cost_their_level(tmp_path: Path) -> None:
    """With looks declared the later nights have less of alpha: fewer pass by luck."""
    folder = nights(tmp_path, fresh=False)
    free = tried(folder, 80, gating=BINARY["gating"] | {"margin": 0.0})
    spent = tried(folder, 80, gating=BINARY["gating"] | {"margin": 0.0}, cycles={"looks": 8})
    assert spent.rows[0].cycles.count < free.rows[0].cycles.count
    assert spent.step_of == "MDE"


def test_guardrails_change_sides_with_their_items(tmp_path: Path) -> None:
    """A veto on what every candidate loses: exchanged with the labels it is lost by either side."""
    rng = np.random.default_rng(5)
    for side, more in (("baseline", 0.0), ("candidate", 0.3)):
        values = (rng.random(200) < 0.5 + more).astype(int).tolist()
        slow = [1.0 if side == "baseline" else 2.0] * 200
        write(tmp_path / "n" / f"{side}.jsonl", values, ms=slow)
    rail = {"metric": "ms", "kind": "graded", "direction": "lower", "mode": "no_regression"}
    found = tried(tmp_path, 60, guardrails=[rail])
    assert found.cycles[0].verdict == "block"
    assert found.rows[-1].promoted.count > 0  # half of the items are exchanged: no loss any more


def test_lower_is_better_and_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    for side, more in (("baseline", 0.5), ("candidate", 0.45)):
        write(tmp_path / "n" / f"{side}.jsonl", (more + 0.1 * rng.standard_normal(60)).tolist())
    gating = {"metric": "correct", "kind": "graded", "direction": "lower", "margin": 0.05}
    found = tried(tmp_path, 40, gating=gating)
    assert found.rows[0].promoted.share <= 0.1
    assert found.rows[-1].promoted.share > 0.9


def test_no_difference_and_too_few_cycles_are_said(tmp_path: Path) -> None:
    for side in ("baseline", "candidate"):
        write(tmp_path / "n" / f"{side}.jsonl", [0, 1] * 20, note=[side] * 40)
    (tmp_path / "gate.yaml").write_text(json.dumps(BINARY | {"cycles": {"required": 2}}))
    code, out, err = gate(["backtest", "--policy", str(tmp_path / "gate.yaml"), "--artifacts", str(tmp_path)])
    assert code == 0, err
    assert "cannot be said" in out
    assert "equal on every item in n" in out.replace("'", "")


def test_the_files_the_history_and_the_outcomes(tmp_path: Path) -> None:
    folder = nights(tmp_path / "nights", n=50, fresh=True, gain=0.35)
    rules, history = str(tmp_path / "gate.yaml"), str(tmp_path / "history.jsonl")
    Path(rules).write_text(json.dumps(BINARY))
    for night in (2, 1):  # decided in this order; the third never
        sides = [str(folder / f"night{night}" / f"{side}.jsonl") for side in ("baseline", "candidate")]
        words = ["--baseline", sides[0], "--candidate", sides[1], "--cycle", f"night{night}"]
        assert gate(["run", "--policy", rules, *words, "--history", history])[0] == 0
    before = Path(history).read_bytes()
    (tmp_path / "later.csv").write_text("cycle,outcome\nnight1,bad\nnight2,good\n")
    out = tmp_path / "out"
    words = ["--artifacts", str(folder), "--history", history, "--outcomes", str(tmp_path / "later.csv")]
    code, printed, err = gate(["backtest", "--policy", rules, *words, "--out", str(out)])
    assert code == 0, err
    assert Path(history).read_bytes() == before
    found = json.loads((out / "backtest.json").read_text())
    assert [(one["cycle"], one["recorded"]) for one in found["cycles"]] == [
        ("night2", True),
        ("night1", True),
        ("night3", False),
    ]
    outcomes = found["outcomes"]
    assert (outcomes["wrong_promotions"]["count"], outcomes["wrong_blocks"]["count"]) == (1, 0)
    assert outcomes["unknown"] == 1
    assert found["replays"] == 2000
    assert printed.strip() == (out / "backtest.md").read_text().strip()
    picture = minidom.parseString((out / "backtest.svg").read_text())  # noqa: S318 - our own file
    assert picture.documentElement.namespaceURI == "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("text", ["night1,great", "night1", "night9,good", "night1,good\nnight1,bad"])
def test_outcomes_that_are_none(tmp_path: Path, text: str) -> None:
    nights(tmp_path / "nights", 1)
    (tmp_path / "gate.yaml").write_text(json.dumps(BINARY))
    (tmp_path / "later.csv").write_text(text)
    words = ["--policy", str(tmp_path / "gate.yaml"), "--artifacts", str(tmp_path / "nights")]
    code, _, err = gate(["backtest", *words, "--outcomes", str(tmp_path / "later.csv")])
    assert (code, "Traceback" in err) == (2, False)


def test_fewer_replays_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text(json.dumps(BINARY))
    words = ["--policy", str(tmp_path / "gate.yaml"), "--artifacts", str(nights(tmp_path / "n", 1))]
    assert gate(["backtest", *words, "--replays", "1999"])[0] == 2

"""The functions for Python: the same answers as the command on the same results, whatever holds them."""

from __future__ import annotations

import doctest
import json
import math
import subprocess
import sys
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gate.api
from gate.api import Gate, Report, compare, evaluate, load_policy
from gate.api.results import named
from gate.values import GateError, Verdict

POLICY: dict[str, Any] = {
    "version": 1,
    "name": "api",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.02},
}


def rows(shift: int = 0, n: int = 300) -> list[dict[str, Any]]:
    return [{"id": f"q{i}", "correct": i % 3 > 0 or (i < shift)} for i in range(n)]


def columns(table: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in table] for name in table[0]}


def test_the_documented_examples_are_true() -> None:
    assert doctest.testmod(gate.api).failed == 0


def test_the_report_is_that_of_the_command_on_files(tmp_path: Path) -> None:
    for name, table in (("baseline", rows()), ("candidate", rows(90))):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in table))
    (tmp_path / "policy").write_text(load_policy(POLICY).text)
    ran = [sys.executable, "-m", "gate", "run", "--policy", "policy", "--baseline", "baseline"]
    told = subprocess.run(
        [*ran, "--candidate", "candidate", "--json", "-"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(told.stdout) == json.loads(evaluate(POLICY, rows(), rows(90)).to_json())


def frames(table: list[dict[str, Any]]) -> list[Any]:
    held = columns(table)
    made: list[Any] = [table, iter(table), held, {name: np.asarray(values) for name, values in held.items()}]
    for library, build in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        if found := _installed(library):
            made.append(getattr(found, build)(held))
    return made


def _installed(library: str) -> Any:
    try:
        return __import__(library)
    except ImportError:
        return None


def test_every_holder_of_the_same_results_gives_the_same_report() -> None:
    first, second = rows(), rows(90)
    reports = {evaluate(POLICY, a, b).to_json() for a, b in zip(frames(first), frames(second), strict=True)}
    assert len(reports) == 1


class _Series:
    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def tolist(self) -> list[Any]:
        return self.values


class _Placed:
    def __init__(self, held: dict[str, list[Any]]) -> None:
        self.held = list(held.values())

    def __getitem__(self, at: tuple[slice, int]) -> _Series:
        return _Series(self.held[at[1]])


class Frame:
    """What of pandas is asked for, where pandas is not installed."""

    def __init__(self, held: dict[str, list[Any]]) -> None:
        self.columns, self.iloc = list(held), _Placed(held)


def test_a_frame_by_position_keeps_every_column() -> None:
    frame = Frame(columns(rows()))
    assert named(frame, "a").data == named(rows(), "a").data  # type: ignore[attr-defined]
    frame.columns = ["id", "id"]
    with pytest.raises(GateError, match="one name"):
        named(frame, "a")


def test_cells_that_json_has_no_word_for() -> None:
    held = [
        {"id": np.str_("a"), "n": np.int64(3), "d": Decimal("0.10"), "t": date(2026, 1, 2), "gap": math.nan}
    ]
    held[0] |= {"far": math.inf, "list": np.arange(2), "no": None, "yes": np.bool_(True)}
    assert named(held, "x").data.decode() == (  # type: ignore[attr-defined]
        '{"id": "a", "n": 3, "d": 0.1, "t": "2026-01-02", "gap": null, "far": Infinity, "list": [0, 1], '
        '"no": null, "yes": true}\n'
    )


@pytest.mark.parametrize(
    "broken",
    [
        5,
        None,
        b"id",
        [1, 2],
        {"id": "abc", "correct": "def"},
        {"id": ["a"], "correct": [1, 0]},
        {1: ["a"]},
        [{"id": "a", "correct": object()}],
        [{"id": "a", "correct": {1, 2}}],
        [{1: "a"}],
        [],
        {},
        {"id": [], "correct": []},
        [{"id": "a", "correct": True}] * 2,
        [{"id": "a", "correct": math.inf}],
        [{"id": "a", "correct": None}],
        [{"id": "\ud800", "correct": True}],
    ],
    ids=lambda broken: type(broken).__name__,
)
def test_what_is_no_table_is_refused_and_never_a_traceback(broken: Any) -> None:
    with pytest.raises(GateError):
        evaluate(POLICY, broken, rows(90))
    with pytest.raises(GateError):
        evaluate(POLICY, rows(), broken)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(GateError):
        evaluate(POLICY, rows(), [{"id": "a", "correct": endless}])
    with pytest.raises(GateError):
        load_policy({"version": endless})


@pytest.mark.parametrize("policy", [{}, {"version": 1}, {"version": {1, 2}}, {**POLICY, "alhpa": 0.05}])
def test_a_policy_that_is_none_is_refused(policy: dict[str, Any]) -> None:
    with pytest.raises(GateError):
        load_policy(policy)


def test_one_table_for_both_sides_is_no_gain() -> None:
    table = rows()
    report = evaluate(POLICY, table, table)
    assert report.verdict == Verdict.INCONCLUSIVE
    assert report.pairing.n_pairs == 300


def test_a_copy_of_the_quality_table_is_no_safety_set() -> None:
    policy = {
        **POLICY,
        "guardrails": [{"metric": "correct", "kind": "binary", "direction": "higher", "mode": "non_inferior",
                        "tolerance": 0.05, "set": "safety"}],
    }  # fmt: skip
    with pytest.raises(GateError, match="one file is given for two"):
        evaluate(policy, rows(), rows(90), sets={"safety": (rows(), rows(90))})
    told = evaluate(policy, rows(), rows(90), sets={"safety": (rows(3), rows(91))})
    assert told.guardrails[0].set == "safety"


def test_the_report_shows_itself() -> None:
    report = evaluate(POLICY, rows(), rows(90))
    assert isinstance(report, Report)
    assert report.gating.delta == pytest.approx(30 / 300)
    assert "promote" in str(report).lower()
    assert "promote" in report.to_markdown().lower()
    page = report._repr_html_()
    assert page.startswith("<iframe srcdoc=")
    assert page.count("<") == 2, "the page inside is escaped whole"


def test_a_first_look_never_promotes() -> None:
    look = compare(rows(), rows(90))
    assert look.gating.status == "reported"
    assert "verdict" not in look.to_dict()
    assert "correct" in str(look)
    with pytest.raises(GateError):
        compare(rows(), rows(90), metric="speed")


def test_a_loop_pays_for_every_look(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    ledger = {**POLICY, "cycles": {"windows": "reused", "looks": 20}}
    subprocess.run([sys.executable, "-m", "gate", "history", "init", str(history)], check=True)
    loop = Gate(load_policy(ledger), history)
    levels = [loop.look(rows(), rows(k), cycle=f"v{k}").gating.level for k in (30, 33, 36)]
    assert max(levels) < 0.025
    assert len(history.read_text().splitlines()) >= 4
    with pytest.raises(GateError, match="how many looks"):
        Gate(load_policy(POLICY), history)


def test_nothing_is_written_where_nothing_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(POLICY, rows(), rows(90))
    compare(rows(), rows(90))
    assert not list(tmp_path.iterdir())


def test_threads_do_not_meet() -> None:
    found: dict[int, str] = {}

    def decide(k: int) -> None:
        found[k] = evaluate(POLICY, rows(), rows(k)).to_json()

    shifts = [0, 30, 60, 90] * 2
    threads = [threading.Thread(target=decide, args=(k,)) for k in shifts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: evaluate(POLICY, rows(), rows(k)).to_json() for k in set(shifts)}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.permutations(range(60)), st.sets(st.integers(0, 59)))
def test_the_order_of_rows_changes_no_digit(order: list[int], better: set[int]) -> None:
    table = [{"id": f"q{i}", "correct": i % 2 == 0 or i in better} for i in range(60)]
    one = evaluate(POLICY, rows(0, 60), table)
    other = evaluate(POLICY, rows(0, 60), [table[i] for i in order])
    assert (one.verdict, one.gating, one.pairing) == (other.verdict, other.gating, other.pairing)

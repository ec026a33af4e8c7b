"""What a first look chooses by itself: by the files' own evidence before any word in a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.planning.proposal import Proposal, propose
from gate.values import GateError


def chosen(
    folder: Path, first: list[dict[str, Any]], second: list[dict[str, Any]], metric: str | None = None
) -> Proposal:
    paths = []
    for name, rows in (("a", first), ("b", second)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"testCases": rows} if "metricsData" in rows[0] else rows))
        paths.append(str(path))
    return propose(paths[0], paths[1], metric)


def both(folder: Path, metric: str | None = None, **columns: Any) -> Proposal:
    """Columns by side and row: ``score=lambda side, i: ...``."""
    sides = [
        [{name: of(side, i) for name, of in columns.items()} for i in (3, 0, 4, 1, 5, 2)] for side in (0, 1)
    ]
    return chosen(folder, sides[0], sides[1], metric)


def score(side: int, i: int) -> float:
    return 0.5 + (side * i) % 3


def case(name: str, i: int, value: float, bar: float, passed: bool | None) -> dict[str, Any]:
    told = {"name": name, "score": value, "threshold": bar, "success": passed, "evaluationModel": "j"}
    return {"name": f"c{i}", "input": f"q{i}", "success": bool(passed), "metricsData": [told]}


@pytest.mark.parametrize(
    ("name", "high_passes", "direction"),
    [
        ("PII Leakage", True, "higher"),
        ("PII Leakage", False, "lower"),
        ("Toxicity of tone", True, "higher"),
        ("Rigour", False, "lower"),
        ("Toxicity", None, "lower"),
        ("Toxicity [GEval]", None, "higher"),
    ],
)
def test_deepeval_rows_tell_the_direction(
    tmp_path: Path, name: str, high_passes: bool | None, direction: str
) -> None:
    passed = [None if high_passes is None else high_passes == (value > 0.5) for value in (0.9, 0.2, 0.8)]
    rows = [case(name, i, value, 0.5, passed[i]) for i, value in enumerate((0.9, 0.2, 0.8))]
    other = [case(name, i, value, 0.5, passed[i]) for i, value in enumerate((0.8, 0.1, 0.9))]
    found = chosen(tmp_path, rows, other)
    assert (found.gating.name, found.gating.direction) == (name, direction)
    assert [code for code, _ in found.cautions] == (
        ["direction_contradicts_name"] if name == "Toxicity of tone" or "GEval" in name else []
    )


def test_the_id_is_a_column_whose_values_pair(tmp_path: Path) -> None:
    found = both(
        tmp_path, id=lambda s, i: f"{s}-{i}", case_ref=lambda _, i: f"q{i}", score=score
    )  # ids of runs pair nothing
    assert found.id == "case_ref"


@pytest.mark.parametrize("name", ["outputs.answer", "response", "model_completion", "predictionText"])
def test_the_id_is_never_what_the_model_said(tmp_path: Path, name: str) -> None:
    said = {name: lambda _, i: f"a{i}"}
    assert both(tmp_path, **said, ask=lambda _, i: f"q{i}", score=score).id == "ask"
    with pytest.raises(GateError, match="identifies"):
        both(tmp_path, **said, score=score)


@pytest.mark.parametrize(
    "other",
    [
        lambda _, i: i,
        lambda _, i: {3: 0, 0: 1, 4: 2, 1: 3, 5: 4, 2: 5}[i],
        lambda _, i: {3: 1, 0: 2, 4: 3, 1: 4, 5: 5, 2: 6}[i],
        lambda _, i: i % 4,
        lambda side, _: side,
    ],
    ids=["copy of the id", "row", "row from 1", "equal on both sides", "constant"],
)
def test_what_measures_nothing_is_not_the_metric(tmp_path: Path, other: Any) -> None:
    found = both(tmp_path, id=lambda _, i: i, thing=other, points=score)
    assert found.gating.name == "points"
    assert both(tmp_path, "thing", id=lambda _, i: i, thing=other, points=score).gating.name == "thing"


def test_a_counter_alone_is_no_metric(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="only count"):
        both(tmp_path, id=lambda _, i: f"q{i}", train_trial_index=lambda side, i: side + i % 2)


def test_two_equal_files_still_have_a_metric(tmp_path: Path) -> None:
    assert both(tmp_path, id=lambda _, i: f"q{i}", correct=lambda _, i: i % 2).gating.name == "correct"


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        ("a.b.c.d.acc", lambda v: {"b": {"c": {"d": {"acc": v}}}}),
        ("a[name=em].v", lambda v: [{"name": "n", "v": 9}, {"name": "em", "v": v}]),
    ],
)
def test_a_metric_is_reached_at_any_depth(tmp_path: Path, path: str, cell: Any) -> None:
    found = both(tmp_path, path, id=lambda _, i: f"q{i}", a=lambda side, i: cell(score(side, i)))
    assert found.gating.name == path


def test_an_alias_has_equal_values(tmp_path: Path) -> None:
    rows = [case("Tone", i, value, 0.5, value > 0.5) for i, value in enumerate((0.9, 0.2, 0.8))]
    mixed = [row | {"success": False} for row in rows]
    assert chosen(tmp_path, mixed, mixed, "success").gating.name == "success"
    assert chosen(tmp_path, rows, rows, "success").gating.name == "success"
    assert "success" in [other.name for other in chosen(tmp_path, mixed, mixed, "Tone").watched]

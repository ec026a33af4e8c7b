"""What two files suggest: the metric, the id, the policy that a person completes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from black_box import command

from gate.artifacts.directions import direction_by_name, direction_of
from gate.planning.first_look import first_look, look_document
from gate.planning.policy_text import policy_text
from gate.planning.proposal import propose
from gate.policy.load import loads
from gate.run.intake import Files
from gate.values import GateError

Rows = list[dict[str, Any]]


def pair_of(tmp_path: Path, rows: Rows, other: Rows | None = None) -> tuple[str, str]:
    paths = []
    for name, found in (("a.csv", rows), ("b.csv", other or rows[::-1])):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(found[0]))
            writer.writeheader()
            writer.writerows(found)
        paths.append(str(tmp_path / name))
    return paths[0], paths[1]


def rows_of(n: int = 60, **columns: Any) -> Rows:
    return [{"id": f"q{k}"} | {name: value(k) for name, value in columns.items()} for k in range(n)]


def policy_of(tmp_path: Path, rows: Rows, other: Rows | None = None, metric: str | None = None) -> str:
    files = pair_of(tmp_path, rows, other)
    return policy_text(first_look(propose(*files, metric), Files(*files), "error"))


def filled(text: str) -> str:
    text = text.replace("  margin:  ", "  margin: 0.01", 1)
    return text.replace("  direction:  ", "  direction: lower", 1)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("answer_ok", "higher"),  # "answer" holds "wer", the word error rate
        ("certainty", None),  # and "certainty" holds "cer"
        ("sentiment", None),
        ("isCorrect", "higher"),
        ("pass@1", "higher"),
        ("latencyMs", "lower"),
        ("seconds", "lower"),
        ("scores.cost", "lower"),
        ("quality.value", "higher"),
        ("toxicity", "lower"),
        ("pass_time", None),
    ],
)
def test_a_name_tells_the_direction_word_by_word(name: str, direction: str | None) -> None:
    assert direction_by_name(name) == direction


def test_where_name_and_format_contradict_a_person_decides() -> None:
    assert direction_of("score", "lm_eval", "lower") is None
    assert direction_of("bits_per_byte", "lm_eval", "lower") == "lower"
    assert direction_of("answer", "csv", "lower") is None


def test_the_only_number_is_the_metric(tmp_path: Path) -> None:
    found = propose(*pair_of(tmp_path, rows_of(points=lambda k: k % 7)))
    assert (found.gating.name, found.gating.kind, found.gating.direction) == ("points", "graded", None)
    assert found.id == "id"


def test_the_only_quality_decides_and_costs_guard(tmp_path: Path) -> None:
    rows = rows_of(correct=lambda k: k % 2, latency_ms=lambda k: 100 + k, words=lambda k: k % 9)
    found = propose(*pair_of(tmp_path, rows))
    assert found.gating.name == "correct"
    assert [metric.name for metric in found.rails] == ["latency_ms"]
    assert [metric.name for metric in found.unknown] == ["words"]


def test_several_qualities_are_asked_for(tmp_path: Path) -> None:
    files = pair_of(tmp_path, rows_of(helpful=lambda k: k % 5, quality=lambda k: k % 4))
    with pytest.raises(
        GateError, match=r"several columns could be the metric \('helpful', 'quality'\)"
    ) as caught:
        propose(*files)
    assert "--metric" in caught.value.help
    assert propose(*files, "helpful").gating.name == "helpful"


def test_a_metric_of_one_file_only_is_no_metric(tmp_path: Path) -> None:
    files = pair_of(tmp_path, rows_of(correct=lambda k: k % 2), rows_of(passed=lambda k: k % 2))
    with pytest.raises(GateError, match="no column of numbers in common"):
        propose(*files)
    with pytest.raises(GateError, match="there is no metric 'speed'"):
        propose(*pair_of(tmp_path, rows_of(correct=lambda k: k % 2)), "speed")


def test_a_number_on_one_side_makes_a_metric_graded(tmp_path: Path) -> None:
    files = pair_of(tmp_path, rows_of(score=lambda k: k % 2), rows_of(score=lambda k: k % 2 / 2))
    assert propose(*files).gating.kind == "graded"


@pytest.mark.parametrize("missing", ["margin", "direction"])
def test_what_only_a_person_can_say_makes_the_policy_fail(tmp_path: Path, missing: str) -> None:
    text = policy_of(tmp_path, rows_of(points=lambda k: k % 7), rows_of(points=lambda k: (k + k % 3) % 7))
    other = "direction" if missing == "margin" else "margin"
    value = {"margin": "0.01", "direction": "higher"}[other]
    with pytest.raises(GateError, match=f"gating.{missing} is empty"):
        loads(text.replace(f"  {other}:  ", f"  {other}: {value} ", 1))


def test_a_filled_proposal_is_a_policy(tmp_path: Path) -> None:
    rows = rows_of(
        correct=lambda k: k % 2,
        latency_ms=lambda k: 100 + k % 11,
        unsafe=lambda k: int(k % 20 == 0),
        accuracy=lambda k: k % 3,
        words=lambda k: k % 9,
        language=lambda k: "de" if k % 2 else "fr",
        conversation=lambda k: f"c{k // 6}",
    )
    other = [row | {"correct": int(k % 3 > 0), "latency_ms": 101 + k % 7} for k, row in enumerate(rows)]
    text = policy_of(tmp_path, rows, other, "correct")
    policy = loads(filled(text)).policy
    assert policy.gating.metric == "correct"
    assert policy.gating.margin == 0.01
    assert [rail.metric for rail in policy.guardrails] == ["latency_ms", "unsafe"]
    assert {rail.mode for rail in policy.guardrails} == {"non_inferior"}
    assert "# cluster: conversation" in text
    assert "language" in text
    assert "words" in text
    # the MDE beside the margin: 2.801585 sd / sqrt(n), with sd by hand
    gains = [b["correct"] - a["correct"] for a, b in zip(rows, other, strict=True)]
    mean = sum(gains) / 60
    sd = (sum((g - mean) ** 2 for g in gains) / 59) ** 0.5
    assert f"{2.801585 * sd / 60**0.5:.4f}" in text


@pytest.mark.parametrize("name", ["yes", "a: b", "true", "score #1", "größe", "{x}", "null", "1e3", "x'\"y"])
def test_any_column_name_gives_a_policy_that_means_it(tmp_path: Path, name: str) -> None:
    rows = [{"id": f"q{k}", name: k % 7} for k in range(60)]
    text = policy_of(tmp_path, rows, [row | {name: k % 5} for k, row in enumerate(rows)], name)
    assert loads(filled(text)).policy.gating.metric == name


def test_repeats_and_their_column_are_found(tmp_path: Path) -> None:
    rows = [{"id": f"q{k // 3}", "run": k % 3, "score": k % 5} for k in range(90)]
    found = propose(*pair_of(tmp_path, rows, [row | {"score": k % 4} for k, row in enumerate(rows)]))
    assert found.repeat == "run"


def test_a_look_is_what_gate_run_would_measure(tmp_path: Path) -> None:
    """b = 3, c = 0 of 60 on hand-made rows: p = 2 / 2^3, and no verdict anywhere."""
    rows = rows_of(correct=lambda k: int(k > 5))
    files = pair_of(tmp_path, rows, [row | {"correct": int(k > 2)} for k, row in enumerate(rows)])
    document = look_document(first_look(propose(*files), Files(*files), "error"))
    assert document["gating"]["discordant"] == {"only_candidate": 3, "only_baseline": 0}
    assert document["gating"]["delta"] == pytest.approx(0.05)
    assert document["gating"]["reference"]["mcnemar_exact_p"] == pytest.approx(0.25)
    assert "verdict" not in json.dumps(document)


def test_a_column_with_gaps_stops_no_look_at_another(tmp_path: Path) -> None:
    rows = rows_of(correct=lambda k: k % 2, quality=lambda k: "" if k == 7 else k % 5)
    files = pair_of(tmp_path, rows)
    found = propose(*files, "correct")
    assert found.gaps == ("quality",)
    assert first_look(found, Files(*files), "error").gating.n == 60


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    rows = rows_of(correct=lambda k: k % 2)
    files = pair_of(tmp_path, rows, rows[:-4])
    with pytest.raises(GateError, match="4 only in the baseline"):
        first_look(propose(*files), Files(*files), "error")
    look = first_look(propose(*files), Files(*files), "drop")
    assert look.gating.n == 56
    assert any("4 are only in the baseline" in caution.message for caution in look.cautions)


def test_what_no_item_bounds_is_null_in_json(tmp_path: Path) -> None:
    files = pair_of(tmp_path, rows_of(points=lambda k: k % 7))
    document = look_document(first_look(propose(*files), Files(*files), "error"))
    assert document["largest_margin"]["proven"] is None
    json.dumps(document, allow_nan=False)


def test_what_a_system_said_is_no_subset(tmp_path: Path) -> None:
    rows = rows_of(correct=lambda k: k % 2, lang=lambda k: "de" if k % 3 else "en")
    said = [[row | {"answer": f"text {(k * step) % 7}"} for k, row in enumerate(rows)] for step in (1, 2)]
    assert "# slices: {by: [lang]," in policy_of(tmp_path, *said)


def replaced(tmp_path: Path, *, metric: str | None, gain: str) -> str:
    rows = rows_of(n=400, correct=lambda k: int(k % 7 != 0), cost_usd=lambda k: 0.02 + 0.001 * (k % 5))
    other = [
        row | {"cost_usd": float(row["cost_usd"]) * 0.5, "correct": int(k % 7 != 0 or k == 14)}
        for k, row in enumerate(rows)
    ]
    files = pair_of(tmp_path, rows, other)
    return policy_text(first_look(propose(*files, metric, gain=gain), Files(*files), "error"))


@pytest.mark.parametrize("metric", ["correct", None])
def test_a_cheaper_candidate_keeps_the_quality_within_a_tolerance(tmp_path: Path, metric: str | None) -> None:
    """Filled in, the proposal decides on the very files that it was made from."""
    text = replaced(tmp_path, metric=metric, gain="cost_usd")
    with pytest.raises(GateError):
        loads(text)
    text = text.replace("  margin:  ", "  margin: {relative: 0.3}", 1)
    text = text.replace("    tolerance:  ", "    tolerance: 0.03", 1)
    policy = loads(text).policy
    assert (policy.gating.metric, policy.gating.direction) == ("cost_usd", "lower")
    (rail,) = policy.guardrails
    assert (rail.metric, rail.mode, rail.tolerance) == ("correct", "non_inferior", 0.03)
    (tmp_path / "gate.yaml").write_text(text, encoding="utf-8")
    done = command(
        *("run", "--policy", tmp_path / "gate.yaml", "--baseline", tmp_path / "a.csv"),
        *("--candidate", tmp_path / "b.csv"),
    )
    assert done.code == 0, done.out + done.err


def test_a_gain_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="there is no metric"):
        replaced(tmp_path, metric="correct", gain="price")


def test_a_negative_margin_is_told_what_an_accepted_loss_is() -> None:
    with pytest.raises(GateError) as fault:
        loads("version: 1\nname: p\ngating: {metric: a, kind: binary, direction: higher, margin: -0.03}\n")
    assert "at least 0" in fault.value.message
    assert "tolerance: 0.03" in str(fault.value.help)
    assert "--replace" in str(fault.value.help)

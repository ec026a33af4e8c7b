"""``gate judge``, and the evidence that a policy asks for before a judge's scores decide."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from black_box import Answer, command, decide, write_policy, write_rows
from judge_record import evidence, number

WORDS = ("--word", "approve=1", "--word", "edit=0", "--word", "reject=0")
ASKED = ("--judge", "correct", "--human", "decision", *WORDS)


def outputs(cells: dict[tuple[int, int, int, int], int], **more: Any) -> tuple[list[Any], list[Any]]:
    """(people on baseline, on candidate, judge on baseline, on candidate) -> so many items."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    for (hb, hc, jb, jc), count in cells.items():
        for _ in range(count):
            item = f"c{len(sides[0])}"
            for rows, human, judge in ((sides[0], hb, jb), (sides[1], hc, jc)):
                word = "approve" if human else ("edit", "reject")[len(rows) % 2]
                rows.append({"id": item, "decision": word, "correct": judge, **more})
    return sides


GOOD = {
    (1, 1, 1, 1): 120,
    (0, 0, 0, 0): 60,
    (0, 1, 0, 1): 60,
    (1, 0, 1, 0): 20,
    (0, 1, 1, 1): 6,
    (1, 1, 1, 0): 6,
}
GOOD |= {(0, 0, 0, 1): 4, (0, 0, 1, 0): 4}
REVERSED = {(1, 1, 1, 1): 100, (1, 0, 1, 1): 40, (0, 0, 0, 1): 40, (0, 1, 0, 1): 2, (0, 0, 0, 0): 100}


def judged(place: Path, cells: Any, *more: object, **columns: Any) -> Answer:
    old, new = outputs(cells, **columns)
    files = [write_rows(place / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    return command("judge", *files, *ASKED, *more)


def test_a_judge_that_sees_what_people_see(tmp_path: Path) -> None:
    out = tmp_path / "evidence.json"
    done = judged(tmp_path, GOOD, "--min-kappa", 0.6, "--max-delta-bias", 0.1, "-o", out, judge="j-1")
    assert done.code == 0, done.out + done.err
    found = json.loads(out.read_text())
    assert (found["schema"], found["verdict"], found["n_items"]) == ("gate.judge/1", "valid", 280)
    # people: 66 better, 20 worse; judge: 60 + 4 better, 20 + 6 + 4 worse
    assert found["human_delta"]["value"] == pytest.approx(46 / 280)
    assert found["judge_delta"]["value"] == pytest.approx(34 / 280)
    assert found["bias"]["value"] == pytest.approx(-12 / 280)
    # 560 outputs, 6 + 6 + 4 + 4 with another word
    assert found["agreement"]["value"] == pytest.approx(540 / 560)
    # of 146 outputs that people pass in the baseline, the judge passes all; of 134 others it fails 124
    assert found["baseline"]["sensitivity"]["value"] == 1
    assert found["baseline"]["specificity"]["value"] == pytest.approx(124 / 134)
    assert found["judge"] == "the column 'judge' j-1"
    assert hashlib.sha256(out.read_bytes()).hexdigest() in done.out


def test_a_judge_that_agrees_often_and_reverses_the_decision(tmp_path: Path) -> None:
    done = judged(tmp_path, REVERSED, "--min-kappa", 0.3, "--max-delta-bias", 0.05)
    assert done.code == 1
    assert (
        "the judge reverses the decision: it prefers the candidate where people prefer the baseline"
        in done.out
    )


def test_the_published_reversal(tmp_path: Path) -> None:
    """Made to published figures: an automatic score gains 0.009 (p < .0001), people see 3.3 points fewer
    faithful summaries (p .037). 1,000 items: 108 become faithful, 141 no longer are; the score moves by
    0.009 on average."""
    people = [(1, 1)] * 400 + [(0, 0)] * 351 + [(0, 1)] * 108 + [(1, 0)] * 141
    old, new = [], []
    for k, (b, c) in enumerate(people):
        old.append({"id": f"s{k}", "faithful": b, "score": 0.5})
        new.append({"id": f"s{k}", "faithful": c, "score": round(0.509 + (0.05, -0.05)[k % 2], 3)})
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    done = command("judge", *files, "--judge", "score", "--kind", "graded", "--human", "faithful",
                   "--max-delta-bias", 0.05, "-o", tmp_path / "e.json")  # fmt: skip
    found = json.loads((tmp_path / "e.json").read_text())
    assert found["human_delta"]["value"] == pytest.approx(-0.033)
    assert found["judge_delta"]["value"] == pytest.approx(0.009)
    assert done.code == 1
    assert found["bias"] is None
    assert "reverses the decision" in done.out


def test_without_a_floor_nothing_is_valid(tmp_path: Path) -> None:
    done = judged(tmp_path, GOOD)
    assert done.code == 3
    assert "nothing was asked of the judge" in done.out


def test_few_items_show_nothing(tmp_path: Path) -> None:
    assert judged(tmp_path, {(1, 1, 1, 1): 10, (0, 1, 0, 1): 10}, "--max-delta-bias", 1.9).code == 3


def test_what_people_did_not_decide_on_is_left_out_and_said(tmp_path: Path) -> None:
    old, new = outputs(GOOD)
    for row in new[:5]:
        row["decision"] = None
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    done = command("judge", *files, *ASKED, "--max-delta-bias", 0.1)
    assert done.code == 0
    assert "5 items without a decision of people on both sides are left out" in done.out


def test_a_judge_that_is_silent_where_people_decided_is_refused(tmp_path: Path) -> None:
    old, new = outputs(GOOD)
    new[0]["correct"] = None
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    done = command("judge", *files, *ASKED, "--max-delta-bias", 0.1)
    assert done.code == 2
    assert "the judge says nothing on 1 items" in done.err


def test_people_on_one_side_only_are_refused(tmp_path: Path) -> None:
    """The baseline's approvals are recorded; the candidate's outputs nobody has seen."""
    old, new = outputs(GOOD)
    for row in new:
        row["decision"] = None
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    done = command("judge", *files, *ASKED, "--max-delta-bias", 0.1)
    assert done.code == 2


def test_two_judges_are_refused(tmp_path: Path) -> None:
    old, new = outputs(GOOD)
    for row in old:
        row["judge"] = "j-1"
    for row in new:
        row["judge"] = "j-2"
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    assert command("judge", *files, *ASKED, "--max-delta-bias", 0.1).code == 2


def test_the_judges_own_column_is_no_evidence(tmp_path: Path) -> None:
    old, new = outputs(GOOD)
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    done = command("judge", *files, "--judge", "correct", "--human", "correct", "--max-delta-bias", 0.1)
    assert done.code == 2
    assert "agrees with itself" in done.err


@pytest.mark.parametrize(
    "option", ["--word=edit=0.5", "--word=approve", "--min-kappa=nan", "--max-delta-bias=0"]
)
def test_what_makes_no_sense_is_refused(option: str, tmp_path: Path) -> None:
    assert judged(tmp_path, GOOD, option).code == 2


def test_length_order_and_contradictions_are_shown(tmp_path: Path) -> None:
    old, new = outputs(GOOD)
    for k, (one, other) in enumerate(zip(old, new, strict=True)):
        for row in (one, other):
            row |= {"length": 100 + k % 7, "order": ("first", "second")[k % 2], "again": row["correct"]}
        gained = (
            other["correct"]
            - one["correct"]
            - (other["decision"] == "approve")
            + (one["decision"] == "approve")
        )
        other["length"] += 50 * gained
    for row in old[:14]:
        row["again"] = 1 - row["again"]
    files = [write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    more = ("--length", "length", "--by", "order", "--again", "again", "--max-inconsistent", 0.02)
    done = command("judge", *files, *ASKED, *more, "--max-delta-bias", 0.2, "-o", tmp_path / "e.json")
    found = json.loads((tmp_path / "e.json").read_text())
    assert done.code == 1
    assert found["inconsistent"]["value"] == 14 / 560
    assert found["length"]["low"] > 0.5
    assert [part["value"] for part in found["parts"]] == ["first", "second"]
    assert "where the candidate's output is longer" in done.out


# the precondition of a run


def run_with(place: Path, content: bytes | None, rows: dict[str, Any] | None = None, **judge: Any) -> Answer:
    """A run that promotes but for its judge."""
    digest = hashlib.sha256(content or b"").hexdigest()
    if content is not None:
        (place / "evidence.json").write_bytes(content)
    pinned = {"file": "evidence.json", "sha256": digest}
    policy = {
        "version": 1,
        "name": "judged",
        "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01},
        "judge": {"evidence": pinned, **({"min_kappa": 0.6} | judge)},
    }
    old, new = outputs(GOOD, **(rows or {}))
    return decide(place, policy, old, new)


def test_evidence_that_serves(tmp_path: Path) -> None:
    done = run_with(tmp_path, evidence(), max_age_days=1_000_000)
    assert done.code == 0, done.err
    assert done.report["provenance"]["judge"]["time"] == "2020-01-01T00:00:00+00:00"
    assert command("verify", tmp_path / "report" / "report.json").code == 0


@pytest.mark.parametrize(
    ("changed", "judge", "code"),
    [
        ({"metric": "other"}, {}, "judge_other_metric"),
        ({"direction": "lower"}, {}, "judge_other_direction"),
        ({"kind": "graded"}, {}, "judge_other_kind"),
        ({"judge": "the column 'judge' j-1"}, {}, "judge_other_judge"),
        ({"kappa": number(0.8, 0.59, 0.9)}, {}, "judge_not_believed"),
        ({"kappa": number(0.8, None, 0.9)}, {}, "judge_not_believed"),
        ({"kappa": None}, {}, "judge_not_believed"),
        ({"bias": None}, {"max_delta_bias": 0.1}, "judge_not_believed"),
        ({"bias": number(0.0, -0.02, 0.11)}, {"max_delta_bias": 0.1}, "judge_not_believed"),
        ({"bias": number(0.0, -0.02, None)}, {"max_delta_bias": 0.1}, "judge_not_believed"),
        ({"inconsistent": None}, {"max_inconsistent": 0.1}, "judge_not_believed"),
        ({"n_items": 29}, {}, "judge_not_believed"),
        ({"human_delta": number(-0.05, -0.08, -0.02)}, {}, "judge_not_believed"),
        ({"time": "2199-01-01T00:00:00+00:00"}, {"max_age_days": 9e9}, "judge_evidence_stale"),
        ({"time": "?"}, {"max_age_days": 9e9}, "judge_evidence_stale"),
        ({}, {"max_age_days": 1}, "judge_evidence_stale"),
        ({"schema": "gate.judge/2"}, {}, "judge_evidence_invalid"),
        ({"extra": 1}, {}, "judge_evidence_invalid"),
        ({"kappa": number(True, 0.7, 0.9)}, {}, "judge_evidence_invalid"),
    ],
)
def test_evidence_that_does_not_serve(changed: Any, judge: Any, code: str, tmp_path: Path) -> None:
    done = run_with(tmp_path, evidence(**changed), **judge)
    assert done.code == 2
    assert done.report is None or done.report["error"]["code"] == code
    assert "gate:" in done.err


def test_evidence_that_says_valid_of_itself_is_asked_again(tmp_path: Path) -> None:
    assert run_with(tmp_path, evidence(kappa=number(0.1, 0.0, 0.2), verdict="valid")).code == 2


def test_no_evidence(tmp_path: Path) -> None:
    done = run_with(tmp_path, None)
    assert done.code == 2
    assert "the evidence for the judge cannot be read" in done.err


def test_a_link_in_the_place_of_evidence(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(evidence())
    (tmp_path / "evidence.json").symlink_to("real.json")
    digest = hashlib.sha256(evidence()).hexdigest()
    assert run_with(tmp_path, None, evidence={"file": "evidence.json", "sha256": digest}).code == 2


def test_a_judge_without_a_name_in_the_evidence_is_not_any_judge(tmp_path: Path) -> None:
    done = run_with(tmp_path, evidence(), {"judge": "j-2"})
    assert done.code == 2
    assert "another judge" in done.err


def test_a_policy_must_ask_something(tmp_path: Path) -> None:
    text = write_policy(
        tmp_path / "gate.yaml",
        "version: 1\nname: x\ngating: {metric: correct, kind: binary, direction: higher, margin: 0.01}\n"
        f"judge: {{evidence: {{file: e.json, sha256: '{'0' * 64}'}}}}\n",
    )
    done = command("check", text)
    assert done.code == 2
    assert "judge needs min_kappa or max_delta_bias" in done.err


def test_what_judge_writes_lets_the_gate_run(tmp_path: Path) -> None:
    """From the command to the verdict, with the digest that the command prints."""
    out = tmp_path / "evidence.json"
    done = judged(tmp_path, GOOD, "--min-kappa", 0.6, "-o", out, judge="j-1")
    assert done.code == 0
    assert run_with(tmp_path, out.read_bytes(), {"judge": "j-1"}, max_age_days=7).code == 0
    assert run_with(tmp_path, out.read_bytes(), {"judge": "j-2"}).code == 2


def test_the_policy_says_what_its_judge_must_show(tmp_path: Path) -> None:
    done = run_with(tmp_path, evidence(), max_age_days=90)
    assert done.code == 2
    out = command("check", tmp_path / "gate.yaml").out
    assert "kappa of at least 0.6, evidence of at most 90 days" in out


def test_the_schema_of_evidence_takes_what_is_written(tmp_path: Path) -> None:
    schema = json.loads(command("schema", "judge").out)
    assert schema["title"] == "gate.judge/1"
    jsonschema.validate(json.loads(evidence()), schema)
    out = tmp_path / "evidence.json"
    judged(tmp_path, GOOD, "--min-kappa", 0.6, "-o", out)
    jsonschema.validate(json.loads(out.read_bytes()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(evidence(extra=1)), schema)

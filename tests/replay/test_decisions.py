"""What people decided on an output holds for that output."""

from __future__ import annotations

import json
from pathlib import Path

from tests.black_box import command, write_policy
from tests.replay.world import lay_out, replay

VALUES = {"approve": 1, "edit": 0, "reject": 0}
DECISIONS = {"decisions": {"file": "decided.jsonl", "values": VALUES}}


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def decide_all(folder: Path, word: str = "approve", *, system: str | None = None) -> list[dict]:
    """What people make of the list."""
    made = rows(folder / "out" / "to-decide.jsonl")
    done = [{**row, "decision": word} for row in made if system in {None, row["system"]}]
    with (folder / "decided.jsonl").open("a") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in done)
    return made


def decided(folder: Path, side: str) -> list[float | None]:
    return [row.get("approved") for row in rows(folder / "out" / f"{side}.jsonl")[1:]]


def verdict(folder: Path, baseline: Path, candidate: Path):
    policy = "version: 1\nname: x\nitems: {min: 5, id: id}\n"
    policy += "gating: {metric: approved, kind: binary, direction: higher, margin: 0.0}\n"
    gate = write_policy(folder / "gate.yaml", policy)
    return command("run", "--policy", gate, "--baseline", baseline, "--candidate", candidate)


def test_people_decide_on_what_is_listed_and_nothing_is_asked_again(tmp_path: Path) -> None:
    lay_out(tmp_path, **DECISIONS)
    first = replay(tmp_path)
    assert first.code == 0, first.err
    assert "24 runs wait for a decision" in first.out
    assert verdict(tmp_path, *(tmp_path / "out" / f"{s}.jsonl" for s in ("baseline", "candidate"))).code == 2
    assert len(decide_all(tmp_path)) == 24
    again = replay(tmp_path)
    assert "24 of 24 runs are finished" in again.err
    assert "people decided on 24 outputs; 0 decisions carried over" in again.out
    assert rows(tmp_path / "out" / "to-decide.jsonl") == []
    assert decided(tmp_path, "baseline") == decided(tmp_path, "candidate") == [1.0] * 12


def test_a_decision_on_one_system_says_nothing_of_the_other(tmp_path: Path) -> None:
    lay_out(tmp_path, **DECISIONS)
    replay(tmp_path)
    decide_all(tmp_path, system="baseline-1")
    replay(tmp_path)
    assert decided(tmp_path, "baseline") == [1.0] * 12
    assert decided(tmp_path, "candidate") == [None] * 12


def test_the_same_bytes_carry_over_where_the_suite_says_so(tmp_path: Path) -> None:
    lay_out(tmp_path, **DECISIONS, reuse_decisions="identical_outputs")
    replay(tmp_path)
    decide_all(tmp_path, "edit", system="baseline-1")
    done = replay(tmp_path)
    old, new = (
        {row["id"]: row["output_digest"] for row in rows(tmp_path / "out" / f"{side}.jsonl")[1:]}
        for side in ("baseline", "candidate")
    )
    same = [old[item] == new[item] for item in new]
    assert 0 < sum(same) < 12
    assert decided(tmp_path, "candidate") == [0.0 if equal else None for equal in same]
    assert f"people decided on 12 outputs; {sum(same)} decisions carried over" in done.out


def test_another_output_is_undecided(tmp_path: Path) -> None:
    lay_out(tmp_path, **DECISIONS)
    replay(tmp_path)
    made = decide_all(tmp_path)
    text = (tmp_path / "decided.jsonl").read_text().replace(made[0]["output_digest"], "0" * 64)
    (tmp_path / "decided.jsonl").write_text(text)
    assert "wait for a decision" in replay(tmp_path).out


def test_a_word_without_a_value_and_two_words_for_one_output_are_refused(tmp_path: Path) -> None:
    lay_out(tmp_path, **DECISIONS)
    replay(tmp_path)
    decide_all(tmp_path, "maybe")
    assert "has no value" in replay(tmp_path).err
    (tmp_path / "decided.jsonl").unlink()
    decide_all(tmp_path)
    decide_all(tmp_path, "reject")
    done = replay(tmp_path)
    assert (done.code, "differ" in done.err) == (2, True)


def test_a_judge_on_one_side_and_people_on_the_other_do_not_pair(tmp_path: Path) -> None:
    """Recorded approvals for the baseline, a judge's for the candidate."""
    people, judge = tmp_path / "people", tmp_path / "judge"
    for folder in (people, judge):
        folder.mkdir()
    lay_out(people, **DECISIONS)
    replay(people)
    decide_all(people)
    replay(people)
    suite = lay_out(judge)
    text = (judge / "systems.py").read_text().replace('"correct": request', '"approved": request')
    (judge / "systems.py").write_text(text)
    assert suite.exists()
    assert replay(judge).code == 0
    done = verdict(tmp_path, people / "out" / "baseline.jsonl", judge / "out" / "candidate.jsonl")
    assert done.code == 2
    assert "the scorer of 'approved' differs" in done.err


def test_one_metric_has_one_source(tmp_path: Path) -> None:
    lay_out(tmp_path, decisions={"file": "decided.jsonl", "values": VALUES, "metric": "correct"})
    assert "one metric has one source" in replay(tmp_path).err

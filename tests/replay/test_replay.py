"""Two systems, the same cases: what is asked, in which order, and what is written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.replay.world import CASES, decide, lay_out, lines, replay, rows, script, without_time


def test_both_sides_are_told_the_same_bytes_and_the_same_seed(tmp_path: Path) -> None:
    raw = {"callable": "systems:raw"}
    lay_out(tmp_path, baseline=raw, candidate=raw, scorer=None, repeats=2, seed=5)
    assert replay(tmp_path).code == 0
    old, new = rows(tmp_path, "baseline"), rows(tmp_path, "candidate")
    assert [row["output"] for row in old] == [row["output"] for row in new]
    assert [row["case_digest"] for row in old] == [row["case_digest"] for row in new]
    told = [json.loads(row["output"]) for row in old]
    assert set(told[0]) == {"context", "id", "seed"}
    assert len({one["seed"] for one in told}) == 24, "each run of each case has a seed of its own"
    assert "expected" not in str(told), "what is expected is for the scorer alone"


def test_a_turn_sees_the_recorded_answers_and_never_its_own(tmp_path: Path) -> None:
    turns = [
        {"input": "hello", "answer": "recorded one", "expected": 0},
        {"input": "and?", "answer": "recorded two", "expected": 1},
        {"input": "so", "expected": 2},
    ]
    raw = {"callable": "systems:raw"}
    lay_out(tmp_path, [{"id": "talk", "turns": turns}], baseline=raw, candidate=raw, scorer=None)
    assert replay(tmp_path).code == 0
    found = rows(tmp_path, "candidate")
    assert [(row["id"], row["case"], row["turn"]) for row in found] == [
        ("talk/1", "talk", 1),
        ("talk/2", "talk", 2),
        ("talk/3", "talk", 3),
    ]
    contexts = [json.loads(row["output"])["context"] for row in found]
    assert [[past["answer"] for past in one["history"]] for one in contexts] == [
        [],
        ["recorded one"],
        ["recorded one", "recorded two"],
    ]
    assert [one["input"] for one in contexts] == ["hello", "and?", "so"]


def test_the_gate_reads_what_was_written(tmp_path: Path) -> None:
    halves = [{"fields": {"half": f"{i % 2}"}} for i in range(80)]
    cases = [{"id": f"c{i}", "input": i, "expected": i % 3, **half} for i, half in enumerate(halves)]
    lay_out(tmp_path, cases, repeats=2)
    assert replay(tmp_path).code == 0
    answer = decide(tmp_path, slices={"by": ["half"], "min_items": 10}, items={"min": 5, "repeat": "repeat"})
    assert answer.verdict == "promote", answer.err
    assert answer.report is not None
    source = answer.report["provenance"]["candidate"]
    head = lines(tmp_path / "out" / "candidate.jsonl")[0]
    assert source["system"] == "candidate-1"
    assert source["facts"]["dataset_digest"] == head["suite_digest"]
    assert source["facts"]["scorer"] == {"correct": head["scorers"]["correct"]}
    assert answer.report["pairing"]["repeats_baseline"] == 2
    assert len(answer.report["slices"]) == 2


def test_the_same_suite_and_seed_give_the_same_artifacts(tmp_path: Path) -> None:
    lay_out(tmp_path, repeats=2, concurrency=3)
    assert replay(tmp_path, out="one").code == replay(tmp_path, out="two").code == 0
    for side in ("baseline", "candidate"):
        first, second = (lines(tmp_path / out / f"{side}.jsonl") for out in ("one", "two"))
        assert without_time(first) == without_time(second)


def test_another_seed_is_another_draw_of_both(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path, out="one").code == 0
    lay_out(tmp_path, seed=1)
    assert replay(tmp_path, out="two").code == 0
    assert [row["output"] for row in rows(tmp_path, "baseline", "one")] != [
        row["output"] for row in rows(tmp_path, "baseline", "two")
    ]


def test_the_sides_take_turns_in_an_order_that_the_seed_decides(tmp_path: Path) -> None:
    """One at a time, whatever drifts meets both: a case is put to one side and then to the other."""
    logs = {
        side: {"server": script(tmp_path, _LOG.replace("SIDE", side), f"{side}.py")}
        for side in ("baseline", "candidate")
    }
    orders = []
    for seed in (1, 2):
        lay_out(tmp_path, baseline=logs["baseline"], candidate=logs["candidate"], concurrency=1, seed=seed)
        assert replay(tmp_path, out=f"out{seed}").code == 0
        asked = [line.split() for line in (tmp_path / "order.log").read_text().splitlines()]
        (tmp_path / "order.log").unlink()
        pairs = list(zip(asked[::2], asked[1::2], strict=True))
        assert all(one[1] == other[1] and one[0] != other[0] for one, other in pairs)
        firsts = {one[0] for one, _ in pairs}
        assert firsts == {"baseline", "candidate"}, "neither side is always first"
        orders.append([one[1] for one, _ in pairs])
    cases = [f"{case['id']}@1" for case in CASES]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(cases)
    assert orders[0] != orders[1] != cases


_LOG = """
import json, sys
for line in sys.stdin:
    key = json.loads(line)["id"]
    with open("order.log", "a") as log:
        log.write("SIDE " + key + "\\n")
    print(json.dumps({"id": key, "output": 1}), flush=True)
"""


def test_windows_are_artifacts_of_their_own(tmp_path: Path) -> None:
    cases = [{**case, "window": f"20{10 + i % 3}"} for i, case in enumerate(CASES)]
    lay_out(tmp_path, cases)
    answer = replay(tmp_path)
    assert answer.code == 0, answer.err
    for window in ("2010", "2011", "2012"):
        head, *found = lines(tmp_path / "out" / window / "baseline.jsonl")
        assert head["window"] == window
        assert len(found) == 4
        assert {row["window"] for row in found} == {window}
        assert f"--cycle {window}" in answer.out
    assert not (tmp_path / "out" / "baseline.jsonl").exists()


def test_the_scorer_is_not_told_whose_answer_it_scores(tmp_path: Path) -> None:
    spy = "def score(request):\n    return {k: 1 for k in request}\n"
    (tmp_path / "spy.py").write_text(spy.replace("{k: 1 for k in request}", "{'n_' + k: 1 for k in request}"))
    lay_out(tmp_path, scorer={"callable": "spy:score"})
    assert replay(tmp_path).code == 0
    told = {key for key in rows(tmp_path, "candidate")[0] if key.startswith("n_")}
    assert told == {"n_id", "n_context", "n_expected", "n_output"}


@pytest.mark.parametrize("edit", ["scorer", "system"])
def test_a_version_is_the_bytes_of_its_files(tmp_path: Path, edit: str) -> None:
    (tmp_path / "rubric.txt").write_text("strict")
    old = {"callable": "systems:old", "files": ["rubric.txt"] if edit == "system" else []}
    scorer = {"callable": "systems:score", "files": ["rubric.txt"] if edit == "scorer" else []}
    lay_out(tmp_path, baseline=old, scorer=scorer)
    assert replay(tmp_path, out="one").code == 0
    (tmp_path / "rubric.txt").write_text("mild")
    refused = replay(tmp_path, out="one")
    assert "other_replay" not in refused.err
    assert "not the same" in refused.error
    assert replay(tmp_path, out="two").code == 0
    mixed = decide(tmp_path, candidate=str(tmp_path / "two" / "candidate.jsonl"), out="one")
    if edit == "scorer":
        assert "the scorer of 'correct' differs" in mixed.error
    else:
        assert mixed.code != 2


def test_two_suites_are_never_pooled(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path, out="one").code == 0
    lay_out(tmp_path, [{**case, "input": case["input"] + 3} for case in CASES])
    assert replay(tmp_path, out="two").code == 0
    mixed = decide(tmp_path, out="one", candidate=str(tmp_path / "two" / "candidate.jsonl"))
    assert "the data set's digest differs" in mixed.error
    first, second = ((tmp_path / out / "candidate.jsonl").read_text() for out in ("one", "two"))
    both = tmp_path / "both.jsonl"
    both.write_text(first + second)
    assert "a second replay begins here" in decide(tmp_path, out="one", candidate=str(both)).error


def test_a_pair_whose_contexts_differ_is_refused(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert replay(tmp_path).code == 0
    path = tmp_path / "out" / "candidate.jsonl"
    head, first, *rest = path.read_text().splitlines()
    row = json.loads(first)
    row["case_digest"] = "0" * 64
    path.write_text("\n".join([head, json.dumps(row), *rest]) + "\n")
    assert "the recorded context differs for 1 items of the same id ('c0')" in decide(tmp_path).error

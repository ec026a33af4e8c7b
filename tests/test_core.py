"""Where the parts of a decision meet: readings of failed runs, families, slices, what is withheld."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, Answer, command, decide, policy, write_rows
from seed_data import count_table

from gate.decide.multiplicity import challengers, families
from gate.decide.verdict import judge
from gate.measure.model import Comparison
from gate.stats.results import Interval
from tests.records import Flat, changed, record

Rows = list[dict[str, Any]]
LEVEL = 0.025


def veto(rule: str, p: float, **more: Any) -> Comparison:
    base: dict[str, Any] = {
        "rule": rule,
        "role": "guardrail",
        "mode": "no_regression",
        "metric": rule,
        "kind": "binary",
        "direction": "higher",
        "method": "mcnemar_exact",
        "n": 200,
        "delta": -0.01,
        "level": LEVEL,
        "p_value": p,
        "variance": 0.1,
        "interval": Interval(-0.03, 0.01, 0.95, "x"),
    }
    return record(**(base | more))


def gain(p: float, **more: Any) -> Comparison:
    known: dict[str, Any] = {
        "role": "gating",
        "mode": "gating",
        "delta": 0.05,
        "bound": 0.01,
        "margin_rule": "observed",
        "clears_bound": p < LEVEL,
        "observed_rule": p < LEVEL,
        "tested_rule": p < LEVEL / 10,
        "interval": Interval(0.01, 0.09, 0.95, "x"),
    }
    return veto("m", p, **(known | more))


# two readings of failed runs


def test_both_readings_of_a_veto_are_corrected_alike() -> None:
    """p 0.02 in a family of two is 0.04 after Holm, whichever reading of failed runs it comes from."""
    one = veto("a", 0.02, other=veto("a", 0.02, reading="drop"))
    found, _ = families([one, veto("b", 0.9)], "holm")
    assert Flat(found[0]).other is not None
    assert Flat(found[0]).p_adjusted == Flat(found[0]).other.p_adjusted == pytest.approx(0.04)
    assert Flat(found[0]).mde == Flat(found[0]).other.mde
    assert judge(found[0]).status == "pass"


def test_both_readings_of_a_challenger_are_corrected_alike() -> None:
    one = gain(0.001, reading="worst", other=gain(0.02, reading="drop"))
    assert judge(one).status == "pass"
    found = challengers([one, gain(0.5)], "holm")
    assert Flat(found[0]).other is not None
    assert Flat(found[0]).other.p_adjusted == pytest.approx(0.04)
    assert judge(found[0]).status == "inconclusive"


def rows(correct: str, **columns: Any) -> Rows:
    """One row a letter: 1 passes, 0 fails, x is a run that failed."""
    return [
        {
            "id": f"{k:03}",
            "correct": None if letter == "x" else int(letter),
            "error": "timeout" if letter == "x" else None,
            **{name: made(k) for name, made in columns.items()},
        }
        for k, letter in enumerate(correct)
    ]


def with_one_failed_run(folder: Path, **sections: Any) -> Answer:
    """100 items, 30 gained; the run of item 000, which the baseline passes, failed in the candidate."""
    made = {"language": lambda k: "fr" if k < 5 else "en", "keep": lambda k: str(int(k < 2))}
    rules = policy(BINARY, items={"max_error_rate": 0.05, **sections.pop("items", {})}, **sections)
    return decide(folder, rules, rows("1" * 40 + "0" * 60, **made), rows("x" + "1" * 69 + "0" * 30, **made))


def test_a_slice_that_does_not_gate_does_not_gate_by_its_other_reading(tmp_path: Path) -> None:
    answer = with_one_failed_run(
        tmp_path, slices={"by": ["language"], "mode": "non_inferior", "tolerance": 0.1}
    )
    assert answer.status("slice:language=fr") == "not_gated"
    assert answer.verdict == "promote"
    assert answer.report is not None
    told = [c["message"] for c in answer.report["cautions"] if c["code"] == "two_readings"]
    assert any(text.startswith("slice:language=fr") for text in told)
    assert not any(text.startswith("slice:language=en") for text in told), "no result is missing there"


def test_a_must_pass_item_whose_run_failed_is_no_loss_and_no_pass(tmp_path: Path) -> None:
    answer = with_one_failed_run(tmp_path, items={"must_pass": ["000", "001"]})
    assert answer.status("must_pass") == "inconclusive"
    assert answer.verdict == "inconclusive"


def test_readings_are_compared_in_words_that_fit_the_rule(tmp_path: Path) -> None:
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "limit", "min": 0.695}
    answer = with_one_failed_run(tmp_path, guardrails=[rail], items={"must_pass": ["000"]})
    assert answer.report is not None
    said = " ".join(reason["message"] for reason in answer.report["reasons"])
    said += " ".join(caution["message"] for caution in answer.report["cautions"])
    assert "None" not in said
    assert "none" not in said
    assert "fail when failed runs are read as worst (value 0.6900)" in said
    assert "fail when failed runs are read as worst (1 newly failing)" in said
    assert "1 item lacks a result; read as worst: delta +0.2900; read as drop: delta +0.3030" in said


# nothing passes because nothing was looked at


def test_a_must_pass_column_that_marks_nothing_is_an_error(tmp_path: Path) -> None:
    sides = [[{**row, "keep": "no"} for row in side] for side in count_table(30, 2, 40, 100)]
    answer = decide(tmp_path, policy(BINARY, items={"must_pass": "keep"}), *sides)
    assert "'keep' marks no item" in answer.error


def test_a_p_value_that_is_no_number_does_not_pass_a_veto() -> None:
    assert judge(veto("m", float("nan"))).status == "inconclusive"


# families


def test_the_margin_rules_that_are_reported_know_the_correction() -> None:
    first, _ = challengers([gain(0.02), gain(0.001)], "holm")
    assert (Flat(first).observed_rule, Flat(first).tested_rule) == (True, False)
    first, _ = challengers([gain(0.02), gain(0.5)], "holm")
    assert (Flat(first).observed_rule, Flat(first).tested_rule) == (False, False)
    assert judge(first).status == "inconclusive"


def test_the_tolerance_of_a_veto_slice_is_compared_with_what_it_sees(tmp_path: Path) -> None:
    """A caution, never a status: the slice is a veto whatever it can see."""
    sides = [[{**row, "part": "a"} for row in side] for side in count_table(30, 2, 40, 100)]
    for tolerance, said in ((0.01, True), (0.5, False), ({"relative": 0.01}, True)):
        answer = decide(tmp_path, policy(BINARY, slices={"by": ["part"], "tolerance": tolerance}), *sides)
        assert answer.verdict == "promote"
        assert ("mde_above_tolerance" in answer.cautions()) is said, tolerance


def test_detect_says_what_is_not_known() -> None:
    found = judge(veto("m", 0.5, detect=0.02, mde=None))
    assert found.message == "no loss is shown, but the smallest loss this set can see is unknown"
    assert judge(changed(veto("m", 0.5), detect=0.02, mde=0.04)).message.endswith(
        "see is 0.0400, above 0.0200"
    )


# what is withheld


def withheld(folder: Path, b: int, c: int, **sections: Any) -> dict[str, Any]:
    """The report on 209 items under ``feedback: verdict``."""
    folder.mkdir()
    assert command("history", "init", folder / "h.jsonl").code == 0
    cycles = {"looks": 4, "feedback": "verdict"}
    sides = [[{**row, "flat": 1 - b % 2} for row in side] for side in count_table(b, c, 113, 209)]
    answer = decide(
        folder, policy(BINARY, cycles=cycles, **sections), *sides, "--history", folder / "h.jsonl"
    )
    assert answer.report is not None, answer.err
    assert "numbers_withheld" in answer.cautions()
    return answer.report


def test_no_clustering_that_would_undo_a_result_is_told(tmp_path: Path) -> None:
    """A real gain below the margin: from which correlation on it would vanish depends on its size."""
    margin = {"gating": {"margin": 0.3}}
    one, other = (withheld(tmp_path / str(b), b, 1, **margin) for b in (25, 31))
    assert one["verdict"] == other["verdict"] == "block"
    assert one["gating"] == other["gating"]
    assert "clusters" not in one["gating"]
    assert "seed:0" in one["signature"]


def test_a_relative_bound_does_not_tell_the_mean_of_the_baseline(tmp_path: Path) -> None:
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "tolerance": {"relative": 0.1}}
    gating = {"margin": {"relative": 0.1}}
    found = withheld(tmp_path / "a", 23, 19, gating=gating, guardrails=[rail])
    assert {reason["required"] for reason in found["reasons"]} == {"withheld"}
    assert "bound" not in found["gating"]
    assert found["gating"]["relative"] == 0.1


def test_why_a_watched_metric_could_not_be_tested_is_a_matter_of_scores(tmp_path: Path) -> None:
    found = withheld(tmp_path / "a", 23, 19, watch=["flat", "absent"])
    reasons = {entry["rule"]: entry["reason"] for entry in found["not_assessed"]}
    assert "withheld" in reasons["watch:flat"]
    assert reasons["watch:absent"] == "absent is not in both files"
    assert "cleared as observed: withheld" in found["claims"][1]


# what to do next


def test_a_cycle_that_is_not_recorded_is_not_told_to_wait_for_more(tmp_path: Path) -> None:
    history = tmp_path / "h.jsonl"
    assert command("history", "init", history).code == 0
    sides = count_table(30, 2, 40, 100)
    more = ("--history", history, "--history-mode", "read-only")
    answer = decide(tmp_path, policy(BINARY, cycles={"looks": 4}), *sides, *more)
    assert answer.verdict == "hold"
    assert answer.report is not None
    assert answer.report["next_step"].startswith("run again with a history that can be written")


def test_more_items_are_not_asked_for_to_show_a_loss(tmp_path: Path) -> None:
    answer = decide(tmp_path, policy(BINARY, gating={"margin": 0}), *count_table(4, 9, 50, 120))
    assert answer.report is not None
    assert answer.report["next_step"].startswith("improve correct: no gain was observed")


def test_the_items_asked_for_reach_the_least_that_the_policy_takes(tmp_path: Path) -> None:
    """40 items would see so large a margin, but the policy takes no fewer than 100."""
    rules = policy(BINARY, gating={"margin": 0.3}, items={"min": 100})
    answer = decide(tmp_path, rules, *count_table(6, 2, 8, 24))
    assert answer.gating["items_needed"] < 100
    assert answer.report is not None
    assert answer.report["next_step"].startswith("score 76 more items: ")


# one metric, several rules


def graded(letters: str) -> Rows:
    """One row a digit, a score from 0 to 5; x is a run that failed."""
    return [{**row, "score": row.pop("correct")} for row in rows(letters)]


def test_a_scale_declared_in_one_rule_holds_for_the_metric(tmp_path: Path) -> None:
    """The limit names no scale, and stands after the rule that does: a failed run still has a worst value."""
    rail = {"metric": "score", "kind": "graded", "direction": "higher", "mode": "limit", "min": 2}
    gating = {"metric": "score", "kind": "graded", "scale": [0, 5], "margin": 0.1}
    rules = policy(gating=gating, guardrails=[rail], items={"max_error_rate": 0.05})
    answer = decide(tmp_path, rules, graded("32" * 50), graded("x4" + "45" * 49))
    assert answer.verdict == "promote", answer.err
    assert answer.gating["reading"]["chosen"] == "worst"


def test_two_scales_of_one_metric_are_refused(tmp_path: Path) -> None:
    rail = {"metric": "score", "kind": "graded", "direction": "higher", "mode": "no_regression"}
    gating = {"metric": "score", "kind": "graded", "scale": [0, 5], "margin": 0.1}
    rules = policy(gating=gating, guardrails=[{**rail, "scale": [0, 10]}])
    assert "scale" in decide(tmp_path, rules, graded("32" * 50), graded("44" * 50)).error


# order and ids


def test_other_ids_change_no_digit_of_what_is_flaky(tmp_path: Path) -> None:
    source = random.Random(7)
    runs = [[[int(source.random() < chance) for _ in range(7)] for _ in range(97)] for chance in (0.4, 0.55)]
    found = []
    for name in ("plain", "renamed"):
        names = [f"{k:03}" for k in range(97)]
        if name == "renamed":
            source.shuffle(names)
        sides = [
            [
                {"id": names[item], "run": run, "correct": value}
                for item, of_item in enumerate(side)
                for run, value in enumerate(of_item)
            ]
            for side in runs
        ]
        (tmp_path / name).mkdir()
        answer = decide(tmp_path / name, policy(items={"repeat": "run"}), *sides)
        found.append({k: v for k, v in answer.gating.items() if k not in {"flagged"}})
    assert found[0]["flaky"]["status"] == "measured"
    assert found[0] == found[1]


# limits


def test_a_proven_limit_says_why_it_has_no_interval(tmp_path: Path) -> None:
    rail = {"metric": "unsafe", "kind": "binary", "direction": "lower", "mode": "limit", "max": 0.02}
    sides = [
        [{**row, "unsafe": 0, "part": k % 40} for k, row in enumerate(side)]
        for side in count_table(40, 2, 40, 200)
    ]
    rules = policy(guardrails=[{**rail, "proven": True}], items={"cluster": "part"})
    answer = decide(tmp_path, rules, *sides)
    assert answer.report is not None
    said = {reason["rule"]: reason["message"] for reason in answer.report["reasons"]}
    assert "the spread between clusters is unknown" in said["guardrail:unsafe"]


# item sets


def test_a_file_in_two_sets_is_named_as_it_was_given(tmp_path: Path) -> None:
    """A copy of the main baseline under another name: the error names that file, whatever order a set has."""
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "no_regression", "set": "s"}
    sides = count_table(30, 2, 40, 100)
    copy = write_rows(tmp_path / "copy.jsonl", sides[0])
    own = write_rows(tmp_path / "own.jsonl", count_table(20, 3, 40, 100)[1])
    answer = decide(tmp_path, policy(guardrails=[rail]), *sides, "--set", "s", copy, own)
    assert answer.error.startswith(f"gate: {copy}: one file is given for two item sets (the main one and s)")
    answer = decide(
        tmp_path, policy(guardrails=[rail]), *sides, "--set", "s", tmp_path / "baseline.jsonl", own
    )
    assert "(the main one and s)" in answer.error

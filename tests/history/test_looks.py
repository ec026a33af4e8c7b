"""Which look this is, at which level, and what the history says against it."""

from __future__ import annotations

import pytest
from history_world import attempt, items, nights, run, session

from gate.cycles import Outcome, Rules, plan_look
from gate.history import load
from gate.values import GateError

LEDGER = Rules(looks=9)
FRESH = Rules(required=2, windows="fresh")


def codes(cautions):
    return {caution.code for caution in cautions}


def test_ten_rescores_of_nine_planned(tmp_path):
    states = [
        run(tmp_path / "h", attempt("a", candidate_digest=f"score {n}"), LEDGER, "inconclusive")
        for n in range(10)
    ]
    assert [state.level for state in states] == [0.0025] * 9 + [0.00125]


def test_the_level_of_many_declared_fresh_looks(tmp_path):
    state = run(tmp_path / "h", attempt(), Rules(required=2, windows="fresh", looks=250))
    assert state.level == pytest.approx(0.01)


def test_looks_are_counted_by_items_and_metric_only(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), LEDGER, "fail")
    same = [
        attempt("b", policy="renamed"),
        attempt("b", policy_digest="a comment was edited"),
        attempt("b", decision_digest="another margin"),
        attempt("b", baseline_digest="another baseline"),
        attempt("b", ci={"run_id": "7", "run_attempt": "1", "ref": "another-branch"}),
    ]
    assert {plan_look(load(path), each, LEDGER).number for each in same} == {2}
    others = [attempt("b", metric="f1:higher"), attempt("b", items=items(5000))]
    assert {plan_look(load(path), each, LEDGER).number for each in others} == {1}


def test_one_shared_item_of_five_hundred_is_the_same_ledger(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), LEDGER, "fail")
    look = plan_look(load(path), attempt("b", items=items(499)), LEDGER)
    assert (look.window, look.number) == ("overlap", 2)


def test_a_sliding_window_is_one_ledger(tmp_path):
    path = tmp_path / "h"
    for night in range(5):
        run(path, attempt(f"n{night}", items=items(night * 6, 7)), LEDGER, "fail")
    assert plan_look(load(path), attempt("now", items=items(30, 7)), LEDGER).number == 6


def test_a_window_that_is_not_fresh_decides_nothing(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), FRESH)
    state = run(path, attempt("b", items=items(499)), FRESH)
    assert (state.verdict, state.status, state.passed) == ("inconclusive", "inconclusive", 0)
    assert codes(state.faults) == {"window_not_fresh"}
    assert run(path, attempt("c", items=items(2000)), FRESH).passed == 1


def test_a_killed_run_is_a_look_and_completing_it_is_the_same_look(tmp_path):
    path = tmp_path / "h"
    lost = session(path).begin([attempt("lost")], LEDGER)[0]
    other = plan_look(load(path), attempt("b"), LEDGER)
    assert (other.number, codes(other.cautions)) == (2, {"looks_unfinished"})
    run(path, attempt("b"), LEDGER)
    again = session(path).begin([attempt("lost")], LEDGER)[0]
    assert (again.id, again.number, again.level) == (lost.id, 1, lost.level)
    assert run(path, attempt("lost"), LEDGER).look == 1
    assert plan_look(load(path), attempt("c"), LEDGER).number == 3


def test_a_void_after_the_intent_takes_the_look_back(tmp_path):
    path = tmp_path / "h"
    opened = session(path)
    looks = opened.begin([attempt("a")], LEDGER)
    opened.void(attempt("a"), "out of memory before any value", looks)
    assert plan_look(load(path), attempt("b"), LEDGER).number == 1
    opened.begin([attempt("a")], LEDGER)
    assert plan_look(load(path), attempt("b"), LEDGER).number == 2


def test_attempts_of_a_run_that_left_no_record_are_looks(tmp_path):
    def ci(number):
        return {"run_id": "77", "run_attempt": str(number), "actor": "bot"}

    path = tmp_path / "h"
    run(path, attempt("a", ci=ci(1)), LEDGER, "fail")
    state = run(path, attempt("b", ci=ci(3)), LEDGER, "fail")
    assert state.look == 3
    assert any("1 earlier attempts of this run are not" in c.message for c in state.cautions)
    assert run(path, attempt("c", ci=ci(4)), LEDGER, "fail").look == 4
    assert run(path, attempt("d", ci={"run_id": "78", "run_attempt": "1"}), LEDGER, "fail").look == 5
    fresh = run(tmp_path / "new", attempt("a", ci=ci(3)), LEDGER)
    assert fresh.look == 3
    assert any("2 earlier attempts of this run are not" in c.message for c in fresh.cautions)


def test_a_recorded_attempt_that_was_void_is_no_missing_look(tmp_path):
    path = tmp_path / "h"
    first = attempt("a", ci={"run_id": "77", "run_attempt": "1"})
    session(path).void(first, "unreadable")
    assert run(path, attempt("a", ci={"run_id": "77", "run_attempt": "2"}), LEDGER).look == 1


@pytest.mark.parametrize("text", ["", "x", "-1", "1e3", "٣", "9" * 30])
def test_a_run_attempt_that_is_no_number_counts_for_nothing(tmp_path, text):
    state = run(tmp_path / "h", attempt(ci={"run_id": "1", "run_attempt": text}), LEDGER)
    assert state.look == 1


def test_retry_risk_is_told_where_looks_are_not_declared(tmp_path):
    path = tmp_path / "h"
    states = [run(path, attempt(f"n{n}"), Rules(), "inconclusive") for n in range(3)]
    assert states[0].retry_risk == {"0": 0.025, "0.5": 0.025, "0.9": 0.025}
    assert states[2].retry_risk["0"] == pytest.approx(1 - 0.975**3)
    assert "retry_risk" not in codes(states[0].cautions)
    assert "retry_risk" in codes(states[1].cautions)
    declared = run(path, attempt("d"), LEDGER, "inconclusive")
    assert declared.retry_risk is None


def test_passes_on_reused_items_are_no_confirmations(tmp_path):
    state = run(tmp_path / "h", attempt(), Rules(required=3))
    assert "reused_without_looks" in codes(state.cautions)


def test_more_fresh_looks_than_declared(tmp_path):
    rules = Rules(required=2, windows="fresh", looks=2)
    states = nights(tmp_path / "h", rules, "fff")
    assert ["looks_exceeded" in codes(state.cautions) for state in states] == [False, False, True]


def test_wear_of_items_whose_numbers_are_shown(tmp_path):
    path, rules = tmp_path / "h", Rules(looks=2)
    states = nights(path, rules, "i" * 9)
    assert [("worn" in codes(s.cautions), "worn_out" in codes(s.faults)) for s in states] == (
        [(False, False)] * 3 + [(True, False)] * 4 + [(True, True)] * 2
    )
    allowed = run(path, attempt("more"), Rules(looks=2, allow_worn=True))
    assert allowed.status == "pass"
    assert run(path, attempt("again"), rules).status == "inconclusive"


def test_feedback_of_the_verdict_only_hides_numbers_and_wears_nothing(tmp_path):
    path, rules = tmp_path / "h", Rules(looks=2, feedback="verdict")
    states = nights(path, rules, "ififififi")
    assert not any(state.numbers_shown for state in states)
    assert not any("worn" in codes(state.cautions) for state in states)
    assert run(path, attempt("good"), rules).numbers_shown
    fresh = run(tmp_path / "f", attempt(), Rules(windows="fresh", feedback="verdict"), "fail")
    assert fresh.numbers_shown


def test_revealing_numbers_wears_the_items(tmp_path):
    path, rules = tmp_path / "h", Rules(looks=2, feedback="verdict")
    run(path, attempt("a"), rules, "fail")
    again = run(path, attempt("a"), rules, "fail", revealed=True)
    assert (again.replayed, again.numbers_shown) == (True, True)
    assert load(path).records[-1].kind == "worn"
    assert plan_look(load(path), attempt("b"), rules).wear == 1
    assert run(path, attempt("b"), rules, "fail", revealed=True).numbers_shown
    assert plan_look(load(path), attempt("c"), rules).wear == 2


def test_items_may_not_shrink_unnoticed(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), Rules())
    fewer = run(path, attempt("b", items=items(0, 499)), Rules())
    assert (fewer.verdict, codes(fewer.faults)) == ("inconclusive", {"items_shrank"})
    assert run(path, attempt("c", items=items(0, 498)), Rules(may_shrink=True)).verdict == "promote"


def test_a_winner_as_the_baseline_of_its_own_items(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), Rules())
    state = run(path, attempt("b", baseline_digest="candidate-a"), Rules())
    assert "baseline_is_winning_run" in codes(state.cautions)
    elsewhere = run(path, attempt("c", baseline_digest="candidate-a", items=items(5000)), Rules())
    assert "baseline_is_winning_run" not in codes(elsewhere.cautions)


def test_a_rule_younger_than_the_results(tmp_path):
    path = tmp_path / "h"
    early, late = "2026-02-01T00:00:00Z", "2026-03-02T00:00:00Z"

    def told(**changes):
        look = plan_look(load(path), attempt("b", **changes), Rules())
        return "policy_younger_than_data" in codes(look.cautions)

    run(path, attempt("a", artifacts_time=early), Rules())  # recorded on 2026-03-01
    assert told(artifacts_time=early)
    assert not told(artifacts_time=late)
    assert not told(artifacts_time="")
    assert not told(artifacts_time=early, policy_time="2026-01-15T00:00:00+02:00")
    assert told(artifacts_time=early, decision_digest="edited after the results")
    assert not told(artifacts_time=late, decision_digest="edited before the results")
    assert not told(artifacts_time="yesterday")


def test_a_policy_that_must_come_first_is_a_fault_that_stays(tmp_path):
    rules, noon = Rules(policy_first=True), "2026-02-01T12:00:00+00:00"

    def status(name, since, *, dated=True):
        found = run(tmp_path / "h", attempt(name, artifacts_time=noon, dated=dated, policy_time=since), rules)
        return found.verdict, codes(found.faults)

    fault = ("inconclusive", {"policy_not_first"})
    assert status("a", "2026-02-01T12:00:01+00:00") == fault
    assert status("b", "2026-02-01T13:00:00+01:00") == ("promote", set())
    assert status("c", "2026-01-01", dated=False) == fault
    again = plan_look(load(tmp_path / "h"), attempt("a", artifacts_time=noon, dated=True), rules)
    assert codes(again.faults) == {"policy_not_first"}  # whatever amends the verdict


def test_a_first_run_accuses_nobody(tmp_path):
    state = run(tmp_path / "h", attempt(artifacts_time="2020-01-01T00:00:00Z"), Rules())
    assert codes(state.cautions) == {"history_started"}


def test_three_voids_in_a_row(tmp_path):
    path = tmp_path / "h"
    for _ in range(3):
        session(path).void(attempt("broken"), "unreadable")
    assert "voids_in_a_row" in codes(plan_look(load(path), attempt(), Rules()).cautions)
    run(path, attempt("a"), Rules())
    assert "voids_in_a_row" not in codes(plan_look(load(path), attempt("b"), Rules()).cautions)


def test_read_only_records_nothing_and_holds_where_a_record_is_needed(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH, "p")
    count = load(path).count
    reader = session(path, read_only=True)
    looks = reader.begin([attempt("b", items=items(5000))], FRESH)
    state = reader.finish(looks, [Outcome("pass", 0.02)])[0]
    assert (state.verdict, state.passed, state.recorded) == ("hold", 2, False)
    assert "look_unrecorded" in codes(state.cautions)
    single = reader.begin([attempt("c", items=items(6000))], Rules())
    assert reader.finish(single, [Outcome("pass", 0.02)])[0].verdict == "promote"
    reader.void(attempt("d"), "nothing")
    assert load(path).count == count


def test_without_a_history(tmp_path):
    opened = session_without_history()
    looks = opened.begin([attempt()], Rules())
    state = opened.finish(looks, [Outcome("pass", 0.02)])[0]
    assert (state.verdict, state.look, state.cautions) == ("promote", 1, ())
    with pytest.raises(GateError, match="need a history") as caught:
        opened.begin([attempt()], Rules(required=2))
    assert "--history" in caught.value.help


def session_without_history():
    from gate.history.session import open_session

    return open_session(None)


def test_a_missing_history_is_started_or_refused(tmp_path):
    assert codes(session(tmp_path / "new").cautions) == {"history_started"}
    assert session(tmp_path / "new").cautions == ()
    for demand in ({"must_exist": True}, {"expect_head": "0" * 64}, {"read_only": True}):
        with pytest.raises(GateError) as caught:
            session(tmp_path / "absent", **demand)
        assert caught.value.code == "history_missing"
        assert "gate history init" in caught.value.help
    assert not (tmp_path / "absent").exists()


def test_two_runs_that_finish_the_same_look_give_one_verdict(tmp_path):
    path = tmp_path / "h"
    one, other = session(path), session(path)
    first, second = one.begin([attempt()], LEDGER), other.begin([attempt()], LEDGER)
    assert first[0].number == second[0].number == 1
    assert one.finish(first, [Outcome("pass", 0.02)])[0].verdict == "promote"
    late = other.finish(second, [Outcome("fail", 0.02)])[0]
    assert (late.verdict, late.replayed) == ("promote", True)
    assert plan_look(load(path), attempt("b"), LEDGER).number == 2


def test_a_history_replaced_while_the_gate_ran(tmp_path):
    path = tmp_path / "h"
    opened = session(path)
    looks = opened.begin([attempt()], LEDGER)
    path.unlink()
    session(path)
    with pytest.raises(GateError) as caught:
        opened.finish(looks, [Outcome("pass", 0.02)])
    assert caught.value.code == "history_lost"


def test_what_a_promotion_with_a_waiver_leaves(tmp_path):
    path = tmp_path / "h"
    run(path, attempt(), Rules(), waived=("latency_ms",))
    kinds = [(record.kind, record.note) for record in load(path).records[1:]]
    assert kinds == [("intent", ""), ("outcome", ""), ("waiver", "latency_ms"), ("promotion", "")]
    assert load(path).records[2].result["waived"] == "latency_ms"

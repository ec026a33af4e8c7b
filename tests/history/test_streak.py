"""The streak's state machine: every event of its table, and what may be claimed."""

from __future__ import annotations

import pytest
from history_world import attempt, items, nights, run, session
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.cycles import Outcome, Rules, assess, plan_look
from gate.cycles.chain import History
from gate.cycles.chart import draw
from gate.history import load

FRESH3 = Rules(required=3, windows="fresh")
REUSED3 = Rules(required=3, looks=9)


@pytest.mark.parametrize(
    ("statuses", "passed"),
    [
        ("p", [1]),
        ("pp", [1, 2]),
        ("ppi", [1, 2, 0]),
        ("ppip", [1, 2, 0, 1]),
        ("ppfp", [1, 2, 0, 1]),
        ("pppp", [1, 2, 3, 1]),
    ],
)
@pytest.mark.parametrize("rules", [FRESH3, REUSED3], ids=["fresh", "reused"])
def test_passes_in_a_row(tmp_path, rules, statuses, passed):
    states = nights(tmp_path / "h", Rules(required=3, windows=rules.windows), statuses)
    assert [state.passed for state in states] == passed


def test_verdicts_of_three_passes(tmp_path):
    assert [s.verdict for s in nights(tmp_path / "h", FRESH3, "ppfppp")] == [
        "hold",
        "hold",
        "block",
        "hold",
        "hold",
        "promote",
    ]


def test_void_leaves_the_streak(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "pp")
    session(path).void(attempt("broken"), "the candidate file has no rows")
    assert run(path, attempt("n9", items=items(9000)), FRESH3).verdict == "promote"


def test_identical_sides_are_void_and_inconclusive(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "pp")
    same = attempt("same", items=items(5000), candidate_digest="baseline", identical=True)
    state = run(path, same, FRESH3, "inconclusive", 0.0)
    assert (state.verdict, state.passed, state.recorded) == ("inconclusive", 2, True)
    last = load(path).records[-1]
    assert (last.kind, last.note, last.level) == ("void", "identical", None)
    assert run(path, attempt("n9", items=items(9000)), FRESH3).look == 3  # it was no look


def test_a_replay_is_free_and_returns_the_first_verdict(tmp_path):
    path = tmp_path / "h"
    first = run(path, attempt(), REUSED3, "fail", -0.01)
    count = load(path).count
    for _ in range(50):
        again = run(path, attempt(cycle="other-name"), REUSED3, "pass")
        assert (again.verdict, again.replayed, again.look) == ("block", True, first.look)
    assert load(path).count == count
    assert run(path, attempt("new"), REUSED3).look == 2


def test_a_promotion_is_replayed_as_a_promotion(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "ppp")
    again = run(path, attempt("n2", items=items(1000)), FRESH3)
    assert (again.verdict, again.passed, again.replayed, again.scope) == ("promote", 3, True, "fresh windows")


def test_a_rescore_is_a_look_but_no_cycle(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a"), REUSED3)
    again = run(path, attempt("a", candidate_digest="other scores"), REUSED3)
    assert (again.passed, again.look) == (1, 2)
    worse = run(path, attempt("a", candidate_digest="third scores"), REUSED3, "fail")
    assert (worse.passed, worse.look) == (0, 3)


def test_the_same_candidate_under_a_new_cycle_name_is_a_rescore(tmp_path):
    path = tmp_path / "h"
    run(path, attempt("a", candidate_id="v7"), REUSED3)
    look = plan_look(load(path), attempt("b", candidate_id="v7"), REUSED3)
    assert look.rescore
    assert run(path, attempt("b", candidate_id="v7"), REUSED3).passed == 1
    assert run(path, attempt("c", candidate_id="v8"), REUSED3).passed == 2


def test_a_frozen_candidate_on_fresh_windows_is_a_cycle_each_time(tmp_path):
    states = nights(tmp_path / "h", FRESH3, "ppp", candidate_id="v7")
    assert states[-1].verdict == "promote"


def test_a_rescore_may_promote_where_one_cycle_is_enough(tmp_path):
    path, rules = tmp_path / "h", Rules(looks=9)
    assert run(path, attempt("a"), rules, "inconclusive").verdict == "inconclusive"
    again = run(path, attempt("a", candidate_digest="other"), rules)
    assert (again.verdict, again.passed, again.level) == ("promote", 1, 0.0025)


def test_a_changed_deciding_policy_starts_again_and_back(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "pp")
    edited = run(path, attempt("e", items=items(7000), decision_digest="margin 0"), FRESH3)
    assert edited.passed == 1
    back = run(path, attempt("f", items=items(8000)), FRESH3)
    assert back.passed == 1


def test_a_renamed_policy_keeps_its_streak_and_its_ledger(tmp_path):
    path = tmp_path / "h"
    rules = Rules(required=2, looks=9)
    run(path, attempt("a"), rules)
    state = run(path, attempt("b", policy="new name", policy_digest="comment edited"), rules)
    assert (state.passed, state.look) == (2, 2)


def test_another_policy_in_the_same_history_disturbs_nothing(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "pp")
    other = attempt("x", policy="search", decision_digest="other", metric="ndcg:higher")
    run(path, other, FRESH3, "fail")
    assert run(path, attempt("n9", items=items(9000)), FRESH3).verdict == "promote"


def test_a_baseline_that_is_scored_again_continues_the_streak(tmp_path):
    rules = Rules(required=3, looks=9)
    scored = [attempt(f"n{n}", baseline_digest=f"run {n}", baseline_id=name) for n, name in enumerate("aaa")]
    assert [run(tmp_path / "h", night, rules).passed for night in scored] == [1, 2, 3]
    fresh = [attempt(f"n{n}", items=items(500 * n), baseline_digest=f"window {n}") for n in range(3)]
    assert [run(tmp_path / "f", night, FRESH3).passed for night in fresh] == [1, 2, 3]


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        (["", "", ""], [1, 2, 3]),
        (["", "a", "a"], [1, 2, 3]),
        (["a", "", "a"], [1, 2, 3]),
        (["a", "a", "b"], [1, 2, 1]),
        (["a", "", "b"], [1, 2, 1]),
        (["a", "b", "a"], [1, 1, 1]),
    ],
)
@pytest.mark.parametrize("rules", [FRESH3, Rules(required=3, looks=9)], ids=["fresh", "reused"])
def test_another_baseline_system_starts_a_streak_anew(tmp_path, rules, names, passed):
    found = []
    for n, name in enumerate(names):
        window = items(n * 500) if rules.windows == "fresh" else items()
        night = attempt(f"n{n}", items=window, baseline_id=name, baseline_digest=f"{name}{n}")
        found.append(run(tmp_path / "h", night, rules))
    assert [state.passed for state in found] == passed
    anew = {1: "another baseline system in cycle 'n2' ('b', it was 'a')", 3: ""}
    if names[1:] != ["b", "a"]:
        assert found[-1].restarted == anew[passed[-1]]
        assert load(tmp_path / "h").records[-1].state.get("restarted", "") in {anew[passed[-1]], ""}


def test_every_new_start_says_why(tmp_path):
    path, rules = tmp_path / "h", Rules(required=3, windows="fresh")
    assert [state.restarted for state in nights(path, rules, "pfpi")] == [
        "",
        *["cycle 'n1' failed"] * 2,
        "cycle 'n3' was inconclusive",
    ]
    session(path).begin([attempt("cut", items=items(7000))], rules)
    cut = run(path, attempt("after", items=items(8000)), rules)
    assert cut.restarted == "the look of cycle 'cut' was begun and never finished"
    other = run(path, attempt("new", items=items(9000), decision_digest="edited"), rules)
    assert other.restarted == "the policy's deciding part changed after cycle 'after'"
    for number in (10, 11):
        state = run(path, attempt(f"p{number}", items=items(number * 1000), decision_digest="edited"), rules)
    assert (state.verdict, state.passed) == ("promote", 3)
    last = run(path, attempt("last", items=items(20000), decision_digest="edited"), rules)
    assert last.restarted == "cycle 'p11' was promoted, and a promotion ends its streak"
    shown = draw(load(path))
    for state in (cut, other, last):
        assert f"counted anew: {state.restarted}" in shown


def scored(mean, error=0.03, cycle="n", **changes):
    """An attempt whose baseline has this mean, and the outcome that says so."""
    return attempt(cycle, **changes), {"result": {"baseline_mean": mean, "baseline_se": error}}


def taken(path, rules, what):
    return run(path, what[0], rules, **what[1])


# two-sided p < 0.01 is |z| > 2.5758; the errors 0.03 and 0.04 make 0.05, so a fall of 0.12879 is the limit
@pytest.mark.parametrize(
    ("metric", "then", "now", "fell"),
    [
        ("correct:higher", 0.9, 0.7713, False),
        ("correct:higher", 0.9, 0.7711, True),
        ("correct:higher", 0.7, 0.95, False),
        ("cost:lower", 0.5, 0.6287, False),
        ("cost:lower", 0.5, 0.6289, True),
        ("cost:lower", 0.5, 0.1, False),
    ],
)
def test_a_baseline_that_fell_is_said(tmp_path, metric, then, now, fell):
    taken(tmp_path / "h", REUSED3, scored(then, 0.03, "a", metric=metric))
    state = taken(tmp_path / "h", REUSED3, scored(now, 0.04, "b", metric=metric, baseline_digest="again"))
    assert ("baseline_fell" in {caution.code for caution in state.cautions}) is fell
    assert (state.verdict, state.passed) == ("hold", 2)  # said, no more


def test_a_lasting_fall_stays_one_until_the_baseline_recovers(tmp_path):
    path, rules = tmp_path / "h", Rules(required=2, looks=9, on_baseline_fall="hold")
    means = [("a", 0.9), ("b", 0.6), ("c", 0.6), ("c", 0.89), ("d", 0.9)]
    states = [
        taken(path, rules, scored(mean, cycle=cycle, baseline_digest=f"{n}"))
        for n, (cycle, mean) in enumerate(means)
    ]
    assert [(state.verdict, state.passed, bool(state.held)) for state in states] == [
        ("hold", 1, False),
        ("hold", 1, True),
        ("hold", 1, True),
        ("promote", 2, False),  # the held cycle may be scored again: it was not counted
        ("hold", 1, False),
    ]
    assert "not counted: the baseline fell" in draw(load(path))
    again = taken(path, rules, scored(0.6, cycle="b", baseline_digest="1"))
    assert (again.verdict, again.held, again.replayed) == ("hold", states[1].held, True)


def test_a_fallen_baseline_holds_a_single_cycle_too(tmp_path):
    rules = Rules(on_baseline_fall="hold")
    assert taken(tmp_path / "h", rules, scored(0.9, cycle="a")).verdict == "promote"
    held = taken(tmp_path / "h", rules, scored(0.6, cycle="b", baseline_digest="again"))
    assert (held.verdict, held.passed) == ("hold", 0)
    other = scored(0.6, cycle="c", baseline_digest="other", baseline_id="another system")
    assert taken(tmp_path / "o", rules, scored(0.9, cycle="a", baseline_id="one system")).verdict == "promote"
    assert taken(tmp_path / "o", rules, other).verdict == "promote"
    assert rules.needs_history


def test_a_promotion_does_not_refill_the_ledger(tmp_path):
    path, rules = tmp_path / "h", Rules(looks=2)
    states = nights(path, rules, "pppp")
    assert [state.verdict for state in states] == ["promote"] * 4
    assert [state.look for state in states] == [1, 2, 3, 4]
    assert states[3].level < states[2].level < states[1].level


def test_claims_and_scope(tmp_path):
    fresh = nights(tmp_path / "f", Rules(required=5, windows="fresh", test="sign_flip"), "ppppp")
    assert [s.claim for s in fresh] == ["this_cycle", *["each_cycle"] * 3, "over_cycles"]
    assert (fresh[-1].scope, fresh[-1].sign_flip_p) == ("fresh windows", 0.03125)
    reused = nights(tmp_path / "r", REUSED3, "ppp")
    assert (reused[-1].claim, reused[-1].scope, reused[-1].verdict) == (
        "each_cycle",
        "these items",
        "promote",
    )


def test_the_cycle_test_holds_a_streak_back(tmp_path):
    path = tmp_path / "h"
    rules = Rules(required=5, windows="fresh", test="sign_flip")
    states = []
    for night in range(6):
        what = attempt(f"n{night}", items=items(night * 500))
        delta = 0.01 if night == 2 else 0.02 + night / 1000
        states.append(run(path, what, rules, delta=delta, margin=0.01))
    assert (states[4].passed, states[4].sign_flip_p, states[4].verdict) == (5, 0.0625, "hold")
    assert (states[5].passed, states[5].sign_flip_p, states[5].verdict) == (6, 0.03125, "promote")


def test_an_unfinished_look_breaks_the_streak_until_it_is_finished(tmp_path):
    path = tmp_path / "h"
    nights(path, FRESH3, "pp")
    lost = attempt("lost", items=items(5000))
    session(path).begin([lost], FRESH3)
    assert run(path, attempt("n9", items=items(9000)), FRESH3).passed == 1
    assert (
        run(path, lost, FRESH3).passed == 4
    )  # completed: same digests, same verdict, nothing was drawn twice


def test_challengers_have_one_look_and_a_streak_each(tmp_path):
    path, rules = tmp_path / "h", Rules(required=2, windows="fresh")
    verdicts = []
    for night in range(2):
        window = items(night * 500)
        pair = [
            attempt(f"n{night}", items=window, candidate_digest=f"{name}{night}", candidate_id=name)
            for name in ("red", "blue")
        ]
        opened = session(path)
        looks = opened.begin(pair, rules)
        assert {look.number for look in looks} == {night + 1}
        good = Outcome("pass", 0.02)
        states = opened.finish(looks, [good, good if night else Outcome("fail", -0.02)])
        verdicts.append([state.verdict for state in states])
    assert verdicts == [["hold", "block"], ["promote", "hold"]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from("pfi"), max_size=12), st.integers(1, 4))
def test_the_streak_is_the_run_of_passes_at_the_end(tmp_path_factory, letters, required):
    path = tmp_path_factory.mktemp("h") / "h"
    wanted = 0
    for state, letter in zip(
        nights(path, Rules(required=required, windows="fresh"), "".join(letters)), letters, strict=True
    ):
        wanted = wanted + 1 if letter == "p" else 0
        assert state.passed == wanted
        assert (state.verdict == "promote") == (wanted == required)
        wanted %= required


def test_assess_and_plan_need_no_file():
    empty = History((), ())
    look = plan_look(empty, attempt(), Rules())
    state = assess(empty, look, Outcome("pass", 0.02))
    assert (look.number, look.level, look.window, state.verdict) == (1, 0.025, "fresh", "promote")


def test_a_waiver_amends_a_verdict_in_its_old_place(tmp_path):
    path, rules = tmp_path / "h", Rules(required=2, windows="fresh")
    nights(path, rules, "p")
    blocked = attempt("n1", items=items(500))
    assert run(path, blocked, rules, "fail").verdict == "block"
    assert run(path, attempt("n2", items=items(1000)), rules, "fail").passed == 0
    waived = run(path, blocked, rules, waived=("latency_ms",))
    assert (waived.verdict, waived.passed, waived.look, waived.replayed) == ("promote", 2, 2, False)
    assert run(path, attempt("n3", items=items(1500)), rules).passed == 1
    again = run(path, blocked, rules, waived=("latency_ms",))
    assert (again.verdict, again.replayed) == ("promote", True)
    assert run(path, blocked, rules, "fail").verdict == "block"  # the waiver ran out


@pytest.mark.parametrize(("declared", "passed"), [(2, 2), (None, 1)])
def test_declared_challengers_keep_their_streaks_however_many_come(tmp_path, declared, passed):
    """Two systems tonight, one of them alone tomorrow: its second pass, where the number was declared."""
    rules = Rules(required=3, windows="fresh", challengers=declared)
    opened = session(tmp_path / "h")
    both = [attempt(name, candidate_id=name, items=items(0)) for name in ("a", "b")]
    opened.finish(opened.begin(both, rules), [Outcome("pass", 0.02), Outcome("pass", 0.03)])
    alone = attempt("a-again", candidate_id="a", items=items(500))
    assert run(tmp_path / "h", alone, rules).passed == passed

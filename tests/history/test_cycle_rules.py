"""The rules of looks, streaks and claims at both sides of their limits, over records made by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from history_world import attempt, items
from scipy import stats

from gate.cycles import History, Outcome, Record, Rules, assess, item_set, plan_look, plan_looks
from gate.cycles import items as item_rules
from gate.cycles.assess import one_winner, provisional
from gate.cycles.attempt import first_look_id, look_id, with_lineages
from gate.cycles.chain import ChainError, order_of, ordered
from gate.cycles.chart import draw, run_chart_points
from gate.cycles.counted_looks import attempt_number, counted_looks, missed_attempts
from gate.cycles.history_cautions import moment, policy_is_younger, policy_not_first, voids_in_a_row
from gate.cycles.ledger import (
    chance_words,
    expected_cycles,
    fewest_cycles,
    fresh_level,
    ledger_level,
    most_looks,
    promotion_chance,
    retry_risk,
    sign_flip_floor,
    sign_flip_p,
)
from gate.cycles.policy_claims import policy_claims
from gate.cycles.promoted import was_promoted
from gate.cycles.record import FIRST_SCHEMA, BadRecordError, body, canonical, record_of, seal
from gate.cycles.streak import Streak, least_favourable, streak_of, why_first


def record(kind: str = "outcome", **fields: Any) -> Record:
    """A record about the attempt of ``history_world``; nested fields are given by their last name."""
    base: dict[str, Any] = {"digest": fields.pop("baseline", "baseline"), "id": fields.pop("baseline_id", "")}
    candidate = {
        "digest": fields.pop("candidate", f"candidate-{fields.get('cycle', 'c0')}"),
        "id": fields.pop("candidate_id", ""),
        "lineage": fields.pop("lineage", "decision"),
    }
    window = fields.pop("items", items())
    holdout = window.as_holdout(fields.pop("window", "reused"), with_marks=True)
    usual = {"metric": "correct:higher", "policy": "support-bot", "decision_digest": "decision", "id": "look"}
    if kind == "outcome":
        usual |= {"status": "pass", "verdict": "hold"}
    return Record(
        kind=kind, baseline=base, candidate=candidate, holdout=holdout, **(usual | fields)
    )  # fmt: skip


def history(*records: Record) -> History:
    """A chain of these records after an init record."""
    chain = [seal(Record(kind="init", id="h"), ())[0]]
    for one in records:
        chain.append(seal(one, (chain[-1].digest,))[0])
    return History(tuple(chain), (chain[-1].digest,))


def codes(cautions: Any) -> list[str]:
    return [caution.code for caution in cautions]


# The arithmetic of levels.


@pytest.mark.parametrize(("required", "looks"), [(1, 1), (1, 4), (2, 5), (3, 9), (3, 10)])
def test_levels_of_looks_by_blocks(required: int, looks: int) -> None:
    """N planned blocks share 1 - 1 / (N + 1) equally; block N + j gets 1 / ((N + 1) j (j + 1))."""
    planned = math.ceil(looks / required)
    for look in range(1, 6 * looks):
        block = math.ceil(look / required)
        beyond = block - planned
        share = 1 / (planned + 1) if beyond <= 0 else 1 / ((planned + 1) * beyond * (beyond + 1))
        assert ledger_level(0.025, look, required, looks) == pytest.approx(0.025 * share, rel=1e-12)


def test_how_long_fresh_windows_protect() -> None:
    assert most_looks(0.025, 2) == pytest.approx(40)
    assert (fresh_level(0.025, 2, None), fresh_level(0.025, 2, 40)) == (0.025, 0.025)
    assert fresh_level(0.025, 2, 41) == pytest.approx(math.sqrt(0.025 / 41))
    assert (most_looks(0.025, 400), fresh_level(0.025, 400, 10**9)) == (math.inf, 0.025)


def test_a_run_of_passes_by_enumeration() -> None:
    for required, looks in itertools.product((1, 2, 3), (1, 2, 3, 6)):
        chance = 0.0
        for pattern in itertools.product((0, 1), repeat=looks):
            if "1" * required in "".join(map(str, pattern)):
                chance += 0.3 ** sum(pattern) * 0.7 ** (looks - sum(pattern))
        assert promotion_chance(0.3, required, looks) == pytest.approx(chance, abs=1e-12)
    assert expected_cycles(0.5, 1) == 2.0
    assert expected_cycles(0.5, 2) == 6.0


def test_chances_in_words() -> None:
    assert [chance_words(p) for p in (0.0, 9.9e-13, 1e-12, 0.0123)] == ["below 1e-12"] * 2 + [
        "1e-12",
        "0.012",
    ]


def test_the_risk_of_retrying() -> None:
    one = retry_risk(1, 0.025)
    assert list(one) == ["0", "0.5", "0.9"]
    assert set(one.values()) == {0.025}
    two = retry_risk(2, 0.025)
    assert two["0"] == pytest.approx(1 - 0.975**2)
    z = stats.norm.isf(0.025)
    for rho in (0.5, 0.9):
        law = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        assert two[f"{rho:g}"] == pytest.approx(1 - law.cdf([z, z]), abs=1e-5)


def test_the_sign_flip_test_of_cycles_enumerates_up_to_twenty() -> None:
    assert sign_flip_p([]) == 1.0
    assert sign_flip_p([0.0]) == 1.0
    assert sign_flip_p([0.1, -0.1]) == 0.75
    assert sign_flip_p([0.3, -0.1, 0.2]) == pytest.approx(2 / 8)
    assert sign_flip_p([-0.3, 0.1, -0.2]) == pytest.approx(7 / 8)
    assert sign_flip_p([0.1] * 20) == 2.0**-20
    assert sign_flip_p([0.0] * 22) == 1.0  # no sum lies below that of the data
    many = sign_flip_p([0.1, -0.05] * 10 + [0.1])
    assert (many * (2**20 + 1)) == pytest.approx(round(many * (2**20 + 1)), abs=1e-6)
    assert (many * 2**20) % 1 != 0


@pytest.mark.parametrize("cycles", range(1, 12))
def test_unanimous_cycles_reach_alpha_from_two_to_the_minus_their_number_on(cycles: int) -> None:
    assert sign_flip_floor(cycles) == 0.5**cycles
    assert fewest_cycles(0.5**cycles) == cycles
    assert fewest_cycles(0.5**cycles * 0.999) == cycles + 1


# What a look is.


def test_one_name_for_one_look() -> None:
    first, second = attempt("a"), attempt("b")
    parts = ["correct:higher", "decision", "items-0-500", "baseline", "candidate-a", "candidate-b"]
    expected = sha256("\n".join(parts).encode()).hexdigest()
    assert look_id([first, second]) == look_id([second, first]) == expected
    same = [replace(first, cycle="x", policy="y", policy_digest="z", ci={"run_id": "1"}, lineage="l")]
    assert look_id(same) == look_id([first])
    for change in (
        {"metric": "m"}, {"decision_digest": "d"}, {"items": items(1)}, {"baseline_digest": "b"},
        {"candidate_digest": "c"},
    ):  # fmt: skip
        assert look_id([replace(first, **change)]) != look_id([first])


def test_lineages_of_challengers() -> None:
    def lineages(*attempts: Any) -> list[str]:
        return [one.lineage for one in with_lineages(attempts)]

    assert lineages(attempt("a")) == ["decision"]
    assert lineages(attempt("a", lineage="own")) == ["own"]
    assert lineages(attempt("a"), attempt("b")) == ["decision/1", "decision/2"]
    named = [attempt(name, candidate_id=name) for name in "xyx"]
    assert lineages(*named) == ["decision/x", "decision/y", "decision/x/3"]
    assert lineages(attempt("a", lineage="own"), attempt("b")) == ["own", "decision/2"]


def test_what_needs_a_history() -> None:
    assert not Rules().needs_history
    for rules in (Rules(required=2), Rules(looks=1), Rules(windows="fresh"), Rules(history_required=True)):
        assert rules.needs_history


@pytest.mark.parametrize(
    ("ci", "number"),
    [
        ({"run_id": "7", "run_attempt": "2"}, 2),
        ({"run_id": "7", "run_attempt": "99999"}, 99999),
        ({"run_id": "7", "run_attempt": "100000"}, 0),
        ({"run_id": "", "run_attempt": "2"}, 0),
        ({"run_attempt": "2"}, 0),
        ({"run_id": "7"}, 0),
    ],
)
def test_the_attempt_of_a_run(ci: dict[str, str], number: int) -> None:
    assert attempt_number(ci) == number


@pytest.mark.parametrize(
    ("recorded", "now", "missed"),
    [
        ([], 1, 0),
        ([], 2, 1),
        ([1], 2, 0),
        ([1], 3, 1),
        ([1, 2], 5, 2),
        ([2], 2, 0),
        ([4], 3, 2),  # a later attempt accounts for nothing before this one
        ([3], 3, 0),
    ],
)
def test_attempts_that_left_no_record(recorded: list[int], now: int, missed: int) -> None:
    def ci(number: int) -> dict[str, str]:
        return {"run_id": "7", "run_attempt": str(number)}

    known = [record(ci=ci(number)) for number in recorded]
    assert missed_attempts(known, "correct:higher", ci(now)) == missed
    assert missed_attempts(known, "f1:higher", ci(now)) == now - 1
    assert missed_attempts(known, "correct:higher", {"run_id": "8", "run_attempt": str(now)}) == now - 1


def test_which_looks_are_spent() -> None:
    records = [
        record("intent", id="done"),
        record(id="done", result={"printed": True}),
        record("intent", id="open", missed=2),
        record("intent", id="open", missed=1),
        record("intent", id="void", candidate="a"),
        record("void", id="void", candidate="a"),
        record("intent", id="twice", candidate="a"),
        record("intent", id="twice", candidate="b"),
        record("void", id="twice", candidate="a"),
        record("void", id="never"),
        record("worn", id="shown"),
        record("intent", id="other", metric="f1:higher"),
    ]
    found = counted_looks(records, "correct:higher")
    assert set(found.first) == {"done", "open", "twice"}
    assert found.first["done"] is records[0]
    assert (found.unfinished, found.printed) == ({"open", "twice"}, {"done", "shown"})
    assert found.missed == {"open": 2}


def test_the_number_of_a_look_counts_missed_attempts_of_looks_at_the_same_items() -> None:
    rules = Rules(looks=9)
    past = history(
        record(id="a", missed=2),
        record(id="b"),
        record(id="far", items=items(5000), missed=4),
        record("intent", id="open", missed=1),
    )
    look = plan_look(past, attempt("new"), rules)
    assert (look.number, look.window) == (1 + 3 + 3, "reused")
    assert look.level == ledger_level(0.025, 7, 1, 9)
    assert "looks_unfinished" in codes(look.cautions)
    now = plan_look(past, attempt("new", ci={"run_id": "5", "run_attempt": "3"}), rules)
    assert (now.number, now.missed) == (9, 2)
    fresh = plan_look(past, attempt("new", items=items(9000)), Rules(windows="fresh", looks=9))
    assert (fresh.number, fresh.window) == (1 + 4 + 7, "fresh")


def test_a_look_that_was_begun_keeps_its_number_and_level() -> None:
    now = attempt("new")
    begun = record("intent", id=look_id([now]), look_no=4, level=0.004)
    look = plan_look(history(record(id="a"), begun), now, Rules(looks=9))
    assert (look.number, look.level) == (4, 0.004)


@pytest.mark.parametrize(
    ("printed", "worn", "out"), [(2, False, False), (3, True, False), (6, True, False), (7, True, True)]
)
def test_items_wear_from_the_planned_looks_on_and_out_from_three_times_as_many(
    printed: int, worn: bool, out: bool
) -> None:
    past = history(*(record(id=f"l{n}", result={"printed": True}) for n in range(printed)))
    look = plan_look(past, attempt("new"), Rules(looks=2))
    assert (look.wear, "worn" in codes(look.cautions), "worn_out" in codes(look.faults)) == (
        printed,
        worn,
        out,
    )
    assert not plan_look(past, attempt("new"), Rules(looks=2, allow_worn=True)).faults
    assert "worn" not in codes(plan_look(past, attempt("new"), Rules()).cautions)


@pytest.mark.parametrize(("before", "told"), [(1, False), (2, True)])
def test_more_looks_than_declared(before: int, told: bool) -> None:
    past = history(*(record(id=f"l{n}", items=items(n * 500), window="fresh") for n in range(before)))
    rules = Rules(required=1, windows="fresh", looks=2)
    look = plan_look(past, attempt("new", items=items(9000)), rules)
    assert ("looks_exceeded" in codes(look.cautions)) is told
    assert "retry_risk" not in codes(look.cautions)


@pytest.mark.parametrize(
    ("before", "required", "told"), [(1, 3, False), (2, 3, True), (1, 2, True), (0, 1, False)]
)
def test_a_chance_of_promotion_by_luck_is_told_from_where_one_is_possible(
    before: int, required: int, told: bool
) -> None:
    past = history(*(record(id=f"l{n}", items=items(n * 500), window="fresh") for n in range(before)))
    rules = Rules(required=required, windows="fresh")
    look = plan_look(past, attempt("new", items=items(9000)), rules)
    found = [c.message for c in look.cautions if c.code == "retry_risk"]
    assert bool(found) is told
    if told:
        chance = promotion_chance(0.025, required, before + 1)
        assert f"look {before + 1}: a promotion by luck by now has chance {chance:.2g}" in found[0]
    assert look.retry_risk == {"0": pytest.approx(promotion_chance(0.025, required, before + 1))}


def test_retries_on_reused_items_are_told_with_both_ends() -> None:
    look = plan_look(history(record(id="a")), attempt("new"), Rules())
    risk = retry_risk(2, 0.025)
    assert (
        f"chance {risk['0.9']:.2g} to {risk['0']:.2g}, where each test holds its level;"
        in look.cautions[0].message
    )
    assert look.retry_risk == risk
    early = plan_look(history(record(id="a")), attempt("new"), Rules(required=3))
    assert "retry_risk" in codes(early.cautions)  # a pass may come by luck before a promotion can


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (Rules(required=2), True),
        (Rules(required=1), False),
        (Rules(required=2, looks=5), False),
        (Rules(required=2, windows="fresh"), False),
    ],
)
def test_when_passes_on_reused_items_are_doubted(rules: Rules, told: bool) -> None:
    look = plan_look(history(), attempt("new"), rules)
    assert ("reused_without_looks" in codes(look.cautions)) is told


@pytest.mark.parametrize(("count", "told"), [(499, True), (500, False), (501, False)])
def test_a_set_may_be_as_large_as_at_the_last_promotion(count: int, told: bool) -> None:
    past = history(
        record(id="a", items=items(0, 900), verdict="promote"),
        record(id="b", verdict="promote"),
        record(id="c", items=items(0, 800)),
    )
    look = plan_look(past, attempt("new", items=items(0, count)), Rules())
    assert ("items_shrank" in codes(look.faults)) is told
    assert not plan_look(past, attempt("new", items=items(0, count)), Rules(may_shrink=True)).faults


def test_a_replay_is_the_recorded_look() -> None:
    done = record(candidate="candidate-c1", look_no=3, level=0.004, status="fail", verdict="block")
    past = history(done)
    look = plan_look(past, attempt("c1"), Rules(looks=9))
    assert (look.replay is not None, look.number, look.level, look.id) == (True, 3, 0.004, "look")
    assert (look.missed, look.wear, look.rescore, look.cautions, look.recorded) == (0, 0, False, (), True)
    for change in (
        {"metric": "m"}, {"decision_digest": "d"}, {"items": items(1)}, {"baseline_digest": "b"},
        {"candidate_digest": "c"},
    ):  # fmt: skip
        assert plan_look(past, replace(attempt("c1"), **change), Rules(looks=9)).replay is None
    assert plan_look(history(done._replace(kind="intent")), attempt("c1"), Rules()).replay is None


@pytest.mark.parametrize(
    ("past", "now", "told"),
    [
        ({"cycle": "old"}, {}, False),
        ({"cycle": "now"}, {}, True),
        ({"cycle": "now", "lineage": "another"}, {}, False),
        ({"cycle": "now", "kind": "intent"}, {}, False),
        ({"cycle": "old", "candidate_id": "v7"}, {"candidate_id": "v7"}, True),
        ({"cycle": "old", "candidate_id": "v7"}, {"candidate_id": "v8"}, False),
        ({"cycle": "old", "candidate": "candidate-now", "baseline": "scored again"}, {}, True),
        ({"cycle": "old", "candidate_id": "v7"}, {"candidate_id": "v7", "items": items(5000)}, False),
        ({"cycle": "now", "candidate_id": "v7"}, {"candidate_id": "v7", "items": items(5000)}, True),
    ],
)
def test_what_is_scored_again(past: dict[str, Any], now: dict[str, Any], told: bool) -> None:
    look = plan_look(history(record(**({"candidate": "k"} | past))), attempt("now", **now), Rules())
    assert look.rescore is told
    assert ("rescored" in codes(look.cautions)) is told


# What a streak is.


def streak(*outcomes: Record) -> int:
    found = Streak()
    for outcome in outcomes:
        found.add(outcome)
    return len(found.passes)


def test_what_adds_to_a_streak() -> None:
    a, b = record(cycle="a"), record(cycle="b")
    assert streak(a, b) == 2
    assert streak(a, a) == 1
    assert streak(a, b._replace(status="fail")) == streak(a, b._replace(status="inconclusive")) == 0
    assert streak(a._replace(status="fail"), record(cycle="a")) == 0  # its cycle was scored before
    v7 = [record(cycle=c, candidate_id="v7") for c in "ab"]
    assert streak(*v7) == 1
    assert streak(*(record(cycle=c, candidate_id="v7", window="fresh") for c in "ab")) == 2
    assert streak(a, record(cycle="b", baseline="scored again")) == 2
    again = record(cycle="b", candidate="candidate-a", baseline="scored again")
    assert streak(a, again) == 1  # the candidate was not scored again, only the baseline
    assert streak(a, again._replace(holdout={**again.holdout, "kind": "fresh"})) == 2
    x, y, z = (record(cycle=c, baseline_id=name) for c, name in zip("abc", ("v1", "v2", "v2"), strict=True))
    assert streak(x, y) == 1  # another baseline system is another comparison
    assert streak(x, y, z) == streak(x, a._replace(cycle="d"), z, y._replace(cycle="e")) == 2
    held = record(cycle="b", state={"held": "the baseline fell"})
    assert streak(a, held) == 1
    assert streak(a, held, b) == 2


@pytest.mark.parametrize(
    ("names", "count"),
    [("xx", 2), ("xy", 1), ("x-", 2), ("-x", 2), ("--", 2), ("x-x", 3), ("x-y", 1), ("xyy", 2), ("xyx", 1)],
)
def test_a_baseline_that_names_itself_nowhere_goes_on(names: str, count: int) -> None:
    baselines = [name.strip("-") for name in names]
    assert streak(*(record(cycle=f"c{n}", baseline_id=name) for n, name in enumerate(baselines))) == count


def test_records_of_the_first_schema_keep_their_rule() -> None:
    """Then other results of the baseline on the same items were another comparison."""
    a, b = (record(cycle=c, schema=FIRST_SCHEMA) for c in "ab")
    assert streak(a, b) == 2
    other = record(cycle="b", baseline="other", schema=FIRST_SCHEMA)
    assert streak(a, other) == 1
    assert streak(a, other, record(cycle="c", baseline="other", schema=FIRST_SCHEMA)) == 2
    assert streak(a, other, record(cycle="c", baseline="a third")) == 2
    elsewhere = record(cycle="b", baseline="other", items=items(5000), schema=FIRST_SCHEMA)
    assert streak(a, elsewhere) == 2


def passed(*past: Record, rules: Rules | None = None, status: str = "pass", **now: Any) -> int:
    rules = rules or Rules(required=9)
    earlier = history(*past)
    look = plan_look(earlier, attempt("now", **now), rules)
    return assess(earlier, look, Outcome(status, 0.02)).passed


def own(number: int, **fields: Any) -> Record:
    return record(**({"id": f"l{number}", "cycle": f"n{number}", "candidate": f"k{number}"} | fields))


def test_what_ends_a_streak() -> None:
    assert passed(own(1), own(2)) == 3
    assert passed(own(1), own(2, status="fail")) == 1
    assert passed(own(1), own(2, verdict="promote")) == 1
    assert passed(own(1), own(2, decision_digest="edited", lineage="edited")) == 1
    assert passed(own(1), own(2, lineage="another", status="fail")) == 2  # another challenger's loss
    assert passed(own(1), own(2, metric="f1:higher", status="fail")) == 2
    assert passed(own(1), own(2, decision_digest="x", policy="y", lineage="x")) == 2
    assert passed(own(1), own(2, kind="intent")) == 1
    assert passed(own(1, kind="intent", cycle="now")) == 1  # a cycle that never ended was not scored
    assert passed(own(1), own(2, kind="intent"), own(2, kind="void")) == 2
    assert passed(own(1), own(2, kind="void")) == 2
    assert passed(own(1), own(2), status="fail") == 0
    assert passed(own(1), own(2), status="inconclusive") == 0
    assert passed(own(1), own(2), identical=True) == 2
    assert passed(own(1, cycle="now"), own(2)) == 2  # a re-score of the first cycle
    assert passed(own(1, cycle="now", status="fail")) == 0


def test_the_last_word_counts_in_its_first_place() -> None:
    blocked = own(2, status="fail", verdict="block")
    assert passed(own(1), blocked, own(3), blocked._replace(status="pass", verdict="hold")) == 4
    assert passed(own(1), own(2), own(3), blocked) == 2


def test_the_least_favourable_of_several_words() -> None:
    words = [
        own(1, status="fail", verdict="block"),
        own(1, status="inconclusive", verdict="inconclusive"),
        own(1, status="pass", verdict="hold", result={"delta": 0.01}),
        own(1, status="pass", verdict="hold", result={"delta": 0.02}),
        own(1, status="pass", verdict="promote", result={"delta": 0.0}),
    ]
    for first, second in itertools.combinations(words, 2):
        assert least_favourable([first, second]) is least_favourable([second, first]) is first
    nothing = own(1, status="pass", verdict="hold", result={})
    assert least_favourable([words[2], nothing]) is nothing


# What is claimed.


@pytest.mark.parametrize(
    ("status", "verdict", "before"),
    [
        ("pass", "hold", 0), ("pass", "promote", 1), ("pass", "promote", 2), ("fail", "block", 1),
        ("inconclusive", "inconclusive", 1),
    ],
)  # fmt: skip
def test_verdicts_of_two_cycles(status: str, verdict: str, before: int) -> None:
    earlier = history(*(own(number) for number in range(before)))
    look = plan_look(earlier, attempt("now"), Rules(required=2, looks=9))
    state = assess(earlier, look, Outcome(status, 0.02))
    assert (state.verdict, state.status) == (verdict, status)
    unrecorded = assess(earlier, replace(look, recorded=False), Outcome(status, 0.02))
    assert unrecorded.verdict == ("hold" if verdict == "promote" else verdict)


def test_an_unrecorded_look_may_promote_where_no_history_is_needed() -> None:
    look = replace(plan_look(history(), attempt("now"), Rules()), recorded=False)
    assert assess(history(), look, Outcome("pass", 0.02)).verdict == "promote"


@pytest.mark.parametrize("status", ["pass", "fail", "inconclusive"])
def test_identical_sides_and_faults_make_a_pass_inconclusive(status: str) -> None:
    for look in (
        plan_look(history(), attempt("now", identical=True), Rules()),
        plan_look(history(record(verdict="promote")), attempt("now", items=items(0, 9)), Rules()),
    ):
        wanted = "inconclusive" if status == "pass" else status
        assert assess(history(), look, Outcome(status, 0.0)).status == wanted


def results(*deltas: float | None, margin: float | None = 0.0) -> list[Record]:
    return [own(n, result={"delta": d, "margin": margin}) for n, d in enumerate(deltas)]


@pytest.mark.parametrize(
    ("deltas", "alpha", "verdict", "p"),
    [
        ((0.1, 0.2, 0.3, 0.1), 0.0625, "promote", 0.03125),
        ((0.1, 0.2, 0.3, 0.1), 0.03125, "promote", 0.03125),
        ((0.1, 0.2, 0.3, 0.1), 0.031, "hold", 0.03125),
        ((0.1, 0.2, 0.3, -0.5), 0.05, "hold", 13 / 32),
        ((0.1, 0.2, 0.3, None), 0.05, "hold", 0.0625),
    ],
)
def test_the_cycle_test_decides_at_alpha(deltas: Any, alpha: float, verdict: str, p: float) -> None:
    earlier = history(*results(*deltas))
    rules = Rules(required=5, test="sign_flip", alpha=alpha, looks=99)
    state = assess(earlier, plan_look(earlier, attempt("now"), rules), Outcome("pass", 0.2))
    exact = [0.0 if d is None else d for d in (*deltas, 0.2)]
    sums = [
        sum(x * s for x, s in zip(exact, signs, strict=True))
        for signs in itertools.product((1, -1), repeat=5)
    ]
    assert state.sign_flip_p == pytest.approx(sum(s >= sums[0] - 1e-12 for s in sums) / 32)
    assert (state.verdict, state.claim) == (verdict, "over_cycles" if verdict == "promote" else "each_cycle")
    assert state.sign_flip_p == pytest.approx(p)


def test_deltas_are_counted_above_their_margins() -> None:
    earlier = history(
        *results(0.1, 0.2, margin=0.15), own(8, result={"margin": 0.5}), own(9, result={"delta": 0.5})
    )
    state = assess(earlier, plan_look(earlier, attempt("now"), Rules(required=9)), Outcome("pass", 0.3, 0.1))
    assert state.sign_flip_p == pytest.approx(sign_flip_p([-0.05, 0.05, 0.0, 0.0, 0.2]))
    assert (state.claim, state.scope) == ("each_cycle", "these items")
    alone = assess(history(), plan_look(history(), attempt("now"), Rules()), Outcome("fail", 0.3))
    assert (alone.claim, alone.sign_flip_p, alone.passed) == ("this_cycle", None, 0)


@pytest.mark.parametrize(
    ("verdicts", "deltas", "wanted"),
    [
        ("pp", (0.1, 0.2), "hp"),
        ("pp", (0.2, 0.1), "ph"),
        ("pp", (0.2, 0.2), "ph"),  # the first of equals
        ("ppp", (0.1, 0.3, 0.3), "hph"),
        ("bp", (0.3, 0.1), "bp"),  # only who passed is compared
        ("bpp", (0.3, 0.1, 0.2), "bhp"),
        ("p", (0.1,), "p"),
        ("rp", (0.3, 0.1), "rp"),  # a replay stays what it was
        ("rpp", (0.3, 0.1, 0.2), "rhp"),
        ("pp", (None, -0.1), "ph"),
        ("pp", (-0.1, None), "hp"),
    ],
)
def test_one_challenger_wins(verdicts: str, deltas: tuple[float | None, ...], wanted: str) -> None:
    words = {"p": "promote", "r": "promote", "b": "block", "h": "hold"}
    base = assess(history(), plan_look(history(), attempt(), Rules()), Outcome("pass", 0.1))
    states = [
        replace(base, verdict=words[v], replayed=v == "r", cycle=f"c{n}") for n, v in enumerate(verdicts)
    ]
    found = one_winner(states, [Outcome("pass", delta) for delta in deltas])
    assert [state.verdict for state in found] == [words[letter] for letter in wanted]
    assert ["not_winner" in codes(state.cautions) for state in found] == [x == "h" for x in wanted]
    if "h" in wanted:
        beaten = found[wanted.index("h")].cautions[-1].message
        assert f"cycle c{max(n for n, x in enumerate(wanted) if x == 'p')}" in beaten


def test_the_scope_is_fresh_windows_only_where_all_were() -> None:
    rules = Rules(required=3, windows="fresh")

    def scope(*kinds: str, rules: Rules = rules) -> str:
        past = history(*(own(n, window=k, items=items(500 * n)) for n, k in enumerate(kinds)))
        return assess(
            past, plan_look(past, attempt("now", items=items(9000)), rules), Outcome("pass", 0.1)
        ).scope

    assert scope("fresh", "fresh") == "fresh windows"
    assert scope("fresh", "overlap") == "these items"
    assert scope("fresh", rules=Rules(required=3)) == "these items"


@pytest.mark.parametrize(
    ("feedback", "windows", "status", "revealed", "shown"),
    [
        ("full", "reused", "fail", False, True),
        ("verdict", "reused", "fail", False, False),
        ("verdict", "reused", "fail", True, True),
        ("verdict", "reused", "pass", False, True),
        ("verdict", "fresh", "fail", False, True),
    ],
)
def test_which_numbers_are_shown(
    feedback: str, windows: str, status: str, revealed: bool, shown: bool
) -> None:
    rules = Rules(feedback=feedback, windows=windows, looks=4)
    state = assess(history(), plan_look(history(), attempt(), rules), Outcome(status, 0.1, revealed=revealed))
    assert state.numbers_shown is shown


def test_what_a_replay_says() -> None:
    facts = {"sign_flip_p": 0.125, "printed": False, "scope": "fresh windows"}
    done = record(
        candidate="candidate-c1", look_no=3, level=0.004, verdict="block", status="fail", streak=2,
        claim="each_cycle", result=facts, alarms=("worn",), cycle="old", window="fresh",
    )  # fmt: skip
    past = history(done)
    look = plan_look(past, attempt("c1"), Rules(looks=9))
    state = assess(past, look, Outcome("pass", 0.5))
    assert (state.verdict, state.status, state.passed, state.cycle, state.look) == (
        "block",
        "fail",
        2,
        "old",
        3,
    )
    assert (state.level, state.window, state.claim, state.scope) == (
        0.004,
        "fresh",
        "each_cycle",
        "fresh windows",
    )
    assert (state.sign_flip_p, state.replayed, state.numbers_shown) == (0.125, True, False)
    assert codes(state.cautions) == ["worn"]
    assert assess(past, look, Outcome("pass", 0.5, revealed=True)).numbers_shown
    plain = history(done._replace(level=None, result={}))
    other = assess(plain, plan_look(plain, attempt("c1"), Rules(looks=9)), Outcome("pass", 0.5))
    assert (other.level, other.scope, other.numbers_shown, other.sign_flip_p) == (
        0.025,
        "these items",
        True,
        None,
    )
    waived = assess(past, look, Outcome("pass", 0.5, waived=("latency",)))
    assert not waived.replayed


def test_an_outcome_as_a_record() -> None:
    look = plan_looks(
        history(), [attempt(ci={"run_id": "1"}, candidate_id="v7", baseline_id="v6")], Rules(looks=4)
    )[0]
    found = provisional(look, "pass", Outcome("pass", 0.25, 0.1, {"n": 7}, waived=("a", "b")))
    assert dict(found.result) == {"n": 7, "delta": 0.25, "margin": 0.1, "waived": "a, b"}
    assert (found.kind, found.id, found.look_no, found.level) == ("outcome", look.id, 1, 0.005)
    assert (found.baseline["id"], found.candidate["id"], found.candidate["lineage"]) == (
        "v6",
        "v7",
        "decision",
    )
    assert (found.ci["run_id"], found.holdout["kind"], found.holdout["marks"]) == ("1", "fresh", "")


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        (Rules(windows="fresh", required=2), {"n_max": 40, "level": 0.025, "cautions": []}),
        (Rules(windows="fresh", required=2, looks=41), {"n_max": 40, "cautions": []}),
        (Rules(windows="fresh", required=1), {"n_max": 1, "cautions": ["looks_undeclared"]}),
        (Rules(windows="fresh", required=1, looks=10), {"level": 0.0025, "cautions": []}),
        (Rules(windows="fresh", required=1, alpha=0.2), {"n_max": 1, "cautions": ["looks_undeclared"]}),
        (Rules(windows="fresh", required=2, alpha=0.2), {"n_max": 10, "cautions": []}),
        (Rules(windows="fresh", required=2, alpha=0.2001), {"n_max": 9, "cautions": ["looks_undeclared"]}),
        (Rules(windows="fresh", required=7), {"n_max": None, "cautions": []}),  # 40^6 = 4.1e9 looks
        (Rules(windows="fresh", required=6), {"n_max": 102_400_000, "cautions": []}),
        (Rules(looks=4), {"n_max": None, "level": 0.005, "cautions": []}),
        (Rules(), {"n_max": None, "level": 0.025, "cautions": ["looks_undeclared"]}),
    ],
)
def test_what_a_policy_claims(rules: Rules, wanted: dict[str, Any]) -> None:
    claims = policy_claims(rules)
    assert codes(claims["cautions"]) == wanted.pop("cautions")
    assert {key: claims[key] for key in wanted} == pytest.approx(wanted)
    assert claims["false_promotion_looks"] == (rules.looks or 10)
    for power in (0.5, 0.8, 0.95):
        assert claims["expected_cycles"][f"{power:g}"] == expected_cycles(power, rules.required)


def test_claims_in_words() -> None:
    def told(rules: Rules) -> tuple[str, str]:
        return policy_claims(rules)["sentences"]

    risk, wait = told(Rules(windows="fresh", required=2))
    chance = promotion_chance(0.025, 2, 10)
    assert risk == (
        f"10 looks at fresh windows: a promotion by luck has chance {chance:.2g} at most; "
        "up to 40 looks keep the chance of one by luck below 0.025, where each test holds its level"
    )
    assert wait == "cycles to a promotion on average: 6.0 at 50% power, 2.8 at 80% power, 2.2 at 95% power"
    assert "no promotion is possible before 11" in told(Rules(windows="fresh", required=11))[0]
    assert "no promotion is possible" not in told(Rules(windows="fresh", required=10))[0]
    assert "any number of looks" in told(Rules(windows="fresh", required=7))[0]
    assert "each of the first 4 looks is held to 0.005" in told(Rules(looks=4))[0]
    risks = retry_risk(10, 0.025)
    assert f"with chance {risks['0.9']:.2g} (nearly" in told(Rules())[0]
    assert f"to {risks['0']:.2g} (all scored anew)" in told(Rules())[0]
    assert "more than 1,000,000,000 at 50% power" in told(Rules(required=30))[1]
    assert f"{2**30 - 2}" not in told(Rules(required=30))[1]


# What a history remembers.


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (["void"] * 2, False),
        (["void"] * 3, True),
        (["void", "outcome", "void", "void"], False),
        (["void", "promotion", "void", "void"], False),
        (["outcome", "void", "intent", "void", "waiver", "void"], True),
    ],
)
def test_three_voids_in_a_row_are_told(kinds: list[str], told: bool) -> None:
    found = voids_in_a_row([record(kind) for kind in kinds])
    assert bool(found) is told
    if found:
        assert "the last 3 runs" in found.message


def test_times_of_records() -> None:
    assert moment("2026-03-01T12:00:00") == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert moment("2026-03-01T12:00:00+02:00") == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert moment("soon") is moment("") is None


@pytest.mark.parametrize(
    ("data", "policy_time", "own_time", "other_time", "told"),
    [
        ("2026-03-01", "2026-03-02", "", "", True),
        ("2026-03-02", "2026-03-02", "", "", False),  # at the same moment
        ("2026-03-02", "2026-03-03", "2026-03-01", "", False),  # in use before
        ("2026-03-02", "2026-03-01", "2026-03-03", "", False),  # committed before
        ("2026-03-02", "", "2026-03-03", "", True),
        ("2026-03-02", "", "", "2026-03-03", True),  # another rule was in force until then
        ("2026-03-02", "", "", "2026-03-01", False),
        ("2026-03-02", "", "odd", "2026-03-03", False),  # used before, nobody knows when
        ("", "2026-03-02", "", "", False),
        ("2026-03-02", "", "", "", False),
    ],
)
def test_results_older_than_their_rule(
    data: str, policy_time: str, own_time: str, other_time: str, told: bool
) -> None:
    known = [record(time=own_time)] if own_time else []
    known += [record(time=other_time, decision_digest="other")] if other_time else []
    now = attempt("now", artifacts_time=data, policy_time=policy_time)
    assert bool(policy_is_younger(known, known, now)) is told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, True), ({"status": "fail"}, False), ({"candidate": "another"}, False),
        ({"items": items(1)}, False), ({"metric": "f1:higher"}, False),
    ],
)  # fmt: skip
def test_a_winner_as_its_own_baseline(change: dict[str, Any], told: bool) -> None:
    won = record(**({"candidate": "winner"} | change))
    look = plan_look(history(won), attempt("now", baseline_digest="winner"), Rules())
    assert ("baseline_is_winning_run" in codes(look.cautions)) is told


NOW = datetime(2026, 3, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time", "days", "promoted"),
    [
        ("2026-03-01T12:00:00Z", 7, True),
        ("2026-03-01T11:59:59Z", 7, False),
        ("2026-03-01T12:00:00Z", 6.99, False),
        ("2026-03-01T12:00:00Z", None, True),
        ("", 7, False),
        ("", None, True),
        ((NOW + timedelta(days=9)).isoformat(), 7, False),
    ],
)
def test_how_old_a_promotion_may_be(time: str, days: float | None, promoted: bool) -> None:
    past = history(record(candidate="ab" * 32, verdict="promote", time=time, cycle="n1"))
    found = was_promoted(past, "ab" * 32, days, NOW)
    assert (found.promoted, found.record is not None) == (promoted, True)
    assert "n1" in found.reason
    assert ("not within" in found.reason) is not promoted


def test_which_promotion_is_meant() -> None:
    digest = "ab" * 32
    past = history(
        record(candidate=digest, verdict="promote", id="one", cycle="first"),
        record(candidate=digest, verdict="promote", id="between", cycle="between"),
        record(candidate=digest, verdict="promote", id="two", cycle="second"),
        record(candidate="cd" * 32, verdict="hold", id="three"),
    )
    assert "second" in was_promoted(past, digest).reason
    assert was_promoted(past, digest[:12]).promoted
    assert "at least 12" in was_promoted(past, digest[:11]).reason
    assert "no record promotes" in was_promoted(past, "cd" * 32).reason
    amended = history(
        record(candidate=digest, verdict="promote", id="one"),
        *(record(candidate=digest, verdict="promote", id=name, cycle=name) for name in ("two", "three")),
        *(record(candidate=digest, verdict="block", status="fail", id=n) for n in ("one", "two", "three")),
    )
    assert "cycle 'three' was withdrawn" in was_promoted(amended, digest).reason


# Records, chains, items, charts.


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("level", 0.999999, 1.0),
        ("level", 0.000001, 0.0),
        ("level", None, -0.5),
        ("look_no", 0, -1),
        ("missed", 0, -1),
        ("streak", 0, -1),
        ("look_no", 2**128 - 1, 2**128),
        ("missed", 2**128 - 1, 2**128),
        ("streak", 2**128 - 1, 2**128),
        ("result", {"n": 2**128 - 1}, {"n": 2**128}),
        ("result", {"n": 1 - 2**128}, {"n": -(2**128)}),
        ("result", {"x": "text"}, {"x": [1]}),
        ("result", {"x": None}, {"x": {}}),
        ("status", "", "good"),
        ("kind", "worn", "other"),
        ("alarms", ["a"], [1]),
        ("prev", [], [None]),
        ("ci", {"run_id": "1"}, {"run_id": 1}),
        ("look_no", 1, 1.0),
        ("look_no", 1, True),
    ],
)
def test_what_a_record_may_hold(field: str, good: Any, bad: Any) -> None:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in body(record()).items()}
    assert record_of(plain | {field: good})
    with pytest.raises(BadRecordError):
        record_of(plain | {field: bad})


@pytest.mark.parametrize(
    ("key", "bad"), [("kind", "other"), ("n", 1.5), ("n", True), ("digest", 3), ("extra", "")]
)
def test_what_a_window_of_a_record_may_hold(key: str, bad: Any) -> None:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in body(record()).items()}
    assert record_of(plain | {"holdout": {**plain["holdout"], "kind": "fresh"}})
    with pytest.raises(BadRecordError):
        record_of(plain | {"holdout": {**plain["holdout"], key: bad}})


def test_a_record_has_the_keys_of_its_schema_in_their_order() -> None:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in body(record()).items()}
    for odd in (
        dict(reversed(plain.items())),
        plain | {"zz": ""},
        {key: value for key, value in plain.items() if key != "note"},
    ):
        with pytest.raises(BadRecordError, match="keys are not those"):
            record_of(odd)
    with pytest.raises(BadRecordError, match="schema"):
        record_of(plain | {"schema": "other/1"})
    with pytest.raises(BadRecordError, match="list"):
        record_of([1])


def test_a_line_is_canonical() -> None:
    assert canonical({"b": 1, "a": "\u00e9\ud800"}) == '{"a":"\u00e9?","b":1}'.encode()
    sealed, line = seal(record(), ("b", "a"))
    assert (sealed.prev, sealed.digest in line.decode()) == (("a", "b"), True)


def test_records_are_ordered_by_their_links() -> None:
    past = history(own(1), own(2), own(3)).records
    assert ordered(past) == (past, (past[-1].digest,))
    assert ordered(past[::-1]) == (past, (past[-1].digest,))
    assert ordered((*past, past[1])) == (past, (past[-1].digest,))
    left, right = (seal(own(n), (past[1].digest,))[0] for n in (4, 5))
    found, heads = ordered((past[0], past[1], left, right))
    assert (set(heads), found[:2]) == ({left.digest, right.digest}, past[:2])
    assert [r.digest for r in found[2:]] == sorted(heads) == list(heads)
    joined = seal(own(6), heads)[0]
    assert ordered((joined, right, left, past[1], past[0]))[0][-1] == joined
    whole = History((*past[:2], left, right), heads)
    assert (whole.head, whole.count, whole.root) == ("+".join(heads), 4, past[0].digest)
    assert History((), ()).root == ""


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        (lambda r: [r[0], r[2]], "history_missing_parent"),
        (lambda r: [r[1], r[2]], "history_missing_parent"),
        (lambda r: [r[0], seal(Record(kind="init", id="x"), ())[0]], "history_two_roots"),
        (lambda _: [seal(own(1), ())[0]], "history_root"),
        (lambda r: [r[0], seal(Record(kind="init", id="x"), (r[0].digest,))[0]], "history_root"),
    ],
)
def test_records_that_are_no_chain(chosen: Any, code: str) -> None:
    with pytest.raises(ChainError) as caught:
        ordered(chosen(history(own(1), own(2)).records))
    assert caught.value.code == code


def test_a_run_chart_shows_the_last_sixty_outcomes() -> None:
    shown = {"delta": 0.1, "low": 0.05, "high": 0.2, "margin": 0.01, "printed": True}
    past = history(
        *(own(n, cycle=f"n{n}", streak=n, look_no=n, level=0.01, result=shown) for n in range(61)),
        own(99, metric="f1:higher"),
        own(100, kind="void"),
    )
    points = run_chart_points(past, "correct:higher")
    assert ([p["cycle"] for p in points[:1]], len(points)) == (["n1"], 60)
    last = {"cycle": "n60", "look": 60, "level": 0.01, "verdict": "hold", "streak": 60}
    assert points[-1] == last | {"delta": 0.1, "low": 0.05, "high": 0.2, "margin": 0.01}
    assert [p["cycle"] for p in run_chart_points(past, "f1:higher")] == ["n99"]
    hidden = run_chart_points(history(own(1, result=shown | {"printed": False})), "correct:higher")[0]
    assert (hidden["delta"], hidden["low"], hidden["high"], hidden["margin"]) == (None, None, None, 0.01)


def test_the_chart_draws_each_number_in_its_column() -> None:
    """Reach 0.3 over 31 columns: 0 in column 15, a column for each 0.02."""
    past = history(
        own(1, cycle="a", look_no=1, level=0.025, streak=1, result={"low": -0.1, "delta": 0.1, "high": 0.3}),
        own(2, cycle="b", result={"low": -0.1, "delta": 0.1, "high": 0.3, "printed": False}),
        own(3, cycle="c", result={"delta": -0.3}),
        own(4, cycle="d", kind="void"),
        own(5, cycle="e", result={"delta": True}),
    )
    lines = draw(past).splitlines()
    assert (lines[0], "-0.3" in lines[1], "+0.3" in lines[1]) == ("correct:higher", True, True)
    rows = {line.split()[0]: line for line in lines[2:7]}
    track = ["."] * 31
    track[10:31] = ["-"] * 21
    track[15], track[20] = "|", "o"
    assert rows["a"].split() == ["a", "1", "0.025", "+0.1000", "".join(track), "hold", "1"]
    assert rows["b"].split() == ["b", "." * 15 + "|" + "." * 15, "hold", "0"]
    assert rows["c"].split() == ["c", "-0.3000", "o" + "." * 14 + "|" + "." * 15, "hold", "0"]
    assert rows["d"].split() == ["d", "." * 15 + "|" + "." * 15, "void"]
    both = draw(history(own(1, cycle="a"), own(2, cycle="b", metric="f1:higher"))).splitlines()
    assert [line.split()[0] for line in both[:-1] if line] == [
        "correct:higher", "cycle", "a", "f1:higher", "cycle", "b",
    ]  # fmt: skip
    assert rows["e"].split() == ["e", "." * 15 + "|" + "." * 15, "hold", "0"]


def test_the_name_of_a_metric_is_cut_in_a_chart() -> None:
    assert draw(history(own(1, metric="m" * 90))).splitlines()[0] == "m" * 59 + "\\"


def test_ids_that_a_record_can_keep() -> None:
    for length, kept in ((64, True), (65, False)):
        found = item_set(["a" * length, "b"], "d")
        assert (bool(found.first), bool(found.last)) == (kept, kept)
    assert item_set(["b", "a", "b"], "d")[:2] == ("d", 2)
    assert (item_set(["b", "a"], "d").first, item_set(["b", "a"], "d").last) == ("a", "b")
    assert item_set([], "d") == ("d", 0, "", "", "")
    for text in ("\ud800", "a\udfff"):
        assert (item_set([text, "z"], "d").first, item_set([text, "z"], "d").last) == ("", "")
    assert item_set(["\ud7ff", "\ue000"], "d").last == "\ue000"


def test_marks_up_to_twenty_thousand_items(monkeypatch: pytest.MonkeyPatch) -> None:
    assert item_rules.MOST_MARKED == 20_000
    monkeypatch.setattr(item_rules, "MOST_MARKED", 3)
    assert [bool(item_set(list("abcd"[:n]), "d").marks) for n in (3, 4)] == [True, False]
    assert len(item_set(list("abc"), "d").marks) == 3 * 8


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("ab", "cd", False),  # the ranges are apart
        ("cd", "ab", False),
        ("ac", "bd", True),  # they are not, and nothing more is known
        ("ab", "bc", True),
        ("bc", "ab", True),
    ],
)
def test_sets_without_marks_are_told_apart_by_their_ranges(one: str, other: str, shared: bool) -> None:
    first, second = (item_set(list(text), text)._replace(marks="") for text in (one, other))
    assert bool(item_rules.overlapping(first, {other: second})) is shared
    assert item_rules.overlapping(first, {one: first, other: second}) == {one} | (
        {other} if shared else set()
    )
    hidden = second._replace(first="", last="")
    assert item_rules.overlapping(first, {other: hidden}) == {other}


def test_sets_beyond_one_batch_are_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_rules, "AT_ONCE", 2)
    others = {f"{n}": item_set([f"x{n}", "y0", f"z{n}"][:: 2 if n % 3 else 1], f"{n}") for n in range(8)}
    mine = item_set(["a", "y0", "zz"], "mine")
    assert item_rules.overlapping(mine, others) == {"0", "3", "6"}


def test_an_amended_verdict_is_known_by_the_digests_of_the_first() -> None:
    """A record of the first schema goes by all that was read; its later words must be found beside it."""
    old = record(baseline="read b", candidate="read c", schema=FIRST_SCHEMA)
    now = attempt(
        baseline_digest="read b", candidate_digest="read c", baseline_identity="b", candidate_identity="c"
    )
    look = plan_look(history(old), now, Rules())
    assert look.replay is not None
    assert provisional(look, "fail", Outcome("fail")).contender == old.contender == ("look", "read c")
    fresh = plan_look(history(), now, Rules())
    assert provisional(fresh, "pass", Outcome("pass")).contender == (fresh.id, "c")


def test_a_look_is_named_by_the_columns_that_decide() -> None:
    """What is read beside them may change; without such a digest the whole that was read counts."""
    one, two = (attempt(baseline_digest=f"b{n}", candidate_digest=f"c{n}") for n in (1, 2))
    assert look_id([one]) != look_id([two])
    same = [replace(a, baseline_identity="b", candidate_identity="c") for a in (one, two)]
    assert look_id(same[:1]) == look_id(same[1:])
    assert first_look_id(same[:1]) == look_id([one])
    for side in ("baseline", "candidate"):
        half = [replace(a, **{f"{side}_identity": "same"}) for a in (one, two)]
        assert look_id(half[:1]) != look_id(half[1:])
        assert half[0].is_side(side, "same")
        assert half[0].is_side(side, f"{side[0]}1")
        assert not half[0].is_side(side, f"{side[0]}2")


def test_an_attempt_that_says_nothing_of_its_times_is_not_dated() -> None:
    past = history(record(cycle="a", time="2026-01-01T00:00:00+00:00"))
    silent = attempt("b", artifacts_time="2026-02-01", policy_time="2026-01-01")
    fault = policy_not_first(past.records, silent)
    assert fault is not None
    assert "not all result files say when they ran" in fault.message
    assert policy_not_first(past.records, replace(silent, dated=True)) is None
    assert not silent.identical


def test_a_long_streak_is_drawn_a_million_times() -> None:
    """p = (1 + hits) / (1 + draws), over the very draws."""
    signs = np.random.default_rng(0).integers(0, 2, (2**20, 21), dtype=np.int8) * 2 - 1
    deltas = np.array([0.01, -0.012, 0.02] * 7)
    hits = np.count_nonzero(signs @ deltas >= deltas.sum() - 1e-12)
    assert sign_flip_p(list(deltas)) == (hits + 1) / (2**20 + 1)
    assert sign_flip_p(list(deltas[:20])) * 2**20 == round(sign_flip_p(list(deltas[:20])) * 2**20)


@pytest.mark.parametrize(("first", "second"), [(0.05, 0.01), (0.01, 0.05)])
def test_of_one_cycle_on_two_branches_the_least_gain_counts(first: float, second: float) -> None:
    """Other items and another candidate on each branch, but the name of one cycle."""
    root = seal(Record(kind="init", id="h"), ())[0]
    sides = [
        seal(record(cycle="n", id=f"look{n}", candidate=f"c{n}", items=items(n * 500), window="fresh",
                    result={"delta": delta}), (root.digest,))[0]
        for n, delta in enumerate((first, second))
    ]  # fmt: skip
    records, heads = ordered((root, *sides))
    past = History(records, heads)
    found = streak_of(list(past.records[1:]), attempt("next", lineage="decision"), "", order_of(records))
    assert [one.result["delta"] for one in found.passes] == [0.01]


def test_why_a_streak_of_the_first_schema_began_anew() -> None:
    def one(**fields: Any) -> Record:
        return record(schema=FIRST_SCHEMA, **fields)

    before = one(cycle="a")
    assert why_first(None, before) == ""
    assert why_first(before, one(cycle="b")) == ""
    assert why_first(before, one(cycle="b", baseline="new")) == "other results of the baseline in cycle 'b'"
    assert why_first(before, one(cycle="b", baseline="new", items=items(900))) == ""
    assert why_first(one(cycle="a", status="fail"), one(cycle="b")) == "cycle 'a' failed"
    changed = one(cycle="b", decision_digest="other")
    assert why_first(before, changed) == "the policy's deciding part changed after cycle 'a'"


def test_a_chart_without_numbers_reaches_from_minus_one_to_one() -> None:
    head = draw(history(own(1, result={}))).splitlines()[1]
    assert head.split()[4:] == ["-1", "+1", "verdict", "streak"]
    zero = draw(history(own(1, result={"delta": 0.0}))).splitlines()
    assert zero[1].split()[4:6] == ["-1", "+1"]
    assert zero[2].split()[2] == "." * 15 + "o" + "." * 15


def test_cycles_set_the_width_of_their_column_up_to_24() -> None:
    for length, width in ((1, 1), (24, 24), (40, 24)):
        head, row = draw(history(own(1, cycle="n" * length))).splitlines()[1:3]
        assert head.index("  look") == max(width, 5)
        assert row.startswith("n" * min(length, 23))


def test_a_replayed_look_tells_again_why_its_streak_began_anew() -> None:
    again = attempt("a", candidate_digest="candidate-a")
    for state in ({}, {"restarted": "cycle 'z' failed", "held": "the baseline fell"}):
        past = history(record(cycle="a", state=state))
        found = assess(past, plan_look(past, again, Rules(required=2)), Outcome("pass"))
        assert found.replayed
        assert (found.restarted, found.held) == (state.get("restarted", ""), state.get("held", ""))

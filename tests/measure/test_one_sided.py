"""Limits, churn and must-pass items: what is counted, on which items, and what is said beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paired_tables import LEVEL, SETTING, blocks, gating_rule, guardrail_rule, metric, repeated, table
from scipy import stats

from gate.artifacts.table import Unread
from gate.measure import one_sided, rules
from gate.measure.unread import unread_runs
from gate.pairing import PairedTable
from tests.records import Flat

NAN = math.nan
RNG = np.random.default_rng(5)
SCORES = RNG.normal(3, 1, 60).round(2)


def railed(made: PairedTable, mode: str, **rule: Any) -> Flat:
    return Flat(rules.guardrail(guardrail_rule(mode, **rule), "guardrail:m", made, SETTING))


def must_pass(*given: Any) -> Flat:
    return Flat(one_sided.must_pass(*given))


def codes(found: Flat) -> set[str]:
    return {caution.code for caution in found.cautions}


# --- limits -----------------------------------------------------------------------------------------------


def test_a_limit_looks_at_the_candidate_only() -> None:
    made = table([NAN] * 40, [1.0] * 8 + [0.0] * 30 + [NAN] * 2)
    found = railed(made, "limit", min=0.1, max=0.3, direction="lower")
    assert (found.n, found.candidate, found.baseline) == (38, 8 / 38, None)
    assert (found.bound, found.upper_bound) == (0.1, 0.3)
    assert (found.proven, found.interval, found.method) == (False, None, "observed")
    assert (found.role, found.mode, found.level, found.insufficient) == ("guardrail", "limit", LEVEL, "")


@pytest.mark.parametrize("proven", [True, False])
def test_a_limit_on_nothing_has_no_value(proven: bool) -> None:
    found = railed(table([1.0] * 3, [NAN] * 3), "limit", max=0.3, proven=proven)
    assert (found.n, found.candidate, found.interval) == (0, None, None)


@pytest.mark.parametrize("passing", [0, 8, 38])
def test_a_proven_limit_of_pass_fail_is_clopper_pearson(passing: int) -> None:
    made = table([0.0] * 40, [1.0] * passing + [0.0] * (38 - passing) + [NAN] * 2)
    found = railed(made, "limit", max=0.3, proven=True)
    ends = stats.binomtest(passing, 38).proportion_ci(1 - 2 * LEVEL, method="exact")
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((ends.low, ends.high))
    assert found.interval.confidence == pytest.approx(1 - 2 * LEVEL)
    assert (found.proven, found.method) == (True, found.interval.method)


def test_a_proven_limit_of_scores_is_students_within_the_scale() -> None:
    ends = stats.t.interval(1 - 2 * LEVEL, 59, SCORES.mean(), stats.sem(SCORES))
    made = table([0.0] * 61, [*SCORES, NAN])
    for scale, low in ((None, ends[0]), ([2.95, 9.0], 2.95)):
        found = railed(made, "limit", kind="graded", min=1.0, proven=True, scale=scale)
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == pytest.approx((low, ends[1]))
    equal = railed(table([0.0] * 9, [2.0] * 9), "limit", kind="graded", min=1.0, proven=True)
    assert "values are equal" in equal.insufficient
    shares = repeated([[0, 0]] * 40, [[0, 1]] * 10 + [[1, 1]] * 30)
    found = railed(shares, "limit", min=0.5, proven=True)
    half = stats.sem([0.5] * 10 + [1.0] * 30) * stats.t.ppf(1 - LEVEL, 39)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.875 - half), "a mean of runs is no proportion"


def test_a_proven_limit_of_clusters_counts_the_clusters() -> None:
    """On equal clusters CR2 is Student's t on their means."""
    labels = [k % 10 for k in range(60)] + [0]
    made = table([0.0] * 61, [*SCORES, NAN], clusters=labels)
    found = railed(made, "limit", kind="graded", min=1.0, proven=True)
    means = np.array([SCORES[k::10].mean() for k in range(10)])
    ends = stats.t.interval(1 - 2 * LEVEL, 9, means.mean(), stats.sem(means))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)
    assert found.insufficient == ""


def test_clusters_with_one_mean_have_no_interval() -> None:
    made = table([0.0] * 40, [0.0, 1.0] * 20, clusters=[k // 2 for k in range(40)])
    found = railed(made, "limit", max=0.6, proven=True)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (-math.inf, math.inf)
    assert found.interval.confidence == pytest.approx(1 - 2 * LEVEL)
    assert "spread between clusters is unknown" in found.insufficient


@pytest.mark.parametrize(("n", "few"), [(29, True), (30, False)])
@pytest.mark.parametrize("mode", ["limit", "churn"])
def test_few_items_are_a_caution(mode: str, n: int, few: bool) -> None:
    made = table([1.0] * n, [1.0] * n)
    found = railed(made, mode, max=0.5)
    assert codes(found) == ({"few_items"} if few else set())
    if few:
        assert "29 items, fewer than items.min 30" in found.cautions[0].message
    assert "identical_artifacts" in codes(railed(replace(made, identical=True), mode, max=0.5))


# --- churn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
def test_churn_is_the_share_of_items_that_got_worse(direction: str, sign: int) -> None:
    old, new = blocks((12, 0, 1), (7, 1, 0), (20, 1, 1), (1, NAN, 0), (1, 1, NAN))
    found = railed(table(old, new), "churn", max=0.2, direction=direction)
    lost, won = (7, 12) if sign > 0 else (12, 7)
    assert (found.n, found.only_baseline, found.only_candidate) == (39, lost, won)
    assert found.share == pytest.approx(lost / 39)
    assert found.delta == pytest.approx(sign * 5 / 39)
    assert (found.upper_bound, found.level, found.mode) == (0.2, LEVEL, "churn")


def test_churn_counts_small_losses_as_losses() -> None:
    found = railed(table([1.0, 1.0, 1.0], [0.9, 1.5, 1.0]), "churn", kind="graded", max=0.2)
    assert (found.only_baseline, found.only_candidate) == (1, 1)
    empty = railed(table([NAN], [1.0]), "churn", max=0.2)
    assert (empty.n, empty.share, empty.delta) == (0, None, None)


# --- must-pass items --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "lost", "won", "unknown"),
    [
        ([1, 0, 1, 0], [1, 1, 1, 0], 0, 1, 0),
        ([1, 0, 1, 1], [1, 1, 0, 0], 2, 1, 0),
        ([1, NAN, 1, 0], [1, 1, 1, 0], 0, 0, 1),
        ([1, NAN, 1, 1], [NAN, 1, 1, 0], 1, 0, 0),
        ([1.0, 0.5, 1, 1], [0.9, 0.6, 1, 1], 1, 1, 0),
    ],
)
def test_must_pass_items(old: list[float], new: list[float], lost: int, won: int, unknown: int) -> None:
    """The fifth item, which is lost, is none of them. A loss is a loss whatever is unknown."""
    wanted = np.array([True] * 4 + [False])
    found = must_pass(gating_rule(), "must_pass", table([*old, 1], [*new, 0]), wanted)
    known = sum(not (math.isnan(a) or math.isnan(b)) for a, b in zip(old, new, strict=True))
    assert (found.n, found.only_baseline, found.only_candidate) == (known, lost, won)
    assert found.insufficient == (f"{unknown} must-pass items have no result" if unknown else "")
    assert found.changes is not None
    assert found.changes.lost_count == lost


def test_must_pass_items_that_failed_to_run_are_read_both_ways() -> None:
    worst = metric([1, 1], [0, 1], reading="worst", incomplete=1, failed=True)
    dropped = metric([1, 1], [NAN, 1], reading="drop", incomplete=1, failed=True)
    made = replace(table([1, 1], [0, 1]), metrics={"m": replace(worst, other=dropped)})
    found = must_pass(gating_rule(), "must_pass", made, np.array([True, True]))
    assert found.only_baseline == 1
    assert found.other is not None
    assert found.other.insufficient == "1 must-pass items have no result"


# --- columns that may say that runs failed ----------------------------------------------------------------


def unread(before: Unread | None, after: Unread | None, runs: tuple[int, int] = (80, 80)) -> Any:
    sides = tuple(() if side is None else (side,) for side in (before, after))
    return unread_runs({None: replace(table([1], [1]), unread=sides, runs=runs)})


def status(words: dict[str, int], *, runs: int = 80, reserved: bool = False) -> Unread:
    return Unread("status", words, runs, by_word=True, reserved=reserved)


def crash(filled: int, runs: int = 80, text: str = "boom") -> Unread:
    return Unread("crash", {text: filled} if filled else {}, runs, by_word=False)


@pytest.mark.parametrize(("filled", "fault"), [(7, False), (8, True)])
@pytest.mark.parametrize("side", [0, 1])
def test_a_column_filled_on_one_side_only(filled: int, fault: bool, side: int) -> None:
    """Fisher's exact two-sided p of 7 of 80 against none is .0136, of 8 .0065."""
    p = stats.fisher_exact([[filled, 80 - filled], [0, 80]]).pvalue
    assert bool(p < 0.01) is fault
    sides: list[Unread | None] = [None, None]
    sides[side] = crash(filled)
    found = unread(*sides)
    assert set(found.faults) == ({"crash"} if fault else set())
    counts = ["0 of 80 baseline runs", "0 of 80 candidate runs"]
    counts[side] = counts[side].replace("0 of", f"{filled} of", 1)
    text = found.faults["crash"].message if fault else found.cautions[0].message
    assert f"crash is filled ('boom') in {counts[0]} and in {counts[1]}" in text
    assert "failed: {crash: ['*']}" in text
    assert "completed: {crash: ['*']}" in text
    if fault:
        assert found.faults["crash"].code == "errors_uneven"
        assert f"p {p:.4f}" in text
        assert found.cautions == ()
    else:
        assert [caution.code for caution in found.cautions] == ["runs_unread"]


def test_a_side_without_the_column_has_its_own_number_of_runs() -> None:
    found = unread(None, crash(20, runs=90), runs=(80, 90))
    assert "0 of 80 baseline runs and in 20 of 90 candidate runs" in found.faults["crash"].message
    found = unread(crash(20, runs=80), None, runs=(80, 90))
    assert "20 of 80 baseline runs and in 0 of 90 candidate runs" in found.faults["crash"].message


@pytest.mark.parametrize(("others", "fault"), [(98, False), (100, True)])
def test_chances_of_more_than_one_in_a_hundred_are_chance(others: int, fault: bool) -> None:
    """The one run of a side is the one that is filled, of 99 or of 101 in all."""
    found = unread(crash(1, runs=1), crash(0, runs=others), runs=(1, others))
    assert bool(found.faults) is fault


def test_a_word_of_one_side_is_a_fault_and_names_the_side() -> None:
    for before, after, text in (
        (
            {"ok": 70, "shelved": 10},
            {"ok": 80},
            "'shelved' in 10 of 80 baseline runs and in no candidate run",
        ),
        ({"ok": 80}, {"ok": 77, "lost": 3}, "'lost' in 3 of 80 candidate runs and in no baseline run"),
    ):
        found = unread(status(before), status(after))
        assert found.faults["status"].code == "status_on_one_side"
        assert f"status is {text}" in found.faults["status"].message
        word = text.split("'")[1]
        assert f"failed: {{status: [{word}]}}" in found.faults["status"].message


def test_words_of_both_sides_are_a_caution_where_they_differ_in_number() -> None:
    same = unread(status({"ok": 60, "shelved": 20}), status({"ok": 60, "shelved": 20}))
    assert (same.faults, same.cautions) == ({}, ())
    other = unread(status({"ok": 60, "shelved": 20}), status({"ok": 61, "shelved": 19}))
    assert not other.faults
    assert [caution.code for caution in other.cautions] == ["runs_unread"]
    assert "failed: {status: [WORD]}" in other.cautions[0].message


def test_a_reserved_column_is_read_elsewhere() -> None:
    """Its unknown words are listed anyway; only a word of one side is a fault."""
    found = unread(status({"odd": 60}, reserved=True), status({"odd": 10}, reserved=True))
    assert (found.faults, found.cautions) == ({}, ())
    found = unread(status({"odd": 60}, reserved=True), None)
    assert set(found.faults) == {"status"}


def test_words_as_uneven_as_chance_hardly_makes_them_are_a_fault() -> None:
    found = unread(status({"odd": 60, "ok": 0}), status({"odd": 10, "ok": 0}))
    assert found.faults["status"].code == "errors_uneven"
    assert "status is 'odd', 'ok' in 60 of 80 baseline runs" in found.faults["status"].message


def test_the_first_set_that_is_uneven_speaks_for_its_column() -> None:
    made = replace(table([1], [1]), unread=((crash(20),), ()), runs=(80, 90))
    small = replace(made, unread=((crash(9, 40, "bang"),), ()), runs=(40, 40))
    found = unread_runs({None: made, "safety": small})
    assert "20 of 80 baseline runs and in 0 of 90 candidate runs" in found.faults["crash"].message
    few = [replace(m, unread=((crash(1, text=word),), ())) for m, word in ((made, "boom"), (small, "bang"))]
    cautions = unread_runs({None: few[0], "safety": few[1]}).cautions
    assert len(cautions) == 1
    assert "boom" in cautions[0].message

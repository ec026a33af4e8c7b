"""What is said of single items: flips, changes, flaky ones and the spread, against counting by hand."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from paired_tables import SETTING, blocks, gating_rule, repeated, table, texts
from scipy import stats

from gate.estimands import Selection, select
from gate.measure import flips, rules
from gate.measure.item_facts import changes_of, distribution, flagged_items, flaky_block, flaky_cautions
from gate.measure.model import Comparison, Margin, Tested
from gate.stats.pairs import from_counts
from gate.stats.procedures import run
from tests.records import Flat, record

NAN = math.nan
N, LEVEL = 12, 0.1
TABLES = [
    (b, c, both)
    for b in range(N + 1)
    for c in range(N + 1 - b)
    for both in range(N + 1 - b - c)
    if b + c < N or both == 0
]


def binary_rule(b: int, c: int, both: int, n: int, **more: object) -> Comparison:
    """A gating rule on a pass/fail table of n items."""
    given = {
        "rule": "gating:m",
        "role": "gating",
        "mode": "gating",
        "metric": "m",
        "kind": "binary",
        "direction": "higher",
        "method": "mcnemar_exact",
        "n": n,
        "baseline": (both + c) / n,
        "candidate": (both + b) / n,
        "only_candidate": b,
        "only_baseline": c,
        "bound": 0.0,
        "margin_rule": "observed",
        "level": LEVEL,
    }
    return record(**(given | more))


def flips_to_turn(c: Comparison) -> int | None:
    assert isinstance(c, Tested)
    assert isinstance(c.wanted, Margin)
    return flips.flips_to_turn(c, c.wanted)


def gating(*given: object) -> Flat:
    return Flat(rules.gating(*given))  # type: ignore[arg-type]


@cache
def p_greater(method: str, b: int, c: int, n: int, null: float) -> float:
    if method == "mcnemar_exact":
        return float(stats.binom.sf(b - 1, b + c, 0.5))
    if method == "mcnemar_chi2":
        return float(stats.norm.sf((b - c) / math.sqrt(b + c)))
    return run(method, from_counts(b, c, n), null, LEVEL).p_greater


def fewest(method: str, b: int, c: int, both: int, margin: float, rule: str, n: int = N) -> int | None:
    """Over every table that can be reached: one flip moves b or c by one."""
    null = margin if rule == "tested" else 0.0

    def passes(new_b: int, new_c: int) -> bool:
        if new_b + new_c == 0 or (rule == "observed" and (new_b - new_c) / n < margin - 1e-12):
            return False
        if rule == "tested" and p_greater("mcnemar_exact", new_b, new_c, n, 0.0) >= LEVEL:
            return False
        return p_greater(method, new_b, new_c, n, null) < LEVEL

    now = passes(b, c)
    neither = n - b - c - both
    return min(
        (
            abs(new_b - b) + abs(new_c - c)
            for new_b in range(b + neither + 1)
            for new_c in range(c + both + 1)
            if passes(new_b, new_c) is not now
        ),
        default=None,
    )


@pytest.mark.parametrize(
    ("method", "margin", "rule"),
    [
        ("mcnemar_exact", 0.0, "observed"),
        ("mcnemar_exact", 0.25, "observed"),
        ("mcnemar_exact", 0.5, "observed"),
        ("mcnemar_chi2", 0.0, "observed"),
        ("tango", 0.125, "tested"),
        ("tango", 0.02, "tested"),
    ],
)
def test_flips_of_every_small_table(method: str, margin: float, rule: str) -> None:
    null = margin if rule == "tested" else 0.0
    found, expected = {}, {}
    for b, c, both in TABLES:
        made = binary_rule(b, c, both, N, method=method, bound=margin, margin_rule=rule, null_value=null)
        found[b, c, both] = flips_to_turn(made)
        expected[b, c, both] = fewest(method, b, c, both, margin, rule)
    assert found == expected


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 40])
def test_flips_from_nothing_to_a_pass_and_back(n: int) -> None:
    """With s unanimous pairs p is 2^-s: 4 are the first below .1."""
    expected = 4 if n >= 4 else None
    assert flips_to_turn(binary_rule(0, 0, 0, n)) == expected
    all_won = binary_rule(n, 0, 0, n)
    assert flips_to_turn(all_won) == fewest("mcnemar_exact", n, 0, 0, 0.0, "observed", n)


def test_flips_are_not_given_where_they_say_nothing() -> None:
    fine = binary_rule(9, 1, 20, 60)
    assert flips_to_turn(fine) is not None
    for change in (
        {"method": "t_guarded"},
        {"insufficient": "12 items"},
        {"suspect_gain": 0.1},
    ):
        assert flips_to_turn(binary_rule(9, 1, 20, 60, **change)) is None, change


def test_a_gain_at_the_suspicion_still_has_flips() -> None:
    """(9 - 1) / 64 = .125 exactly."""
    assert flips_to_turn(binary_rule(9, 1, 20, 64, suspect_gain=0.125)) is not None
    assert flips_to_turn(binary_rule(9, 1, 20, 64, suspect_gain=0.124)) is None


@pytest.mark.parametrize(("suspect", "flips"), [(0.079, None), (0.08, 8), (0.081, 8), (0.2, 8)])
def test_flips_to_a_suspect_gain_are_no_way_to_a_pass(suspect: float, flips: int | None) -> None:
    """2^-8 is the first below .005: eight gains of 100, and no more than those."""
    assert flips_to_turn(binary_rule(0, 0, 40, 100, level=0.005, suspect_gain=suspect)) == flips


def test_flips_need_all_runs() -> None:
    """With two readings of failed runs no one count holds."""
    old, new = blocks((40, 0, 1), (5, 1, 0), (155, 1, 1))
    found = [
        gating(gating_rule(), "gating:m", table(old, new, reading=reading), SETTING).flips
        for reading in ("complete", "drop")
    ]
    assert found[0] is not None
    assert found[1] is None


def selected(made: object, direction: str = "higher") -> Selection:
    return select(made, made.metrics["m"], direction)  # type: ignore[attr-defined,arg-type]


def test_changed_items_largest_first_then_by_id() -> None:
    old, new = [1.0, 5.0, 2.0, 4.0, 3.0], [3.0, 2.0, 2.0, 6.0, 2.5]
    shown = {"answer": texts("abcde")}
    found = changes_of(selected(table(old, new, shown=shown)))
    assert (found.gained_count, found.lost_count) == (2, 2)
    assert [tuple(change) for change in found.gained] == [
        ("q00000", 1.0, 3.0, 2.0, {"answer": "a"}),
        ("q00003", 4.0, 6.0, 2.0, {"answer": "d"}),
    ]
    assert [tuple(change) for change in found.lost] == [
        ("q00001", 5.0, 2.0, -3.0, {"answer": "b"}),
        ("q00004", 3.0, 2.5, -0.5, {"answer": "e"}),
    ]
    swapped = changes_of(selected(table(old, new), "lower"))
    assert [change.id for change in swapped.gained] == ["q00001", "q00004"]
    assert [change.delta for change in swapped.lost] == [-2.0, -2.0]


def test_5000_changed_items_are_kept_a_side_and_all_are_counted() -> None:
    old, new = blocks((5001, 0, 1), (5002, 1, 0), (3, 1, 1))
    found = changes_of(selected(table(old, new)))
    assert (found.gained_count, found.lost_count) == (5001, 5002)
    assert (len(found.gained), len(found.lost)) == (5000, 5000)


FLAKY = [
    ([1, 1, 0, 0, NAN], [1, 1, 1, 1, 1]),  # 2 of 4: flaky
    ([1, 1, 1, 1, 1], [1, 0, 0, 0, 0]),  # 1 of 5: stable
    ([0, 0, 0, 0, 0], [1, 1, 1, 0, 0]),  # 3 of 5, on the candidate's side: flaky
    ([1, 1, 1, 1, 0], [0, 0, 0, 0, 0]),  # 4 of 5: stable
    ([0, 0, 0, 1, 1], [0, 0, 0, 1, 1]),  # on both sides, and no gain: flaky
]


def test_items_that_do_not_reproduce_are_listed_with_their_counts() -> None:
    made = repeated([old for old, _ in FLAKY], [new for _, new in FLAKY])
    found = flagged_items(selected(made))
    assert [(item.id, item.baseline, item.candidate) for item in found] == [
        ("q00002", (0, 5), (3, 5)),
        ("q00000", (2, 4), (5, 5)),
        ("q00004", (2, 5), (2, 5)),
    ]
    assert [item.delta for item in found] == pytest.approx([0.6, 0.5, 0.0])
    assert flagged_items(selected(table([0.0], [1.0]))) == ()


def test_the_share_of_the_gain_on_flaky_items() -> None:
    made = repeated([old for old, _ in FLAKY], [new for _, new in FLAKY])
    gains = {"flaky": [0.5, 0.6, 0.0], "stable": [-0.8, -0.8]}
    total = sum(gains["flaky"]) + sum(gains["stable"])
    for direction, sign in (("higher", 1), ("lower", -1)):
        found = flaky_block(selected(made, direction))
        assert (found["status"], found["items"], found["flagged"]) == ("measured", 5, 3)
        assert found["delta_share"] == pytest.approx(sum(gains["flaky"]) / total)
        assert found["flagged_contribution"] == pytest.approx(sign * sum(gains["flaky"]) / 5)
        assert found["stable_contribution"] == pytest.approx(sign * sum(gains["stable"]) / 5)
        assert found["noise"]["se"] == pytest.approx(stats.sem([0.5, -0.8, 0.6, -0.8, 0.0]))
    assert flaky_block(selected(table([0.0, 1.0], [1.0, 1.0]))) == {"status": "not measured"}
    one = flaky_block(selected(repeated([[0, 0, 1, 1]], [[1, 1, 1, 1]])))
    assert "noise" not in one
    assert "stable_mean" not in one


def test_scores_are_not_flagged_as_flaky() -> None:
    """Flaky is said of pass/fail only: a score of 0 is no failure."""
    runs = [[0.0, 0.0, 0.5, 0.7]] * 40
    made = repeated(runs, [[0.1, 0.2, 0.6, 0.7]] * 20 + runs[:20])
    found = gating(gating_rule("graded"), "gating:m", made, SETTING)
    assert found.flaky["status"] == "not measurable"
    assert found.flagged == ()


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.5, False), (0.51, True), (-0.2, False)])
def test_a_gain_that_lies_mostly_on_flaky_items_is_a_hypothesis(share: float | None, said: bool) -> None:
    block = {"delta_share": share, "flagged": 3, "items": 40}
    found = flaky_cautions(block)
    assert [caution.code for caution in found] == (["gain_on_flaky_items"] if said else [])
    if said:
        assert "51% of the delta lies on 3 flaky items of 40" in found[0].message


@pytest.mark.parametrize(
    ("span", "width"),
    [
        (29.0, 1.0),
        (40.0, 1.0),
        (40 * (1 + 5e-10), 1.0),
        (40.1, 2.0),
        (80.0, 2.0),
        (80.1, 2.5),
        (100.0, 2.5),
        (100.1, 5.0),
        (200.0, 5.0),
        (200.1, 10.0),
        (400.0, 10.0),
        (12.0, 0.5),
        (10.0, 0.25),
        (0.5, 0.02),
        (0.4, 0.01),
        (7000.0, 200.0),
    ],
)
@pytest.mark.parametrize("start", [0.0, -0.25, 0.1])
def test_bins_are_of_the_next_round_width(span: float, width: float, start: float) -> None:
    """The least of 1, 2, 2.5 and 5 times a power of ten that needs no more than 40 bins."""
    gains = start * span + np.linspace(0, span, 22)
    found = distribution(gains)
    edges = found["edges"]
    assert np.diff(edges) == pytest.approx(width, rel=1e-6)
    assert edges[0] <= gains.min() < edges[1]
    assert edges[-2] <= gains.max() < edges[-1]
    assert not any(low < 0 < high for low, high in itertools.pairwise(edges))
    assert found["counts"] == [
        int(((gains >= low) & (gains < high)).sum()) for low, high in itertools.pairwise(edges)
    ]


@pytest.mark.parametrize(("distinct", "kind"), [(21, "values"), (22, "edges")])
def test_up_to_21_values_are_counted_one_by_one(distinct: int, kind: str) -> None:
    found = distribution(np.repeat(np.arange(distinct) - 5.0, 2))
    assert set(found) == {kind, "counts"}
    if kind == "values":
        assert found == {"values": [k - 5.0 for k in range(21)], "counts": [2] * 21}

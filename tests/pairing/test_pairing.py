"""Every rule about ids, repeats and missing results, on tables made in memory."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.artifacts.table import Ascending, ItemTable, Missing, Source
from gate.pairing import MetricRule, PairingRules, items_digest, pair
from gate.values import GateError

NAN = float("nan")
BINARY = {"m": MetricRule("binary", "higher")}


def objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def table(
    ids: Sequence[str],
    values: Sequence[float],
    *,
    repeats: Sequence[str] | None = None,
    failed: Sequence[int] = (),
    name: str = "baseline",
    clusters: Sequence[str | None] | None = None,
    lines: bool = True,
    **columns: Sequence[str | None],
) -> ItemTable:
    numbers = np.array(values, dtype=np.float64)
    lost = [(i, f"line {k + 2}", "null") for k, i in enumerate(ids) if np.isnan(numbers[k])]
    return ItemTable(
        source=Source(f"{name}.csv", "csv", f"sha of {name}", 1),
        ids=objects(ids),
        values={"m": numbers},
        missing={"m": Missing(len(lost), tuple(lost[:5]))},
        failed=np.isin(np.arange(len(ids)), list(failed)),
        repeats=None if repeats is None else objects(repeats),
        clusters=None if clusters is None else objects(clusters),
        columns={key: objects(column) for key, column in columns.items()},
        lines=np.arange(len(ids)) + 2 if lines else None,
    )


def rules(**more: Any) -> PairingRules:
    return PairingRules(**({"metrics": BINARY} | more))


def error(code: str, baseline: ItemTable, candidate: ItemTable, **more: Any) -> GateError:
    with pytest.raises(GateError) as caught:
        pair(baseline, candidate, rules(**more))
    assert caught.value.code == code, caught.value
    assert caught.value.help
    return caught.value


IDS = ["a", "b", "c", "d"]


def test_another_row_order_gives_the_same_pairs() -> None:
    one = pair(table(IDS, [1, 0, 1, 0]), table(IDS, [1, 1, 0, 0], name="candidate"), rules())
    other = pair(
        table(["d", "c", "b", "a"], [0, 1, 0, 1]), table(["c", "a", "d", "b"], [0, 1, 0, 1]), rules()
    )
    assert list(one.ids) == list(other.ids) == IDS
    for found in (one, other):
        assert found.metrics["m"].baseline.tolist() == [1, 0, 1, 0]
        assert found.metrics["m"].candidate.tolist() == [1, 1, 0, 0]
    assert one.counts.items_digest == other.counts.items_digest


def test_items_digest_is_over_the_sorted_ids_one_a_line() -> None:
    assert items_digest(objects(["a", "b\u00fc"])) == hashlib.sha256("a\nb\u00fc\n".encode()).hexdigest()
    assert items_digest(objects(["ab", "c"])) != items_digest(objects(["a", "bc"]))
    many = [f"q{k:06d}" for k in range(250_000)]
    whole = hashlib.sha256(("\n".join(many) + "\n").encode()).hexdigest()
    assert items_digest(objects(many)) == whole


def test_duplicates_are_named_with_their_line() -> None:
    found = error("duplicate_ids", table(["a", "b", "a"], [1, 0, 0]), table(IDS, [1, 1, 1, 1]))
    assert found.where == "baseline.csv:4"
    assert "'a'" in found.message
    assert "items.repeat" in found.help


def test_the_same_repeat_twice_is_a_duplicate() -> None:
    repeated = table(["a", "a", "a"], [1, 0, 0], repeats=["1", "2", "2"])
    assert error("duplicate_ids", repeated, repeated).where == "baseline.csv:4"


def test_a_row_without_a_repeat_is_refused() -> None:
    error("repeat_missing", table(["a", "a"], [1, 0], repeats=["1", None]), table(IDS, [1, 1, 1, 1]))  # type: ignore[list-item]


def test_no_common_id_shows_examples_of_both_sides() -> None:
    found = error("no_common_ids", table(["a"], [1]), table(["A"], [1], name="candidate"), missing="drop")
    assert "'a'" in found.message
    assert "'A'" in found.message
    assert "re-score the baseline" in found.help


@pytest.mark.parametrize("missing", ["error", "worst", "drop"])
def test_ids_on_one_side_only_are_refused_by_default(missing: str) -> None:
    baseline, candidate = table(IDS, [1, 1, 1, 1]), table([*IDS[:3], "z"], [1, 1, 1, 1], name="candidate")
    code = "unmatched_ids" if missing == "error" else "too_many_missing"
    found = error(code, baseline, candidate, missing=missing)
    if missing == "error":
        assert "'d'" in found.message
        assert "'z'" in found.message


def test_worst_reads_both_sides_least_favourably_to_the_candidate() -> None:
    """d is lost by the candidate (0), z by the baseline (1): neither is a gain."""
    baseline, candidate = table(IDS, [1, 0, 1, 1]), table([*IDS[:3], "z"], [1, 1, 1, 1])
    found = pair(baseline, candidate, rules(missing="worst", max_missing=0.4))
    metric = found.metrics["m"]
    assert list(found.ids) == ["a", "b", "c", "d", "z"]
    assert metric.baseline.tolist() == [1, 0, 1, 1, 1]
    assert metric.candidate.tolist() == [1, 1, 1, 0, 1]
    assert metric.reading == "worst"
    assert metric.incomplete == 2
    assert (found.counts.only_baseline, found.counts.only_candidate, found.counts.n_pairs) == (1, 1, 3)


def test_worst_follows_the_direction_and_the_scale() -> None:
    graded = {"m": MetricRule("graded", "lower", (1.0, 5.0))}
    baseline, candidate = table(IDS, [2, 2, 2, 2]), table([*IDS[:3], "z"], [3, 3, 3, 3])
    metric = pair(
        baseline, candidate, PairingRules(metrics=graded, missing="worst", max_missing=0.4)
    ).metrics["m"]
    assert metric.baseline.tolist() == [2, 2, 2, 2, 1]
    assert metric.candidate.tolist() == [3, 3, 3, 5, 3]


def test_worst_without_a_scale_is_refused() -> None:
    graded = {"m": MetricRule("graded", "higher")}
    found = error(
        "worst_unknown",
        table(IDS, [2, 2, 2, 2]),
        table(IDS[:3], [3, 3, 3]),
        metrics=graded,
        missing="worst",
        max_missing=0.5,
    )
    assert "scale" in found.help


def test_drop_leaves_the_item_out() -> None:
    baseline, candidate = table(IDS, [1, 0, 1, 1]), table([*IDS[:3], "z"], [1, 1, 1, 1])
    metric = pair(baseline, candidate, rules(missing="drop", max_missing=0.4)).metrics["m"]
    assert np.isnan(metric.candidate[3])
    assert np.isnan(metric.baseline[4])
    assert metric.reading == "drop"
    assert metric.other is not None
    assert metric.other.candidate.tolist() == [1, 1, 1, 0, 1]


@pytest.mark.parametrize(("allowed", "fine"), [(0.4, True), (0.39, False)])
def test_max_missing_is_a_share_of_all_items(allowed: float, fine: bool) -> None:
    baseline, candidate = table(IDS, [1, 0, 1, 1]), table([*IDS[:3], "z"], [1, 1, 1, 1])
    if fine:
        pair(baseline, candidate, rules(missing="worst", max_missing=allowed))
    else:
        error("too_many_missing", baseline, candidate, missing="worst", max_missing=allowed)


def test_missing_values_are_named_with_place_and_text() -> None:
    found = error("missing_values", table(IDS, [1, NAN, 1, 1]), table(IDS, [1, 1, 1, 1]))
    assert "'b'" in found.message
    assert "line 3" in found.message
    assert "null" in found.message


def test_failed_runs_are_an_infrastructure_fault_by_default() -> None:
    found = error("error_rate", table(IDS, [1, 1, 1, 1]), table(IDS, [1, 1, 1, 0], failed=[3]))
    assert "25.0%" in found.message
    assert "'d'" in found.message


def test_failed_runs_within_the_rate_are_read_both_ways() -> None:
    """The value of a failed run is no result, whatever stands there."""
    candidate = table(IDS, [1, 1, 1, 1], failed=[3])
    found = pair(table(IDS, [0, 1, 1, 1]), candidate, rules(max_error_rate=0.25))
    metric = found.metrics["m"]
    assert (metric.reading, metric.failed) == ("worst", True)
    assert metric.candidate.tolist() == [1, 1, 1, 0]
    assert metric.other is not None
    assert np.isnan(metric.other.candidate[3])
    assert found.counts.errors_candidate == 1


def test_repeats_are_averaged_per_item_whatever_their_order() -> None:
    ids = ["a", "a", "a", "b", "b", "b"]
    runs = ["1", "2", "3", "1", "2", "3"]
    found = pair(
        table(ids, [1, 0, 1, 0, 0, 0], repeats=runs),
        table(ids[::-1], [1, 1, 1, 1, 0, 1], repeats=runs),
        rules(),
    )
    metric = found.metrics["m"]
    assert metric.baseline.tolist() == [2 / 3, 0]
    assert metric.candidate.tolist() == [2 / 3, 1]
    assert metric.averaged
    assert metric.runs is not None
    assert metric.runs[0].tolist() == [[0, 1, 1], [0, 0, 0]]
    assert (found.counts.n_pairs, found.counts.repeats_baseline) == (2, 3)


@pytest.mark.parametrize(
    ("reduce", "direction", "expected"),
    [
        ("mean", "higher", [0.5, 1.0]),
        ("pass_all", "higher", [0.0, 1.0]),
        ("worst", "higher", [0.0, 1.0]),
        ("pass_all", "lower", [1.0, 1.0]),
        ("worst", "lower", [1.0, 1.0]),
    ],
)
def test_reduce(reduce: str, direction: str, expected: list[float]) -> None:
    repeated = table(["a", "a", "b", "b"], [1, 0, 1, 1], repeats=["1", "2", "1", "2"])
    metric = pair(
        repeated, repeated, rules(reduce=reduce, metrics={"m": MetricRule("binary", direction)})
    ).metrics["m"]
    assert metric.baseline.tolist() == expected
    assert metric.averaged == (reduce == "mean")


@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize("how", ["pass_hat", "pass_at"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_some_of_the_runs_by_counting_them(how: str, k: int, direction: str) -> None:
    """Over all choices of k of an item's runs: how many pass as a whole; in the metric's own unit."""
    good = 1 if direction == "higher" else 0
    items = {"a": [1, 0, 0, 1], "b": [1, 1, 1, 1], "c": [0, 0, 0, 0], "d": [0, 1, 1]}
    rows = [(item, str(n), value) for item, runs in items.items() for n, value in enumerate(runs)]
    ids, repeats, values = (list(column) for column in zip(*rows, strict=True))
    side = table(ids, values, repeats=repeats)
    accepts = {"missing": "drop", "max_missing": 0.5, "max_error_rate": 0.5}
    wanted = rules(reduce=f"{how}:{k}", metrics={"m": MetricRule("binary", direction)}, **accepts)
    metric = pair(side, side, wanted).metrics["m"]
    whole = all if how == "pass_hat" else any
    for item, found in zip(sorted(items), metric.baseline.tolist(), strict=True):
        chosen = [whole(run == good for run in some) for some in itertools.combinations(items[item], k)]
        share = sum(chosen) / len(chosen)
        assert found == pytest.approx(share if direction == "higher" else 1 - share)
    assert metric.averaged


def test_more_runs_than_there_are_cannot_be_asked_for() -> None:
    error("k_beyond_runs", five(IDS), five(IDS), reduce="pass_hat:6")
    graded = {"m": MetricRule("graded", "higher")}
    assert pair(five(IDS), five(IDS), rules(reduce="pass_hat:6", metrics=graded)).metrics["m"].averaged


@pytest.mark.parametrize(("direction", "expected"), [("higher", [1.0, 0.0]), ("lower", [0.0, 0.0])])
def test_any_takes_the_best_run(direction: str, expected: list[float]) -> None:
    side = table(["a", "a", "b", "b"], [1, 0, 0, 0], repeats=["1", "2", "1", "2"])
    wanted = rules(reduce="any", metrics={"m": MetricRule("binary", direction)})
    metric = pair(side, side, wanted).metrics["m"]
    assert metric.baseline.tolist() == expected
    assert not metric.averaged
    error("unequal_runs", five(IDS), table(IDS, [1] * len(IDS)), reduce="any")


def test_a_dropped_repeat_leaves_the_item_in() -> None:
    ids, runs = ["a", "a", "b", "b"], ["1", "2", "1", "2"]
    baseline = table(ids, [1, 1, 1, 1], repeats=runs)
    candidate = table(ids, [1, 0, 1, 1], repeats=runs, failed=[1, 2, 3])
    found = pair(baseline, candidate, rules(missing="drop", max_missing=1.0, max_error_rate=0.75))
    assert found.metrics["m"].candidate[0] == 1.0
    assert np.isnan(found.metrics["m"].candidate[1])


def test_an_item_with_fewer_runs_than_the_others_is_incomplete() -> None:
    full = table(["a", "a", "b", "b"], [1, 1, 1, 1], repeats=["1", "2", "1", "2"])
    short = table(["a", "a", "b"], [1, 1, 1], repeats=["1", "2", "1"])
    found = error("uneven_repeats", full, short)
    assert "'b'" in found.message
    metric = pair(full, short, rules(missing="worst", max_missing=0.5)).metrics["m"]
    assert metric.candidate.tolist() == [1.0, 0.5]


def test_labels_and_comparable_columns_must_agree() -> None:
    one = table(IDS, [1, 1, 1, 1], gold=["x", "y", "x", "y"])
    other = table(IDS, [1, 1, 1, 1], gold=["x", "y", "y", "y"], name="candidate")
    assert "'c'" in error("not_comparable", one, other, label="gold").message
    assert "'c'" in error("not_comparable", one, other, comparable=("gold",)).message
    error("column_missing", one, table(IDS, [1, 1, 1, 1]), label="gold")


def test_slices_come_from_either_side_and_may_not_disagree() -> None:
    bare, marked = table(IDS, [1, 1, 1, 1]), table(IDS, [1, 1, 1, 1], lang=["e", "f", "e", None])
    found = pair(bare, marked, rules(columns=("lang",)))
    assert list(found.columns["lang"]) == ["e", "f", "e", None]
    other = table(IDS, [1, 1, 1, 1], lang=["e", "f", "f", None])
    error("column_inconsistent", marked, other, columns=("lang",))
    error("column_missing", bare, bare, columns=("lang",))


def test_clusters_belong_to_items() -> None:
    plain, grouped = table(IDS, [1, 1, 1, 1]), table(IDS, [1, 1, 1, 1], clusters=["x", "y", "x", "y"])
    found = pair(plain, grouped, rules())
    assert found.clusters is not None
    assert found.clusters.tolist() == [0, 1, 0, 1]
    assert found.counts.n_clusters == 2
    error("cluster_missing", plain, table(IDS, [1, 1, 1, 1], clusters=["x", "y", "x", None]))
    runs = table(["a", "a"], [1, 1], repeats=["1", "2"], clusters=["x", "y"])
    error("column_inconsistent", runs, runs)


def test_shown_fields_are_one_a_side_where_they_differ() -> None:
    one = table(IDS, [1, 1, 1, 1], answer=["p", "q", "r", "s"], prompt=["1", "2", "3", "4"])
    other = table(IDS, [1, 1, 1, 1], answer=["p", "q", "r", "t"], prompt=["1", "2", "3", "4"])
    found = pair(one, other, rules(show=("prompt", "answer", "absent")))
    assert list(found.shown) == ["prompt", "answer (baseline)", "answer (candidate)"]


def test_identical_is_the_same_bytes_and_the_same_system() -> None:
    one = table(IDS, [1, 1, 1, 1])
    assert pair(one, table(IDS, [1, 1, 1, 1]), rules()).identical
    assert not pair(one, table(IDS, [1, 1, 1, 1], name="candidate"), rules()).identical


def test_a_limit_needs_the_candidate_only() -> None:
    only = {"m": MetricRule("binary", "lower", candidate_only=True)}
    baseline = table(IDS, [NAN, NAN, NAN, NAN])
    metric = pair(baseline, table(IDS, [0, 0, 1, 0]), rules(metrics=only)).metrics["m"]
    assert metric.incomplete == 0
    assert metric.candidate.tolist() == [0, 0, 1, 0]


@given(st.data())
def test_pairing_does_not_depend_on_order(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    repeats = data.draw(st.integers(1, 3))
    ids = data.draw(st.lists(st.text(max_size=4), min_size=n, max_size=n, unique=True))
    cell = st.floats(-1e6, 1e6, allow_nan=False)
    values = data.draw(st.lists(cell, min_size=2 * n * repeats, max_size=2 * n * repeats))
    rows = [(item, str(k)) for item in ids for k in range(repeats)]
    graded = rules(metrics={"m": MetricRule("graded", "higher")})

    def side(numbers: list[float], order: list[int]) -> ItemTable:
        return table(
            [rows[k][0] for k in order],
            [numbers[k] for k in order],
            repeats=[rows[k][1] for k in order] if repeats > 1 else None,
        )

    straight = list(range(len(rows)))
    shuffled = data.draw(st.permutations(straight))
    half = len(rows)
    one = pair(side(values[:half], straight), side(values[half:], straight), graded)
    other = pair(side(values[:half], shuffled), side(values[half:], straight[::-1]), graded)
    assert list(one.ids) == list(other.ids)
    assert one.metrics["m"].baseline.tobytes() == other.metrics["m"].baseline.tobytes()
    assert one.metrics["m"].candidate.tobytes() == other.metrics["m"].candidate.tobytes()


def test_order_of_large_tables_does_not_matter() -> None:
    rng = random.Random(3)
    ids = [f"q{k}" for k in range(5000)]
    values = [rng.random() for _ in ids]
    order = rng.sample(range(5000), 5000)
    graded = rules(metrics={"m": MetricRule("graded", "higher")})
    one = pair(table(ids, values), table(ids, values), graded)
    other = pair(table([ids[k] for k in order], [values[k] for k in order]), table(ids, values), graded)
    assert one.metrics["m"].baseline.tobytes() == other.metrics["m"].baseline.tobytes()


RUNS5 = ["1", "2", "3", "4", "5"]


def five(ids: Sequence[str], failed: Sequence[int] = (), lost: Sequence[int] = ()) -> ItemTable:
    """Five passing runs of each item; failed, lost: rows without a result."""
    rows = [item for item in ids for _ in RUNS5]
    cells = [NAN if k in lost else 1.0 for k in range(len(rows))]
    return table(rows, cells, repeats=RUNS5 * len(ids), failed=failed)


@pytest.mark.parametrize(("allowed", "fine"), [(0.1, True), (0.09, False)])
@pytest.mark.parametrize("reading", ["worst", "drop"])
def test_one_of_five_runs_is_a_missing_run_and_no_missing_item(
    allowed: float, fine: bool, reading: str
) -> None:
    """2 of 20 candidate runs, on half of the items."""
    sides = (five(IDS), five(IDS, lost=[0, 5]))
    if fine:
        metric = pair(*sides, rules(missing=reading, max_missing=allowed)).metrics["m"]
        assert (metric.missing_share, metric.incomplete) == (0.1, 2)
    else:
        error("too_many_missing", *sides, missing=reading, max_missing=allowed)


def test_an_item_without_any_run_left_is_a_missing_item() -> None:
    """1 item of 4 on either side: together half of the items."""
    sides = (five(IDS, lost=[0, 1, 2, 3, 4]), five(IDS, failed=[5, 6, 7, 8, 9]))
    error("too_many_missing", *sides, missing="drop", max_missing=0.49, max_error_rate=0.25)
    pair(*sides, rules(missing="drop", max_missing=0.5, max_error_rate=0.25))


@pytest.mark.parametrize("reduce", ["pass_all", "worst"])
def test_the_worst_run_needs_as_many_runs_on_both_sides(reduce: str) -> None:
    once = table(IDS, [1, 1, 1, 1])
    error("unequal_runs", five(IDS), once, reduce=reduce)
    error("unequal_runs", once, five(IDS), reduce=reduce)
    assert pair(five(IDS), once, rules()).metrics["m"].candidate.tolist() == [1, 1, 1, 1]
    assert pair(five(IDS), five(IDS), rules(reduce=reduce)).metrics["m"].baseline.tolist() == [1, 1, 1, 1]
    only = {"m": MetricRule("binary", "higher", candidate_only=True)}
    pair(once, five(IDS), rules(reduce=reduce, metrics=only))
    graded = {"m": MetricRule("graded", "higher")}
    if reduce == "pass_all":  # a mean, where there is no pass
        pair(five(IDS), once, rules(reduce=reduce, metrics=graded))
    else:
        error("unequal_runs", five(IDS), once, reduce=reduce, metrics=graded)


def test_a_dropped_run_makes_the_numbers_of_runs_unequal() -> None:
    short = five(IDS, failed=[3])
    accepts: dict[str, Any] = {"max_missing": 0.3, "max_error_rate": 0.3}
    error("unequal_runs", five(IDS), short, reduce="pass_all", missing="drop", **accepts)
    read_as_worst = pair(five(IDS), short, rules(reduce="pass_all", missing="worst", **accepts))
    assert read_as_worst.metrics["m"].candidate.tolist() == [0, 1, 1, 1]
    both = five(IDS, failed=[4])
    pair(both, short, rules(reduce="pass_all", missing="drop", **accepts))


# --- what is counted, and which side is named ---------------------------------------------------------------


def test_every_count_is_that_of_its_own_side() -> None:
    """Baseline: 5 items, 2 runs, 2 failed. Candidate: 6 items, 3 runs, 1 failed. 4 in common."""
    ids = ["a", "b", "c", "d"]
    baseline = table([*ids, "x"] * 2, [1] * 10, repeats=["1"] * 5 + ["2"] * 5, failed=[0, 1])
    candidate = table(
        [*ids, "y", "z"] * 3,
        [1] * 18,
        repeats=["1"] * 6 + ["2"] * 6 + ["3"] * 6,
        failed=[3],
        name="candidate",
    )
    found = pair(baseline, candidate, rules(missing="drop", max_missing=0.5, max_error_rate=0.5))
    counts = found.counts
    assert (counts.n_baseline, counts.n_candidate, counts.n_pairs) == (5, 6, 4)
    assert (counts.only_baseline, counts.only_candidate) == (1, 2)
    assert (counts.errors_baseline, counts.errors_candidate) == (2, 1)
    assert (counts.repeats_baseline, counts.repeats_candidate) == (2, 3)
    assert counts.n_clusters is None
    assert found.runs == (8, 17)
    assert list(found.ids) == [*ids, "x", "y", "z"]
    assert counts.items_digest == items_digest(objects([*ids, "x", "y", "z"]))


@pytest.mark.parametrize(
    ("old", "new", "where", "found", "absent"),
    [
        ("abd", "ab", "candidate.csv", "1 only in the baseline: 'd'", "only in the candidate"),
        ("ab", "abcd", "baseline.csv", "2 only in the candidate: 'c', 'd'", "only in the baseline"),
        (
            "abc",
            "abd",
            "candidate.csv",
            "1 only in the baseline: 'c'; 1 only in the candidate: 'd'",
            "2 only",
        ),
    ],
)
def test_items_of_one_side_are_counted_and_named(
    old: str, new: str, where: str, found: str, absent: str
) -> None:
    """The file that lacks them is the one to mend."""
    sides = table(list(old), [1] * len(old)), table(list(new), [1] * len(new), name="candidate")
    fault = error("unmatched_ids", *sides)
    assert fault.where == where
    assert found in fault.message
    assert absent not in fault.message
    pair(*sides, rules(missing="drop", max_missing=0.5))


def test_errors_name_the_file() -> None:
    candidate = table(["A"], [1], name="candidate")
    assert error("no_common_ids", table(["a"], [1]), candidate).where == "candidate.csv"
    empty = error("no_items", table([], []), candidate)
    assert (empty.where, "baseline" in empty.message) == ("baseline.csv", True)
    assert error("no_items", table(["a"], [1]), table([], [], name="candidate")).where == "candidate.csv"
    without = table(IDS, [1, 1, 1, 1], gold=["x", "y", "x", "y"])
    fault = error("column_missing", without, table(IDS, [1] * 4, name="candidate"), label="gold")
    assert (fault.where, "the candidate file" in fault.message) == ("candidate.csv", True)
    fault = error("column_missing", without, without, columns=("lang",))
    assert "'lang', which is not in either file" in fault.message


def test_one_common_item_is_enough_to_go_on() -> None:
    """The first in the file is as good as any other."""
    for old, new in (("abc", "axy"), ("abc", "xyc"), ("a", "a")):
        sides = table(list(old), [1] * len(old)), table(list(new), [0] * len(new))
        found = pair(*sides, rules(missing="drop", max_missing=0.8))
        assert found.counts.n_pairs == 1
        usable = np.isfinite(found.metrics["m"].baseline) & np.isfinite(found.metrics["m"].candidate)
        assert found.ids[usable].tolist() == [old[0] if old[0] in new else "c"]


@pytest.mark.parametrize("side", [0, 1])
def test_failed_runs_of_either_side_are_refused(side: int) -> None:
    """1 of 4 is met by .25 and not by .24."""
    sides = [table(IDS, [1] * 4), table(IDS, [1] * 4, name="candidate")]
    name = ("baseline", "candidate")[side]
    sides[side] = table(IDS, [1] * 4, failed=[2], name=name)
    fault = error("error_rate", sides[0], sides[1], max_error_rate=0.24)
    assert f"1 of 4 {name} runs failed (25.0%)" in fault.message
    assert "'c'" in fault.message
    assert fault.where == f"{name}.csv"
    found = pair(sides[0], sides[1], rules(max_error_rate=0.25)).metrics["m"]
    assert (found.failed, found.reading, found.incomplete, found.missing_share) == (True, "worst", 1, 0.25)
    dropped = pair(sides[0], sides[1], rules(max_error_rate=0.25, missing="drop")).metrics["m"]
    assert (dropped.failed, dropped.reading) == (True, "drop")
    assert dropped.other is not None
    assert dropped.other.baseline.tolist() == [1, 1, 1, 1]
    assert dropped.other.candidate.tolist() == [1, 1, int(side == 0), 1]


def test_values_that_are_missing_are_no_failed_runs() -> None:
    lost = table(IDS, [1, NAN, 1, 1], name="candidate")
    found = pair(table(IDS, [1] * 4), lost, rules(missing="drop", max_missing=0.25)).metrics["m"]
    assert (found.failed, found.reading, found.incomplete) == (False, "drop", 1)
    fault = error("missing_values", table(IDS, [1] * 4), lost)
    assert "1 candidate rows have no usable number for m ('b' line 3: null)" in fault.message
    assert fault.where == "candidate.csv"
    complete = pair(table(IDS, [1] * 4), table(IDS, [0] * 4), rules(missing="drop")).metrics["m"]
    assert (complete.reading, complete.incomplete, complete.missing_share, complete.other) == (
        "complete",
        0,
        0.0,
        None,
    )


@pytest.mark.parametrize(
    ("missing", "rate", "said"),
    [
        (0.1, 0.3, "items.max_error_rate 0.3 accepts"),
        (0.3, 0.3, "items.max_missing 0.3 accepts"),
        (0.3, 0.25, "items.max_missing 0.3 accepts"),
    ],
)
def test_the_share_that_is_exceeded_is_named(missing: float, rate: float, said: str) -> None:
    """2 of 8 runs failed and one value is missing: 3 of 8 results."""
    ids = list("abcdefgh")
    candidate = table(ids, [1, 1, NAN, *[1] * 5], failed=[0, 1], name="candidate")
    fault = error(
        "too_many_missing",
        *(table(ids, [1] * 8), candidate),
        missing="drop",
        max_missing=missing,
        max_error_rate=rate,
    )
    assert "37.5% of the items" in fault.message
    assert said in fault.message
    assert "failed runs: 0 baseline, 2 candidate" in fault.message
    pair(table(ids, [1] * 8), candidate, rules(missing="drop", max_missing=0.375, max_error_rate=0.25))
    pair(table(ids, [1] * 8), candidate, rules(missing="drop", max_missing=0.1, max_error_rate=0.375))


def test_items_of_one_side_count_together() -> None:
    """One of five on either side: .4, whatever share of runs may fail."""
    sides = table(IDS, [1] * 4), table([*IDS[:3], "z"], [1] * 4, name="candidate")
    fault = error("too_many_missing", *sides, missing="drop", max_missing=0.39, max_error_rate=0.9)
    assert "40.0% of the items" in fault.message
    assert "more than items.max_missing 0.39 accepts" in fault.message
    assert "1 only in the baseline, 1 only in the candidate" in fault.message


def test_the_same_run_is_the_same_bytes_of_the_same_system() -> None:
    one = table(IDS, [1, 1, 1, 1])
    other = replace(one, source=replace(one.source, system="new"))
    assert not pair(one, other, rules()).identical
    assert pair(other, other, rules()).identical
    assert not pair(one, replace(one, source=replace(one.source, sha256="x")), rules()).identical


# --- repeats ------------------------------------------------------------------------------------------------


def test_runs_of_items_that_are_in_no_order() -> None:
    ids = ["c", "a", "b", "c", "a", "b"]
    made = table(ids, [3, 1, 2, 5, 1, 4], repeats=["1", "1", "1", "2", "2", "2"])
    graded = rules(metrics={"m": MetricRule("graded", "higher")})
    found = pair(made, made, graded)
    assert list(found.ids) == ["a", "b", "c"]
    assert found.metrics["m"].baseline.tolist() == [1, 3, 4]
    assert found.metrics["m"].runs is not None
    assert found.metrics["m"].runs[1].tolist() == [[1, 1], [2, 4], [3, 5]]


@pytest.mark.parametrize("repeated", [0, 1])
def test_one_run_against_two(repeated: int) -> None:
    once = table(["a", "b"], [1, 0])
    twice = table(["a", "a", "b", "b"], [1, 0, 0, 0], repeats=["1", "2", "1", "2"])
    sides = (twice, once) if repeated == 0 else (once, twice)
    metric = pair(*sides, rules()).metrics["m"]
    means = (metric.baseline.tolist(), metric.candidate.tolist())
    assert means[repeated] == [0.5, 0]
    assert means[1 - repeated] == [1, 0]
    assert metric.averaged
    assert metric.runs is not None
    plain = pair(once, once, rules()).metrics["m"]
    assert (plain.averaged, plain.runs) == (False, None)


def test_scores_are_averaged_under_pass_all_and_pass_fail_is_not() -> None:
    twice = table(["a", "a"], [1, 0], repeats=["1", "2"])
    for kind, reduce, averaged, value in (
        ("binary", "mean", True, 0.5),
        ("binary", "pass_all", False, 0.0),
        ("binary", "worst", False, 0.0),
        ("graded", "mean", True, 0.5),
        ("graded", "pass_all", True, 0.5),
        ("graded", "worst", False, 0.0),
    ):
        metric = pair(
            twice, twice, rules(reduce=reduce, metrics={"m": MetricRule(kind, "higher", (0, 1))})
        ).metrics["m"]
        assert (metric.averaged, metric.candidate.tolist()) == (averaged, [value]), (kind, reduce)


def test_an_item_without_runs_on_a_side_has_no_unequal_runs() -> None:
    """Under drop such an item is left out; any other must have as many runs on both sides."""
    accepts: dict[str, Any] = {"missing": "drop", "max_missing": 0.9, "max_error_rate": 0.9}
    for gone in ([0, 1, 2, 3, 4], [15, 16, 17, 18, 19]):
        for sides in ((five(IDS, failed=gone), five(IDS)), (five(IDS), five(IDS, failed=gone))):
            metric = pair(*sides, rules(reduce="worst", **accepts)).metrics["m"]
            assert np.isnan(metric.baseline - metric.candidate).sum() == 1
            fault = error("unequal_runs", *sides[:1], five(IDS, failed=[7, 8]), reduce="worst", **accepts)
            assert "1 items have other numbers of runs" in fault.message
    fault = error("unequal_runs", five(IDS), table(IDS, [1] * 4), reduce="worst")
    assert "(5 in the baseline, 1 in the candidate)" in fault.message


def test_one_run_that_is_left_against_five() -> None:
    accepts: dict[str, Any] = {"missing": "drop", "max_missing": 0.9, "max_error_rate": 0.9}
    one_left = five(IDS, failed=[1, 2, 3, 4])
    for sides in ((one_left, five(IDS)), (five(IDS), one_left)):
        error("unequal_runs", *sides, reduce="worst", **accepts)


def test_fewer_runs_are_counted_against_the_most() -> None:
    short = table(["a", "a", "b", "c", "c"], [1] * 5, repeats=["1", "2", "1", "1", "2"], name="candidate")
    fault = error("uneven_repeats", five(["a", "b", "c"]), short)
    assert "1 items have fewer than 2 runs in the candidate file ('b')" in fault.message
    assert fault.where == "candidate.csv"


def test_only_the_candidate_of_a_limit_must_be_complete() -> None:
    only = {"m": MetricRule("binary", "higher", candidate_only=True)}
    full, lost = table(IDS, [1] * 4), table(IDS, [1, NAN, 1, 1])
    failed = table(IDS, [1] * 4, failed=[0])
    assert pair(lost, full, rules(metrics=only)).metrics["m"].reading == "complete"
    error("missing_values", full, lost, metrics=only)
    short = table(["a", "a", "b"], [1] * 3, repeats=["1", "2", "1"])
    pair(short, table(["a", "b"], [1, 1]), rules(metrics=only))
    error("uneven_repeats", table(["a", "b"], [1, 1]), short, metrics=only)
    found = pair(failed, lost, rules(metrics=only, missing="drop", max_missing=0.25, max_error_rate=0.25))
    assert (found.metrics["m"].incomplete, found.metrics["m"].failed) == (1, False)
    unknown = table(IDS, [1] * 4)
    unknown = replace(unknown, values={}, missing={})
    assert pair(unknown, full, rules(metrics=only)).metrics["m"].candidate.tolist() == [1, 1, 1, 1]
    found = pair(full, unknown, rules())
    assert found.metrics["m"].incomplete == 4, "an optional metric that is absent has no results"


# --- duplicates ---------------------------------------------------------------------------------------------


def test_duplicates_of_either_side_with_and_without_lines() -> None:
    fine = table(IDS, [1] * 4)
    twice = table(["b", "a", "c", "c", "a", "a"], [1] * 6, name="candidate")
    fault = error("duplicate_ids", fine, twice)
    assert fault.where == "candidate.csv:5"
    assert "2 item ids occur more than once in the candidate file ('c', 'a')" in fault.message
    assert "same repeat" not in fault.message
    bare = table(["b", "a", "a"], [1] * 3, lines=False)
    assert error("duplicate_ids", bare, fine).where == "baseline.csv"
    assert error("duplicate_ids", bare, bare).where == "baseline.csv"
    ascending = table(["a", "b", "b"], [1] * 3)
    assert error("duplicate_ids", ascending, fine).where == "baseline.csv:4"
    runs = table(["a", "a", "a"], [1] * 3, repeats=["1", "2", "1"])
    fault = error("duplicate_ids", runs, fine)
    assert "with the same repeat" in fault.message
    assert "items.repeat" not in fault.help


def test_two_files_that_share_their_ids() -> None:
    """A reader may give one array for both: with repeats on a side the rows are its own all the same."""
    one = table(["b", "a", "c", "a2"], [1, 0, 1, 1])
    other = replace(table(["b", "a", "c", "a2"], [0, 0, 1, 0]), ids=one.ids)
    found = pair(one, other, rules())
    assert found.ids.tolist() == ["a", "a2", "b", "c"]
    assert found.metrics["m"].candidate.tolist() == [0, 0, 0, 1]
    runs = table(["b", "b"], [1, 0], repeats=["1", "2"])
    shared = replace(table(["b", "b"], [1, 1], repeats=["1", "2"]), ids=runs.ids)
    assert pair(runs, shared, rules()).metrics["m"].baseline.tolist() == [0.5]
    repeated = replace(shared, repeats=None)
    error("duplicate_ids", runs, repeated)
    error("duplicate_ids", repeated, runs)


def test_a_digest_that_is_known_is_that_of_these_items() -> None:
    ids = [f"q{k}" for k in range(9)]
    known = Ascending(np.arange(9), items_digest(objects(ids)))
    one = replace(table(ids, [1] * 9), ascending=known)
    assert pair(one, table(ids, [1] * 9), rules()).counts.items_digest == known.digest
    fewer = pair(one, table([*ids[:-1], "r"], [1] * 9), rules(missing="drop", max_missing=0.5))
    assert fewer.counts.items_digest == items_digest(objects([*ids, "r"]))
    told = replace(one, ascending=Ascending(np.arange(9), "known"))
    assert pair(told, told, rules()).counts.items_digest == "known"
    assert pair(told, one, rules()).counts.items_digest == known.digest


# --- text columns -------------------------------------------------------------------------------------------


def test_columns_and_clusters_of_items_that_one_side_lacks() -> None:
    """The first and the last item are each on one side only, and what each file says of them is kept."""
    old = table(["a", "b", "c"], [1] * 3, clusters=["x", "y", "x"], lang=["e", None, "f"])
    new = table(["b", "c", "d"], [1] * 3, clusters=["y", "x", "z"], lang=["g", "f", "h"], name="candidate")
    found = pair(old, new, rules(columns=("lang",), missing="drop", max_missing=0.5))
    assert found.columns["lang"].tolist() == ["e", "g", "f", "h"]
    assert found.clusters is not None
    assert found.clusters.tolist() == [0, 1, 0, 2]
    assert found.counts.n_clusters == 3
    alone = table(["a", "b", "c"], [1] * 3)
    for sides in ((old, alone), (alone, old)):
        found = pair(*sides, rules(columns=("lang",)))
        assert found.columns["lang"].tolist() == ["e", None, "f"]
        assert found.clusters is not None
        assert found.clusters.tolist() == [0, 1, 0]
    clash = replace(new, columns={"lang": objects(["g", "e", "h"])})
    fault = error("column_inconsistent", old, clash, columns=("lang",), missing="drop", max_missing=0.5)
    assert "lang differs between the two files ('c')" in fault.message
    assert fault.where == "candidate.csv"
    fault = error("cluster_missing", alone, table(list("abc"), [1] * 3, clusters=["x", "y", None]))
    assert "1 items have no cluster ('c')" in fault.message


def test_labels_of_common_items_only_must_agree() -> None:
    old = table(["a", "b", "c"], [1] * 3, gold=["x", "y", "z"])
    new = table(["c", "b", "d"], [1] * 3, gold=["z", "y", "x"], name="candidate")
    accepts: dict[str, Any] = {"missing": "drop", "max_missing": 0.5}
    pair(old, new, rules(label="gold", **accepts))
    other = replace(new, columns={"gold": objects(["y", "y", "x"])})
    fault = error("not_comparable", old, other, label="gold", **accepts)
    assert "gold differs between the two files on 1 items ('c')" in fault.message
    assert fault.where == "candidate.csv"
    runs = table(["a", "a", "b", "b"], [1] * 4, repeats=["1", "2"] * 2, gold=["x", "x", "y", "z"])
    fault = error("column_inconsistent", runs, runs, label="gold")
    assert "gold is not the same on all runs of an item ('b')" in fault.message


def test_shown_text_is_that_of_the_first_run() -> None:
    old = table(
        ["b", "b", "a", "a"],
        [1] * 4,
        repeats=["1", "2", "1", "2"],
        said=["b1", "b2", "a1", "a2"],
        note=list("wwvv"),
    )
    new = table(["a", "c"], [1, 1], said=["a1", "c1"], name="candidate")
    accepts: dict[str, Any] = {"missing": "drop", "max_missing": 0.9}
    found = pair(old, new, rules(show=("said", "note"), **accepts))
    assert {name: text.tolist() for name, text in found.shown.items()} == {
        "said (baseline)": ["a1", "b1", None],
        "said (candidate)": ["a1", None, "c1"],
        "note": ["v", "w", None],
    }
    same = pair(old, old, rules(show=("said",)))
    assert {name: text.tolist() for name, text in same.shown.items()} == {"said": ["a1", "b1"]}
    only_new = pair(table(["a", "c"], [1, 1]), new, rules(show=("said",)))
    assert only_new.shown["said"].tolist() == ["a1", "c1"]

"""One shared item is found; what cannot be told apart counts as seen."""

from __future__ import annotations

import numpy as np
import pytest
from history_world import items
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.cycles.items import MOST_MARKED, connected, item_set, item_set_of, overlapping


def test_one_item_of_five_hundred_is_found():
    before, after = items(0, 500), items(499, 500)
    assert overlapping(after, {before.digest: before}) == {before.digest}
    assert overlapping(items(500, 500), {before.digest: before}) == set()


def test_one_item_among_a_thousand_windows():
    windows = {night.digest: night for night in (items(n * 500, 500) for n in range(1000))}
    assert overlapping(items(250_250, 1), windows) == {"items-250000-500"}
    assert overlapping(items(500_000, 500), windows) == set()


def test_disjoint_sets_of_the_largest_marked_size():
    one, other = items(0, MOST_MARKED), items(MOST_MARKED, MOST_MARKED)
    assert one.marks
    assert overlapping(one, {other.digest: other}) == set()


def test_larger_sets_are_told_apart_by_their_range_only():
    def numbered(first):
        return item_set([f"{number:09d}" for number in range(first, first + MOST_MARKED + 1)], f"d{first}")

    first, later = numbered(0), numbered(100_000)
    assert not first.marks
    assert overlapping(later, {first.digest: first}) == set()
    within = item_set([f"{number:09d}" for number in range(1, 90_000, 2)], "odd")
    between = item_set([f"{number:09d}" for number in range(0, 90_000, 2)], "even")
    assert overlapping(within, {between.digest: between}) == {"even"}  # disjoint, but it cannot be shown


def test_ids_too_long_to_be_kept_leave_no_range():
    long = item_set([f"{number:0100d}" for number in range(MOST_MARKED + 1)], "long")
    assert (long.first, long.last, long.marks) == ("", "", "")
    assert overlapping(items(), {"long": long}) == {"long"}


def test_a_sliding_window_hangs_together():
    nights = {n.digest: n for n in (items(start, 7) for start in range(0, 50, 5))}
    assert connected(items(50, 7), nights) == set(nights)
    assert connected(items(500, 7), nights) == set()
    apart = {n.digest: n for n in (items(start, 7) for start in (0, 5, 100))}
    assert connected(items(10, 7), apart) == {"items-0-7", "items-5-7"}


def test_marks_survive_a_record():
    there = items(3, 9)
    assert item_set_of(there.as_holdout("fresh", with_marks=True)) == there
    assert item_set_of(there.as_holdout("fresh", with_marks=True) | {"marks": "AAAA"}).marks == ""


def test_hostile_ids():
    odd = item_set(["\ud800", "a\nb", "", "é"], "odd")
    assert (odd.first, odd.last) == ("", "")
    assert overlapping(odd, {"same": item_set(["\ud800"], "same")}) == {"same"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 60), min_size=1), min_size=1, max_size=8))
def test_connected_is_the_transitive_closure_of_sharing(groups):
    sets = [item_set([str(n) for n in group], str(at)) for at, group in enumerate(groups)]
    shares = np.array([[bool(one & other) for other in groups] for one in groups])
    for _ in groups:
        shares = shares @ shares
    wanted = {str(at) for at in range(1, len(groups)) if shares[0, at]}
    assert connected(sets[0], {s.digest: s for s in sets[1:]}) == wanted
    direct = {str(at) for at in range(1, len(groups)) if groups[0] & groups[at]}
    assert overlapping(sets[0], {s.digest: s for s in sets[1:]}) == direct


@pytest.mark.parametrize(
    "rewritten",
    [
        str.upper,
        lambda text: f" {text}",
        lambda text: text.replace("-", " - "),
        lambda text: text.replace("e", "\uff45"),
    ],
    ids=["case", "blank", "blanks", "width"],
)
def test_ids_written_in_another_way_are_no_new_items(rewritten):
    ids = [f"case-{number}" for number in range(50)]
    old, new = item_set(ids, "old"), item_set([rewritten(text) for text in ids[49:]] + ["x"], "new")
    assert overlapping(new, {"old": old}) == {"old"}
    assert overlapping(old, {"new": item_set_of(new.as_holdout("fresh", with_marks=True))}) == {"new"}


def test_accents_in_another_unicode_form_are_no_new_items():
    old, new = item_set(["caf\u00e9"], "old"), item_set(["cafe\u0301"], "new")
    assert overlapping(new, {"old": old}) == {"old"}


def test_large_sets_in_another_case_are_no_new_items():
    ids = [f"case-{number:06d}" for number in range(MOST_MARKED + 1)]
    other = [f"case-{number:06d}" for number in range(MOST_MARKED + 1, 2 * MOST_MARKED + 2)]
    old = item_set(ids, "old")
    assert overlapping(item_set([text.upper() for text in ids], "new"), {"old": old}) == {"old"}
    assert overlapping(item_set([text.upper() for text in other], "new"), {"old": old}) == set()


def test_other_ids_are_new_items_in_any_writing():
    old, new = item_set(["Case-1", "Case-2"], "old"), item_set(["CASE-3", "case 4"], "new")
    assert overlapping(new, {"old": old}) == set()

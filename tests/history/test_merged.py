"""Histories that grew apart and were merged: what has no order must not be counted as if it had one."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from history_world import attempt, items, run, session
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.cycles import Outcome, Rules, assess, item_set, plan_look
from gate.cycles.chain import order_of
from gate.cycles.promoted import was_promoted
from gate.history import load
from gate.history.checks import join

FRESH3 = Rules(required=3, windows="fresh")
FRESH2 = Rules(required=2, windows="fresh")


def window(number: int) -> object:
    return items(number * 500)


def branches(folder: Path, count: int = 2, before: str = "") -> list[Path]:
    """Copies of one history, after a cycle for each letter in ``before``."""
    first = folder / "h"
    session(first)
    for number, letter in enumerate(before):
        run(first, attempt(f"before{number}", items=window(100 + number)), FRESH3, word(letter))
    copies = [folder / f"branch{number}" for number in range(count)]
    for copy in copies:
        shutil.copy(first, copy)
    return copies


def word(letter: str) -> str:
    return {"p": "pass", "f": "fail", "i": "inconclusive"}[letter]


def merged(folder: Path, *paths: Path) -> Path:
    join([load(path) for path in paths], folder / "merged")
    return folder / "merged"


def passed_next(path: Path, rules: Rules = FRESH3) -> int:
    """The streak with one more passing cycle on a window that nobody has seen."""
    history, look = load(path), attempt("next", items=window(900))
    return assess(history, plan_look(history, look, rules), Outcome("pass", 0.02)).passed


@pytest.mark.parametrize("names", [("a", "b"), ("same", "same")])
def test_one_window_on_two_branches_counts_once(tmp_path: Path, names: tuple[str, str]) -> None:
    paths = branches(tmp_path)
    for path, name in zip(paths, names, strict=True):
        run(path, attempt(name, items=window(1), candidate_digest=f"{path.name}"), FRESH3)
    assert passed_next(merged(tmp_path, *paths)) == 2


@pytest.mark.parametrize("share", [0, 1, 250])
def test_windows_that_share_items_count_once(tmp_path: Path, share: int) -> None:
    paths = branches(tmp_path)
    for number, path in enumerate(paths):
        run(path, attempt(f"c{number}", items=items(number * (500 - share))), FRESH3)
    assert passed_next(merged(tmp_path, *paths)) == (2 if share else 3)


@pytest.mark.parametrize("fails", [0, 1])
@pytest.mark.parametrize("letter", ["f", "i"])
def test_a_loss_on_one_branch_takes_the_other_branch_with_it(tmp_path: Path, fails: int, letter: str) -> None:
    """Neither came first, so nothing shows that the pass came after the loss."""
    paths = branches(tmp_path, before="p")
    for number, path in enumerate(paths):
        status = word(letter if number == fails else "p")
        run(path, attempt(f"c{number}", items=window(number)), FRESH3, status)
    assert passed_next(merged(tmp_path, *paths)) == 1


def test_a_pass_after_the_merge_follows_both_branches(tmp_path: Path) -> None:
    paths = branches(tmp_path)
    run(paths[0], attempt("lost", items=window(0)), FRESH3, "fail")
    run(paths[1], attempt("won", items=window(1)), FRESH3)
    together = merged(tmp_path, *paths)
    run(together, attempt("after", items=window(2)), FRESH3)
    assert passed_next(together) == 2


def test_a_promotion_on_one_branch_ends_the_other_streak(tmp_path: Path) -> None:
    paths = branches(tmp_path, before="p")
    assert run(paths[0], attempt("c0", items=window(0)), FRESH2).verdict == "promote"
    run(paths[1], attempt("c1", items=window(1)), FRESH2, "pass")
    assert passed_next(merged(tmp_path, *paths), FRESH2) == 1


def test_looks_of_every_branch_are_spent(tmp_path: Path) -> None:
    rules = Rules(looks=9)
    paths = branches(tmp_path, 3)
    for number, path in enumerate(paths):
        run(path, attempt(f"c{number}"), rules, "inconclusive")
    history = load(merged(tmp_path, *paths))
    assert plan_look(history, attempt("next"), rules).number == 4


def test_the_larger_promotion_of_two_branches_is_the_one_not_to_shrink_below(tmp_path: Path) -> None:
    paths = branches(tmp_path)
    for path, n in zip(paths, (500, 300), strict=True):
        run(path, attempt(f"c{n}", items=items(0, n)), Rules())
    history = load(merged(tmp_path, *paths))
    found = plan_look(history, attempt("next", items=items(0, 400)), Rules())
    assert "items_shrank" in {fault.code for fault in found.faults}


def test_a_promotion_withdrawn_on_one_branch_is_none(tmp_path: Path) -> None:
    path = tmp_path / "h"
    waived = {"waived": ("guardrail:x",)}
    assert run(path, attempt("c"), Rules(), **waived).verdict == "promote"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    shutil.copy(path, ours)
    shutil.copy(path, theirs)
    assert run(ours, attempt("c"), Rules(), "fail").verdict == "block"
    run(theirs, attempt("other", items=window(5)), Rules())
    together = load(merged(tmp_path, ours, theirs))
    assert not was_promoted(together, attempt("c").candidate_digest + "-" * 12).promoted


def test_of_two_verdicts_on_the_same_files_the_less_favourable_is_replayed(tmp_path: Path) -> None:
    paths = branches(tmp_path)
    for path, status in zip(paths, ("pass", "fail"), strict=True):
        run(path, attempt("c"), Rules(), status)
    history = load(merged(tmp_path, *paths))
    look = plan_look(history, attempt("c"), Rules())
    assert assess(history, look, Outcome("pass", 0.02)).verdict == "block"


CYCLES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ppppfi"), st.integers(0, 4), st.integers(0, 3)), max_size=7
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CYCLES, st.randoms(use_true_random=False), st.booleans())
def test_neither_names_nor_the_order_of_lines_decide(
    tmp_path_factory: pytest.TempPathFactory,
    cycles: list[tuple[int, str, int, int]],
    lot: random.Random,
    again: bool,
) -> None:
    """The same branches in another order of lines give the same streak."""
    folder = tmp_path_factory.mktemp("dag")
    paths = branches(folder, 3)
    for number, (branch, letter, place, name) in enumerate(cycles):
        what = attempt(f"n{name}", items=window(place), candidate_digest=f"d{number}")
        run(paths[branch], what, FRESH3, word(letter))
    first = merged(folder, *paths)
    lines = first.read_bytes().splitlines(keepends=True)
    lot.shuffle(lines)
    (folder / "shuffled").write_bytes(b"".join(lines + lines[: again * 2]))
    assert passed_next(folder / "shuffled") == passed_next(first)
    assert passed_next(first) <= 1 + len({place for _, letter, place, _ in cycles if letter == "p"})
    history = load(first)
    order = order_of(history.records)
    for one in history.records:
        for other in history.records:
            assert not (order.precedes(one, other) and order.precedes(other, one))
            assert order.precedes(one, other) or one.digest not in other.prev


def test_a_window_too_large_for_marks_is_remembered_by_its_span(tmp_path: Path) -> None:
    """More than 20,000 items keep no marks; another set of the same span cannot be shown to be new."""
    large = item_set([f"case-{number:06d}" for number in range(20_001)], "large")
    run(tmp_path / "h", attempt("first", items=large), FRESH3)
    look = plan_look(load(tmp_path / "h"), attempt("next", items=large._replace(digest="other")), FRESH3)
    assert look.window == "overlap"
    assert [fault.code for fault in look.faults] == ["window_not_fresh"]

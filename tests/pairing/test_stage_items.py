"""Which items a staged evaluation asks for: fixed by digests, the same for everyone, never chosen."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.pairing.stages import first_stage, list_digest, savings, stage_look, stage_order, stage_sizes
from gate.values import GateError

DIGEST = "ab" * 32
FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0)
ids_of = st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=40)


def test_the_order_as_published():
    assert stage_order(["é", "b", "a", "10", "9"], DIGEST) == ("é", "a", "b", "9", "10")


@given(ids_of, st.randoms(use_true_random=False))
def test_the_order_is_that_of_the_digests_whatever_the_order_given(ids, random):
    def place(item):
        text = DIGEST.encode() + b"\x00" + item.encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest(), item

    shuffled = list(ids)
    random.shuffle(shuffled)
    assert stage_order(shuffled, DIGEST) == tuple(sorted(ids, key=place))


def test_another_policy_is_another_order_and_no_part_of_the_ids_is_favoured():
    ids = [f"item-{i:04d}" for i in range(1000)]
    first, other = stage_order(ids, DIGEST)[:200], stage_order(ids, "cd" * 32)[:200]
    assert first != other
    # 200 of 1,000 at random hold 100 of the first half, within four standard deviations of 6.3
    assert 75 < sum(item < "item-0500" for item in first) < 125
    assert stage_order([*ids, "new"], DIGEST) != stage_order(ids, DIGEST)
    kept = [item for item in stage_order([*ids, "new"], DIGEST) if item != "new"]
    assert tuple(kept) == stage_order(ids, DIGEST)  # an item more moves no other before another


@pytest.mark.parametrize(
    ("items", "fractions", "sizes"),
    [
        (500, FIFTHS, (100, 200, 300, 400, 500)),
        (503, FIFTHS, (101, 202, 302, 403, 503)),
        (5, FIFTHS, (1, 2, 3, 4, 5)),
        (25, (0.28, 1.0), (7, 25)),  # 0.28 * 25 is 7.000000000000001 in floats
        (3, FIFTHS, (1, 2, 3)),
        (1, (0.5, 1.0), (1,)),
        (0, (0.5, 1.0), ()),
    ],
)
def test_sizes_are_rounded_up_and_never_equal(items, fractions, sizes):
    assert stage_sizes(items, fractions) == sizes


@pytest.mark.parametrize(
    ("scored", "stage", "following", "beyond"), [(2, 1, 2, 0), (3, 1, 2, 1), (4, 2, 2, 0), (10, 5, 0, 0)]
)
def test_the_stage_is_the_largest_whole_one(scored, stage, following, beyond):
    order = stage_order([str(i) for i in range(10)], DIGEST)
    found = stage_look(order, FIFTHS, order[:scored])
    assert (found.stage, len(found.following), found.beyond) == (stage, following, beyond)
    assert found.prefix == order[: 2 * stage]
    assert found.following == order[2 * stage : 2 * stage + following]
    assert found.last is (stage == 5)
    assert found.fractions == FIFTHS


def test_items_beyond_a_gap_are_not_read():
    order = stage_order([str(i) for i in range(10)], DIGEST)
    found = stage_look(order, FIFTHS, [*order[:3], *order[4:]])
    assert (found.stage, found.beyond) == (1, 7)


def test_a_candidate_without_the_first_stage_is_refused_with_what_is_missing():
    order = stage_order([str(i) for i in range(100)], DIGEST)
    with pytest.raises(GateError, match=f"lacks 1 of the 20 items.*{order[19]}") as error:
        stage_look(order, FIFTHS, [*order[:19], *order[20:]])
    assert error.value.code == "stage_incomplete"
    with pytest.raises(GateError, match="no items"):
        stage_look((), FIFTHS, ())


def test_the_first_list_is_the_first_stage():
    order = stage_order([str(i) for i in range(10)], DIGEST)
    assert first_stage(order, FIFTHS) == order[:2]


def test_the_digest_is_that_of_the_file():
    assert list_digest(["b", "é"]) == hashlib.sha256("b\né\n".encode()).hexdigest()


def test_savings_in_items_and_money():
    assert savings(100, 500) == savings(100, 500, None)
    found = savings(100, 500, 0.25)
    assert (found.items, found.share, found.money) == (400, 0.8, 100.0)
    assert savings(500, 500, 0.25).money == 0

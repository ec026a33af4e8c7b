"""How much drawing a metric of a whole set may cost, and when more of it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from gate.stats import set_level
from gate.stats.results import Settings
from gate.stats.seeding import LADDER
from gate.stats.set_level import MOST_DRAWS, Resampling, bootstrap_rows


def asked(work, shift, level=0.025, resamples=9_999):
    """How many resamples are drawn in turn, of normal differences that lie `shift` above 0."""
    counts = []

    def draw(count, rng):
        counts.append(count)
        return rng.normal(shift, 1.0, count)

    plan = Resampling("any", 200, 0.0, shift, b"digest", work, draw)
    return counts, bootstrap_rows(plan, Settings(0.0, level, resamples=resamples))


def test_a_clear_answer_is_drawn_once():
    counts, found = asked(1, 5.0)
    assert counts == [9_999]
    assert found.test.resamples == 9_999


@pytest.mark.parametrize(("work", "most"), [(500, 999_999), (501, 99_999), (5_000, 99_999), (5_001, 9_999)])
def test_a_close_answer_is_drawn_again_as_far_as_the_work_allows(monkeypatch, work, most):
    """1e6 x 500 rows are just within five hundred million; nothing here is ever clear."""
    assert MOST_DRAWS == 500_000_000
    monkeypatch.setattr(set_level, "borderline", lambda *_: True)
    counts, found = asked(work, 1.96)
    assert counts == [n for n in (9_999, *LADDER) if n <= most]
    assert found.test.resamples == most


def test_the_first_draw_is_made_whatever_it_costs():
    counts, found = asked(10**9, 5.0)
    assert counts == [1_999], "fewer resamples where 9,999 would draw too many numbers, but never fewer"
    assert 0 < found.test.p_greater < 0.025
    assert np.isfinite(found.test.interval.low)

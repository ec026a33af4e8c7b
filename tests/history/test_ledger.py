"""The arithmetic of looks, against values that other programs computed when the rules were designed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.cycles.ledger import (
    expected_cycles,
    fewest_cycles,
    fresh_level,
    ledger_level,
    most_looks,
    promotion_chance,
    retry_risk,
    share,
    sign_flip_p,
)

# One-sided level .05, (required, planned blocks): look -> level.
LEVELS = {
    (1, 0): {1: 0.025, 2: 0.00833333333, 3: 0.00416666667, 250: 7.96812749e-07},
    (1, 4): {1: 0.01, 4: 0.01, 5: 0.005, 6: 0.00166666667, 100: 1.07388316e-06},
    (1, 9): {1: 0.005, 9: 0.005, 10: 0.0025, 11: 0.000833333333, 12: 0.000416666667, 50: 2.90360046e-06},
    (1, 19): {19: 0.0025, 20: 0.00125, 30: 1.89393939e-05},
    (3, 1): {1: 0.025, 3: 0.025, 4: 0.0125, 7: 0.00416666667, 250: 3.58577166e-06},
    (3, 9): {27: 0.005, 30: 0.0025, 31: 0.000833333333, 100: 7.69230769e-06},
}
# (correlation, looks) -> P(any look passes at .05), exact for equicorrelated normal looks.
RETRIES = {
    (0.0, 10): 0.4012630607616213,
    (0.25, 20): 0.4737367478761785,
    (0.5, 2): 0.08781057123282499,
    (0.5, 10): 0.24662136188515504,
    (0.5, 250): 0.6754887044738542,
    (0.75, 50): 0.28041071844485266,
    (0.9, 3): 0.07954460941675112,
    (0.9, 250): 0.2154951551404276,
    (0.99, 50): 0.07700098245085596,
}
# (chance to pass one, required, looks) -> P(a run of passes).
STREAKS = {
    (0.05, 1, 20): 0.6415140775914574,
    (0.05, 2, 50): 0.11057570193092933,
    (0.05, 3, 250): 0.029038456054397598,
    (0.05, 5, 250): 7.304432508592687e-05,
    (0.5, 3, 20): 0.7870283126831055,
    (0.8, 5, 50): 0.9990171684957658,
}
# deltas -> sign-flip p at margin 0 and at margin .01.
CYCLES = {
    (0.02, 0.03, 0.01): (0.125, 0.25),
    (0.02, 0.03, 0.01, 0.025): (0.0625, 0.125),
    (0.02, 0.03, 0.01, 0.025, 0.015): (0.03125, 0.0625),
    (0.02, 0.03, -0.005, 0.025, 0.015): (0.0625, 0.1875),
    (0.02, 0.03, -0.04, 0.025, 0.015): (0.25, 0.53125),
    (0.012, 0.021, 0.018, -0.003, 0.027, 0.009): (0.03125, 0.21875),
    (0.02, 0.0, 0.01, 0.03, 0.015): (0.0625, 0.25),
    (0.011, 0.024, -0.006, 0.018, 0.009, 0.031, 0.002, -0.001, 0.016, 0.022): (0.005859375, 0.2568359375),
}


@pytest.mark.parametrize(("shape", "levels"), LEVELS.items())
def test_levels_of_the_ledger(shape, levels):
    required, planned = shape
    for look, level in levels.items():
        assert 0.05 * share(math.ceil(look / required), planned) == pytest.approx(level, rel=1e-8)


def test_ten_looks_of_nine_planned():
    levels = [ledger_level(0.025, look, 1, 9) for look in range(1, 11)]
    assert levels == [0.0025] * 9 + [0.00125]


def test_a_streak_shares_its_block():
    assert [ledger_level(0.025, look, 3, 9) for look in (1, 9)] == [0.00625, 0.00625]
    assert ledger_level(0.025, 10, 3, 9) == 0.003125


@pytest.mark.parametrize("required", range(1, 6))
@pytest.mark.parametrize("planned", range(20))
def test_a_million_looks_spend_no_more_than_the_level(required, planned):
    blocks = np.arange(1, 1_000_000 // required + 1, dtype=np.float64)
    after = np.maximum(blocks - planned, 1)
    spent = np.where(blocks <= planned, 1 / (planned + 1), 1 / ((planned + 1) * after * (after + 1)))
    sampled = [1, planned or 1, planned + 1, planned + 2, len(blocks)]
    assert [share(block, planned) for block in sampled] == pytest.approx(spent[np.array(sampled) - 1])
    # A promotion needs a pass at the level of its block: their sum must not exceed the level.
    assert 0.99 < spent.sum() <= 1 + 1e-9


@given(st.integers(1, 5), st.integers(1, 60), st.integers(1, 3000))
def test_levels_never_rise(required, looks, look):
    now, later = (ledger_level(0.025, t, required, looks) for t in (look, look + 1))
    assert 0 < later <= now <= 0.025


@pytest.mark.parametrize(("case", "chance"), RETRIES.items())
def test_retrying_until_green(case, chance):
    rho, looks = case
    assert list(retry_risk(looks, 0.05, [rho]).values()) == [pytest.approx(chance, abs=1e-12)]


@pytest.mark.parametrize(("case", "chance"), STREAKS.items())
def test_streaks_by_luck(case, chance):
    assert promotion_chance(*case) == pytest.approx(chance, rel=1e-12)


def test_looks_that_a_streak_protects():
    assert [round(most_looks(0.05, k)) for k in (1, 2, 3, 4)] == [1, 20, 400, 8000]
    assert [round(most_looks(0.025, k)) for k in (1, 2, 3)] == [1, 40, 1600]
    assert fresh_level(0.05, 2, 250) == pytest.approx(0.0141421356)
    assert fresh_level(0.025, 2, 250) == pytest.approx(0.01)
    assert fresh_level(0.025, 2, 40) == 0.025
    assert fresh_level(0.025, 1, 250) == pytest.approx(0.0001)


def test_waiting_for_a_promotion():
    found = [expected_cycles(p, k) for p, k in [(0.5, 3), (0.8, 3), (0.95, 5), (0.5, 5)]]
    assert found == pytest.approx([14.0, 4.765625, 5.847108697996327, 62.0])


@pytest.mark.parametrize(("deltas", "wanted"), CYCLES.items())
def test_sign_flip_over_cycles(deltas, wanted):
    found = (sign_flip_p(deltas), sign_flip_p([delta - 0.01 for delta in deltas]))
    assert found == wanted


def test_sign_flip_of_a_long_streak_is_drawn():
    assert sign_flip_p([0.1] * 22) == pytest.approx(2.0**-20, rel=1)
    mixed = [0.01, -0.012, 0.02, 0.005] * 6
    assert sign_flip_p(mixed) == pytest.approx(0.0147, abs=0.002)  # normal approximation, z = 2.18
    assert sign_flip_p(mixed) == sign_flip_p(mixed)


def test_fewest_unanimous_cycles():
    wanted = {0.1: 4, 0.05: 5, 0.025: 6, 0.01: 7, 0.005: 8, 0.001: 10}
    assert {alpha: fewest_cycles(alpha) for alpha in wanted} == wanted

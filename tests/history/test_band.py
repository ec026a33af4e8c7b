"""The noise band over records: digests of bounded size, what is compared with what, and its alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.cycles.band import DIFFERENCES, MIX, Cycle, earlier_cycles, noise_band
from gate.cycles.digests import (
    MOST_MIX_TEXT,
    MOST_TEXT,
    comparable,
    differences_of,
    mix_text,
    read_differences,
    read_mix,
)
from gate.cycles.record import Record, seal
from gate.stats.control import prediction_limits
from gate.stats.heterogeneity import heterogeneity
from gate.stats.spread_change import brown_forsythe, deviations

values = st.floats(-1e50, 1e50, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-50)


# --- digests


def test_few_values_are_counted():
    found = differences_of([1.0, 0.0, -1.0, 0.0, 1.0, 0.0])
    assert found.counts == ((-1.0, 1), (0.0, 3), (1.0, 2))
    assert found.quantiles == ()
    assert found.se == pytest.approx(np.std([1, 0, -1, 0, 1, 0], ddof=1) / np.sqrt(6), rel=1e-8)
    assert differences_of([-1.0, 0.0, 1.0], [1, 3, 2]) == found
    assert differences_of([0.0, 1.0], se=0.125).se == 0.125


def test_many_values_are_a_sketch_of_quantiles():
    d = np.random.default_rng(1).standard_normal(997)
    found = differences_of(d)
    assert found.quantiles == pytest.approx(np.quantile(d, np.linspace(0, 1, 33)), rel=1e-8)
    assert found.counts == ()
    repeated = np.round(d, 2)
    assert differences_of(repeated).quantiles == pytest.approx(
        np.quantile(repeated, np.linspace(0, 1, 33)), rel=1e-8, abs=1e-12
    )
    assert len(differences_of(np.arange(24.0)).counts) == 24
    assert len(differences_of(np.arange(25.0)).quantiles) == 33


@given(st.lists(values, min_size=2, max_size=120))
def test_a_digest_is_small_and_comes_back_as_it_was(d):
    found = differences_of(d)
    assert len(found.text) <= MOST_TEXT
    assert read_differences(found.text) == found
    exact = deviations(d)
    assert found.deviations.sd == pytest.approx(exact.sd, rel=1e-8, abs=1e-290)
    assert found.deviations.mean == pytest.approx(exact.mean, rel=1e-8, abs=1e-290)


@given(st.integers(2, 10**9), st.integers(0, 10**6))
def test_the_size_does_not_grow_with_the_items(n, seed):
    spread = np.random.default_rng(seed).normal(0, 1e-9, 24)
    assert len(differences_of(spread, np.full(24, n)).text) <= MOST_TEXT


@pytest.mark.parametrize(
    "text",
    [None, "", "x", "[]", "[2,5,1,1,1,1,[]]", "[1,1,1,1,1,1,[]]", "[1,5,-1,0,0,0,[]]", '[1,"5",1,1,1,1,[]]',
     "[1,5,NaN,1,1,1,[]]", "[1,5,1,1,1,[]]", '{"a":1}', "7", "[1,5,1,1,1,1,[[1]]]", "[" * 100_000, 5, True],
)  # fmt: skip
def test_what_is_no_digest_is_none(text):
    assert read_differences(text) is None
    assert read_mix(text) is None or text == '{"a":1}'


@given(st.dictionaries(st.text(max_size=200), st.integers(0, 10**12), max_size=60))
def test_a_mix_is_small_and_loses_no_item(counts):
    text = mix_text(counts)
    found = read_mix(text)
    assert len(text) <= MOST_MIX_TEXT * 3
    assert sum(found.values()) == sum(counts.values())
    assert len(found) <= 33


def test_a_mix_of_plain_names_fits():
    counts = {f"{'language-of-a-conversation':<60}{i}": 10**9 + i for i in range(200)}
    text = mix_text(counts)
    assert len(text) <= MOST_MIX_TEXT
    assert len(read_mix(text)) == 33  # long names that begin alike stay apart
    assert read_mix(mix_text({"de": 3, "": 2})) == {"de": 3, "": 2}
    assert read_mix('{"a":-1}') is None
    assert read_mix('{"a":1.5}') is None


def test_mixes_are_compared_over_what_all_of_them_know():
    assert comparable([{"a": 1, "b": 2}, {"b": 3}]) == [{"a": 1, "b": 2}, {"b": 3}]
    assert comparable([{"a": 1, "b": 2}, {"b": 3, "": 4}]) == [{"": 1, "b": 2}, {"b": 3, "": 4}]


# --- the band


def history_of(deltas, rng, metric="correct", scale=1.0):
    """Records of cycles whose item differences have these means."""
    records = []
    for number, delta in enumerate(deltas):
        d = scale * rng.standard_normal(400)
        d += delta - d.mean()
        state = {DIFFERENCES: differences_of(d).text, MIX + "language": mix_text({"de": 200, "en": 200})}
        result = {"delta": float(delta), "sd": float(d.std(ddof=1)), "n": 400, "printed": True}
        records.append(Record(kind="outcome", metric=metric, cycle=f"c{number}", result=result, state=state))
    return records


def now_of(delta, rng, scale=1.0, mix=None):
    d = scale * rng.standard_normal(400)
    found = differences_of(d + delta - d.mean())
    return Cycle("now", delta, found.se, found, {"language": mix or {"de": 200, "en": 200}})


DELTAS = [0.02, 0.05, -0.01, 0.03, 0.00, 0.04]


def test_the_standard_error_of_a_cycle_is_its_digests_else_the_one_of_its_numbers():
    def error(result, state):
        record = Record(kind="outcome", metric="correct", cycle="c", result=result, state=state)
        return earlier_cycles([record], "correct")[0].se

    digest = {DIFFERENCES: differences_of([0.0, 1.0, 0.0, 1.0], se=0.2).text}
    assert error({"delta": 0.1, "sd": 3.0, "n": 9}, {}) == 1.0
    assert error({"delta": 0.1, "sd": 3.0, "n": 9}, digest) == 0.2
    for short in ({"n": 9}, {"sd": 3.0}, {"sd": 3.0, "n": 0}):
        assert error({"delta": 0.1} | short, {}) is None


def test_a_record_holds_the_digests():
    for record in history_of(DELTAS, np.random.default_rng(0)):
        sealed, line = seal(record, ())
        assert len(line) < 3_000
        assert sealed.state == record.state


def test_an_unchanged_cycle_raises_no_alarm():
    rng = np.random.default_rng(1)
    past = earlier_cycles(history_of(DELTAS, rng), "correct")
    found = noise_band(now_of(0.02, rng), past)
    assert found.alarms == ()
    assert found.cycles == 6
    assert found.limits == prediction_limits(DELTAS)
    assert found.spread.cycles == 6
    assert found.between.cycles == 7
    assert found.next_delta == found.between.next_delta()
    assert found.mixes["language"].moved == 0
    assert len(found.drift.scores) == 5


def test_each_alarm_by_itself():
    rng = np.random.default_rng(2)
    past = earlier_cycles(history_of(DELTAS, rng), "correct")

    def codes(now):
        return [caution.code for caution in noise_band(now, past).alarms]

    assert codes(now_of(0.02, rng, scale=2.0)) == ["noise_changed"]
    assert "delta_outside_band" in codes(now_of(0.5, rng))
    assert codes(now_of(0.02, rng, mix={"de": 100, "en": 300})) == ["inputs_shifted"]
    words = noise_band(now_of(0.02, rng, scale=2.0), past).alarms[0].message
    assert "revalidate the margin" in words
    assert "as in 6 earlier cycles" in words


def test_a_slow_drift_is_an_alarm_although_every_step_lies_within():
    rng = np.random.default_rng(3)
    level = [float(x) for x in 0.01 * rng.standard_normal(20)]
    drifting = [0.02] * 5
    past = earlier_cycles(history_of([*level, *drifting], rng), "correct")
    found = noise_band(now_of(0.02, rng), past)
    assert [caution.code for caution in found.alarms] == ["delta_drift"]
    assert "drift up" in found.alarms[0].message


def test_limits_begin_at_five_cycles_and_spread_at_one():
    rng = np.random.default_rng(4)
    records = history_of(DELTAS, rng)
    for count in range(7):
        found = noise_band(now_of(0.02, rng), earlier_cycles(records[:count], "correct"))
        assert (found.limits is not None) is (count >= 5)
        assert (found.spread is not None) is (count >= 1)
        assert (found.between is not None) is (count >= 1)
        assert bool(found.mixes) is (count >= 1)


def test_ten_cycles_are_remembered():
    rng = np.random.default_rng(5)
    records = history_of([5.0, *([0.02, 0.03] * 5)], rng)
    found = noise_band(now_of(0.02, rng), earlier_cycles(records, "correct"))
    assert (found.limits.cycles, found.spread.cycles) == (10, 10)
    assert found.limits.high < 1
    assert found.cycles == 11


def test_other_metrics_later_records_of_a_cycle_and_other_kinds_do_not_count():
    rng = np.random.default_rng(6)
    records = history_of(DELTAS, rng)
    again = records[0]._replace(result={"delta": 9.0})
    noise = [records[0]._replace(kind="intent", cycle="x"), *history_of([7.0], rng, metric="other")]
    assert earlier_cycles([*records, again, *noise], "correct") == earlier_cycles(records, "correct")
    past = earlier_cycles(records, "correct")
    renamed = now_of(0.02, rng)
    same = Cycle("c0", renamed.delta, renamed.se, renamed.differences, renamed.mixes)
    assert noise_band(same, past).cycles == 5  # a cycle is never its own past


def test_withheld_numbers_are_not_used():
    rng = np.random.default_rng(7)
    hidden = [r._replace(result={**r.result, "printed": False}) for r in history_of(DELTAS, rng)]
    past = earlier_cycles(hidden, "correct")
    assert all(cycle == Cycle(cycle.name, None) for cycle in past)
    found = noise_band(now_of(0.02, rng), past)
    assert (found.cycles, found.spread, found.limits, found.mixes) == (0, None, None, {})


def test_records_without_digests_still_give_limits():
    """What older versions wrote: the delta, its sd and n, and nothing to test the spread with."""
    rng = np.random.default_rng(8)
    old = [r._replace(state={}) for r in history_of(DELTAS, rng)]
    past = earlier_cycles(old, "correct")
    found = noise_band(now_of(0.02, rng), past)
    assert (found.spread, found.mixes) == (None, {})
    assert found.limits is not None
    assert found.between == heterogeneity(
        [*DELTAS, 0.02], [*(float(r.result["sd"]) / 20 for r in old), now_of_se(found, past)]
    )


def now_of_se(found, past):
    del found, past
    rng = np.random.default_rng(8)
    history_of(DELTAS, rng)
    return now_of(0.02, rng).se


def test_a_cycle_without_numbers_is_judged_by_its_inputs_alone():
    rng = np.random.default_rng(9)
    past = earlier_cycles(history_of(DELTAS, rng), "correct")
    found = noise_band(Cycle("now", None, mixes={"language": {"fr": 400}}), past)
    assert [caution.code for caution in found.alarms] == ["inputs_shifted"]
    assert (found.spread, found.limits, found.drift.scores) == (None, None, ())


def test_the_spread_is_that_of_the_digests():
    rng = np.random.default_rng(10)
    records = history_of(DELTAS, rng)
    past = earlier_cycles(records, "correct")
    now = now_of(0.02, rng, scale=1.4)
    wanted = brown_forsythe(
        now.differences.deviations, [read_differences(r.state[DIFFERENCES]).deviations for r in records]
    )
    assert noise_band(now, past).spread == wanted
    assert json.loads(records[0].state[DIFFERENCES])[1] == 400

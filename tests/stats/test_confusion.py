"""F1 and its like from joint cells; log loss, Brier and accuracy as item values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats.confusion import MEASURES, confusion_test, joint_cells
from gate.stats.item_scores import correct, log_losses, squared_errors
from gate.stats.results import Settings
from gate.values import GateError

LEVEL = 0.025


def predictions(n=600, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    old = np.where(rng.random(n) < 0.8, label, ~label)
    new = np.where(rng.random(n) < 0.93, label, ~label)
    return label, old, new


def plain(measure, label, said):
    """The textbook definition over rows."""
    tp, fp = np.sum(label & said), np.sum(~label & said)
    fn, tn = np.sum(label & ~said), np.sum(~label & ~said)
    return float(MEASURES[measure](*(np.float64(x) for x in (tp, fp, fn, tn))))


@pytest.mark.parametrize("measure", MEASURES)
def test_resampled_law_is_the_enumerated_one(measure):
    label = np.array([True, True, True, False, False, False])
    old = np.array([True, False, False, True, False, False])
    new = np.array([True, True, False, False, True, False])
    law = []
    for ups in itertools.product(range(3), repeat=3):
        for downs in itertools.product(range(3, 6), repeat=3):
            rows = np.array(ups + downs)
            law.append(plain(measure, label[rows], new[rows]) - plain(measure, label[rows], old[rows]))
    law = np.round(law, 12)
    for m in (0.0, 0.2, -0.15):
        found = confusion_test(
            joint_cells(label, old, new), measure, Settings(m, LEVEL, resamples=9_999, seed=3)
        ).test
        assert found.p_greater == pytest.approx(np.mean(law <= m), abs=0.021)
        assert found.p_less == pytest.approx(np.mean(law >= m), abs=0.021)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_cells_count_rows(rows):
    cells = joint_cells(*(np.array(column) for column in zip(*rows, strict=True)))
    for label, old, new in itertools.product((0, 1), repeat=3):
        assert cells[label, old, new] == sum(row == (label, old, new) for row in rows)


@pytest.mark.parametrize("measure", MEASURES)
def test_exchange_of_systems_and_order_of_rows(measure):
    label, old, new = predictions()
    one = confusion_test(joint_cells(label, old, new), measure, Settings(0.0, LEVEL, resamples=1_999))
    order = np.random.default_rng(1).permutation(label.size)
    assert one == confusion_test(
        joint_cells(label[order], old[order], new[order]), measure, Settings(0.0, LEVEL, resamples=1_999)
    )
    two = confusion_test(joint_cells(label, new, old), measure, Settings(0.0, LEVEL, resamples=1_999))
    assert two.test.estimate == -one.test.estimate
    assert two.test.p_less == pytest.approx(one.test.p_greater, abs=0.03)
    assert one.test.p_greater < LEVEL
    assert not one.test.insufficient
    assert one.standard_error == pytest.approx(
        (one.test.interval.high - one.test.interval.low) / 3.92, rel=0.1
    )


@pytest.mark.parametrize("m", [0.0, -0.05])
def test_equal_predictions_are_never_a_pass(m):
    label, old, _ = predictions()
    found = confusion_test(joint_cells(label, old, old), "f1", Settings(m, LEVEL, resamples=799))
    assert found.test.p_greater == 1.0
    assert found.test.insufficient


@pytest.mark.parametrize(("changed", "enough"), [(5, False), (6, True)])
def test_changed_predictions_must_be_able_to_reach_the_level(changed, enough):
    label = np.arange(200) % 2 == 0
    old = label & (np.arange(200) % 10 > 0)
    new = old.copy()
    new[np.flatnonzero(label & ~old)[:changed]] = True
    found = confusion_test(joint_cells(label, old, new), "f1", Settings(0.0, LEVEL, resamples=799))
    assert (not found.test.insufficient) == enough


@pytest.mark.parametrize(("positives", "n", "reason"), [
    (19, 100, "20 positive"), (20, 100, ""), (81, 100, "20 negative"), (80, 100, ""), (24, 49, "50 rows"),
    (0, 100, "one label"), (100, 100, "one label"),
])  # fmt: skip
def test_too_few(positives, n, reason):
    label = np.arange(n) < positives
    rng = np.random.default_rng(2)
    cells = joint_cells(label, rng.random(n) < 0.5, rng.random(n) < 0.5)
    found = confusion_test(cells, "f1", Settings(0.0, LEVEL, resamples=799))
    assert (reason in found.test.insufficient) if reason else not found.test.insufficient


def test_nothing_predicted_counts_as_zero():
    label = np.arange(100) % 2 == 0
    found = confusion_test(
        joint_cells(label, np.zeros(100), label), "f1", Settings(0.0, LEVEL, resamples=799)
    )
    assert (found.baseline, found.candidate) == (0.0, 1.0)


def test_a_perfect_candidate_has_no_spread_against_nothing():
    label = np.arange(100) % 2 == 0
    found = confusion_test(
        joint_cells(label, np.zeros(100), label), "f1", Settings(0.0, LEVEL, resamples=799)
    )
    assert "no spread" in found.test.insufficient


@pytest.mark.parametrize(("columns", "words"), [
    (([0, 1], [1], [1, 0]), "pair up"), (([], [], []), "pair up"), (([0, 1], [1, 2], [1, 0]), "0 or 1"),
])  # fmt: skip
def test_columns_that_do_not_fit(columns, words):
    with pytest.raises(ValueError, match=words):
        joint_cells(*columns)


def test_accuracy_is_pass_or_fail_of_any_labels():
    assert correct(["a", "b", "c"], ["a", "c", "c"]).tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(ValueError, match="pair up"):
        correct(["a"], ["a", "b"])


def test_log_loss_is_clipped_and_says_so():
    found = log_losses(np.array([True, False, True, False]), np.array([0.0, 1.0, 1.0, 0.25]))
    assert found.values[:2] == pytest.approx(-math.log(1e-15), rel=1e-3)
    assert found.values[2] == pytest.approx(1e-15, rel=0.2)
    assert found.values[3] == pytest.approx(-math.log(0.75))
    assert found.clipped == 3
    assert log_losses(np.array([True]), np.array([1e-15])).clipped == 0


@pytest.mark.parametrize("wrong", [-1e-9, 1.000001, math.nan, math.inf])
def test_what_is_no_probability_is_refused(wrong):
    for score in (log_losses, squared_errors):
        with pytest.raises(GateError) as refused:
            score(np.array([True, False]), np.array([0.5, wrong]))
        assert refused.value.code == "outside_scale"


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=20))
def test_exchanging_labels_and_probabilities_changes_no_loss(rows):
    label, p = (np.array(column) for column in zip(*rows, strict=True))
    np.testing.assert_allclose(squared_errors(label, p), squared_errors(~label, 1 - p), atol=1e-12)
    inside = np.clip(p, 1e-3, 1 - 1e-3)
    np.testing.assert_allclose(
        log_losses(label, inside).values, log_losses(~label, 1 - inside).values, rtol=1e-9
    )


def test_measures_of_every_table_of_up_to_four_rows():
    """By their fractions; 0 / 0 is 0, and one row is enough for a share."""

    def share(top, bottom):
        return top / bottom if bottom else 0.0

    for tp, fp, fn, tn in itertools.product(range(4), repeat=4):
        cells = [np.array(float(x)) for x in (tp, fp, fn, tn)]
        product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        expected = {
            "f1": share(2 * tp, 2 * tp + fp + fn),
            "precision": share(tp, tp + fp),
            "recall": share(tp, tp + fn),
            "balanced_accuracy": (share(tp, tp + fn) + share(tn, tn + fp)) / 2,
            "matthews": share(tp * tn - fp * fn, math.sqrt(product)),
        }
        assert {name: float(of(*cells)) for name, of in MEASURES.items()} == pytest.approx(expected)

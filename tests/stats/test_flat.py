"""No spread: every test answers with the exact sign-flip test (or its own exact law), in both directions."""

import numpy as np
import pytest

from gate.stats.cluster_data import cluster_pairs
from gate.stats.pairs import from_differences, pair
from gate.stats.procedures import run

LEVEL = 0.025
OF_THE_MEAN = (
    "t_guarded",
    "paired_t",
    "bootstrap",
    "bootstrap_bca",
    "bootstrap_t",
    "sign_flip",
    "bca_sign_flip",
)
OF_CLUSTERS = ("cluster_strict", "cluster_pooled", "cluster_cr2", "cluster_sign_flip", "cluster_bootstrap")


@pytest.mark.parametrize("method", OF_THE_MEAN)
@pytest.mark.parametrize("n", [1, 5, 6, 60, 300])
@pytest.mark.parametrize("size", [1.0, 0.1, 1e-9, 1e9])
def test_equal_differences_are_as_unlikely_as_equal_signs(method, n, size):
    gain, loss = (run(method, from_differences([sign * size] * n), 0.0, LEVEL) for sign in (1, -1))
    assert (gain.p_greater, gain.p_less) == (2.0**-n, 1.0)
    assert (loss.p_greater, loss.p_less) == (1.0, 2.0**-n)
    for result in (gain, loss):
        assert (result.interval.low > 0) == (result.p_greater < LEVEL)
        assert (result.interval.high < 0) == (result.p_less < LEVEL)


@pytest.mark.parametrize("method", OF_THE_MEAN)
def test_equal_gains_against_a_margin(method):
    data = from_differences([0.5] * 60)
    assert run(method, data, 0.4, LEVEL).p_greater == 2.0**-60
    at = run(method, data, 0.5, LEVEL)
    assert (at.p_greater, at.p_less) == (1.0, 1.0)
    assert run(method, data, 0.6, LEVEL).p_less == 2.0**-60


@pytest.mark.parametrize("method", OF_THE_MEAN)
def test_all_zero_stays_a_fault_of_the_data_at_zero(method):
    result = run(method, from_differences([0.0] * 60), 0.0, LEVEL)
    assert result.insufficient
    assert (result.p_greater, result.p_less) == (1.0, 1.0)


def test_a_tolerance_is_not_proven_by_signs_where_the_scores_have_a_range():
    """Gaffke's bound, (1 - tolerance)^n where nothing changes on a scale of width 1, is the larger p."""
    old = np.r_[np.zeros(30), np.ones(30)]
    result = run("t_guarded", pair(old, old), -0.05, LEVEL)
    assert result.p_greater == pytest.approx(0.95**60, rel=1e-4)


@pytest.mark.parametrize("method", OF_CLUSTERS)
@pytest.mark.parametrize("sizes", [[3] * 8, [1, 2, 3, 4, 5, 6, 7, 8], [2] * 40])
@pytest.mark.parametrize("loss", [0.1, 1.0, 1e-9, 1e6])
def test_equal_clusters(method, sizes, loss):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for sign in (1, -1):
        data = cluster_pairs(np.zeros(len(labels)), np.full(len(labels), sign * loss), labels)
        result = run(method, data, 0.0, LEVEL)
        wanted = (2.0 ** -len(sizes), 1.0)
        assert (result.p_greater, result.p_less) == (wanted if sign > 0 else wanted[::-1])
        assert not result.insufficient


@pytest.mark.parametrize("method", OF_CLUSTERS)
def test_clusters_that_differ_by_rounding_errors_only_are_equal(method):
    labels = np.repeat(np.arange(10), 3)
    d = np.tile([0.1, 0.2, -0.3], 10)
    result = run(method, cluster_pairs(np.zeros(30), d, labels), 0.0, LEVEL)
    assert (result.p_greater, result.p_less) == (1.0, 1.0)


@pytest.mark.parametrize("method", OF_CLUSTERS)
def test_equal_clusters_prove_no_tolerance(method):
    labels = np.repeat(np.arange(10), 3)
    still = cluster_pairs(np.ones(30), np.ones(30), labels)
    assert run(method, still, -0.1, LEVEL).insufficient
    gain = cluster_pairs(np.zeros(30), np.ones(30), labels)
    assert not run(method, gain, -0.1, LEVEL).insufficient


def test_scores_that_never_changed_prove_no_share_of_them():
    """Relative to the baseline they are one difference that is not zero: 1 - 0.8, on every item."""
    old = np.ones(60)
    assert run("t_guarded", pair(old, old, old - 0.8 * old), 0.0, LEVEL).insufficient
    assert not run("t_guarded", pair(old, 0.9 * old, 0.9 * old - 0.8 * old), 0.0, LEVEL).insufficient

"""What a promotion was worth: published figures, numerical integration, and drawn worlds of candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from gate.stats.power import mcnemar_power
from gate.stats.worth import (
    FEWEST_CANDIDATES,
    Prior,
    false_promotion_rule,
    prior_of,
    worth_by_declaration,
    worth_by_history,
)


def test_the_rule_as_published():
    assert false_promotion_rule(0.05, 0.025, 0.5) == pytest.approx(0.48717948717948717, rel=1e-14)
    assert false_promotion_rule(0.2, 0.0, 0.0) == 0.0
    assert false_promotion_rule(0.0, 0.02, 0.9) == 1.0
    assert false_promotion_rule(1.0, 0.02, 0.9) == 0.0


def test_the_rule_counts_what_a_world_of_candidates_shows():
    """One in five gains 5 points, the others nothing; exact McNemar on 500 items, 10 % disagreement."""
    rng = np.random.default_rng(1)
    n, psi, gain, level, share = 500, 0.1, 0.05, 0.025, 0.2
    wanted = false_promotion_rule(
        share, mcnemar_power(n, psi, 0.0, level), mcnemar_power(n, psi, gain, level)
    )
    worlds = 400_000
    good = rng.random(worlds) < share
    s = rng.binomial(n, psi, worlds)
    b = rng.binomial(s, np.where(good, (psi + gain) / (2 * psi), 0.5))
    promoted = stats.binom.sf(b - 1, s, 0.5) < level
    assert np.mean(~good[promoted]) == pytest.approx(wanted, abs=0.003)


@pytest.mark.parametrize(
    ("delta", "se", "share", "gain", "wanted"),
    [
        (0.03, 0.012, 0.2, 0.03, (0.2801471510329323, 0.01979345713911292)),
        (0.03, 0.012, 0.5, 0.03, (0.08866654846693438, 0.025058509719372953)),
        (0.012, 0.012, 0.2, 0.03, (0.8343450186008606, 0.0023825662176681097)),
        (0.025, 0.0125, 0.3, 0.01, (0.39676070710304423, 0.008408407192861029)),
    ],
)
def test_a_declaration_as_published_and_by_integration(delta, se, share, gain, wanted):
    found = worth_by_declaration(delta, se, share, gain)
    assert (found.not_better, found.gain) == pytest.approx(wanted, rel=1e-10)
    tau = gain * math.sqrt(math.pi / 2)

    def joint(mu, power=0):
        return mu**power * 2 * stats.norm.pdf(mu, 0, tau) * stats.norm.pdf(delta, mu, se)

    top = 12 * (tau + se)
    good = share * integrate.quad(joint, 0, top, epsabs=1e-13, limit=200)[0]
    mean = share * integrate.quad(lambda mu: joint(mu, 1), 0, top, epsabs=1e-14, limit=200)[0]
    none = (1 - share) * stats.norm.pdf(delta, 0, se)
    assert found.not_better == pytest.approx(none / (none + good), abs=1e-9)
    assert found.gain == pytest.approx(mean / (none + good), abs=1e-9)


@given(
    st.floats(-1, 1),
    st.floats(1e-4, 0.2),
    st.floats(0.001, 0.999),
    st.floats(1e-4, 0.5),
    st.floats(0.01, 0.5),
)
def test_a_larger_delta_is_worth_more_and_less_often_false(delta, se, share, gain, more):
    low, high = (worth_by_declaration(d, se, share, gain) for d in (delta, delta + more))
    assert 0 <= high.not_better <= low.not_better + 1e-12 <= 1 + 1e-12
    assert -1e-12 <= low.gain <= high.gain + 1e-12
    assert low.gain <= max(delta, 0) + 20 * se
    surer = worth_by_declaration(delta, se, min(0.9999, share * 1.5), gain)
    assert surer.not_better <= low.not_better + 1e-12 or share * 1.5 > 0.9999


@pytest.mark.parametrize("delta", [-50.0, 50.0])
def test_far_out_nothing_overflows(delta):
    found = worth_by_declaration(delta, 1e-3, 0.2, 0.03)
    assert found.not_better == pytest.approx(1.0 if delta < 0 else 0.0, abs=1e-6)
    assert found.gain >= 0
    assert found.gain == pytest.approx(max(delta, 0.0), rel=0.01, abs=1e-6)


def test_the_promoted_of_a_drawn_world_are_as_often_false_as_it_says():
    rng = np.random.default_rng(2)
    worlds, share, gain, se = 200_000, 0.2, 0.03, 0.012
    good = rng.random(worlds) < share
    true = np.where(good, np.abs(rng.normal(0, gain * math.sqrt(math.pi / 2), worlds)), 0.0)
    seen = true + se * rng.standard_normal(worlds)
    for low in (0.02, 0.03, 0.05):
        near = (seen >= low) & (seen < low + 0.002)
        said = [worth_by_declaration(float(d), se, share, gain) for d in seen[near]]
        assert np.mean(~good[near]) == pytest.approx(np.mean([w.not_better for w in said]), abs=0.02)
        assert np.mean(true[near]) == pytest.approx(np.mean([w.gain for w in said]), abs=0.001)


@pytest.mark.parametrize(
    ("delta", "prior", "wanted"),
    [
        (0.03, Prior(0.004, 0.0001, 10), (0.028211799590313877, 0.01465573770491803)),
        (0.01, Prior(-0.002, 0.0002, 12), (0.29325116422940556, 0.004976744186046512)),
    ],
)
def test_a_history_as_published(delta, prior, wanted):
    found = worth_by_history(delta, 0.012, prior)
    assert (found.not_better, found.gain) == pytest.approx(wanted, rel=1e-12)


def test_candidates_that_differ_by_noise_alone():
    assert worth_by_history(0.05, 0.01, Prior(0.004, 0.0, 10)) == worth_by_history(
        0.01, 0.01, Prior(0.004, 0.0, 10)
    )
    assert worth_by_history(0.05, 0.01, Prior(-0.004, 0.0, 10)).not_better == 1.0
    assert worth_by_history(0.05, 0.01, Prior(0.0, 0.0, 10)).not_better == 1.0


def test_a_history_of_ten_candidates_is_the_least():
    rng = np.random.default_rng(3)
    true = rng.normal(0.005, 0.02, 4000)
    errors = np.full(true.size, 0.01)
    deltas = true + errors * rng.standard_normal(true.size)
    prior = prior_of(deltas.tolist(), errors.tolist())
    assert prior.mean == pytest.approx(0.005, abs=0.001)
    assert prior.tau2 == pytest.approx(0.0004, rel=0.1)
    assert prior.candidates == 4000
    assert (
        prior_of(deltas[: FEWEST_CANDIDATES - 1].tolist(), errors[: FEWEST_CANDIDATES - 1].tolist()) is None
    )
    assert prior_of(deltas[:FEWEST_CANDIDATES].tolist(), errors[:FEWEST_CANDIDATES].tolist()) is not None
    assert prior_of(deltas[:12].tolist(), [0.0] * 12) is None
    worth = [worth_by_history(float(d), 0.01, prior) for d in deltas]
    for low in (-0.01, 0.0, 0.02):
        near = (deltas >= low) & (deltas < low + 0.005)
        said = np.mean([w.not_better for w, inside in zip(worth, near, strict=True) if inside])
        assert np.mean(true[near] <= 0) == pytest.approx(said, abs=0.08)

"""Planted losses and gains: what is caught, against arithmetic; powerless policies are errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import beta, binom

from gate.planning.notes import baseline_notes, policy_notes
from gate.planning.planting import Plant, plant
from gate.planning.selftest import CAUGHT, Finding, faults, selftest
from gate.planning.trials import Trials
from gate.planning.world import rerun
from gate.policy.load import loads
from gate.stats.seeding import generator

from .worlds import BINARY, passfail, world

RULES = (
    BINARY
    + "guardrails: [{metric: ok, kind: binary, direction: higher, mode: limit, min: 0.5}]\n"
    + "slices: {by: [lang], min_items: 30}\n"
    + "items: {must_pass: [q0, q1]}\n"
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finding]:
    """Every rule of one policy on 60 items of which 40 pass, without noise. Asked once: it is long work."""
    rows = [row | {"lang": "de" if k % 20 == 0 else "en"} for k, row in enumerate(passfail(60, 40))]
    small = world(tmp_path_factory.mktemp("selftest"), rows, RULES, share=1e-9)
    return {finding.rule: finding for finding in selftest(small, 0.025, lambda _: None)}


def plausible(chance: float) -> bool:
    """Whether 20 of 25 seeded plantings may have the effect first where one has it with this chance."""
    low, high = beta.ppf([0.001, 0.999], CAUGHT, 26 - CAUGHT)
    return bool(low <= chance <= high)


def test_every_rule_is_asked(found: dict[str, Finding]) -> None:
    assert list(found) == ["gating:ok", "guardrail:ok", "must_pass", "slice:lang=de", "slice:lang=en"]
    assert faults(tuple(found.values())) == []


def test_a_limit_catches_what_lies_beyond_it(found: dict[str, Finding]) -> None:
    """40 of 60 pass, the limit is 30: each passing item is lost with chance size / (40 / 60), 11 must be."""
    limit = found["guardrail:ok"]
    assert limit.unchanged == 25
    assert limit.passes.size == 0
    assert limit.blocks.size is not None
    assert plausible(binom.sf(10, 40, limit.blocks.size * 60 / 40))
    assert limit.blocks.count >= CAUGHT


def test_must_pass_catches_a_single_lost_item(found: dict[str, Finding]) -> None:
    must_pass = found["must_pass"]
    assert must_pass.unchanged == 25
    assert must_pass.blocks.size is not None
    assert plausible(binom.sf(0, 2, must_pass.blocks.size * 60 / 40))


def test_the_gating_rule_passes_what_exact_mcnemar_passes(found: dict[str, Finding]) -> None:
    """Without noise c = 0, and 2^-b < 0.025 from b = 6 on, which is above the margin of 0.05."""
    gating = found["gating:ok"]
    assert gating.unchanged == 0
    assert gating.passes.size is not None
    assert plausible(binom.sf(5, 20, gating.passes.size * 60 / 20))
    assert gating.stops.size == 0


def test_small_slices_are_reported_and_not_gated(found: dict[str, Finding]) -> None:
    """57 items of the slice, 38 of them passing: 2^-c < 0.025 from c = 6 lost ones on."""
    assert not found["slice:lang=de"].gated
    large = found["slice:lang=en"]
    assert large.blocks.size is not None
    assert plausible(binom.sf(5, 38, large.blocks.size * 57 / 38))


def test_too_few_items_can_never_promote(tmp_path: Path) -> None:
    small = world(tmp_path, passfail(20, 12), share=1e-9)
    assert faults(selftest(small, 0.025, lambda _: None)) == [
        "gating:ok can never pass with 20 items",
        "gating:ok can never fail with 20 items",
        "no planted loss makes this policy block",
    ]


def test_a_tolerance_that_so_few_items_cannot_prove_is_noted(tmp_path: Path) -> None:
    """n items without a loss prove a tolerance t only where (1 - t)^n is below the level."""
    rail = (
        "guardrails: [{metric: ok, kind: binary, direction: higher, mode: non_inferior, tolerance: 0.05}]\n"
    )
    for n, reached in ((60, False), (80, True)):
        assert ((1 - 0.05) ** n < 0.025) is reached
        notes = {note.code for note in baseline_notes(world(tmp_path, passfail(n, 40), BINARY + rail), 0.025)}
        assert ("tolerance_out_of_reach" in notes) is not reached


def test_the_same_trial_has_the_same_noise_whatever_is_planted(tmp_path: Path) -> None:
    small = world(tmp_path, passfail(60, 40), share=0.2)
    key = (None, "ok")
    first, second = (Trials(small, small.policy, 0.025).answer(3, [Plant(key, 0.1)]) for _ in range(2))
    assert first == second
    rng = generator(1)
    base = rerun(small, rng)[key][1]
    coins = [plant(small, Plant(key, size), base, generator(2)) for size in (0.1, 0.2)]
    assert (coins[0] <= coins[1]).all()  # a larger gain holds every item of a smaller one


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BINARY, "alpha_two_sided"),
        (BINARY.replace("0.05}", "0.0}"), "margin_zero"),
        (BINARY + "correction: bh\n", "correction"),
        (BINARY + "slices: {by: [lang]}\n", "slices"),
        (BINARY + "items: {missing: drop, max_missing: 0.1}\n", "missing_above_margin"),
        (
            BINARY + "guardrails: [{metric: ok, kind: binary, direction: higher, mode: no_regression}]\n",
            "veto",
        ),
    ],
)
def test_a_policy_is_told_what_an_expert_would_say(text: str, code: str) -> None:
    assert code in {note.code for note in policy_notes(loads(text).policy)}


def test_a_margin_below_what_two_runs_can_see_is_noted(tmp_path: Path) -> None:
    found = world(tmp_path, passfail(60, 40), discordance=0.1)
    notes = {note.code: note.message for note in baseline_notes(found, 0.025)}
    # 2.801585 sqrt(0.1 / 60) = 0.1144
    assert "0.1144" in notes["margin_below_mde"]

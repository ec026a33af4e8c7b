"""No evidence is never a pass: vetoes whose test has no spread, or that could not fire whatever happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import BINARY, GRADED, Answer, decide, policy

from gate.stats.cluster_data import cluster_pairs
from gate.stats.pairs import from_differences, pair
from gate.stats.procedures import run

MEAN_TESTS = [
    "paired_t",
    "t_guarded",
    "bootstrap",
    "bootstrap_bca",
    "bootstrap_t",
    "bca_sign_flip",
    "sign_flip",
]
CLUSTER_MEAN_TESTS = ["cluster_strict", "cluster_cr2", "cluster_sign_flip", "cluster_bootstrap"]


@pytest.mark.parametrize("method", MEAN_TESTS)
@pytest.mark.parametrize("d", [-1.0, -0.003, 0.25])
@pytest.mark.parametrize("m", [0.0, -0.5, 0.1])
def test_equal_differences_are_decided_by_sign_flips(method: str, d: float, m: float) -> None:
    """2^-18 by counting sign patterns; none but the observed one is as extreme."""
    found = run(method, from_differences(np.full(18, d)), m, 0.025)
    small = pytest.approx(2.0**-18, abs=1e-3)  # Monte Carlo tests count the observed sample in 10,000
    assert found.p_greater == (small if d > m else 1.0)
    assert found.p_less == (small if d < m else 1.0)
    assert (found.interval.low > m) is (d > m)
    assert (found.interval.high < m) is (d < m)


@pytest.mark.parametrize("method", CLUSTER_MEAN_TESTS)
@pytest.mark.parametrize("d", [-1.0, 0.25])
def test_equal_clusters_are_decided_by_flips_of_clusters(method: str, d: float) -> None:
    labels = np.repeat(np.arange(10), np.arange(1, 11))
    found = run(method, cluster_pairs(np.zeros(55), np.full(55, d), labels), 0.0, 0.025)
    assert (found.p_less if d < 0 else found.p_greater) == pytest.approx(2.0**-10, abs=1e-3)
    assert (found.p_greater if d < 0 else found.p_less) == 1.0
    assert not found.insufficient


@pytest.mark.parametrize("huge", [1e4, 9.223372036854775807e18, 1e40])
def test_one_huge_pair_rounds_no_other(huge: float) -> None:
    old = np.array([huge, 0.12, 1.0, 1e-9])
    found = pair(old, old + np.array([0.0, -0.02, -0.5, -1e-10]))
    assert sorted(found.differences) == pytest.approx([-0.5, -0.02, -1e-10, 0.0], rel=1e-9, abs=0)


Rows = list[dict[str, Any]]


def rows(n: int, metric: str, value: Any, more: Any = None) -> Rows:
    """A metric beside a gain in ``correct`` on a third of the items: clear from 30 items on."""
    return [{"id": f"q{k}", "correct": 0, metric: value(k), **(more(k) if more else {})} for k in range(n)]


def won(table: Rows) -> Rows:
    return [{**row, "correct": int(k % 3 == 0)} for k, row in enumerate(table)]


def veto(kind: str = "graded", **more: Any) -> dict[str, Any]:
    return {"metric": "m", "kind": kind, "direction": "higher", "mode": "no_regression", **more}


def asked(
    folder: Path, old: list[dict[str, Any]], new: list[dict[str, Any]], *rails: Any, **more: Any
) -> Answer:
    return decide(folder, policy(BINARY, guardrails=list(rails), **more), old, won(new))


@pytest.mark.parametrize(
    "test", ["auto", "paired_t", "bootstrap", "bootstrap_bca", "sign_flip", "wilcoxon", "sign"]
)
@pytest.mark.parametrize(("change", "status"), [(-1.0, "fail"), (1.0, "pass"), (0.0, "pass")])
def test_a_constant_change(tmp_path: Path, test: str, change: float, status: str) -> None:
    old, new = rows(60, "m", lambda k: 2.0 + k), rows(60, "m", lambda k: 2.0 + k + change)
    assert asked(tmp_path, old, new, veto(test=test)).status("guardrail:m") == status


@pytest.mark.parametrize(("change", "verdict"), [(0.5, "promote"), (-0.5, "block"), (0.0, "inconclusive")])
def test_a_constant_change_of_the_gating_metric(tmp_path: Path, change: float, verdict: str) -> None:
    old, new = ([{"id": f"q{k}", "score": k + d} for k in range(40)] for d in (0.0, change))
    assert decide(tmp_path, GRADED, old, new).verdict == verdict


def test_repeats_of_a_pass_fail_veto(tmp_path: Path) -> None:
    old, new = (
        [
            {"id": f"q{k}", "run": r, "correct": int(old == 0 and k % 3 == 0), "m": old}
            for k in range(60)
            for r in "abc"
        ]
        for old in (1, 0)
    )
    wanted = policy(BINARY, guardrails=[veto("binary")], items={"repeat": "run"})
    assert decide(tmp_path, wanted, old, new).status("guardrail:m") == "fail"


@pytest.mark.parametrize(("clusters", "status"), [(5, "inconclusive"), (6, "fail")])
@pytest.mark.parametrize("detect", [None, 0.05])
def test_clusters_with_equal_means(tmp_path: Path, clusters: int, status: str, detect: float | None) -> None:
    """2^-5 = .031 can never be below .025, 2^-6 = .016 is."""
    label = lambda k: {"doc": f"d{k % clusters}"}
    old, new = rows(60, "m", lambda k: 1, label), rows(60, "m", lambda k: 0, label)
    rail = {**veto("binary", set="safety"), **({} if detect is None else {"detect": detect})}
    for name, side in (("old", old), ("new", new)):
        (tmp_path / f"{name}.csv").write_text(
            "id,m,doc\n" + "".join(f"{row['id']},{row['m']},{row['doc']}\n" for row in side), encoding="utf-8"
        )
    main = lambda k: {"doc": f"d{k}"}
    wanted = policy(BINARY, guardrails=[rail], items={"cluster": "doc"})
    found = decide(
        *(tmp_path, wanted, rows(60, "x", lambda k: 1, main), won(rows(60, "x", lambda k: 1, main))),
        *("--set", "safety", tmp_path / "old.csv", tmp_path / "new.csv"),
    )
    assert found.status("guardrail:m:safety") == status
    if status == "inconclusive":
        assert "veto_cannot_fire" in found.cautions()
        assert found.rule("guardrail:m:safety")["mde"] is None


@pytest.mark.parametrize("clusters", [2, 3, 4, 5])
def test_few_clusters_that_lose_something(tmp_path: Path, clusters: int) -> None:
    """A loss spread evenly over few clusters: their spread says nothing, so nothing can be detected."""
    label = lambda k: {"doc": f"d{k % clusters}"}
    old, new = rows(60, "m", lambda k: 1, label), rows(60, "m", lambda k: int(k >= 10), label)
    wanted = policy(BINARY, guardrails=[veto("binary", detect=0.05)], items={"cluster": "doc", "min": 6})
    found = decide(tmp_path, wanted, old, won(new))
    assert found.status("guardrail:m") == "inconclusive"
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("n", "vetoes", "status"),
    [(5, 1, "inconclusive"), (6, 1, "pass"), (6, 2, "inconclusive"), (7, 2, "pass")],
)
def test_a_veto_that_cannot_fire_at_its_corrected_level(
    tmp_path: Path, n: int, vetoes: int, status: str
) -> None:
    """m * 2^-n against .025: 6 items carry one veto, 7 carry two."""
    assert (vetoes * 0.5**n < 0.025) is (status == "pass")
    old = [{"id": f"q{k}", "correct": 0, "m": 1, "m2": 1} for k in range(n)]
    rails = [veto("binary"), {**veto("binary"), "metric": "m2"}][:vetoes]
    found = decide(
        tmp_path, policy(BINARY, guardrails=rails, items={"min": 1}), old, [{**r, "correct": 1} for r in old]
    )
    assert found.status("guardrail:m") == status


@pytest.mark.parametrize("correction", ["none", "bonferroni", "holm", "hochberg", "bh", "by"])
def test_every_correction_is_in_the_floor(tmp_path: Path, correction: str) -> None:
    """Six items and two vetoes: only without a correction is 2^-6 below the level."""
    old = [{"id": f"q{k}", "correct": 0, "m": 1, "m2": 1} for k in range(6)]
    rails = [veto("binary"), {**veto("binary"), "metric": "m2"}]
    wanted = policy(BINARY, guardrails=rails, items={"min": 1}, correction=correction)
    found = decide(tmp_path, wanted, old, [{**r, "correct": 1} for r in old])
    assert found.status("guardrail:m") == ("pass" if correction == "none" else "inconclusive")


@pytest.mark.parametrize(("seeds", "verdict"), [(5, "promote"), (4, "error")])
def test_five_unanimous_seeds(tmp_path: Path, seeds: int, verdict: str) -> None:
    """2^-5 = .031 is below alpha = .05, to which a handful of seeds is held; four could only reach .0625."""
    old, new = (
        [{"id": f"s{k}", "score": 0.5 + d * (1 + k / 10), "m": 1.0 + d * k} for k in range(seeds)]
        for d in (0.0, 0.05)
    )
    wanted = policy(GRADED, items={"unit": "seed", "min": 5}, guardrails=[veto()])
    found = decide(tmp_path, wanted, old, new)
    if verdict == "error":
        assert found.verdict != "promote"
        return
    assert found.verdict == verdict
    assert found.gating["level"] == 0.05
    assert found.gating["p_value"] == pytest.approx(2.0**-5, abs=2e-3)
    assert found.rule("guardrail:m")["level"] == 0.05


def test_five_seeds_that_all_lose(tmp_path: Path) -> None:
    old, new = ([{"id": f"s{k}", "score": 0.5 + d, "m": 1.0 - d} for k in range(5)] for d in (0.0, 0.05))
    wanted = policy(GRADED, items={"unit": "seed", "min": 5}, guardrails=[veto()])
    assert decide(tmp_path, wanted, old, new).status("guardrail:m") == "fail"


@pytest.mark.parametrize(("hanging", "status"), [(0, "fail"), (1, "fail")])
def test_a_catastrophe_hides_no_general_loss(tmp_path: Path, hanging: int, status: str) -> None:
    """+20 ms on 300 items; with one that hangs for 10 s the mean's spread swallows it, the signs do not."""
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 5, 300)
    old = rows(300, "m", lambda k: 500.0)
    new = rows(300, "m", lambda k: 520.0 + noise[k] + (10_000 if k < hanging else 0))
    found = asked(tmp_path, old, new, {**veto(), "direction": "lower"})
    assert found.status("guardrail:m") == status
    assert found.rule("guardrail:m")["sign_test"]["worse"] == 300


def test_slower_on_most_and_much_faster_on_the_rest_is_a_pass(tmp_path: Path) -> None:
    old = rows(400, "m", lambda k: 1000.0 + k % 7)
    new = rows(400, "m", lambda k: 1000.0 + k % 7 + (1.0 if k % 20 < 11 else -500.0))
    found = asked(tmp_path, old, new, {**veto(), "direction": "lower"})
    assert found.status("guardrail:m") == "pass"
    assert found.verdict == "promote"


def test_losses_that_outnumber_gains_without_a_loss_on_the_whole_are_a_warning(tmp_path: Path) -> None:
    old = rows(400, "m", lambda k: 1000.0 + k % 7)
    new = rows(400, "m", lambda k: 1000.0 + k % 7 + (1.0 if k % 20 < 15 else -500.0))
    found = asked(tmp_path, old, new, {**veto(), "direction": "lower"})
    assert found.status("guardrail:m") == "pass"
    assert "most_changes_are_losses" in found.cautions()


@pytest.mark.parametrize("gains", range(4, 9))
def test_a_proven_margin_is_no_less_than_a_proven_gain(tmp_path: Path, gains: int) -> None:
    """5 against 0 of 500: above .001 by the unconditional test, but 2^-5 is no gain at .025."""
    old = [{"id": f"q{k}", "correct": int(k >= gains)} for k in range(500)]
    new = [{"id": f"q{k}", "correct": 1} for k in range(500)]
    found = decide(tmp_path, policy(gating={"margin": 0.001, "margin_rule": "tested"}), old, new)
    proven = 0.5**gains < 0.025
    assert found.verdict == ("promote" if proven else "inconclusive")
    assert found.gating["margin_rules"] == {"observed": proven, "tested": proven}
    assert (found.gating["p_value"] < 0.025) is proven
    assert (found.gating["interval"]["low"] > 0.001) is proven


@pytest.mark.parametrize("clusters", [6, 20])
def test_clusters_that_never_changed_prove_no_tolerance(tmp_path: Path, clusters: int) -> None:
    """Six untouched clusters say nothing of a loss of .001 in a cluster that was not seen."""
    label = lambda k: {"doc": f"d{k % clusters}"}
    old = rows(60, "m", lambda k: 1, label)
    rail = {**veto("binary"), "mode": "non_inferior", "tolerance": 0.001}
    wanted = policy(BINARY, guardrails=[rail], items={"cluster": "doc"})
    assert decide(tmp_path, wanted, old, won(old)).status("guardrail:m") == "inconclusive"


def test_no_difference_has_no_interval(tmp_path: Path) -> None:
    old = [{"id": f"q{k}", "score": k} for k in range(40)]
    new = [{"id": f"q{k}", "score": k, "other": 1} for k in range(40)]
    found = decide(tmp_path, GRADED, old, new)
    assert found.verdict == "inconclusive"
    assert found.gating["interval"]["low"] is None
    assert found.gating["interval"]["high"] is None


def test_what_keeps_a_proven_margin_from_turning(tmp_path: Path) -> None:
    """5 against 0 lack one gain (2^-6 passes .025); 6 against 0 pass until one of the six is lost."""
    for gains, flips in ((5, 1), (4, 2), (6, 1)):
        old = [{"id": f"q{k}", "correct": int(k >= gains + 3)} for k in range(500)]
        new = [{"id": f"q{k}", "correct": int(k >= 3)} for k in range(500)]
        found = decide(tmp_path, policy(gating={"margin": 0.001, "margin_rule": "tested"}), old, new)
        assert found.verdict == ("promote" if gains == 6 else "inconclusive")
        assert found.gating["flips"] == flips


@pytest.mark.parametrize(("able", "status"), [(1, "inconclusive"), (5, "inconclusive"), (6, "fail")])
@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize("layout", ["items", "clusters", "slice"])
def test_items_that_cannot_get_worse_are_no_evidence(
    tmp_path: Path, able: int, status: str, direction: str, layout: str
) -> None:
    """All that the baseline passed are lost: 2^-5 = .031 is not below .025, 2^-6 = .016 is."""
    good = int(direction == "higher")
    label = lambda k: {"doc": f"d{k}", "lang": "de" if k < 40 else "en"}
    old = rows(80, "m", lambda k: good if k < able else 1 - good, label)
    new = [{**row, "correct": int(k % 3 == 0), "m": 1 - good} for k, row in enumerate(old)]
    rail = {**veto("binary"), "direction": direction}
    wanted = policy(BINARY, guardrails=[rail], items={"cluster": "doc"} if layout == "clusters" else {})
    rule = "guardrail:m"
    if layout == "slice":
        for table, passed in ((old, 1 - good), (new, good)):
            for row in table:
                row["correct"] = row["m"] if row["lang"] == "de" else passed
        wanted = policy(BINARY, gating={"direction": direction}, slices={"by": ["lang"]}, correction="none")
        rule = "slice:lang=de"
    found = decide(tmp_path, wanted, old, new)
    assert found.status(rule) == status
    assert ("veto_cannot_fire" in found.cautions()) is (status == "inconclusive")


@pytest.mark.parametrize(("gained", "status"), [(4, "inconclusive"), (5, "pass"), (9, "pass")])
def test_few_that_can_get_worse_matter_where_a_loss_is_observed(
    tmp_path: Path, gained: int, status: str
) -> None:
    """Five passed and are lost; as many or more are gained, so that no loss is observed."""
    old = rows(80, "m", lambda k: int(k < 5))
    new = won(rows(80, "m", lambda k: int(5 <= k < 5 + gained)))
    assert asked(tmp_path, old, new, veto("binary")).status("guardrail:m") == status


def test_the_worst_end_of_a_declared_scale(tmp_path: Path) -> None:
    """Three of 80 items are above the worst end, and all three fall to it: 2^-3."""
    old, new = rows(80, "m", lambda k: 3 if k < 3 else 1), rows(80, "m", lambda k: 1)
    assert asked(tmp_path, old, new, veto(scale=[1, 3])).status("guardrail:m") == "inconclusive"
    assert asked(tmp_path, old, new, veto(scale=[0, 3])).status("guardrail:m") == "pass"

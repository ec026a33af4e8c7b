"""Worlds in which the truth is known: what the gate is told, and whether it should have promoted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.calibration import practices

Floats = NDArray[np.float64]
Rng = np.random.Generator
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    """One draw. baseline, candidate: columns. differences: candidate minus baseline, by item."""

    baseline: Table
    candidate: Table
    differences: Floats
    clusters: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Scenario:
    """draw(rng, gain) gives data whose true mean difference is ``gain``; with 0 nobody may be promoted.

    others: what people do instead, on the same data. few: replicates are divided by this where it is slow.
    """

    name: str
    words: str
    policy: Mapping[str, Any]
    draw: Callable[[Rng, float], Data]
    gain: float
    others: tuple[str, ...] = ("larger mean", "unpaired z")
    few: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)


def policy(kind: str, metric: str, **more: Any) -> dict[str, Any]:
    """Margin 0: every shown gain counts, so that a false promotion is the test's own."""
    gating = {"metric": metric, "kind": kind, "direction": "higher", "margin": 0.0} | more.pop("gating", {})
    return {"version": 1, "name": "calibration", "gating": gating, **more}


def _ids(n: int) -> list[str]:
    return [f"i{k}" for k in range(n)]


def pass_fail(n: int, changed: float) -> Callable[[Rng, float], Data]:
    """``changed``: the share of items that differ where nothing changed."""

    def draw(rng: Rng, gain: float) -> Data:
        share = max(changed, gain)
        win = (share + gain) / 2
        kind = rng.choice(4, n, p=[win, share - win, 0.6 * (1 - share), 0.4 * (1 - share)])
        before = np.isin(kind, (1, 2)).astype(np.int64)
        after = np.isin(kind, (0, 2)).astype(np.int64)
        return _plain("correct", before, after)

    return draw


def graded(n: int, noise: Callable[[Rng, int], Floats], places: int = 6) -> Callable[[Rng, float], Data]:
    """noise: differences with mean 0."""

    def draw(rng: Rng, gain: float) -> Data:
        before = np.round(rng.normal(10, 1, n), places)
        return _plain("score", before, np.round(before + noise(rng, n) + gain, places))

    return draw


def _plain(name: str, before: NDArray[Any], after: NDArray[Any], **columns: Any) -> Data:
    ids = _ids(len(before))
    tables = [{"id": ids, name: side.tolist(), **columns} for side in (before, after)]
    return Data(tables[0], tables[1], (after - before).astype(np.float64))


def normal(rng: Rng, n: int) -> Floats:
    return rng.normal(0, 1, n)


def rare_losses(rng: Rng, n: int) -> Floats:
    """98 of 100 items gain a little, 2 lose a lot."""
    return np.where(rng.random(n) < 0.02, -0.98, 0.02) + rng.normal(0, 0.001, n)


def rare_gains(rng: Rng, n: int) -> Floats:
    return -rare_losses(rng, n)


def lognormal_losses(rng: Rng, n: int) -> Floats:
    return np.exp(0.5) - rng.lognormal(0, 1, n)


def heavy_tails(rng: Rng, n: int) -> Floats:
    return rng.standard_t(3, n)


def sparse(rng: Rng, n: int) -> Floats:
    """Nine items of ten are the same."""
    return np.where(rng.random(n) < 0.1, rng.choice([-1.0, 1.0], n), 0.0)


def clusters(
    count: int, *, left: bool = False, uneven: bool = False, icc: float = 0.5
) -> Callable[[Rng, float], Data]:
    """Cluster effects of ICC ``icc``; left: a few clusters lose much; uneven: lognormal sizes."""

    def draw(rng: Rng, gain: float) -> Data:
        sizes = np.full(count, 10)
        if uneven:
            sizes = np.maximum(1, np.round(10 * rng.lognormal(0, 1, count) / np.exp(0.5))).astype(int)
        effects = 1 - rng.exponential(1, count) if left else rng.normal(0, 1, count)
        codes = np.repeat(np.arange(count), sizes)
        noise = np.sqrt(icc) * effects[codes] + np.sqrt(1 - icc) * rng.normal(0, 1, len(codes))
        before = np.round(rng.normal(10, 1, len(codes)), 6)
        found = _plain("score", before, np.round(before + noise + gain, 6), doc=[f"d{k}" for k in codes])
        return Data(found.baseline, found.candidate, found.differences, codes)

    return draw


def half_labelled(n: int, icc: float, *, declared: bool) -> Callable[[Rng, float], Data]:
    """Topics of 20 items with a weak common effect; the topic of every second one is not known.

    declared: the policy uses what is known, an item without a topic being its own cluster.
    """

    def draw(rng: Rng, gain: float) -> Data:
        codes = np.arange(n) // 20
        effects = rng.normal(0, 1, codes.max() + 1)
        noise = np.sqrt(icc) * effects[codes] + np.sqrt(1 - icc) * rng.normal(0, 1, n)
        before = np.round(rng.normal(10, 1, n), 6)
        known = codes % 2 == 0
        names = [f"t{code}" if known[k] else f"i{k}" for k, code in enumerate(codes)]
        found = _plain(
            "score", before, np.round(before + noise + gain, 6), **({"kept": names} if declared else {})
        )
        return Data(found.baseline, found.candidate, found.differences, codes)

    return draw


def repeats(n: int, runs: int) -> Callable[[Rng, float], Data]:
    """Each item has its own chance to pass, and so many runs a side."""

    def draw(rng: Rng, gain: float) -> Data:
        chance = 0.9 * rng.beta(3, 2, n)
        sides = [rng.random((n, runs)) < np.clip(chance + shift, 0, 1)[:, None] for shift in (0.0, gain)]
        ids = [name for name in _ids(n) for _ in range(runs)]
        number = [str(k) for _ in range(n) for k in range(runs)]
        tables = [{"id": ids, "run": number, "correct": side.astype(int).ravel().tolist()} for side in sides]
        return Data(tables[0], tables[1], sides[1].mean(axis=1) - sides[0].mean(axis=1))

    return draw


def scores(n: int, positives: int) -> Callable[[Rng, float], Data]:
    """Two scores of equal quality, correlated; gain: AUC points, by a larger shift of the positives."""

    def draw(rng: Rng, gain: float) -> Data:
        label = (np.arange(n) < positives).astype(int)
        common = rng.normal(0, 1, n)
        before = label + 0.8 * common + 0.6 * rng.normal(0, 1, n)
        after = label * (1 + 4.5 * gain) + 0.8 * common + 0.6 * rng.normal(0, 1, n)
        found = _plain("score", np.round(before, 6), np.round(after, 6), label=label.tolist())
        return Data(found.baseline, found.candidate, found.differences)

    return draw


def judged(n: int, people: int, bias: float) -> Callable[[Rng, float], Data]:
    """A judge that favours the candidate by ``bias``; people scored some items drawn at random."""

    def draw(rng: Rng, gain: float) -> Data:
        truth = rng.normal(5, 1, n)
        seen = np.zeros(n, dtype=bool)
        seen[rng.choice(n, people, replace=False)] = True
        tables = []
        for shift, extra in ((0.0, 0.0), (gain, bias)):
            human = truth + shift + rng.normal(0, 0.5, n)
            score = np.round(human + extra + rng.normal(0, 0.5, n), 4).tolist()
            shown = [round(float(h), 4) if s else None for h, s in zip(human, seen, strict=True)]
            tables.append({"id": _ids(n), "judge": score, "people": shown})
        difference = np.subtract(tables[1]["judge"], tables[0]["judge"])
        return Data(tables[0], tables[1], difference)

    return draw


_T = ("larger mean", "unpaired z", "percentile bootstrap")
_C = ("items as independent", "mixed model")
_DOC = {"items": {"cluster": "doc"}}

SCENARIOS = (
    Scenario(
        "pass/fail, 50 items, a fifth changes", "", policy("binary", "correct"), pass_fail(50, 0.2), 0.2
    ),
    Scenario(
        "pass/fail, 300 items, a fifth changes", "", policy("binary", "correct"), pass_fail(300, 0.2), 0.08
    ),
    Scenario(
        "pass/fail, 1,000 items, 2 % change", "", policy("binary", "correct"), pass_fail(1000, 0.02), 0.015
    ),
    Scenario("graded, normal, 50 items", "", policy("graded", "score"), graded(50, normal), 0.45, _T),
    Scenario(
        "graded, heavy tails, 100 items", "", policy("graded", "score"), graded(100, heavy_tails), 0.6, _T
    ),
    Scenario(
        "graded, nine of ten equal, 200 items", "", policy("graded", "score"), graded(200, sparse), 0.07, _T
    ),
    Scenario(
        "graded, rare large gains, 300 items",
        "",
        policy("graded", "score"),
        graded(300, rare_gains),
        0.03,
        _T,
    ),
    Scenario(
        "graded, lognormal losses, 100 items",
        "100 items hardly show how skewed such losses are; `assurance: guaranteed` holds",
        policy("graded", "score"),
        graded(100, lognormal_losses),
        0.7,
        _T,
    ),
    Scenario(
        "graded, rare large losses, 100 items",
        "in 13 of 100 sets no loss is seen at all, and no test sees what did not occur",
        policy("graded", "score"),
        graded(100, rare_losses),
        0.05,
        _T,
    ),
    Scenario(
        "graded, rare large losses, 300 items",
        "the same, seen more often",
        policy("graded", "score"),
        graded(300, rare_losses),
        0.04,
        _T,
    ),
    Scenario(
        "the same, `assurance: guaranteed`",
        "",
        policy("graded", "score", gating={"assurance": "guaranteed", "scale": [0, 20]}),
        graded(300, rare_losses),
        0.5,
        (),
    ),
    Scenario(
        "3 runs of 100 pass/fail items",
        "",
        policy("binary", "correct", items={"repeat": "run"}),
        repeats(100, 3),
        0.1,
        ("larger mean",),
    ),
    Scenario("12 clusters of 10", "", policy("graded", "score", **_DOC), clusters(12), 1.0, _C, 2),
    Scenario(
        "12 clusters, a few lose much",
        "",
        policy("graded", "score", **_DOC),
        clusters(12, left=True),
        1.0,
        _C,
        2,
    ),
    Scenario(
        "20 uneven clusters, a few lose much",
        "",
        policy("graded", "score", **_DOC),
        clusters(20, left=True, uneven=True),
        1.0,
        _C,
        2,
    ),
    Scenario(
        "the same, `cluster_skew: pooled`",
        "milder where few clusters are skewed",
        policy("graded", "score", items={"cluster": "doc", "cluster_skew": "pooled"}),
        clusters(20, left=True, uneven=True),
        1.0,
        (),
        2,
    ),
    Scenario("60 clusters of 10", "", policy("graded", "score", **_DOC), clusters(60), 0.4, _C, 2),
    Scenario(
        "1,000 items in topics of 20 that nobody declared (ICC 0.05)",
        "what is ignored cannot be held",
        policy("graded", "score"),
        half_labelled(1000, 0.05, declared=False),
        0.12,
        (),
        2,
    ),
    Scenario(
        "the same, every second topic known and declared",
        "half of the dependence stays unseen",
        policy("graded", "score", items={"cluster": "kept"}),
        half_labelled(1000, 0.05, declared=True),
        0.12,
        (),
        2,
    ),
    Scenario(
        "3,000 items in topics of 20 that nobody declared (ICC 0.05)",
        "more items do not help",
        policy("graded", "score"),
        half_labelled(3000, 0.05, declared=False),
        0.08,
        (),
        4,
    ),
    Scenario(
        "AUC, 30 of 300 positive",
        "",
        policy("auc", "score", items={"label": "label"}),
        scores(300, 30),
        0.08,
        (),
        2,
    ),
    Scenario(
        "a judge that favours the candidate by 0.3, people on 150 of 1,000",
        "",
        policy("judged", "judge", gating={"human": "people"}),
        judged(1000, 150, 0.3),
        0.25,
        ("larger mean",),
        2,
    ),
)

PRACTICES = {
    "larger mean": practices.larger_mean,
    "unpaired z": practices.unpaired_z,
    "percentile bootstrap": practices.percentile_bootstrap,
    "items as independent": practices.paired_t,
    "mixed model": practices.mixed_model,
}

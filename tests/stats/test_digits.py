"""Digits that must not move: ``gate verify`` reproduces the reports of earlier gates from their files.

``frozen/digits.json`` holds what every procedure answered, field by field. That the answers are right is for
the other tests of this folder, by other programs and by enumeration; here they only stay what they are.
``python tests/stats/test_digits.py`` writes the file anew, which is a change that a release has to announce.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.stats import binary, power, single
from gate.stats.binary_intervals import INTERVALS, requested_interval
from gate.stats.cluster_data import Clusters, cluster_pairs, describe, tipping_points
from gate.stats.methods import METHODS
from gate.stats.pairs import Pairs, from_counts, from_differences, pair
from gate.stats.procedures import run
from gate.stats.reference import reference
from gate.stats.repeats import flaky, run_noise
from gate.values import GateError

FILE = Path(__file__).parent / "frozen" / "digits.json"
TURN = (math.sqrt(5) - 1) / 2


def even(n: int, start: float = 0.5) -> np.ndarray[Any, Any]:
    """n numbers spread evenly over (0, 1), in no order, the same on every machine."""
    return (start + TURN * np.arange(n)) % 1.0


def wide(n: int, shift: float, start: float = 0.3) -> np.ndarray[Any, Any]:
    """n differences with long tails on both sides, rounded as a person would."""
    u = even(n, start)
    return np.round(np.log(u / (1 - u)) / 3 + shift, 3)


TABLES = [
    (12, 3, 40),
    (3, 12, 40),
    (7, 0, 20),
    (0, 0, 190),
    (5, 5, 30),
    (46, 25, 400),
    (6, 1, 900),
    (9, 4, 13),
]
GRADED: dict[str, Pairs] = {
    "twelve": from_differences(wide(12, 0.25)),
    "sixty": from_differences(wide(60, 0.12)),
    "right": from_differences(np.round(-np.log(even(70)) - 0.7, 3)),
    "left": from_differences(np.round(np.log(even(70)) + 1.25, 3)),
    "few values": from_differences(np.repeat([-1.0, 0.0, 2.0], [24, 90, 20])),
    "few changed": pair(np.full(80, 0.5), np.r_[np.full(74, 0.5), 0.6, 0.7, 0.9, 0.4, 0.8, 1.0]),
    "outlier": from_differences([*[0.4] * 8, *[0.3] * 3, 9.0, 0.0, 0.0]),
    "many": from_differences(wide(2600, 0.02)),
    "equal": from_differences([0.25] * 7),
    "ten values": from_differences(np.arange(80) % 10 - 4.0),
    "ratings": pair(np.round(1 + 4 * even(45, 0.1)), np.round(1 + 4 * even(45, 0.7) ** 0.8)),
}
SCALES = {"few changed": (0.0, 1.0), "ratings": (1.0, 5.0)}


def clustered(count: int, n: int, shift: float) -> Clusters:
    labels = np.floor(count * even(n, 0.2) ** 1.4)
    return cluster_pairs(np.zeros(n), wide(n, shift) + 0.2 * np.sin(labels), labels)


def clustered_table(count: int, n: int) -> Clusters:
    labels = np.floor(count * even(n, 0.2) ** 1.4)
    old, new = even(n, 0.4) < 0.6, even(n, 0.9) ** (1 + 0.4 * np.sin(labels)) < 0.72
    return cluster_pairs(old, new, labels)


CLUSTERS = {
    "eight": clustered(8, 60, 0.2),
    "fifteen": clustered(15, 150, 0.1),
    "thirty": clustered(30, 200, -0.1),
    "eight of pass and fail": clustered_table(8, 90),
    "sixty of pass and fail": clustered_table(60, 400),
}


def runs(k: int, rise: float) -> np.ndarray[Any, Any]:
    share = np.clip(even(50, 0.15) + rise, 0, 1)
    return np.array([even(k, start) < p for p, start in zip(share, even(50, 0.35), strict=True)], dtype=float)


def by_method(method: str) -> Iterator[tuple[str, Any]]:
    """Every answer of one test of independent pairs."""
    known = METHODS[method]
    tables = {f"{b} {c} {n}": from_counts(b, c, n, (n - b - c) // 2) for b, c, n in TABLES}
    data = tables if "graded" not in known.kinds else GRADED | dict(list(tables.items())[:3])
    for name, pairs in data.items():
        for null_value, level in ((0.0, 0.025), (0.03, 0.025), (-0.05, 0.004)):
            if null_value and not known.margin:
                continue
            scale = SCALES.get(name, (-9.0, 9.0) if method == "gaffke" and not pairs.binary else None)
            yield (
                f"{name}, m = {null_value:g} at {level:g}",
                run(method, pairs, null_value, level, scale=scale),
            )


def by_cluster_method(method: str) -> Iterator[tuple[str, Any]]:
    """Every answer of one test of clusters."""
    for name, clusters in CLUSTERS.items():
        guaranteed = method == "cluster_gaffke"
        data = dataclasses.replace(clusters, most=40) if guaranteed else clusters
        scale = (-50.0, 50.0) if guaranteed and not data.binary else None
        for null_value, level in ((0.0, 0.025), (0.03, 0.025), (-0.05, 0.004)):
            try:
                yield (
                    f"{name}, m = {null_value:g} at {level:g}",
                    run(method, data, null_value, level, scale=scale, resamples=999),
                )
            except GateError as refused:
                yield f"{name}, m = {null_value:g} at {level:g}", refused.code


def beside() -> Iterator[tuple[str, Any]]:
    """What is shown beside a decision."""
    for b, c, n in TABLES:
        pairs = from_counts(b, c, n, (n - b - c) // 3)
        for name in INTERVALS:
            yield f"{name} of {b} {c} {n}", requested_interval(name, pairs, 0.025)
        yield f"mid-p interval of {b} {c} {n}", binary.fay_lumbard(b, c, n, 0.01, midp=True)
        yield f"reference of {b} {c} {n}", reference(pairs)
    for name in ("twelve", "ratings", "many"):
        yield f"reference of {name}", reference(GRADED[name], resamples=999)
    for name, data in CLUSTERS.items():
        yield f"clusters: {name}", describe(data)
    yield "tipping points", tipping_points(2.9, 0.025)
    for k, rise in ((1, 0.1), (3, 0.1), (5, 0.06), (8, -0.02)):
        yield f"{k} runs", (flaky(runs(k, 0.0), runs(k, rise)), run_noise(runs(k, 0.0), runs(k, rise)))
    for values, scale in (
        (wide(30, 0.4), None),
        (even(9), (0.0, 1.0)),
        ([0.5] * 12, (0.0, 2.0)),
        ([3.0], None),
    ):
        yield f"mean of {len(values)}", single.mean(values, 0.02, scale)
    for k, n in ((0, 12), (3, 12), (12, 12), (40, 900)):
        yield f"{k} of {n}", single.proportion_from_counts(k, n, 0.025)


def planning() -> Iterator[tuple[str, Any]]:
    """Sample sizes and power."""
    for level in (0.05, 0.025, 0.004):
        yield f"effects at {level:g}", [power.smallest_effect(0.09, n, level, 0.9) for n in (7, 400)]
        yield f"units at {level:g}", power.fewest_units(level)
        for discordant, delta in ((0.2, 0.08), (0.06, 0.05), (1.0, 0.3), (0.12, -0.03)):
            yield (
                f"power of {discordant:g} {delta:g} at {level:g}",
                [power.mcnemar_power(n, discordant, delta, level) for n in (4, 60, 700)],
            )
            yield (
                f"items for {discordant:g} {delta:g} at {level:g}",
                power.mcnemar_items_needed(discordant, delta, level, 0.7),
            )
        yield f"clean items at {level:g}", [power.clean_items_needed(t, level) for t in (0.02, 0.1)]


GROUPS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "beside": beside,
    "planning": planning,
    **{
        method.id: partial(by_cluster_method if method.sample == "clusters" else by_method, method.id)
        for method in METHODS.values()
        if method.sample != "set"
    },
}


def plain(value: Any) -> Any:
    """As JSON: dataclasses as mappings, cautions by their codes, texts by whether there is one."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if "cautions" in fields:
            fields["cautions"] = [caution.code for caution in fields["cautions"]]
        if "insufficient" in fields:
            fields["insufficient"] = bool(fields["insufficient"])
        return {key: plain(inner) for key, inner in fields.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def answers(group: str) -> dict[str, Any]:
    return {name: plain(value) for name, value in GROUPS[group]()}


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and word of nested lists and mappings, with its place."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            yield from leaves(inner, f"{place}/{key}")
        yield place, len(value)
    else:
        yield place, value


@pytest.mark.parametrize("group", GROUPS)
def test_digits_stay(group: str) -> None:
    frozen = dict(leaves(json.loads(FILE.read_text(encoding="utf-8"))[group]))
    found = dict(leaves(answers(group)))
    assert found.keys() == frozen.keys()
    for place, value in found.items():
        before = frozen[place]
        if isinstance(value, float) and isinstance(before, float) and math.isfinite(before):
            assert value == pytest.approx(before, rel=1e-8, abs=1e-300 if "p_" in place else 1e-12), place
        else:
            assert value == before, place


if __name__ == "__main__":
    FILE.write_text(
        json.dumps({group: answers(group) for group in GROUPS}, indent=0) + "\n", encoding="utf-8"
    )

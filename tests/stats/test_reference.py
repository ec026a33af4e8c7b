"""Every row of the reference tables, through the same calls that the gate makes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gate.stats import power, single
from gate.stats.binary_intervals import requested_interval
from gate.stats.distributions import normal_sf
from gate.stats.gaffke import bounded_p
from gate.stats.graded import hall
from gate.stats.moments import moments
from gate.stats.multiplicity import adjust
from gate.stats.pairs import from_counts, from_differences, pair
from gate.stats.procedures import run
from gate.stats.reference import reference
from gate.stats.resampling import acceleration

ORACLES = Path(__file__).parent.parent / "oracles"
ROWS = [
    row
    for name in ("published.json", "computed.json")
    for row in json.loads((ORACLES / name).read_text(encoding="utf-8"))
    if "cluster" not in row["call"]
]


def pairs_of(data):
    if "b" in data:
        return from_counts(data["b"], data["c"], data["n"], data.get("both_pass", 0))
    if "differences" in data:
        return from_differences(
            np.round(np.array(data["differences"], dtype=float) - data.get("shift", 0.0), 12)
        )
    return pair(data["baseline"], data["candidate"])


def call_run(call):
    result = run(
        call["run"],
        pairs_of(call["data"]),
        call["null_value"],
        call["level"],
        scale=tuple(call["scale"]) if "scale" in call else None,
        resamples=call.get("resamples", 9_999),
    )
    if call["field"] == "interval":
        return [result.interval.low, result.interval.high]
    if call["field"] == "normal_tail":
        return normal_sf(result.statistic)
    return getattr(result, call["field"])


def call_interval(call):
    found = requested_interval(call["interval"], pairs_of(call["data"]), call["level"])
    return [found.low, found.high]


def call_bounded_p(call):
    data = call["bounded_p"]
    return bounded_p(np.array(data["values"]), np.array(data["counts"]), call["null_value"], call["least"])


def call_proportion(call):
    found = single.proportion_from_counts(*call["proportion"], call["level"])
    return [found.interval.low, found.interval.high]


CALLS = {
    "run": call_run,
    "interval": call_interval,
    "bounded_p": call_bounded_p,
    "proportion": call_proportion,
    "hall": lambda call: hall(moments(np.array(call["hall"]["differences"]))).greater(call["null_value"]),
    "acceleration": lambda call: acceleration(from_differences(call["acceleration"]["differences"])),
    "adjust": lambda call: adjust(call["p_values"], call["adjust"]),
    "reference": lambda call: getattr(reference(pairs_of(call["data"])), call["reference"]),
    "smallest_effect": lambda call: call["times"] * power.smallest_effect(**call["smallest_effect"]),
    "items_needed": lambda call: power.items_needed(**call["items_needed"]),
    "mcnemar_power": lambda call: power.mcnemar_power(**call["mcnemar_power"]),
}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_reference_value(row):
    call = row["call"]
    found = CALLS[next(kind for kind in CALLS if kind in call)](call)
    expected = math.ceil(row["expected"]) if call.get("rounded_up") else row["expected"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=row["tolerance"], err_msg=row["source"])

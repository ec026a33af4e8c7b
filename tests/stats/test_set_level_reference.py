"""Every row of the reference tables for metrics of a whole set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gate.stats.auc import delong
from gate.stats.confusion import confusion_test, joint_cells
from gate.stats.distributions import normal_quantile, normal_sf
from gate.stats.item_scores import correct, log_losses, squared_errors
from gate.stats.labelled import labelled
from gate.stats.quantiles import quantile_difference
from gate.stats.ranking import (
    auc_metric,
    average_precision_metric,
    lift_at_metric,
    precision_at_metric,
    recall_at_metric,
)
from gate.stats.ratios import fieller, ratio_difference, ratio_rows
from gate.stats.results import Settings

ORACLES = Path(__file__).parent.parent / "oracles"
TABLES = [
    json.loads((ORACLES / name).read_text(encoding="utf-8"))
    for name in ("published_set_level.json", "set_level.json")
]
DATA = {name: columns for table in TABLES for name, columns in table["data"].items()}
ROWS = [row for table in TABLES for row in table["rows"]]
CURVES = {"auc": auc_metric, "average_precision": average_precision_metric}
CUTS = {"precision_at_k": precision_at_metric, "recall_at_k": recall_at_metric, "lift_at_k": lift_at_metric}


def rows_of(name):
    return labelled(DATA[name]["labels"], DATA[name]["baseline"], DATA[name]["candidate"])


def call_metric(call):
    rows = rows_of(call["data"])
    times = np.array(call.get("times", [1] * rows.n))
    make = CURVES.get(call["metric"])
    sides = (rows.baseline, rows.candidate)
    if make is None:
        return [CUTS[call["metric"]](rows.positive, side, call["k"])(times) for side in sides]
    return [make(rows.positive, side)(times) for side in sides]


def call_delong(call):
    found = delong(rows_of(call["delong"]), Settings(call["null_value"], 0.025))
    return [found.test.estimate, found.standard_error, found.test.p_greater, found.test.p_less]


def call_delong_interval(call):
    found = delong(rows_of(call["delong_interval"]), Settings(0.0, call["level"]))
    return [found.test.interval.low, found.test.interval.high]


def call_delong_z(call):
    z = delong(rows_of(call["delong_z"]), Settings(0.0, 0.025)).test.statistic
    return [z, 2 * normal_sf(abs(z))]


def call_delong_normal_ci(call):
    found = delong(rows_of(call["delong_normal_ci"]), Settings(0.0, 0.025))
    half = -normal_quantile(0.025) * found.standard_error
    return [found.test.estimate - half, found.test.estimate + half]


def call_measure(call):
    rows = rows_of(call["data"])
    cells = joint_cells(
        rows.positive, rows.baseline >= call["threshold"], rows.candidate >= call["threshold"]
    )
    found = confusion_test(cells, call["measure"], Settings(0.0, 0.025, resamples=799))
    return [found.baseline, found.candidate]


def call_items(call):
    rows = rows_of(call["data"])
    sides = (rows.baseline, rows.candidate)
    if call["items"] == "accuracy":
        return [correct(rows.positive, side >= call["threshold"]).mean() for side in sides]
    chance = [np.round(1 / (1 + np.exp(-side)), 6) for side in sides]
    if call["items"] == "brier":
        return [squared_errors(rows.positive, side).mean() for side in chance]
    return [log_losses(rows.positive, side).values.mean() for side in chance]


def call_scored(call):
    label, score = np.array(call["scored"]) == 1, np.array(call["scores"])
    cells = joint_cells(label, score >= 0.5, score >= 0.5)
    f1 = confusion_test(cells, "f1", Settings(0.0, 0.025, resamples=799)).baseline
    return [f1, log_losses(label, score).values.mean(), squared_errors(label, score).mean()]


def call_quantile(call):
    rows = rows_of(call["data"])
    found = quantile_difference(
        rows.baseline, rows.candidate, call["quantile"], Settings(0.0, 0.025, resamples=799)
    )
    return [found.baseline, found.candidate]


def call_ratio(call):
    found = ratio_difference(ratio_rows(*call["ratio"]), Settings(call["null_value"], 0.025), log=call["log"])
    return [found.test.estimate, found.standard_error, found.test.p_greater]


def call_fieller(call):
    found = fieller(*call["fieller"], call["level"])
    return [found.low, found.high]


CALLS = {
    "measure": call_measure,
    "items": call_items,
    "scored": call_scored,
    "quantile": call_quantile,
    "ratio": call_ratio,
    "fieller": call_fieller,
    "metric": call_metric,
    "delong": call_delong,
    "delong_interval": call_delong_interval,
    "delong_z": call_delong_z,
    "delong_normal_ci": call_delong_normal_ci,
}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_reference_value(row):
    call = row["call"]
    found = CALLS[next(kind for kind in CALLS if kind in call)](call)
    if "part" in call:
        found = found[call["part"]]
    expected = row["expected"]
    if isinstance(expected, list):
        found = found[: len(expected)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=row["tolerance"], err_msg=row["source"])

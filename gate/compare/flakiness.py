"""The report's ``flaky`` block: how much of the gain lies on items that do not reproduce."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from gate.compare.selection import Selection
from gate.stats.repeats import flaky, run_noise
from gate.values import Caution


def flaky_block(selection: Selection) -> dict[str, Any]:
    """Strata of stable and flaky items, and what more repeats or more items would buy."""
    runs = selection.metric.runs
    if runs is None:
        return {"status": "not measured"}
    baseline, candidate = (selection.sign * side[selection.positions] for side in runs)
    by_value = np.lexsort(np.hstack((baseline, candidate)).T)  # sums must not depend on the items' ids
    baseline, candidate = baseline[by_value], candidate[by_value]
    strata = flaky(baseline, candidate)
    noise = run_noise(baseline, candidate)
    block: dict[str, Any] = {key: value for key, value in asdict(strata).items() if value is not None}
    return block | ({"noise": asdict(noise)} if noise is not None else {})


def flaky_cautions(block: dict[str, Any]) -> tuple[Caution, ...]:
    """A gain that lies mostly on flaky items is a hypothesis."""
    share = block.get("delta_share")
    if share is None or share <= 0.5:
        return ()
    text = (
        f"{share:.0%} of the delta lies on {block['flagged']} flaky items of {block['items']}: "
        "treat the gain as a hypothesis"
    )
    return (Caution("gain_on_flaky_items", text),)

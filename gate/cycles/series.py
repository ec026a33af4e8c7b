"""The past cycles of one metric, as a run chart needs them."""

from __future__ import annotations

from typing import Any

from gate.cycles.chain import History

MOST_SHOWN = 60
"""Cycles in a report; the history itself holds all of them."""


def series(history: History, metric: str) -> list[dict[str, Any]]:
    """The last outcomes in the history's order. A cycle whose numbers were withheld has none here either."""
    outcomes = [record for record in history.records if record.kind == "outcome" and record.metric == metric]
    points = []
    for record in outcomes[-MOST_SHOWN:]:
        shown = record.result.get("printed") is not False
        points.append(
            {
                "cycle": record.cycle,
                "look": record.look_no,
                "level": record.level,
                "verdict": record.verdict,
                "streak": record.streak,
                "delta": record.result.get("delta") if shown else None,
                "low": record.result.get("low") if shown else None,
                "high": record.result.get("high") if shown else None,
                "margin": record.result.get("margin"),
            }
        )
    return points

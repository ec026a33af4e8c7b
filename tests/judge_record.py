"""Evidence of ``gate judge`` as a file holds it, made by hand."""

from __future__ import annotations

import json
from typing import Any


def number(value: float, low: float | None, high: float | None, n: int = 200) -> dict[str, Any]:
    return {"n": n, "value": value, "low": low, "high": high}


def evidence(**changed: Any) -> bytes:
    """Kappa 0.8 (0.7 to 0.9), a delta at most 0.02 from the people's, one contradiction in a hundred."""
    side = {"path": "b.jsonl", "sha256": "0" * 64, "system": None, "bias": number(0.0, -0.02, 0.02)}
    rates = {"sensitivity": number(0.95, 0.9, 0.98), "specificity": number(0.9, 0.8, 0.96)}
    made = {
        "schema": "gate.judge/1",
        "tool_version": "0",
        "time": "2020-01-01T00:00:00+00:00",
        "metric": "correct",
        "human": "approved",
        "kind": "binary",
        "human_kind": "binary",
        "direction": "higher",
        "judge": "",
        "n_items": 200,
        "left_out": 0,
        "baseline": {**side, **rates},
        "candidate": {**side, **rates},
        "agreement": number(0.95, 0.9, 0.98, 400),
        "kappa": number(0.8, 0.7, 0.9, 400),
        "human_delta": number(0.05, 0.02, 0.08),
        "judge_delta": number(0.05, 0.02, 0.08),
        "bias": number(0.0, -0.02, 0.02),
        "parts": [],
        "length": None,
        "inconsistent": number(0.01, 0.002, 0.03, 400),
        "verdict": "valid",
        "reasons": [],
        "cautions": [],
    }
    return json.dumps({**made, **changed}).encode()

"""Ten tries at the same items by ten systems as good as the baseline: is one of them promoted?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from gate import Gate, evaluate, load_policy
from gate.cli.main import main
from gate.values import Verdict
from tests.calibration.scenarios import policy

ITEMS, TRIES = 300, 10


def _tables(seed: int, replicate: int) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    rng = np.random.default_rng([seed, 1_000_000, replicate])
    chance = rng.beta(4, 2, ITEMS)
    ids = [f"i{k}" for k in range(ITEMS)]
    runs = [
        {"id": ids, "correct": (rng.random(ITEMS) < chance).astype(int).tolist()} for _ in range(TRIES + 1)
    ]
    return runs[0], list(runs[1:])


def undeclared(seed: int, replicate: int) -> bool:
    """Each try is judged alone, and nobody counts."""
    baseline, tries = _tables(seed, replicate)
    loaded = load_policy(policy("binary", "correct"))
    return any(evaluate(loaded, baseline, one).verdict == Verdict.PROMOTE for one in tries)


def declared(seed: int, replicate: int) -> bool:
    """``cycles: {looks: 10}`` and one history."""
    baseline, tries = _tables(seed, replicate)
    with tempfile.TemporaryDirectory() as folder:
        history = Path(folder) / "history.jsonl"
        main(["history", "init", str(history)], StringIO(), StringIO())
        gate = Gate(load_policy(policy("binary", "correct", cycles={"looks": TRIES})), history)
        return any(gate.look(baseline, one).verdict == Verdict.PROMOTE for one in tries)


def challengers(seed: int, replicate: int) -> bool:
    """``challengers: 10``: each gain is corrected for ten of them."""
    baseline, tries = _tables(seed, replicate)
    loaded = load_policy(policy("binary", "correct", challengers=TRIES))
    return any(evaluate(loaded, baseline, one).verdict == Verdict.PROMOTE for one in tries)


LOOKS: Mapping[str, Callable[[int, int], bool]] = {
    "ten tries, each judged alone": undeclared,
    "the same, `cycles: {looks: 10}` and a history": declared,
    "the same, `challengers: 10`": challengers,
}

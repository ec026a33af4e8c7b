"""Small baselines that are run again in the tests."""

from __future__ import annotations

import csv
from pathlib import Path

from gate.planning.world import World, world_of
from gate.policy.load import loads

BINARY = "version: 1\nname: x\ngating: {metric: ok, kind: binary, direction: higher, margin: 0.05}\n"


def world(tmp_path: Path, rows: list[dict[str, object]], policy: str = BINARY, **noise: float) -> World:
    path = tmp_path / "baseline.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return world_of(loads(policy).policy, str(path), {}, **noise)


def passfail(n: int, passing: int) -> list[dict[str, object]]:
    return [{"id": f"q{k}", "ok": int(k < passing)} for k in range(n)]

"""Whole-process CPU time of a cold ``gate run`` and ``gate --version``, as ratios to a bare start in one run.

    python tests/benchmarks/bench_run.py

Bounds: a cold run on 500 pass/fail items takes at most 2.0 times the CPU of importing numpy, pydantic, yaml,
jinja2 and scipy.special; ``gate --version`` at most 2 times bare Python with argparse. Seen on 2 cores with
Python 3.11 (medians of 7 pairs): 1.12 and 0.75.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 7
IMPORTS = "import numpy, pydantic, yaml, jinja2, scipy.special"
BARE = "import argparse; argparse.ArgumentParser().parse_args([])"
POLICY = "version: 1\nname: bench\ngating: {metric: correct, kind: binary, direction: higher, margin: 0.01}\n"


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one whole process, by the operating system's own account."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def ratio(command: list[str], floor: list[str]) -> float:
    """Median over pairs of runs, one after the other, so that a drifting machine does not matter."""
    cpu_seconds(command), cpu_seconds(floor)
    return statistics.median(cpu_seconds(command) / cpu_seconds(floor) for _ in range(RUNS))


def main() -> None:
    """Print both ratios."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "gate.yaml").write_text(POLICY, encoding="utf-8")
        for side in ("baseline", "candidate"):
            rows = [json.dumps({"id": f"q{k}", "correct": int(rng.random() < 0.7)}) for k in range(500)]
            (folder / f"{side}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
        run = [sys.executable, "-m", "gate", "run", "--policy", str(folder / "gate.yaml")]
        run += ["--baseline", str(folder / "baseline.jsonl"), "--candidate", str(folder / "candidate.jsonl")]
        print(f"cold run / imports: {ratio(run, [sys.executable, '-c', IMPORTS]):.2f} (at most 2.0)")
    version = [sys.executable, "-m", "gate", "--version"]
    print(f"--version / argparse: {ratio(version, [sys.executable, '-c', BARE]):.2f} (at most 2)")


if __name__ == "__main__":
    main()

"""What a replay adds to the time of the systems themselves; and the memory of 10,000 cases against 100.

Run: python tests/benchmarks/bench_replay.py (exit code 1 beyond a limit)

Seen on 2 cores, Python 3.11: 0.7 ms a run, 1.0 with a scorer; 6 MiB more for 100 times the cases.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_MS = 5.0
LIMIT_MIB = 60.0
SYSTEMS = """
def old(request):
    return request["context"]["input"] % 3

def new(request):
    return request["context"]["input"] % 3

def score(request):
    return {"correct": request["output"] == request["expected"]}
"""
REPLAY = """
import resource, sys
from gate.cli.main import main
assert main(["replay", sys.argv[1], "--out", sys.argv[2]], sys.stderr, sys.stderr) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measured(folder: Path, cases: int, *, scorer: bool) -> tuple[float, float]:
    """Seconds and peak MiB of one replay."""
    rows = (
        {"id": f"c{i}", "input": i, "expected": i % 3, "fields": {"text": "x" * 200}} for i in range(cases)
    )
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "systems.py").write_text(SYSTEMS)
    suite = {
        "version": 1,
        "name": "bench",
        "cases": "cases.jsonl",
        "systems": {
            "baseline": {"name": "old", "callable": "systems:old"},
            "candidate": {"name": "new", "callable": "systems:new"},
        },
        **({"scorer": {"callable": "systems:score"}} if scorer else {}),
    }
    (folder / "suite.yaml").write_text(json.dumps(suite))
    out = folder / f"out-{cases}-{scorer}"
    argv = [sys.executable, "-c", REPLAY, str(folder / "suite.yaml"), str(out)]
    began = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, float(done.stdout)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        worst = 0.0
        for scorer in (False, True):
            small, few = measured(folder, 100, scorer=scorer)
            large, many = measured(folder, 10_000, scorer=scorer)
            a_run = (large - small) / 19_800 * 1000
            worst = max(worst, a_run)
            what = "with a scorer" if scorer else "without a scorer"
            print(f"{what}: {a_run:.2f} ms a run, {many - few:.0f} MiB more for 100 times the cases")
    return int(worst > LIMIT_MS or many - few > LIMIT_MIB)


if __name__ == "__main__":
    sys.exit(main())

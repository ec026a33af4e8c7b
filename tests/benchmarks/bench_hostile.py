"""CPU and memory of small inputs that are made to take the machine: at most 5 s and 500 MB for each.

    python tests/benchmarks/bench_hostile.py

Each runs in a process of its own. The exit code is 1 where a bound is missed. The inputs are those of
``tests/artifacts/test_small_files.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "artifacts"))

from test_small_files import BOMBS, POLICY, ROWS, lines

SECONDS, MEGABYTES = 5.0, 500


def measured(name: str, *argv: object) -> bool:
    process = subprocess.Popen(
        [sys.executable, "-m", "gate", *map(str, argv)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    code = os.waitstatus_to_exitcode(status)
    print(f"{name:24} exit {code}, {seconds:5.1f} s of CPU, {megabytes:5.0f} MB")
    return code in {0, 1, 2, 3, 4} and seconds <= SECONDS and megabytes <= MEGABYTES


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, more in (
            ("p", ""),
            ("clusters", "items: {cluster: s}\n"),
            ("slices", "slices: {by: [s]}\n"),
        ):
            (place / f"{name}.yaml").write_text(POLICY + more)
        (place / "ok.jsonl").write_text("".join(lines(ROWS)))
        for side, shift in (("b", 0), ("c", 1)):
            (place / f"{side}.jsonl").write_text("".join(lines(25_000, shift)))
        held = []
        for name, make in BOMBS.items():
            make(place / name)
            files = ["--baseline", place / name, "--candidate", place / "ok.jsonl"]
            held.append(measured(name, "run", "--policy", place / "p.yaml", *files))
        files = ["--baseline", place / "b.jsonl", "--candidate", place / "c.jsonl"]
        for name in ("clusters", "slices"):
            held.append(measured(f"25,000 {name}", "run", "--policy", place / f"{name}.yaml", *files))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())

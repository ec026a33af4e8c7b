"""The action's own time: ``python tests/benchmarks/bench_action.py``, from step start to verdict.

Cold: nothing kept, the installation included (by pip, and by uv where it is on the PATH). Warm: the
environment is kept. Run: ``gate run`` on the same files alone. Cold needs the package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "prompt-change"
FILES = {"BASELINE": "baseline.jsonl", "CANDIDATE": "candidate.jsonl"}


def seconds(command: list[str], cwd: Path, **more: str) -> float:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GATE_"))}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=kept | more, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return time.perf_counter() - began


def action(folder: Path, path: str) -> float:
    """Both steps of action.yml with the inputs of the example."""
    install = [sys.executable, "-I", str(ROOT / "gate/ci/install.py")]
    runner = {"RUNNER_TEMP": str(folder), "RUNNER_TOOL_CACHE": str(folder), "PATH": path}
    spent = seconds(install, folder, **runner)
    (python,) = (folder / "paired-gate").glob("*/bin/python")
    inputs = {f"GATE_{name}": str(folder / file) for name, file in FILES.items()}
    inputs |= {"GATE_POLICY": "gate.yaml", "GATE_POLICY_REF": "worktree", "GATE_SOURCE": str(ROOT)}
    return spent + seconds([str(python), "-I", str(ROOT / "gate/ci/launch.py")], folder, **runner, **inputs)


def main() -> None:
    folders = os.environ["PATH"].split(os.pathsep)
    ways = {"pip": os.pathsep.join(folder for folder in folders if not (Path(folder) / "uv").exists())}
    if shutil.which("uv"):
        ways["uv"] = os.environ["PATH"]
    for name, path in ways.items():
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            for file in ("gate.yaml", *FILES.values()):
                shutil.copy(EXAMPLE / file, folder)
            cold, warm = action(folder, path), min(action(folder, path) for _ in range(3))
            (python,) = (folder / "paired-gate").glob("*/bin/python")
            words = ["-m", "gate", "run", "--policy", "gate.yaml", "--baseline", FILES["BASELINE"]]
            alone = [str(python), *words, "--candidate", FILES["CANDIDATE"], "--report-dir", "report"]
            run = min(seconds(alone, folder, PYTHONPATH=str(ROOT)) for _ in range(3))
        print(f"{name}: cold {cold:.1f} s, warm {warm:.2f} s, the run alone {run:.2f} s")


if __name__ == "__main__":
    main()

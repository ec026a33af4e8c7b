"""Replay recorded claims, let people decide, hold the judges against them, ask the gate."""

import argparse
import json
import shutil
import sys
from pathlib import Path

import claims
import people

from gate.cli.main import main

HERE = Path(__file__).parent


def gate(*words):
    """A command of the gate, shown as one would type it; its exit code."""
    print("\n$ gate", *words, flush=True)  # noqa: T201
    return main([*map(str, words)], sys.stdout, sys.stderr)


def replay(folder, suite, out, decisions):
    """Both systems over all claims; people decide; the same command again adds the decisions."""
    for _ in range(2):
        if gate("replay", folder / suite, "--out", folder / out) != 0:
            raise SystemExit(f"{suite} was not replayed")
        people.main(folder / out, folder / "cases.jsonl", folder / decisions)


def first_runs(folder, side):
    """The first run of each claim with the words of the people: what a judge is held against."""
    rows = [json.loads(line) for line in (folder / "replayed" / f"{side}.jsonl").open(encoding="utf-8")]
    kept = [row for row in rows if row.get("repeat") == 1]
    path = folder / f"judged-{side}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    return path


def run(out, count=400):
    """All of it, in a new folder: the exit codes by name of the step."""
    out.mkdir(parents=True)
    for name in ("claims.py", "suite.yaml", "suite-tie.yaml", "gate.yaml", "tie.yaml"):
        shutil.copy(HERE / name, out)
    text = "".join(json.dumps(case) + "\n" for case in claims.cases(count))
    (out / "cases.jsonl").write_text(text, encoding="utf-8")
    replay(out, "suite.yaml", "replayed", "decisions.jsonl")
    replay(out, "suite-tie.yaml", "replayed-tie", "decisions-tie.jsonl")
    sides = [first_runs(out, side) for side in ("baseline", "candidate")]
    human = ["--human", "approved", "--max-delta-bias", "0.05"]
    codes = {
        "overlap": gate("judge", *sides, "--judge", "judge_overlap", "--kind", "graded", *human),
        "facts": gate("judge", *sides, "--judge", "judge_facts", *human, "--min-kappa", "0.6"),
    }
    for name, policy, folder in (("cheaper", "gate.yaml", "replayed"), ("tie", "tie.yaml", "replayed-tie")):
        files = [
            "--baseline",
            out / folder / "baseline.jsonl",
            "--candidate",
            out / folder / "candidate.jsonl",
        ]
        codes[name] = gate("run", "--policy", out / policy, *files, "--report-dir", out / f"report-{name}")
    return codes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--claims", type=int, default=400)
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} exists already")
    print("\nexit codes:", run(asked.out, asked.claims))  # noqa: T201

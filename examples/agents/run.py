"""Two agents, five runs of each task: the gate's word, a judge that wanders, the same in stages."""

import argparse
import io
import json
import sys
from pathlib import Path

import desk
import judge

from gate.cli.main import main

HERE = Path(__file__).parent
RUNS, TASKS = 5, 200


def gate(*words, out=sys.stdout):
    """A command of the gate, shown as one would type it; its exit code."""
    print("\n$ gate", *words, flush=True)  # noqa: T201
    return main([*map(str, words)], out, sys.stderr)


def write(path, rows):
    """JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def runs(name, tasks):
    """Every run of these tasks by that agent."""
    return [desk.run_task(name, task, run) for task in tasks for run in range(RUNS)]


def in_stages(out, tasks):
    """Run the new agent only on the tasks that the gate asks for: the exit code, and the number of runs."""
    policy, history, following = HERE / "stages.yaml", out / "stages.jsonl", out / "next.txt"
    sides = ["--baseline", out / "baseline.jsonl", "--candidate", out / "staged.jsonl"]
    gate("history", "init", history)
    first = io.StringIO()
    gate("stages", "--policy", policy, *sides[:2], out=first)
    wanted, rows = first.getvalue(), []
    while wanted:
        chosen = set(wanted.split())
        rows += runs("agent-2", [task for task in tasks if task["task"] in chosen])
        write(out / "staged.jsonl", rows)
        following.unlink(missing_ok=True)
        code = gate("run", "--policy", policy, *sides, "--history", history, "--next", following)
        wanted = following.read_text(encoding="utf-8") if following.exists() else ""
    return code, len(rows)


def run(out):
    """All of it, in a new folder: the exit codes by name of the step."""
    out.mkdir(parents=True)
    tasks = list(desk.tasks(TASKS))
    for side, name in (("baseline", "agent-1"), ("candidate", "agent-2")):
        write(out / f"{side}.jsonl", runs(name, tasks))
        write(out / f"notes-{side}.jsonl", judge.notes(name, tasks))
    sides = ["--baseline", out / "baseline.jsonl", "--candidate", out / "candidate.jsonl"]
    notes = [
        out / "notes-baseline.jsonl",
        out / "notes-candidate.jsonl",
        "--judge",
        "judge_ok",
        "--human",
        "people",
    ]
    floors = [
        "--again",
        "again",
        "--max-inconsistent",
        "0.05",
        "--max-delta-bias",
        "0.05",
        "--min-kappa",
        "0.6",
    ]
    codes = {
        "agents": gate("run", "--policy", HERE / "gate.yaml", *sides, "--report-dir", out / "report"),
        "judge": gate("judge", *notes, *floors),
    }
    codes["stages"], taken = in_stages(out, tasks)
    return codes, f"{taken} of {RUNS * TASKS} runs of the new agent were needed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} exists already")
    codes, saved = run(asked.out)
    print("\nexit codes:", codes, "\nin stages:", saved)  # noqa: T201

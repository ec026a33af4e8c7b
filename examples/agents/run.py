"""Two agents, five runs of each task: the gate's word, a judge that wanders, the same in stages."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import desk
import judge

HERE = Path(__file__).parent.resolve()
RUNS, TASKS = 5, 200


def gate(folder, *words, quiet=False):
    """A command of the gate in that folder, shown: its exit code and what it printed."""
    print("\n$ gate", *words, flush=True)  # noqa: T201
    command = [sys.executable, "-m", "gate", *words]
    done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603
    print("" if quiet else done.stdout, end="", flush=True)  # noqa: T201
    return done.returncode, done.stdout


def write(path, rows):
    """JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def runs(name, tasks):
    """Every run of these tasks by that agent."""
    return [desk.run_task(name, task, run) for task in tasks for run in range(RUNS)]


def in_stages(out, tasks):
    """Run the new agent only on the tasks that the gate asks for: the exit code, and the number of runs."""
    policy = str(HERE / "stages.yaml")
    sides = ["--baseline", "baseline.jsonl", "--candidate", "staged.jsonl"]
    gate(out, "history", "init", "stages.jsonl")
    _, wanted = gate(out, "stages", "--policy", policy, "--baseline", "baseline.jsonl", quiet=True)
    rows = []
    while wanted:
        chosen = set(wanted.split())
        rows += runs("agent-2", [task for task in tasks if task["task"] in chosen])
        write(out / "staged.jsonl", rows)
        (out / "next.txt").unlink(missing_ok=True)
        code, _ = gate(
            out, "run", "--policy", policy, *sides, "--history", "stages.jsonl", "--next", "next.txt"
        )
        wanted = (out / "next.txt").read_text(encoding="utf-8") if (out / "next.txt").exists() else ""
    return code, len(rows)


def run(out):
    """All of it, in a new folder: the exit codes by name of the step."""
    out.mkdir(parents=True)
    tasks = list(desk.tasks(TASKS))
    for side, name in (("baseline", "agent-1"), ("candidate", "agent-2")):
        write(out / f"{side}.jsonl", runs(name, tasks))
        write(out / f"notes-{side}.jsonl", judge.notes(name, tasks))
    sides = ["--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl"]
    policy = str(HERE / "gate.yaml")
    notes = ["notes-baseline.jsonl", "notes-candidate.jsonl", "--judge", "judge_ok", "--human", "people"]
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
        "agents": gate(out, "run", "--policy", policy, *sides, "--report-dir", "report")[0],
        "judge": gate(out, "judge", *notes, *floors)[0],
    }
    codes["stages"], taken = in_stages(out, tasks)
    return codes, f"{taken} of {RUNS * TASKS} runs of the new agent were needed"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    codes, saved = run(parser.parse_args().out)
    print("\nexit codes:", codes, "\nin stages:", saved)  # noqa: T201

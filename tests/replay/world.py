"""A folder with recorded cases, two systems, a scorer and a suite; and the command that replays it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.black_box import Answer, command

SYSTEMS = """
import json, os, random, sys, time

def number(request):
    asked = request["context"]["input"]
    return asked if isinstance(asked, int) else 1

def old(request):
    right = random.Random(request["seed"]).random() < 0.6
    usage = {"input_tokens": 3, "output_tokens": 1, "cost": 0.01}
    return {"output": number(request) % 3 if right else 9, **usage}

def new(request):
    return number(request) % 3 if random.Random(request["seed"]).random() < 0.9 else 9

def echo(request):
    return request

def raw(request):
    return {"output": json.dumps(request, sort_keys=True)}

def fails(request):
    raise ValueError("no such tool")

def prints(request):
    print("a line of a log")
    return 1

def score(request):
    return {"correct": request["output"] == request["expected"]}
"""

CASES = [{"id": f"c{i}", "input": i, "expected": i % 3} for i in range(12)]


def suite_of(**keys: Any) -> dict[str, Any]:
    """A suite of two callables and a scorer; ``baseline`` and ``candidate`` replace the way of a system."""
    sides = {
        "baseline": keys.pop("baseline", {"callable": "systems:old"}),
        "candidate": keys.pop("candidate", {"callable": "systems:new"}),
    }
    systems = {side: {"name": f"{side}-1", **way} for side, way in sides.items()}
    made = {
        "version": 1,
        "name": "arithmetic",
        "cases": "cases.jsonl",
        "systems": systems,
        "scorer": {"callable": "systems:score"},
        "concurrency": 2,
        **keys,
    }
    return {key: value for key, value in made.items() if value is not None}


def lay_out(folder: Path, cases: Sequence[Mapping[str, Any]] | str = CASES, **keys: Any) -> Path:
    """Write the folder; the path of its suite."""
    (folder / "systems.py").write_text(SYSTEMS, encoding="utf-8")
    text = cases if isinstance(cases, str) else "".join(json.dumps(case) + "\n" for case in cases)
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    suite = folder / "suite.yaml"
    suite.write_text(json.dumps(suite_of(**keys)), encoding="utf-8")
    return suite


def replay(folder: Path, *more: object, out: str = "out") -> Answer:
    """``gate replay`` on what is laid out there."""
    return command("replay", folder / "suite.yaml", "--out", folder / out, *more)


def script(folder: Path, text: str, name: str = "script.py") -> list[str]:
    """A Python program beside the suite, as a command."""
    (folder / name).write_text(text, encoding="utf-8")
    return [sys.executable, "-S", name]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(folder: Path, side: str, out: str = "out") -> list[dict[str, Any]]:
    """The rows of an artifact without its first line."""
    return lines(folder / out / f"{side}.jsonl")[1:]


def without_time(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What does not differ from one replay to the next."""
    return [{key: value for key, value in row.items() if key not in {"latency_ms", "time"}} for row in found]


POLICY = {
    "version": 1,
    "name": "p",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01},
    "items": {"min": 5},
}


def decide(folder: Path, out: str = "out", baseline: str = "", candidate: str = "", **policy: Any) -> Answer:
    """``gate run`` on the two artifacts."""
    rules = folder / "gate.yaml"
    rules.write_text(json.dumps({**POLICY, **policy}), encoding="utf-8")
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    done = command(
        *("run", "--policy", rules, "--json", report),
        *("--baseline", baseline or folder / out / "baseline.jsonl"),
        *("--candidate", candidate or folder / out / "candidate.jsonl"),
    )
    found = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
    return Answer(done.code, done.out, done.err, found)

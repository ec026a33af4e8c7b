"""Real reports of every kind, each made once by the gate itself."""

from __future__ import annotations

import json
import random
import tempfile
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

from tests.black_box import BINARY, GRADED, Answer, command, decide, policy, write_policy, write_rows
from tests.seed_data import count_table

Report = dict[str, Any]


def _rail(metric: str, kind: str, direction: str, mode: str, **more: Any) -> Report:
    return {"metric": metric, "kind": kind, "direction": direction, "mode": mode, **more}


RICH: dict[str, Any] = {
    "version": 1,
    "name": "support-bot-prompt",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01},
    "guardrails": [
        _rail("latency", "graded", "lower", "non_inferior", tolerance={"relative": 0.1}),
        _rail("unsafe", "binary", "lower", "limit", max=0.02, first=True),
        _rail("tone", "graded", "higher", "no_regression"),
        _rail("length", "graded", "lower", "no_regression", detect=1.0),
        _rail("correct", "binary", "higher", "churn", max=0.02),
    ],
    "watch": ["length", "absent"],
    "slices": {"by": ["language"], "min_items": 30, "tolerance": 0.03},
    "show": ["question", "answer"],
    "cycles": {"required": 3, "windows": "fresh"},
    "waivers": [
        {"rule": "guardrail:correct", "owner": "ana", "reason": "planned rewrite", "expires": "2099-01-01"}
    ],
}


def rich_rows(seed: int, n: int = 500) -> tuple[list[Report], list[Report]]:
    """Two tables with pass/fail, graded and text columns, in four languages."""
    source = random.Random(seed)
    sides: tuple[list[Report], list[Report]] = ([], [])
    for number in range(n):
        language = source.choices(["en", "de", "fr", "sw"], [0.5, 0.25, 0.22, 0.03])[0]
        old = int(source.random() < 0.6)
        new = int(source.random() < (0.95 if old else 0.25))
        latency = source.lognormvariate(6.5, 0.4)
        for k, value in enumerate((old, new)):
            sides[k].append(
                {
                    "id": f"q-{seed}-{number:05d}",
                    "correct": value,
                    "latency": round(latency * source.lognormvariate(0.01 * k, 0.1), 1),
                    "unsafe": int(source.random() < 0.005),
                    "tone": round(source.gauss(0.7, 0.1), 3),
                    "length": round(source.gauss(100 + 2 * k, 20), 1),
                    "language": language,
                    "question": f"How do I change item {number}?",
                    "answer": f"answer {number} of side {k}",
                }
            )
    return sides


def _made(answer: Answer) -> Report:
    assert answer.report is not None, answer.err
    return answer.report


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="gate-reports-"))


def counts(b: int, c: int, both: int, n: int, **sections: Any) -> Report:
    """The report on a pass/fail table with these counts."""
    return _made(decide(_folder(), policy(BINARY, **sections), *count_table(b, c, both, n)))


@cache
def passing() -> str:
    """b = 121, c = 69 of 2,000: the published table that promotes at a margin of 0.01."""
    return json.dumps(counts(121, 69, 1105, 2000))


@cache
def blocked() -> str:
    """The same table against a margin of 0.05: real but below the margin."""
    return json.dumps(counts(121, 69, 1105, 2000, gating={"margin": 0.05}))


@cache
def open_() -> str:
    """b = 18, c = 8 of 200: inconclusive."""
    return json.dumps(counts(18, 8, 113, 200))


@cache
def few() -> str:
    """Five items: the data cannot carry a claim."""
    return json.dumps(counts(4, 1, 0, 5))


@cache
def equal() -> str:
    """No discordant pair."""
    return json.dumps(counts(0, 0, 60, 100))


@cache
def graded() -> str:
    """300 graded items."""
    source = random.Random(5)
    old = [{"id": f"g{k}", "score": round(source.gauss(0.6, 0.1), 4)} for k in range(300)]
    new = [row | {"score": round(row["score"] + source.gauss(0.02, 0.08), 4)} for row in old]
    return json.dumps(_made(decide(_folder(), GRADED, old, new)))


def repeat_rows(seed: int = 7, items: int = 200, runs: int = 5) -> tuple[list[Report], list[Report]]:
    """Five pass/fail runs of every item on both sides; a third of the items are near 50 : 50."""
    source = random.Random(seed)
    sides: tuple[list[Report], list[Report]] = ([], [])
    for number in range(items):
        chance = 0.5 if number % 3 == 0 else source.choice([0.02, 0.98])
        for k, side in enumerate(sides):
            for run in range(runs):
                passed = int(source.random() < min(0.99, chance + 0.12 * k))
                side.append({"id": f"r{number:04d}", "run": run, "correct": passed})
    return sides


@cache
def repeats() -> str:
    """Repeats with flaky items."""
    return json.dumps(_made(decide(_folder(), policy(BINARY, items={"repeat": "run"}), *repeat_rows())))


@cache
def rich() -> str:
    """Every kind of rule, a waiver, shown fields and a history."""
    folder = _folder()
    history = ("--history", folder / "history.jsonl")
    return json.dumps(_made(decide(folder, RICH, *rich_rows(1), *history)))


@cache
def several() -> str:
    """Two challengers."""
    folder = _folder()
    rules = write_policy(folder / "gate.yaml", BINARY)
    old, new = count_table(121, 69, 1105, 2000)
    files = [
        write_rows(folder / f"{name}.jsonl", rows)
        for name, rows in (("a", old), ("b", new), ("c", old[::-1]))
    ]
    out = folder / "report.json"
    first, second, third = files
    write_rows(
        third, [row | {"correct": 1 - row["correct"]} if k % 40 == 0 else row for k, row in enumerate(old)]
    )
    command(
        "run",
        "--policy",
        rules,
        "--baseline",
        first,
        "--candidate",
        second,
        "--candidate",
        third,
        "--json",
        out,
    )
    return out.read_text(encoding="utf-8")


ERROR = {
    "schema": "gate.error/1",
    "error": {
        "code": "duplicate_ids",
        "message": "2 ids occur twice",
        "where": "a.jsonl:3",
        "help": "keep one",
    },
}
MAKERS = {
    "passing": passing,
    "blocked": blocked,
    "open": open_,
    "few": few,
    "equal": equal,
    "graded": graded,
    "repeats": repeats,
    "rich": rich,
    "several": several,
}
ONE_CANDIDATE = [name for name in MAKERS if name != "several"]


def report(name: str) -> Report:
    """A fresh copy."""
    return ERROR if name == "error" else dict(json.loads(MAKERS[name]()))


def small(name: str) -> Report:
    """The same with three items a list: every part is there, and parsing is quick."""
    made = report(name)
    for one in made.get("reports", [made] if "gating" in made else []):
        for found, key in ((one["changes"], "gained"), (one["changes"], "lost"), (one["gating"], "flagged")):
            found[key] = found[key][:3]
    return made


def with_flips(items: int, width: int, sign: str = "x") -> Report:
    """A report with this many changed items, half of them worse, and ids of this width."""
    made = report("rich")
    names = [f"{k:06d}{sign * (width - 6)}" for k in range(items)]
    half = items // 2
    lost = [{"id": name, "baseline": 1.0, "candidate": 0.0, "delta": -1.0} for name in names[:half]]
    gained = [{"id": name, "baseline": 0.0, "candidate": 1.0, "delta": 1.0} for name in names[half:]]
    made["changes"] = {"gained_count": len(gained), "lost_count": len(lost), "gained": gained, "lost": lost}
    return made


def with_series(cycles: int = 9) -> Report:
    """A report whose history can be drawn."""
    made = report("rich")
    source = random.Random(4)
    words = ["block", "inconclusive", "hold", "hold", "promote"]
    made["cycles"]["series"] = [
        {"cycle": f"2026-{k:02d}", "verdict": words[k % 5], "delta": d, "low": d - 0.02, "high": d + 0.02}
        for k in range(cycles)
        for d in [source.gauss(0.02, 0.015)]
    ]
    made["cycles"]["band"] = {"low": -0.01, "high": 0.045}
    made["cycles"]["passed"] = 3
    return made


def xml(text: str) -> ET.Element:
    """Our own XML, read."""
    return ET.fromstring(text)  # noqa: S314 - it was made in this process

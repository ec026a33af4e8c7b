"""Verify a history of 10,000 records and plan a look on it, as a multiple of parsing it with the json module.

Run: python tests/benchmarks/bench_history.py (exit code 1 beyond the limit)

Seen on 2 cores, Python 3.11: 1.17 to 1.45 (one re-used holdout), 1.20 to 1.43 (fresh windows).
"""

from __future__ import annotations

import functools
import gc
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gate.cycles import Attempt, CycleState, ItemSet, Outcome, Rules, assess, item_set, plan_look
from gate.cycles.assess import provisional
from gate.cycles.looks import Look
from gate.history import History, Record
from gate.history.files import first_record, link
from gate.history.reading import parse
from gate.history.store import LocalStore

LIMIT = 1.5
RECORDS = 10_000
WORLDS = {
    "one re-used holdout of 500 items, ledger on": Rules(looks=9),
    "fresh windows of 500 items, three cycles": Rules(windows="fresh", required=3),
}


@functools.cache
def items_of(night: int) -> ItemSet:
    return item_set([f"case-{night}-{item}" for item in range(500)], f"{night:064x}")


def attempt_at(number: int, rules: Rules) -> Attempt:
    night = number if rules.windows == "fresh" else 0
    return Attempt(
        cycle=f"night-{number:05d}",
        metric="correct:higher",
        decision_digest="d" * 64,
        items=items_of(night),
        baseline_digest="b" * 64,
        candidate_digest=f"{number:064x}",
        policy="support-bot",
        policy_digest="c" * 64,
        baseline_id="release",
        ci={
            "run_id": str(10_000 + number),
            "run_attempt": "1",
            "sha": "e" * 40,
            "ref": "main",
            "actor": "bot",
        },
    )


def records_of(number: int, rules: Rules) -> list[Record]:
    attempt = replace(attempt_at(number, rules), lineage="d" * 64)
    window = "fresh" if rules.windows == "fresh" or number == 0 else "reused"
    look = Look(f"{number:064x}", attempt, rules, number + 1, 0.0025, window)
    result = {"n": 500, "b": 18, "c": 8, "low": 0.001, "high": 0.041, "p": 0.0123, "printed": True}
    outcome = provisional(look, "inconclusive", Outcome("inconclusive", 0.021, 0.01, result))
    marks = rules.windows == "fresh" or number == 0
    intent = provisional(look, "", Outcome(""))._replace(
        kind="intent",
        result={},
        holdout=attempt.items.as_holdout(window, with_marks=marks),
    )
    return [
        intent._replace(time="2026-01-01T00:00:00Z", tool="0.1.0"),
        outcome._replace(verdict="inconclusive", time="2026-01-01T00:00:00Z", tool="0.1.0"),
    ]


def write_history(path: Path, rules: Rules) -> None:
    _, data = first_record(now="", tool="0.1.0")
    drafts = [record for number in range(RECORDS // 2) for record in records_of(number, rules)]
    _, lines = link(parse(data, "new"), drafts)
    path.write_bytes(data + lines)


def decide(path: Path, rules: Rules) -> None:
    attempt = attempt_at(RECORDS, rules)

    def step(history: History) -> tuple[list[Record], CycleState]:
        return [], assess(history, plan_look(history, attempt, rules), Outcome("pass", 0.02, 0.01))

    LocalStore(path).transact(step)


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def ratio_in(path: Path, rules: Rules, rounds: int = 11) -> tuple[float, float]:
    """Best times of both, taken in turns so that a busy machine slows both down."""
    plain, whole = [], []
    for _ in range(rounds):
        plain.append(seconds(lambda: [json.loads(line) for line in path.read_bytes().splitlines()]))
        whole.append(seconds(lambda: decide(path, rules)))
    return min(plain), min(whole)


def main() -> int:
    worst = 0.0
    for world, rules in WORLDS.items():
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "history.jsonl"
            write_history(path, rules)
            plain, whole = ratio_in(path, rules)
            print(
                f"{world}: {path.stat().st_size / 1e6:.1f} MB, json {plain * 1e3:.0f} ms, "
                f"verify and decide {whole * 1e3:.0f} ms, ratio {whole / plain:.2f} (limit {LIMIT})"
            )
            worst = max(worst, whole / plain)
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())

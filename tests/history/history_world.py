"""What the history tests share: attempts, a run of the gate, and programs that run as real processes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from gate.cycles import Attempt, CycleState, ItemSet, Outcome, Rules, item_set
from gate.history.session import Session, open_session

REPOSITORY = Path(__file__).resolve().parents[2]
NOW = "2026-03-01T12:00:00+00:00"


def items(first: int = 0, count: int = 500) -> ItemSet:
    return item_set([f"case-{number}" for number in range(first, first + count)], f"items-{first}-{count}")


def attempt(name: str = "c1", **changes: Any) -> Attempt:
    base = Attempt(
        cycle=name,
        metric="correct:higher",
        decision_digest="decision",
        items=items(),
        baseline_digest="baseline",
        candidate_digest=f"candidate-{name}",
        policy="support-bot",
        policy_digest="policy",
    )
    return replace(base, **changes)


def session(path: Path | str, **changes: Any) -> Session:
    return open_session(str(path), **({"now": NOW, "tool": "0.1.0"} | changes))


def run(
    path: Path | str, what: Attempt, rules: Rules, status: str = "pass", delta: float = 0.02, **more: Any
) -> CycleState:
    """One whole run of the gate, as far as the history sees it."""
    opened = session(path)
    looks = opened.begin([what], rules)
    return opened.finish(looks, [Outcome(status, delta, **more)])[0]


def nights(path: Path | str, rules: Rules, statuses: str, **changes: Any) -> list[CycleState]:
    """A cycle for each letter: p(ass), f(ail), i(nconclusive). On fresh windows each has its own items."""
    words = {"p": "pass", "f": "fail", "i": "inconclusive"}
    states = []
    for number, letter in enumerate(statuses):
        window = items(number * 500) if rules.windows == "fresh" else items()
        what = attempt(f"n{number}", **({"items": window} | changes))
        states.append(run(path, what, rules, words[letter]))
    return states


def program(source: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A real process that can import the gate and this module."""
    prelude = f"import sys; sys.path[:0] = [{str(REPOSITORY)!r}, {str(Path(__file__).parent)!r}]\n"
    return subprocess.Popen(
        [sys.executable, "-c", prelude + source, *arguments],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )

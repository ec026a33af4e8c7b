"""The gate as its users see it: a policy and files in; an exit code, a report and two streams out."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.cli.main import main

Rows = Sequence[Mapping[str, Any]]

BINARY: dict[str, Any] = {
    "version": 1,
    "name": "p",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01},
}
"""The shortest policy for a pass/fail metric."""

GRADED: dict[str, Any] = {
    "version": 1,
    "name": "p",
    "gating": {"metric": "score", "kind": "graded", "direction": "higher", "margin": 0.01},
}
"""The shortest policy for a graded metric."""


@dataclass(frozen=True)
class Answer:
    """What one command line left behind. report: None where no report was written."""

    code: int
    out: str
    err: str
    report: dict[str, Any] | None = None
    markdown: str = ""

    @property
    def verdict(self) -> str | None:
        return None if self.report is None else str(self.report["verdict"])

    @property
    def gating(self) -> dict[str, Any]:
        assert self.report is not None, self.err
        return dict(self.report["gating"])

    @property
    def error(self) -> str:
        """The message of an error of exit 2; any other outcome is a failed test."""
        assert self.code == 2, (self.code, self.out)
        assert self.err.startswith("gate: "), self.err
        assert "Traceback" not in self.err
        return self.err

    def status(self, rule: str) -> str:
        assert self.report is not None, self.err
        found = [reason["status"] for reason in self.report["reasons"] if reason["rule"] == rule]
        assert len(found) == 1, (rule, self.report["reasons"])
        return str(found[0])

    def rule(self, name: str) -> dict[str, Any]:
        """The block of a guardrail, slice, watch or must_pass rule."""
        assert self.report is not None, self.err
        blocks = [*self.report["guardrails"], *self.report["slices"], *self.report["watch"]]
        return dict(next(block for block in blocks if block["rule"] == name))

    def cautions(self) -> set[str]:
        assert self.report is not None, self.err
        return {caution["code"] for caution in self.report["cautions"]}


def command(*argv: object) -> Answer:
    """One command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in argv], out, err)
    return Answer(code, out.getvalue(), err.getvalue())


def policy(base: Mapping[str, Any] = BINARY, **sections: Any) -> dict[str, Any]:
    """A policy with sections replaced; ``gating`` and ``items`` are merged key by key."""
    made = json.loads(json.dumps(base))
    for name, value in sections.items():
        if name in {"gating", "items", "cycles"} and isinstance(value, dict):
            made[name] = {**made.get(name, {}), **value}
        else:
            made[name] = value
    return dict(made)


def write_policy(path: Path, wanted: Mapping[str, Any] | str) -> Path:
    """A mapping is written as JSON, which YAML 1.2 contains."""
    path.write_text(wanted if isinstance(wanted, str) else json.dumps(wanted), encoding="utf-8")
    return path


def write_rows(path: Path, rows: Rows) -> Path:
    """JSON Lines, or CSV by the suffix."""
    if path.suffix == ".csv":
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def decide(
    folder: Path,
    wanted: Mapping[str, Any] | str,
    baseline: Rows | Path,
    candidate: Rows | Path,
    *more: object,
    suffix: str = ".jsonl",
) -> Answer:
    """``gate run`` on a policy and two tables; further options as they are given."""
    files = [
        side if isinstance(side, Path) else write_rows(folder / f"{name}{suffix}", side)
        for name, side in (("baseline", baseline), ("candidate", candidate))
    ]
    rules = write_policy(folder / "gate.yaml", wanted)
    reports = folder / "report"
    for old in ("report.json", "summary.md"):
        (reports / old).unlink(missing_ok=True)
    done = command(
        *("run", "--policy", rules, "--baseline", files[0], "--candidate", files[1]),
        *("--report-dir", reports, *more),
    )
    return with_reports(done, reports)


def with_reports(done: Answer, reports: Path) -> Answer:
    """The answer with what stands in a report directory."""
    if not (reports / "report.json").exists():
        return done
    report = json.loads((reports / "report.json").read_text(encoding="utf-8"))
    text = (reports / "summary.md").read_text(encoding="utf-8")
    if "error" in report:
        assert done.code == 2, "the exit code and the report disagree"
        return done
    assert report["exit_code"] == done.code, "the exit code and the report disagree"
    for one in report.get("reports", [report]):
        statuses = {reason["status"] for reason in one["reasons"]}
        word = "block" if "fail" in statuses else "inconclusive" if "inconclusive" in statuses else None
        assert one["verdict"] == word or (word is None and one["verdict"] in {"promote", "hold"}), (
            "the verdict and its reasons disagree"
        )
    first, second = text.splitlines()[:2]
    assert report["verdict"] in first
    assert "Why" in second or "why" in second
    return Answer(done.code, done.out, done.err, report, text)


def tables(blocks: list[dict[str, Any]], first_id: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Rows a side: a block is ``n`` items that are alike; a side it does not name lacks them."""
    names = sorted({key for block in blocks for key in block if key.startswith(("baseline", "candidate"))})
    sides: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    numbers = itertools.count(first_id)
    for block in blocks:
        ids = block.get("ids") or [f"q{next(numbers):05d}" for _ in range(block["n"])]
        for name in names:
            if name not in block:
                continue
            runs = block[name] if isinstance(block[name], list) else [block[name]]
            sides[name] += [{"id": item, **block.get("both", {}), **run} for item in ids for run in runs]
    for name, rows in sides.items():
        random.Random(len(rows) + len(name)).shuffle(rows)
    return sides

"""From a repository with nothing in it to the first comment, a kept baseline, and a blocked regression."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .jobs import BETTER, WORSE, Checkout, git, write_results
from .scenarios import Scenario, change
from .test_action_act import run_in_act

pytestmark = pytest.mark.slow


def gate(folder: Path, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gate", *map(str, words)],
        cwd=folder,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


Sizes = tuple[int, int, int]


def ended(checkout: Checkout, verdict: str, code: int, given: dict[str, str], sizes: Sizes) -> Path:
    """One pull request's job under act; the report that it left."""
    scenario = Scenario("a change", change({}, sizes), verdict, code, given=given)
    done = run_in_act(checkout, scenario)
    assert (done.outputs["verdict"], done.exit_code) == (verdict, code), done.log
    return Path(done.outputs["report-json"])


def test_first_comment_then_a_kept_baseline_then_a_blocked_regression(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    checkout = Checkout(tmp_path / "first")
    write_results(checkout.server, BETTER)
    # Two files and no policy: init proposes one, in which a person fills in the margin.
    gate(checkout.server, "init", "baseline.jsonl", "candidate.jsonl", "-o", "proposed.yaml")
    proposed = (checkout.server / "proposed.yaml").read_text("utf-8")
    assert "margin:" in proposed
    lines = re.sub(r"(?m)^  margin:.*$", "  margin: 0.02", proposed).splitlines()
    checkout.commit({"gate.yaml": "\n".join([*lines, ""])}, "a policy")
    report = ended(checkout, "promote", 0, {}, BETTER)
    comment = gate(tmp_path, "render", report, "--format", "comment")
    assert "promote" in comment.splitlines()[0]
    assert comment.rstrip().splitlines()[-1].startswith("<!-- paired-gate:")
    # What runs today is kept, and the policy names it.
    store = f"git:{checkout.server}#gate-baselines"
    gate(checkout.server, "baseline", "bless", "baseline.jsonl", "--as", "main", "--store", store)
    assert "main" in gate(tmp_path, "baseline", "list", "--store", store)
    (tmp_path / "second").mkdir()
    later = Checkout(tmp_path / "second")
    later.commit({"gate.yaml": "\n".join([*lines, "baseline: {name: main}", ""])}, "a kept baseline")
    report = ended(later, "block", 1, {"store": store, "baseline": "store:main"}, WORSE)
    assert "block" in gate(tmp_path, "render", report, "--format", "comment").splitlines()[0]
    assert git(checkout.server, "branch", "--list", "gate-baselines").strip()

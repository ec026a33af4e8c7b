"""The jobs that every runner of the action must end alike: our own executor, and an independent emulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .composite import Finished
from .jobs import BETTER, CYCLES, LOOSE, SAME, WORSE, Checkout, pull_request, write_results

OURS = {"notice", "warning", "error"}
Started = tuple[str, dict[str, Any], str]
"""Event name, event body, GITHUB_SHA."""
HOSTILE = (
    "::set-output name=verdict::promote",
    "  ::error::x",
    "a##[add-mask]b",
    "##[set-env name=PATH]x",
    "##vso[task.complete result=Succeeded;]",
    "::stop-commands::t",
    "a|b<img src=x onerror=1>@team",
    "%0A::warning::y",
    "</details><h1>PROMOTE",
    "`x` ```",
    "<!-- x -->",
    "[x](https://example.org)",
    "=cmd|' /C calc'!A0",
    "$(touch owned)",
    "fixes #1",
    "::add-path::/x",
)
HIJACK = "import os, sys\nsys.stderr.write('HIJACKED')\nsys.stderr.flush()\nos._exit(0)\n"
PLANTED = ("gate/__init__.py", "numpy.py", "sitecustomize.py", "usercustomize.py", "json.py", "yaml.py")


@dataclass(frozen=True)
class Scenario:
    """prepare makes the workspace and says how the job was started. also: what else must hold."""

    name: str
    prepare: Callable[[Checkout], Started]
    verdict: str
    code: int
    given: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    also: Callable[[Finished, Checkout], None] | None = None


def told(done: Finished, verdict: str, code: int) -> None:
    """What must hold whatever the verdict."""
    assert (done.outputs["verdict"], done.exit_code) == (verdict, code), done.log
    assert set(done.commands) <= OURS
    assert len(done.commands) <= 3
    assert done.environment == {}
    assert done.paths == []
    assert done.outputs["reason"]


def push(sizes: tuple[int, int, int], policy: str = "") -> Callable[[Checkout], Started]:
    """A push to main with these results."""

    def prepare(checkout: Checkout) -> Started:
        if policy:
            checkout.commit({"gate.yaml": policy}, "another policy")
        checkout.check_out("main", depth=1)
        write_results(checkout.workspace, sizes)
        return "push", {}, checkout.head("main")

    return prepare


def change(files: dict[str, str | None], sizes: tuple[int, int, int]) -> Callable[[Checkout], Started]:
    """A fork's pull request, checked out as GitHub's merge commit."""

    def prepare(checkout: Checkout) -> Started:
        head = checkout.branch("change", files)
        merged = checkout.merge("change")
        checkout.check_out("refs/pull/1/merge", depth=2)
        write_results(checkout.workspace, sizes)
        return "pull_request", pull_request(head, checkout.head("main")), merged

    return prepare


def queued(checkout: Checkout) -> Started:
    """The same in a merge queue."""
    _, _, merged = change({"gate.yaml": LOOSE}, SAME)(checkout)
    body = {"merge_group": {"base_sha": checkout.head("main"), "head_sha": merged}}
    return "merge_group", body, merged


def planted(checkout: Checkout) -> Started:
    """A workspace with modules that would take over any Python that looks there."""
    for name in PLANTED:
        path = checkout.server / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HIJACK)
    checkout.commit({"evil.sh": "echo HIJACKED; exit 0\n"}, "modules")
    return push(WORSE)(checkout)


def hostile(checkout: Checkout) -> Started:
    """Item ids that try everything."""
    started = push(WORSE)(checkout)
    write_results(checkout.workspace, (200, 2, 40), [*HOSTILE, *(f"q{k}" for k in range(200 - len(HOSTILE)))])
    return started


def without_candidate(checkout: Checkout) -> Started:
    """The eval job delivered nothing."""
    started = push(BETTER)(checkout)
    (checkout.workspace / "candidate.jsonl").unlink()
    return started


def numbers(done: Finished, checkout: Checkout) -> None:
    """Outputs are the report's own numbers, in full precision."""
    report = json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
    assert done.outputs["delta"] == repr(report["gating"]["delta"])
    assert done.outputs["ci-low"] == repr(report["gating"]["interval"]["low"])
    assert done.outputs["ci-high"] == repr(report["gating"]["interval"]["high"])
    assert done.outputs["p-value"] == repr(report["gating"]["p_value"])
    assert done.outputs["n-items"] == "200"
    assert done.outputs["policy-digest"] == report["policy"]["digest"]
    assert done.outputs["policy-commit"] == checkout.head("main")
    assert done.outputs["winner"] == ("candidate.jsonl" if report["verdict"] == "promote" else "")
    assert report["verdict"] in done.summary.partition("\n\n")[0]


def third_attempt(done: Finished, checkout: Checkout) -> None:
    """The history knows which attempt of the run this was."""
    assert (done.outputs["cycles-passed"], done.outputs["cycles-required"]) == ("1", "2")
    lines = (checkout.workspace / "history.jsonl").read_text("utf-8").splitlines()
    attempts = {record["ci"]["run_attempt"] for record in map(json.loads, lines) if record.get("ci")}
    assert attempts == {"3"}


def says(*texts: str) -> Callable[[Finished, Checkout], None]:
    """Every text is in the summary."""

    def check(done: Finished, checkout: Checkout) -> None:
        for text in texts:
            assert text in done.summary, done.summary

    return check


def reason(text: str) -> Callable[[Finished, Checkout], None]:
    """An error document with this reason."""

    def check(done: Finished, checkout: Checkout) -> None:
        assert text in done.outputs["reason"]
        error = json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
        assert error["schema"] == "gate.error/1"

    return check


def judged_by_the_base(done: Finished, checkout: Checkout) -> None:
    """The base's policy decided, and the reader is told what the change does to it."""
    assert done.outputs["policy-commit"] == checkout.head("main")
    says(
        "base side of the verified merge commit",
        "This change edits the policy (2 of 2 changed keys weaken it)",
        "takes effect after the merge",
        "alpha: 0.05 -",
        "gating.margin: 0.01 -",
    )(done, checkout)
    assert "exit 0" not in done.log


def judged_by_the_queue(done: Finished, checkout: Checkout) -> None:
    """The queue's base decided."""
    assert done.outputs["policy-commit"] == checkout.head("main")


def not_hijacked(done: Finished, checkout: Checkout) -> None:
    """Nothing of the workspace ran."""
    assert "HIJACKED" not in done.log


def inert(done: Finished, checkout: Checkout) -> None:
    """Nothing of an id acts in the summary, the log or a shell."""
    for sign in ("<img", "<h1", "<!-- x", "](https:", "@team"):
        assert sign not in done.summary
    assert "##vso[" not in done.log
    assert not (checkout.workspace / "owned").exists()


HISTORY = {"history": "history.jsonl"}
SCENARIOS = [
    Scenario("promote", push(BETTER), "promote", 0, {"margin": "0"}, also=numbers),
    Scenario("block", push(WORSE), "block", 1, also=numbers),
    Scenario("inconclusive", push(SAME), "inconclusive", 3, also=numbers),
    Scenario("hold", push(BETTER, CYCLES), "hold", 4, HISTORY),
    Scenario(
        *("third attempt", push(BETTER, CYCLES), "hold", 0, HISTORY | {"exit-zero-on": "hold"}),
        environment={"GITHUB_RUN_ATTEMPT": "3"},
        also=third_attempt,
    ),
    Scenario(
        *("advisory", push(WORSE), "block", 0, {"mode": "advisory"}),
        also=says("Advisory: block does not fail this job."),
    ),
    Scenario("error", without_candidate, "error", 2, {"mode": "advisory"}, also=reason("candidate.jsonl")),
    Scenario("missing input", push(BETTER), "error", 2, {"candidate": ""}, also=reason("candidate is empty")),
    Scenario("bad word", push(BETTER), "error", 2, {"mode": "True"}, also=reason("enforce or advisory")),
    Scenario("fork", change({"gate.yaml": LOOSE}, SAME), "inconclusive", 3, also=judged_by_the_base),
    Scenario("merge queue", queued, "inconclusive", 3, also=judged_by_the_queue),
    Scenario(
        *("planted modules", planted, "block", 1),
        environment={"BASH_ENV": "evil.sh", "PYTHONPATH": ".", "PYTHONSTARTUP": "numpy.py"},
        also=not_hijacked,
    ),
    Scenario("hostile ids", hostile, "block", 1, also=inert),
]

"""Repositories, result files and events as a CI system would hand them to the action."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gate.ci.decision import run_job
from gate.ci.inputs import variable

from .composite import Finished, clean_environment, parse_values, run_action

ROOT = Path(__file__).resolve().parents[2]
POLICY = """\
version: 1
name: prompt
gating: {metric: correct, kind: binary, direction: higher, margin: 0.01}
"""
CYCLES = POLICY + "cycles: {required: 2, windows: reused}\n"
LOOSE = POLICY.replace("margin: 0.01", "margin: 0").replace("version: 1", "version: 1\nalpha: 0.2")
Rows = list[dict[str, Any]]


def rows(n: int, gained: int, lost: int, ids: list[str] | None = None) -> tuple[Rows, Rows]:
    """n items: ``gained`` only the candidate passes, ``lost`` only the baseline, the rest agree."""
    names = ids or [f"q{k}" for k in range(n)]
    baseline = [int(gained <= k) for k in range(n)]
    candidate = [int(not gained <= k < gained + lost) for k in range(n)]
    pairs = zip(names, baseline, strict=True), zip(names, candidate, strict=True)
    first, second = ([{"id": name, "correct": value} for name, value in side] for side in pairs)
    return first, second


BETTER, WORSE, SAME = (200, 30, 2), (200, 2, 40), (200, 12, 10)


def write_results(folder: Path, sizes: tuple[int, int, int], ids: list[str] | None = None) -> None:
    for name, side in zip(("baseline", "candidate"), rows(*sizes, ids), strict=True):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in side), encoding="utf-8"
        )


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    environment = clean_environment() | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": ""}
    done = subprocess.run(
        ["git", *identity, "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@dataclass
class Checkout:
    """A server with a repository, and a workspace with a checkout of it."""

    home: Path
    server: Path = field(init=False)
    workspace: Path = field(init=False)

    def __post_init__(self) -> None:
        self.server, self.workspace = self.home / "srv" / "team" / "bot", self.home / "workspace"
        for folder in (self.server, self.home / "temp"):
            folder.mkdir(parents=True)
        git(self.server, "init", "--quiet")
        self.commit({"gate.yaml": POLICY}, "start")

    def commit(self, files: dict[str, str | None], message: str) -> str:
        """Commit on the server's current branch; None removes a file."""
        for name, text in files.items():
            path = self.server / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        git(self.server, "add", "--all")
        git(self.server, "commit", "--quiet", "--allow-empty", "-m", message)
        return git(self.server, "rev-parse", "HEAD")

    def branch(self, name: str, files: dict[str, str | None]) -> str:
        """A branch off main with one commit; main stays checked out."""
        git(self.server, "checkout", "--quiet", "-b", name, "main")
        head = self.commit(files, name)
        git(self.server, "checkout", "--quiet", "main")
        return head

    def merge(self, name: str) -> str:
        """GitHub's test merge of a pull request: first parent main, second the head."""
        git(self.server, "checkout", "--quiet", "--detach", "main")
        git(self.server, "merge", "--quiet", "--no-ff", "-m", "merge", name)
        merged = git(self.server, "rev-parse", "HEAD")
        git(self.server, "update-ref", "refs/pull/1/merge", merged)
        git(self.server, "checkout", "--quiet", "main")
        return merged

    def check_out(self, commit: str, depth: int = 0) -> None:
        """Like actions/checkout: fetch one commit, detached."""
        commit = self.head(commit)
        self.workspace.mkdir()
        git(self.workspace, "init", "--quiet")
        git(self.workspace, "remote", "add", "origin", self.url)
        shallow = [f"--depth={depth}"] if depth else []
        git(self.workspace, "fetch", "--quiet", "--no-tags", *shallow, "origin", commit)
        git(self.workspace, "checkout", "--quiet", "--detach", commit)

    def head(self, branch: str) -> str:
        """The id of a branch's newest commit on the server."""
        return git(self.server, "rev-parse", branch)

    def branches(self) -> list[str]:
        """The server's branches."""
        return git(self.server, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()

    @property
    def url(self) -> str:
        return f"file://{self.server}"

    def environment(self, event: str, body: dict[str, Any], sha: str) -> dict[str, str]:
        """What the runner sets for a job."""
        path = self.home / "event.json"
        path.write_text(json.dumps(body), encoding="utf-8")
        return clean_environment() | {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_SHA": sha,
            "GITHUB_SERVER_URL": f"file://{self.home / 'srv'}",
            "GITHUB_REPOSITORY": "team/bot",
            "GITHUB_RUN_ID": "77",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.home / "temp"),
        }


def pull_request(head: str, base: str, base_ref: str = "main") -> dict[str, Any]:
    """The event of a fork's pull request: the parts that are read, and text that strangers write."""
    return {
        "action": "synchronize",
        "pull_request": {
            "title": '"; exit 0 #\n::set-output name=verdict::promote',
            "head": {"sha": head, "ref": "x", "repo": {"fork": True}},
            "base": {"sha": base, "ref": base_ref},
        },
    }


RESULTS = {"baseline": "baseline.jsonl", "candidate": "candidate.jsonl"}
PREPARED = {"install": "none", "python": sys.executable}


def run(checkout: Checkout, environment: dict[str, str], **given: str) -> Finished:
    """Run the project's action with a prepared interpreter, so that nothing is installed."""
    named = {name.replace("_", "-"): value for name, value in given.items()}
    return run_action(ROOT, PREPARED | RESULTS | named, environment, checkout.workspace)


def decide(checkout: Checkout, environment: dict[str, str], **given: str) -> Finished:
    """The action's second step alone and in this process, which is fast: for the many small variants."""
    specs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    named = {name.replace("_", "-"): value for name, value in given.items()}
    inputs = {name: spec.get("default", "") for name, spec in specs.items()} | RESULTS | named
    files = {name: checkout.home / name for name in ("OUTPUT", "STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    environ = environment | {variable(name): value for name, value in inputs.items()}
    environ |= {f"GITHUB_{name}": str(file) for name, file in files.items()}
    with contextlib.chdir(checkout.workspace):
        finished = run_job(environ)
    outputs = parse_values(files["OUTPUT"].read_text("utf-8"))
    log = "".join(line if line.endswith("\n") else f"{line}\n" for line in finished.log)
    return Finished(finished.code, outputs, log, [files["STEP_SUMMARY"].read_text("utf-8")], {}, [])

"""The recipes that need no service are run; the others are checked by ``check_ci_files.py``."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import types
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.cli.main import main

from .composite import clean_environment
from .jobs import BETTER, LOOSE, POLICY, ROOT, SAME, WORSE, Checkout, git, pull_request, write_results
from .test_action_act import act

RECIPES = ROOT / "examples" / "ci"
Sizes = tuple[int, int, int]


def programs(folder: Path) -> str:
    """A PATH on which ``gate`` is this project's."""
    folder.mkdir(exist_ok=True)
    script = folder / "gate"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m gate "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a policy and with scripts that stand for the user's own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "gate.yaml").write_text(POLICY)
    for name, text in {
        "eval": 'cp scored/baseline.jsonl "$1"; cp scored/candidate.jsonl "$2"',
        "deploy": "touch deployed",
    }.items():
        script = folder / name / "run.sh"
        script.parent.mkdir()
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
    (folder / "scored").mkdir()
    return folder


def start(project: Path, *command: str, **environment: str) -> int:
    path = programs(project.parent / "bin")
    environment = clean_environment() | {"PATH": path} | environment
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("sizes", "code"), [(WORSE, 1), (None, 0)])
def test_the_hook_stops_only_what_is_worse(project: Path, sizes: Sizes | None, code: int) -> None:
    if sizes:
        write_results(project / "eval", sizes)
    assert start(project, str(RECIPES / "hooks" / "pre-push")) == code


@pytest.mark.parametrize(("sizes", "code", "deployed"), [(BETTER, 0, True), (SAME, 0, False)])
def test_cron_deploys_only_what_is_promoted(project: Path, sizes: Sizes, code: int, deployed: bool) -> None:
    write_results(project / "scored", sizes)
    assert start(project, str(RECIPES / "cron" / "nightly.sh"), GATE_STORE=str(project)) == code
    assert (project / "deployed").exists() == deployed
    assert (project / "history.jsonl").exists()


def test_cron_starts_no_second_night(project: Path) -> None:
    write_results(project / "scored", BETTER)
    script = f'exec 9> .gate.lock; flock 9; GATE_STORE=. "{RECIPES}/cron/nightly.sh" 9>&-'
    assert start(project, "sh", "-c", script) == 75
    assert not (project / "deployed").exists()


def test_make_does_not_deploy_what_is_blocked(project: Path) -> None:
    write_results(project / "scored", WORSE)
    shutil.copy(RECIPES / "make" / "Makefile", project)
    assert start(project, "make", "promote") != 0
    assert not (project / "deployed").exists()
    assert (project / "results" / "report.json").exists()


def test_airflow_never_retries_the_gate_and_its_command_decides(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: dict[str, dict[str, Any]] = {}

    class Task:
        def __init__(self, **given: Any) -> None:
            tasks[given["task_id"]] = given

        def __rshift__(self, other: object) -> object:
            return other

    def short_circuit(**given: Any) -> Any:
        return lambda function: lambda: Task(task_id="promoted", function=function, **given)

    decorators = types.ModuleType("airflow.decorators")
    decorators.dag = lambda **_: lambda function: function  # type: ignore[attr-defined]
    decorators.task = types.SimpleNamespace(short_circuit=short_circuit)  # type: ignore[attr-defined]
    operators = types.ModuleType("airflow.operators.bash")
    operators.BashOperator = Task  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "airflow", types.ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.operators", types.ModuleType("airflow.operators"))
    monkeypatch.setitem(sys.modules, "airflow.decorators", decorators)
    monkeypatch.setitem(sys.modules, "airflow.operators.bash", operators)
    runpy.run_path(str(RECIPES / "airflow" / "retrain_gate.py"))
    assert (tasks["decide"]["retries"], tasks["promoted"]["retries"]) == (0, 0)
    write_results(project, BETTER)
    command = tasks["decide"]["bash_command"].replace("{{ ds }}", "2026-01-01")
    assert start(project, "bash", "-c", command) == 0
    assert "promote" in (project / "report.json").read_text()


def test_the_project_gates_its_own_example_and_it_promotes(tmp_path: Path) -> None:
    """As .github/workflows/ci.yml does with the action."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    step = next(step for step in jobs["gate"]["steps"] if step.get("id") == "gate")
    assert step["uses"] == "./"
    options = [f"--{name}={ROOT / path}" for name, path in step["with"].items()]
    report = tmp_path / "report.json"
    assert main(["run", *options, f"--json={report}"], StringIO(), StringIO()) == 0
    assert json.loads(report.read_text("utf-8"))["verdict"] == "promote"


FINAL = yaml.safe_load((RECIPES / "github" / "pull-request.yml").read_text("utf-8"))["jobs"]["release-gate"]


@pytest.mark.parametrize(
    ("result", "verdict", "green"),
    [
        ("success", "promote", True),
        ("success", "hold", True),
        ("success", "block", False),
        ("success", "inconclusive", False),
        ("success", "error", False),
        ("success", "", False),
        ("failure", "promote", False),
        ("skipped", "", False),
        ("cancelled", "", False),
    ],
)
def test_the_required_job_reads_the_verdict(result: str, verdict: str, green: bool, tmp_path: Path) -> None:
    assert FINAL["if"] == "always()"
    environment = clean_environment() | {"RESULT": result, "VERDICT": verdict}
    script = tmp_path / "script.sh"
    script.write_text(FINAL["steps"][0]["run"])
    done = subprocess.run(["bash", "-e", str(script)], env=environment, capture_output=True, check=False)
    assert (done.returncode == 0) == green


STUBS = {
    "upload-artifact": 'mkdir -p "$STORE/$NAME"; for f in $WHAT; do cp -r "$f" "$STORE/$NAME/"; done',
    "download-artifact": 'mkdir -p "$WHAT"; cp -r "$STORE/$NAME"/* "$WHAT/"',
}


def stub(folder: Path, name: str) -> str:
    """An action that passes artifacts through a folder instead of a service."""
    action = folder / name / "action.yml"
    action.parent.mkdir(parents=True)
    step = {
        "shell": "bash",
        "env": {"NAME": "${{ inputs.name }}", "WHAT": "${{ inputs.path }}"},
        "run": STUBS[name],
    }
    inputs = {key: {"required": False} for key in ("name", "path", "if-no-files-found")}
    content = {
        "name": name,
        "description": name,
        "inputs": inputs,
        "runs": {"using": "composite", "steps": [step]},
    }
    action.write_text(yaml.safe_dump(content))
    return str(action.parent)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "green"), [(BETTER, True), (WORSE, False)])
def test_the_pull_request_recipe_from_scores_to_the_required_check(
    checkout: Checkout, sizes: Sizes, green: bool
) -> None:
    """All three jobs under act, with the locked installation, on a fork's request that loosens the policy."""
    scored = checkout.server / "scored"
    scored.mkdir()
    write_results(scored, sizes)
    run_sh = checkout.server / "eval" / "run.sh"
    run_sh.parent.mkdir()
    run_sh.write_text('#!/bin/sh\ncp scored/baseline.jsonl "$1"; cp scored/candidate.jsonl "$2"\n')
    run_sh.chmod(0o755)
    checkout.commit({}, "scores")
    head = checkout.branch("change", {"gate.yaml": LOOSE})
    merged = checkout.merge("change")
    checkout.check_out("refs/pull/1/merge", depth=2)
    git(checkout.workspace, "update-ref", "refs/heads/copied", "HEAD")
    environment = checkout.environment("pull_request", pull_request(head, checkout.head("main")), merged)
    (checkout.home / "store").mkdir()
    workflow = (RECIPES / "github" / "pull-request.yml").read_text("utf-8")
    server = environment["GITHUB_SERVER_URL"]
    local = []
    for used in sorted(
        {line.split("uses: ")[1].split()[0] for line in workflow.splitlines() if "uses: " in line}
    ):
        name = used.partition("@")[0].partition("/")[2]
        if name in STUBS:
            local.append(f"--local-repository={server}/{used}={stub(checkout.home / 'stubs', name)}")
        elif name == "paired-gate":
            local.append(f"--local-repository={server}/{used}={ROOT}")
    carried = {
        "STORE": str(checkout.home / "store"),
        "GITHUB_SERVER_URL": server,
        "GITHUB_REPOSITORY": "team/bot",
    }
    home = str(checkout.home)
    done = subprocess.run(
        [
            *(act(), "pull_request", "-P", "ubuntu-latest=-self-hosted", "--no-cache-server"),
            *("-W", str(RECIPES / "github" / "pull-request.yml"), "-e", environment["GITHUB_EVENT_PATH"]),
            *(*local, *(f"--env={name}={value}" for name, value in carried.items())),
        ],
        cwd=checkout.workspace,
        env=clean_environment() | {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=900,
    )
    shutil.rmtree(checkout.home / "cache")  # two environments of a quarter GB
    log = done.stdout + done.stderr
    assert (done.returncode == 0) == green, log
    assert ("verdict=promote" in log) == green, log
    assert f"policy-commit={checkout.head('main')}" in log
    assert list((checkout.home / "store").glob("gate-report/gate-report/report.json")), log


def gitlab_ci_local() -> str:
    found = os.environ.get("GATE_TEST_GITLAB_CI_LOCAL") or shutil.which("gitlab-ci-local")
    if not found or shutil.which("rsync") is None:
        pytest.skip("no gitlab-ci-local (npm) or rsync: name the program in GATE_TEST_GITLAB_CI_LOCAL")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "code"), [(BETTER, 0), (WORSE, 1)])
def test_the_gitlab_recipe_decides_on_main(project: Path, sizes: Sizes, code: int) -> None:
    write_results(project / "scored", sizes)
    shutil.copy(RECIPES / "gitlab" / ".gitlab-ci.yml", project)
    git(project, "init", "--quiet")
    git(project, "remote", "add", "origin", "git@gitlab.example.com:team/bot.git")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "x")
    program = [gitlab_ci_local(), "--force-shell-executor", "--variable", "GATE_HISTORY=history.jsonl"]
    assert start(project, *program, "eval", "gate-main") == code
    verdict = "promote" if code == 0 else "block"
    assert f"GATE_VERDICT={verdict}\n" in (project / "gate-report" / "outputs.env").read_text("utf-8")
    assert (project / "history.jsonl").exists()
